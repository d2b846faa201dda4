//! The state of all hosts: columns of figures, facts, servers, devices.
//!
//! A table is a value: cloning it shares everything and costs a few dozen
//! reference counts, whatever the number of hosts. A clone that is written to
//! is an overlay: several servers of one request are consumed on one, and a
//! batch session works on one with an [`Undo`] log beside it.

mod blocks;
mod facts;
mod figure;
mod index;
mod instances;
mod pool;
mod report;
mod row;
mod undo;

use std::sync::Arc;

use stowplan_model::Uuid;
use stowplan_model::host::HostAggregate;

pub use blocks::{BLOCK, Blocks, Column, Cursor};
pub use facts::{
    AggregateSet, CpuInfo, GuestSupport, HostFacts, HostNuma, Metric, PciPools, ServiceFacts,
};
pub use figure::{Figure, Figures, Ratio, StateFlags};
pub use index::HostList;
pub use instances::{InstanceProps, InstanceSet};
pub use pool::{Pool, PoolId};
pub use row::HostRow;
pub use undo::{Mark, Undo};

use crate::set::HostSet;
use crate::view::HostView;
use index::HostIndex;

/// The dense number of a host in a [`HostTable`]. Numbers of removed hosts are
/// given again, so they never outlive the table's value they were read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostIx(pub u32);

impl HostIx {
    /// As an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What hosts have in common with others, as numbers of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// The set of host aggregates ([`AggregateSet`]).
    Aggregates,
    /// What guests it runs ([`GuestSupport`]).
    Guests,
    /// Its CPU description ([`CpuInfo`]).
    CpuInfo,
}

impl Class {
    /// Classes there are.
    pub const COUNT: usize = 3;

    /// Its place among the columns.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// The state of all hosts.
#[derive(Clone, Debug, Default)]
pub struct HostTable {
    live: Arc<HostSet>,
    slots: usize,
    figures: [Column; Figure::COUNT],
    ratios: [Blocks<f64>; Ratio::COUNT],
    classes: [Blocks<PoolId>; Class::COUNT],
    facts: Blocks<Arc<HostFacts>>,
    instances: Blocks<InstanceSet>,
    pci: Blocks<Option<Arc<PciPools>>>,
    /// Free devices in the pools of `pci`.
    pci_devices: Column,
    numa: Blocks<Option<Arc<HostNuma>>>,
    aggregates: Pool<AggregateSet>,
    guests: Pool<GuestSupport>,
    cpu_infos: Pool<CpuInfo>,
    props: Pool<InstanceProps>,
    index: HostIndex,
}

impl HostTable {
    /// A table without hosts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The lowest number that no host has.
    #[must_use]
    pub fn free_ix(&self) -> HostIx {
        let words = self.live.words();
        let place = words.iter().position(|word| *word != u64::MAX);
        let free = match place {
            Some(n) => n * 64 + words[n].trailing_ones() as usize,
            None => words.len() * 64,
        };
        HostIx(free as u32)
    }

    /// Puts a host in its place, or replaces the one that is there. Its host
    /// aggregates are kept if the place was taken.
    pub fn upsert(&mut self, host: HostIx, row: HostRow) {
        let taken = self.live.contains(host);
        if taken {
            self.forget(host);
            self.clear_instances(host);
        }
        self.slots = self.slots.max(host.index() + 1);
        Arc::make_mut(&mut self.live).insert(host);
        for figure in Figure::ALL {
            self.set_figure(host, figure, row.figures.get(figure));
        }
        for (column, ratio) in self.ratios.iter_mut().zip(row.ratios) {
            column.set(host, ratio);
        }
        let guests = self.guests.acquire(row.guests);
        self.set_class(host, Class::Guests, guests);
        let cpu_info = self.cpu_infos.acquire(CpuInfo::new(row.cpu_info));
        self.set_class(host, Class::CpuInfo, cpu_info);
        self.index.learn(host, &row.facts);
        self.facts.set(host, Arc::new(row.facts));
        self.set_pci(host, row.pci_pools.map(Arc::new));
        self.numa.set(host, row.numa.map(Arc::new));
        for (instance, props) in row.instances {
            self.add_instance(host, instance, props);
        }
    }

