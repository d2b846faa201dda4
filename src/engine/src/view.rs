//! What filters and weighers may ask of hosts.

use stowplan_model::Uuid;

use crate::set::HostSet;
use crate::table::{
    AggregateSet, Blocks, Class, Column, CpuInfo, Figure, GuestSupport, HostFacts, HostIx,
    HostNuma, InstanceProps, InstanceSet, PciPools, Pool, PoolId, Ratio,
};

/// A view of all hosts at one moment.
///
/// Filters, weighers and local scores see hosts through this alone, so that
/// the ledger's image, the overlay of a request for several servers and a
/// batch session are all the same to them. A number without a host answers
/// with defaults; ask only for hosts in [`HostView::live`].
pub trait HostView: Send + Sync {
    /// Numbers in use are below this.
    fn slots(&self) -> usize;
    /// The numbers that have a host.
    fn live(&self) -> &HostSet;
    /// A column of figures.
    fn column(&self, figure: Figure) -> &Column;
    /// A column of allocation ratios.
    fn ratios(&self, ratio: Ratio) -> &Blocks<f64>;
    /// A column of pool numbers.
    fn classes(&self, class: Class) -> &Blocks<PoolId>;
    /// Names, texts and lists of a host.
    fn facts(&self, host: HostIx) -> &HostFacts;
    /// The servers on a host.
    fn instances(&self, host: HostIx) -> &InstanceSet;
    /// Image properties of servers, by the numbers in an [`InstanceSet`].
    fn props(&self) -> &Pool<InstanceProps>;
    /// The PCI pools of a host; `None` without PCI tracking.
    fn pci_pools(&self, host: HostIx) -> Option<&PciPools>;
    /// A column of the free devices in the PCI pools of hosts.
    fn pci_devices(&self) -> &Column;
    /// The NUMA cells of a host; `None` when unknown.
    fn numa(&self, host: HostIx) -> Option<&HostNuma>;
    /// Sets of host aggregates, by class.
    fn aggregate_sets(&self) -> &Pool<AggregateSet>;
    /// What guests hosts run, by class.
    fn guests(&self) -> &Pool<GuestSupport>;
    /// CPU descriptions, by class.
    fn cpu_infos(&self) -> &Pool<CpuInfo>;
    /// The hosts that a server is on, ascending.
    fn hosts_with(&self, instance: Uuid) -> &[HostIx];
    /// The hosts of that name in any letter case, ascending; ask with the name
    /// in lower case.
    fn hosts_named(&self, name: &str) -> &[HostIx];
    /// The host whose node (and root provider) has that uuid.
    fn host_of_node(&self, uuid: Uuid) -> Option<HostIx>;

    /// One figure of one host.
    fn figure(&self, figure: Figure, host: HostIx) -> i64 {
        self.column(figure).value(host)
    }

    /// One allocation ratio of one host.
    fn ratio(&self, ratio: Ratio, host: HostIx) -> f64 {
        self.ratios(ratio).value(host)
    }

    /// The host aggregates of a host.
    fn aggregates_of(&self, host: HostIx) -> Option<&AggregateSet> {
        let id = self.classes(Class::Aggregates).value(host);
        self.aggregate_sets().get(id).map(AsRef::as_ref)
    }

    /// What guests a host runs.
    fn guests_of(&self, host: HostIx) -> Option<&GuestSupport> {
        let id = self.classes(Class::Guests).value(host);
        self.guests().get(id).map(AsRef::as_ref)
    }

    /// The CPU description of a host.
    fn cpu_info(&self, host: HostIx) -> Option<&CpuInfo> {
        let id = self.classes(Class::CpuInfo).value(host);
        self.cpu_infos().get(id).map(AsRef::as_ref)
    }
}
