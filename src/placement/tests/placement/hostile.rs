//! Questions made to cost: each has so many arrangements that a search which
//! walks into dead ends would not come back.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::{
    asking::{devices, group, isolated, required},
    world::{World, total},
};
use stowplan_model::Inventory;
use stowplan_placement::candidates::{CandidateQuery, GroupPolicy, RequestGroup, candidates};

/// How many candidates there are, no more than `limit` counted.
fn count(world: &World, query: &CandidateQuery, limit: usize) -> usize {
    let query = CandidateQuery { limit: Some(limit), ..query.clone() };
    candidates(&world.image, &query).unwrap().count()
}

fn suffixes(query: &CandidateQuery) -> Vec<String> {
    query.groups.iter().map(|group| group.suffix.clone()).collect()
}

#[test]
fn the_last_group_takes_one_device_only() {
    // All others would take the first device first; 15! ways to find out.
    let mut world = devices(1, 16);
    world.traits("host-0-device-0", &["CUSTOM_ONLY"]);
    let mut query = isolated(16);
    query.groups[15].required = required(&["CUSTOM_ONLY"]);
    assert_eq!(count(&world, &query, 3), 3);
    // And the last two of them take that one.
    query.groups[14].required = required(&["CUSTOM_ONLY"]);
    assert_eq!(count(&world, &query, 3), 0);
}

#[test]
fn a_ladder_of_choices_that_breaks_at_the_end() {
    // Group n takes device n or n + 1, the last one only device 0: all others
    // shift by one, or there is no way.
    let mut world = devices(1, 24);
    for device in 0..24 {
        world.traits(&format!("host-0-device-{device}"), &[&format!("CUSTOM_R{device}")]);
    }
    let mut query = isolated(25);
    for (number, group) in query.groups.iter_mut().enumerate().take(24) {
        let own = format!("CUSTOM_R{number}");
        let next = format!("CUSTOM_R{}", (number + 1) % 24);
        group.required = vec![vec![own, next]];
    }
    query.groups[24].required = required(&["CUSTOM_R0"]);
    assert_eq!(count(&world, &query, 1), 0);
    query.groups.remove(23);
    assert_eq!(count(&world, &query, 1), 1);
}

/// A host with `branches` branches, each of a chain of `depth` providers with
/// one CUSTOM_DEV at every level.
fn chains(branches: usize, depth: usize) -> World {
    let mut world = World::new();
    world.provider("host", None, &[("VCPU", 64)]);
    for branch in 0..branches {
        let mut above = "host".to_owned();
        for level in 0..depth {
            let name = format!("branch-{branch}-{level}");
            world.provider(&name, Some(&above), &[("CUSTOM_DEV", 1)]);
            above = name;
        }
    }
    world
}

#[test]
fn deep_branches_one_short() {
    let world = chains(3, 12);
    for (groups, expected) in [(12, 1), (13, 0), (14, 0)] {
        let mut query = isolated(groups);
        query.same_subtree = vec![suffixes(&query)];
        assert_eq!(count(&world, &query, 1), expected, "{groups} groups");
    }
    // Chained sets: each two neighbours in one branch, so all of them are.
    let mut query = isolated(14);
    query.same_subtree = suffixes(&query).windows(2).map(<[String]>::to_vec).collect();
    assert_eq!(count(&world, &query, 1), 0);
}

#[test]
fn two_halves_that_need_a_branch_each() {
    let world = chains(2, 8);
    let mut query = isolated(16);
    let all = suffixes(&query);
    query.same_subtree = vec![all[..8].to_vec(), all[8..].to_vec()];
    assert_eq!(count(&world, &query, 1), 1);
    query.same_subtree = vec![all[..9].to_vec(), all[9..].to_vec()];
    assert_eq!(count(&world, &query, 1), 0);
}

/// A host without disk and `shares` sharing providers with `room` of it.
fn shares(shares: usize, room: i64) -> World {
    let mut world = World::new();
    world.provider("host", None, &[("VCPU", 64)]);
    world.aggregates("host", &["rack"]);
    for number in 0..shares {
        let name = format!("share-{number}");
        world.provider(&name, None, &[("DISK_GB", room)]);
        world.traits(&name, &["MISC_SHARES_VIA_AGGREGATE"]);
        world.aggregates(&name, &["rack"]);
    }
    world
}

