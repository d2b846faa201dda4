//! Domains from what was declared.

use super::{Domain, Domains, TOP};
use crate::session::objects::{CellIx, DomainIx};
use crate::world::World;
use std::collections::BTreeMap;
use std::sync::Arc;
use stowplan_engine::{HostIx, HostSet, HostView};

/// A domain as it was declared.
#[derive(Clone, Debug, Default)]
pub struct DomainInput {
    /// Its name.
    pub name: String,
    /// Its tier.
    pub tier: i64,
    /// The tier's name.
    pub tier_name: Option<String>,
    /// Hosts in it.
    pub hosts: Vec<HostIx>,
    /// Domains in it, by name. Those that are not there, or are not of a lower
    /// tier, are passed over.
    pub members: Vec<String>,
}

impl Domains {
    /// These domains and the top over the hosts of a world. Of two domains that
    /// claim a third, it belongs to the one of the lower tier, then by name.
    #[must_use]
    pub fn new(world: &World, mut inputs: Vec<DomainInput>) -> Self {
        inputs.sort_by(|a, b| a.tier.cmp(&b.tier).then_with(|| a.name.cmp(&b.name)));
        let highest = inputs.last().map_or(0, |input| input.tier);
        let top = DomainIx(inputs.len() as u32);
        let numbers: BTreeMap<String, DomainIx> = inputs
            .iter()
            .enumerate()
            .map(|(at, it)| (it.name.clone(), DomainIx(at as u32)))
            .collect();
        let mut parents: Vec<Option<DomainIx>> = vec![None; inputs.len()];
        for (at, input) in inputs.iter().enumerate() {
            for member in input.members.iter().filter_map(|name| numbers.get(name)) {
                let is_lower = inputs[member.index()].tier < input.tier;
                let free = parents[member.index()].is_none();
                if is_lower && free {
                    parents[member.index()] = Some(DomainIx(at as u32));
                }
            }
        }
        let mut sets: Vec<HostSet> = Vec::with_capacity(inputs.len() + 1);
        for input in &inputs {
            let mut set = HostSet::with_room(world.slots());
            let known = |host: &&HostIx| world.rank(**host) != usize::MAX;
            input.hosts.iter().filter(known).for_each(|host| set.insert(*host));
            sets.push(set);
        }
        // Members come before what they are members of.
        for at in 0..inputs.len() {
            if let Some(parent) = parents[at] {
                let own = sets[at].clone();
                let hosts = world.order().iter().filter(|host| own.contains(**host));
                hosts.for_each(|host| sets[parent.index()].insert(*host));
            }
        }
        let mut names = BTreeMap::new();
        let mut all: Vec<Domain> = Vec::with_capacity(inputs.len() + 1);
        for (at, input) in inputs.into_iter().enumerate() {
            if let Some(name) = input.tier_name {
                names.entry(name).or_insert(input.tier);
            }
            let hosts = world.order().iter().copied().filter(|host| sets[at].contains(*host));
            all.push(Domain {
                name: input.name,
                tier: input.tier,
                parent: Some(parents[at].unwrap_or(top)),
                children: Vec::new(),
                hosts: hosts.collect(),
            });
        }
        all.push(Domain {
            name: TOP.to_owned(),
            tier: (highest + 1).max(1),
            parent: None,
            children: Vec::new(),
            hosts: world.order().to_vec(),
        });
        for at in 0..top.index() {
            if let Some(parent) = all[at].parent {
                all[parent.index()].children.push(DomainIx(at as u32));
            }
        }
        let (cells, cell_of) = cells(world, &all);
        Self {
            all: Arc::new(all),
            cells: Arc::new(cells),
            cell_of: Arc::new(cell_of),
            names: Arc::new(names),
            rooms: Arc::default(),
        }
    }
}

/// Hosts by the domains that they are in.
fn cells(world: &World, all: &[Domain]) -> (Vec<Vec<DomainIx>>, Vec<CellIx>) {
    let mut around: Vec<Vec<DomainIx>> = vec![Vec::new(); world.slots()];
    for (at, domain) in all.iter().enumerate() {
        for host in &domain.hosts {
            around[host.index()].push(DomainIx(at as u32));
        }
    }
    let mut known: BTreeMap<Vec<DomainIx>, CellIx> = BTreeMap::new();
    let mut cells = Vec::new();
    let mut cell_of = Vec::with_capacity(around.len());
    for domains in around {
        let cell = *known.entry(domains).or_insert_with_key(|domains| {
            cells.push(domains.clone());
            CellIx(cells.len() as u32 - 1)
        });
        cell_of.push(cell);
    }
    (cells, cell_of)
}
