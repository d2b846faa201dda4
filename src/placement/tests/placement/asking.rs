//! Queries, and a cloud of devices, that several tests ask about.

use crate::world::World;
use stowplan_placement::candidates::{CandidateQuery, GroupPolicy, RequestGroup};

/// A group that asks for amounts.
pub fn group(suffix: &str, resources: &[(&str, i64)]) -> RequestGroup {
    let resources = resources.iter().map(|(class, units)| ((*class).to_owned(), *units)).collect();
    RequestGroup { suffix: suffix.to_owned(), resources, ..RequestGroup::default() }
}

/// Traits that are all wanted.
pub fn required(traits: &[&str]) -> Vec<Vec<String>> {
    traits.iter().map(|name| vec![(*name).to_owned()]).collect()
}

/// Hosts of one VCPU provider with `devices` children of one CUSTOM_DEV each.
pub fn devices(hosts: usize, devices: usize) -> World {
    let mut world = World::new();
    for host in 0..hosts {
        let name = format!("host-{host}");
        world.provider(&name, None, &[("VCPU", 64)]);
        for device in 0..devices {
            let child = format!("host-{host}-device-{device}");
            world.provider(&child, Some(&name), &[("CUSTOM_DEV", 1)]);
        }
    }
    world
}

/// Groups of one CUSTOM_DEV each, kept apart.
pub fn isolated(groups: usize) -> CandidateQuery {
    let all = (0..groups).map(|n| group(&format!("_{n}"), &[("CUSTOM_DEV", 1)])).collect();
    CandidateQuery { group_policy: GroupPolicy::Isolate, ..CandidateQuery::new(all) }
}