fn disks(amounts: &[i64]) -> CandidateQuery {
    let mut groups: Vec<RequestGroup> = vec![group("", &[("VCPU", 1)])];
    groups.extend(
        amounts
            .iter()
            .enumerate()
            .map(|(n, amount)| group(&format!("_{n}"), &[("DISK_GB", *amount)])),
    );
    CandidateQuery::new(groups)
}

#[test]
fn sums_over_shared_providers_one_short() {
    let world = shares(6, 100);
    // Two fit on each.
    assert_eq!(count(&world, &disks(&[50; 12]), 1), 1);
    assert_eq!(count(&world, &disks(&[50; 13]), 1), 0);
    assert_eq!(count(&world, &disks(&[34; 13]), 1), 0);
    // Of two sizes, of which the large ones fill the shares alone.
    let mut amounts = vec![40; 12];
    amounts.extend([30; 6]);
    assert_eq!(count(&world, &disks(&amounts), 1), 0);
    // The unsuffixed group's amount counts too.
    let mut query = disks(&[50; 12]);
    query.groups[0].resources.push(("DISK_GB".into(), 1));
    assert_eq!(count(&world, &query, 1), 0);
    query.groups.pop();
    assert_eq!(count(&world, &query, 1), 1);
}

#[test]
fn amounts_that_pack_badly() {
    // By volume everything fits; by pieces it does not: 60 goes with nothing
    // but 40, 45 with nothing but 45 or 50.
    let world = shares(8, 100);
    let mut amounts = vec![60; 5];
    amounts.extend([45; 7]);
    assert_eq!(count(&world, &disks(&amounts), 1), 0);
    amounts.pop();
    assert_eq!(count(&world, &disks(&amounts), 1), 1);
}

#[test]
fn units_bound_sums_everywhere_at_once() {
    let mut world = World::new();
    world.provider("host", None, &[]);
    let bounded = Inventory { max_unit: 3, ..total(1000) };
    for child in 0..10 {
        let name = format!("child-{child}");
        world.provider(&name, Some("host"), &[]);
        world.inventories(&name, &[("VCPU", bounded), ("MEMORY_MB", bounded)]);
    }
    let groups = |count| {
        let one = |n| group(&format!("_{n}"), &[("VCPU", 2), ("MEMORY_MB", 2)]);
        CandidateQuery::new((0..count).map(one).collect())
    };
    assert_eq!(count(&world, &groups(10), 1), 1);
    assert_eq!(count(&world, &groups(11), 1), 0);
    // Two classes, each of which alone would fit.
    let mut query = groups(9);
    for n in 0..5 {
        query.groups.push(group(&format!("_v{n}"), &[("VCPU", 1)]));
        query.groups.push(group(&format!("_m{n}"), &[("MEMORY_MB", 1)]));
    }
    assert_eq!(count(&world, &query, 1), 1);
}

#[test]
fn everything_at_once() {
    // Kept apart, under one another, summed, with traits to cover: feasible
    // and one short.
    let mut world = World::new();
    world.provider("host", None, &[("VCPU", 64)]);
    for numa in 0..4 {
        let name = format!("numa-{numa}");
        world.provider(&name, Some("host"), &[("PCPU", 4), ("MEMORY_MB", 1024)]);
        world.traits(&name, &[&format!("CUSTOM_N{numa}")]);
        for device in 0..4 {
            let child = format!("numa-{numa}-{device}");
            world.provider(&child, Some(&name), &[("CUSTOM_DEV", 1)]);
        }
    }
    let ask = |per_branch: usize, pcpus: i64| {
        let mut groups = vec![group("", &[("MEMORY_MB", 100), ("VCPU", 1)])];
        let mut sets = Vec::new();
        for branch in 0..4 {
            let mut set = vec![format!("_cpu{branch}")];
            groups.push(group(&set[0], &[("PCPU", pcpus)]));
            for device in 0..per_branch {
                let suffix = format!("_dev{branch}_{device}");
                groups.push(group(&suffix, &[("CUSTOM_DEV", 1)]));
                set.push(suffix);
            }
            sets.push(set);
        }
        CandidateQuery {
            group_policy: GroupPolicy::Isolate,
            same_subtree: sets,
            ..CandidateQuery::new(groups)
        }
    };
    assert_eq!(count(&world, &ask(4, 4), 5), 5);
    assert_eq!(count(&world, &ask(5, 4), 1), 0);
    assert_eq!(count(&world, &ask(4, 5), 1), 0);
}