    /// Takes a host out; its number is free again.
    pub fn remove(&mut self, host: HostIx) {
        if !self.live.contains(host) {
            return;
        }
        self.upsert(host, HostRow::default());
        self.set_aggregates(host, Vec::new());
        self.forget(host);
        Arc::make_mut(&mut self.live).remove(host);
    }

    /// Sets one figure and returns the old one. A number without a host is
    /// left alone.
    pub fn set_figure(&mut self, host: HostIx, figure: Figure, value: i64) -> i64 {
        let column = &mut self.figures[figure.index()];
        let old = column.value(host);
        if old != value && self.live.contains(host) {
            column.set(host, value);
        }
        old
    }

    /// Sets the host aggregates that a host is in.
    pub fn set_aggregates(&mut self, host: HostIx, aggregates: Vec<Arc<HostAggregate>>) {
        if self.live.contains(host) {
            let id = self.aggregates.acquire(AggregateSet::new(aggregates));
            self.set_class(host, Class::Aggregates, id);
        }
    }

    /// Adds a server to a host, or replaces its image properties.
    pub fn add_instance(&mut self, host: HostIx, instance: Uuid, props: InstanceProps) {
        let id = self.props.acquire(props);
        self.add_instance_id(host, instance, id);
    }

    /// Takes a server off a host; whether it was there.
    pub fn remove_instance(&mut self, host: HostIx, instance: Uuid) -> bool {
        self.take_instance(host, instance).inspect(|props| self.props.release(*props)).is_some()
    }

    /// Replaces the PCI pools of a host and returns the old ones.
    pub fn set_pci(&mut self, host: HostIx, pools: Option<Arc<PciPools>>) -> Option<Arc<PciPools>> {
        let devices = pools.as_ref().map_or(0, |pools| pools.devices());
        if self.pci_devices.value(host) != devices {
            self.pci_devices.set(host, devices);
        }
        self.pci.set(host, pools)
    }

    /// Replaces the NUMA cells of a host and returns the old ones.
    pub fn set_numa(&mut self, host: HostIx, numa: Option<Arc<HostNuma>>) -> Option<Arc<HostNuma>> {
        self.numa.set(host, numa)
    }

    /// The image properties of a server on a host.
    #[must_use]
    pub fn instance_props(&self, id: PoolId) -> Option<&InstanceProps> {
        self.props.get(id).map(Arc::as_ref)
    }

    fn set_class(&mut self, host: HostIx, class: Class, id: PoolId) {
        let old = self.classes[class.index()].value(host);
        if old != id {
            self.classes[class.index()].set(host, id);
        }
        match class {
            Class::Aggregates => self.aggregates.release(old),
            Class::Guests => self.guests.release(old),
            Class::CpuInfo => self.cpu_infos.release(old),
        }
    }

    /// Adds a server whose properties' number is acquired already.
    fn add_instance_id(&mut self, host: HostIx, instance: Uuid, props: PoolId) {
        let mut set = self.instances(host).clone();
        match set.insert(instance, props) {
            Some(old) => self.props.release(old),
            None => self.index.instance_came(host, instance),
        }
        self.instances.set(host, set);
    }

    /// Takes a server off a host without releasing its properties' number.
    fn take_instance(&mut self, host: HostIx, instance: Uuid) -> Option<PoolId> {
        let mut set = self.instances(host).clone();
        let props = set.remove(instance)?;
        self.instances.set(host, set);
        self.index.instance_went(host, instance);
        Some(props)
    }

    /// One user less of a properties' number.
    fn release_props(&mut self, props: PoolId) {
        self.props.release(props);
    }

