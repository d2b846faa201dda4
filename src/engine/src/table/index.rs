//! Where to find a host: by name, by its node's uuid, by a server on it.

use foldhash::fast::RandomState;
use imbl::GenericHashMap;
use imbl::shared_ptr::DefaultSharedPtr;
use smallvec::SmallVec;
use stowplan_model::Uuid;

use super::{HostFacts, HostIx};

/// A few hosts, in ascending order.
pub type HostList = SmallVec<[HostIx; 2]>;

type Map<K, V> = GenericHashMap<K, V, RandomState, DefaultSharedPtr>;

/// The look-up tables of a host table.
#[derive(Clone, Debug, Default)]
pub(super) struct HostIndex {
    names: Map<Box<str>, HostList>,
    nodes: Map<Uuid, HostIx>,
    instances: Map<Uuid, HostList>,
}

impl HostIndex {
    /// Hosts of that name in any letter case; ask with the name in lower case.
    pub(super) fn named(&self, name: &str) -> &[HostIx] {
        self.names.get(name).map_or(&[], SmallVec::as_slice)
    }

    pub(super) fn of_node(&self, uuid: Uuid) -> Option<HostIx> {
        self.nodes.get(&uuid).copied()
    }

    pub(super) fn with_instance(&self, instance: Uuid) -> &[HostIx] {
        self.instances.get(&instance).map_or(&[], SmallVec::as_slice)
    }

    pub(super) fn learn(&mut self, host: HostIx, facts: &HostFacts) {
        add(&mut self.names, facts.host.to_lowercase().into(), host);
        self.nodes.insert(facts.uuid, host);
    }

    pub(super) fn forget(&mut self, host: HostIx, facts: &HostFacts) {
        take(&mut self.names, &facts.host.to_lowercase().into(), host);
        if self.nodes.get(&facts.uuid) == Some(&host) {
            self.nodes.remove(&facts.uuid);
        }
    }

    pub(super) fn instance_came(&mut self, host: HostIx, instance: Uuid) {
        add(&mut self.instances, instance, host);
    }

    pub(super) fn instance_went(&mut self, host: HostIx, instance: Uuid) {
        take(&mut self.instances, &instance, host);
    }
}

fn add<K: Clone + Eq + std::hash::Hash>(map: &mut Map<K, HostList>, key: K, host: HostIx) {
    let hosts = map.entry(key).or_default();
    if let Err(at) = hosts.binary_search(&host) {
        hosts.insert(at, host);
    }
}

fn take<K: Clone + Eq + std::hash::Hash>(map: &mut Map<K, HostList>, key: &K, host: HostIx) {
    let Some(hosts) = map.get_mut(key) else {
        return;
    };
    hosts.retain(|other| *other != host);
    if hosts.is_empty() {
        map.remove(key);
    }
}