    /// Takes the host's present names out of the index.
    fn forget(&mut self, host: HostIx) {
        if let Some(facts) = self.facts.get(host) {
            self.index.forget(host, facts);
        }
    }

    fn clear_instances(&mut self, host: HostIx) {
        let gone = self.instances.set(host, InstanceSet::default());
        for (instance, props) in gone.as_slice() {
            self.index.instance_went(host, *instance);
            self.props.release(*props);
        }
    }

    /// Whether two tables say the same of one number.
    fn same_host(&self, other: &Self, host: HostIx) -> bool {
        let props = |table: &Self| -> Vec<(Uuid, Option<InstanceProps>)> {
            let rows = table.instances(host).as_slice();
            rows.iter().map(|(uuid, id)| (*uuid, table.instance_props(*id).cloned())).collect()
        };
        Figure::ALL.iter().all(|figure| self.figure(*figure, host) == other.figure(*figure, host))
            && Ratio::ALL.iter().all(|ratio| self.ratio(*ratio, host) == other.ratio(*ratio, host))
            && self.facts(host) == other.facts(host)
            && self.aggregates_of(host) == other.aggregates_of(host)
            && self.guests_of(host) == other.guests_of(host)
            && self.cpu_info(host) == other.cpu_info(host)
            && self.pci_pools(host) == other.pci_pools(host)
            && self.numa(host) == other.numa(host)
            && props(self) == props(other)
    }
}

impl PartialEq for HostTable {
    /// Equal when the same numbers have hosts and all that can be asked of
    /// them is equal. How the values came about makes no difference.
    fn eq(&self, other: &Self) -> bool {
        self.live == other.live && self.live.iter().all(|host| self.same_host(other, host))
    }
}

impl HostView for HostTable {
    fn slots(&self) -> usize {
        self.slots
    }

    fn live(&self) -> &HostSet {
        &self.live
    }

    fn column(&self, figure: Figure) -> &Column {
        &self.figures[figure.index()]
    }

    fn ratios(&self, ratio: Ratio) -> &Blocks<f64> {
        &self.ratios[ratio.index()]
    }

    fn classes(&self, class: Class) -> &Blocks<PoolId> {
        &self.classes[class.index()]
    }

    fn facts(&self, host: HostIx) -> &HostFacts {
        self.facts.get(host).map_or_else(|| nobody(), Arc::as_ref)
    }

    fn instances(&self, host: HostIx) -> &InstanceSet {
        self.instances.get(host).unwrap_or(&NO_INSTANCES)
    }

    fn props(&self) -> &Pool<InstanceProps> {
        &self.props
    }

    fn pci_pools(&self, host: HostIx) -> Option<&PciPools> {
        self.pci.get(host)?.as_deref()
    }

    fn pci_devices(&self) -> &Column {
        &self.pci_devices
    }

    fn numa(&self, host: HostIx) -> Option<&HostNuma> {
        self.numa.get(host)?.as_deref()
    }

    fn aggregate_sets(&self) -> &Pool<AggregateSet> {
        &self.aggregates
    }

    fn guests(&self) -> &Pool<GuestSupport> {
        &self.guests
    }

    fn cpu_infos(&self) -> &Pool<CpuInfo> {
        &self.cpu_infos
    }

    fn hosts_with(&self, instance: Uuid) -> &[HostIx] {
        self.index.with_instance(instance)
    }

    fn hosts_named(&self, name: &str) -> &[HostIx] {
        self.index.named(name)
    }

    fn host_of_node(&self, uuid: Uuid) -> Option<HostIx> {
        self.index.of_node(uuid)
    }
}

/// The facts of a number that no host has.
fn nobody() -> &'static HostFacts {
    static NOBODY: std::sync::LazyLock<HostFacts> = std::sync::LazyLock::new(HostFacts::default);
    &NOBODY
}

static NO_INSTANCES: InstanceSet = InstanceSet::EMPTY;
