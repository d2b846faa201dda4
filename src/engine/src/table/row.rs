//! All there is to say of one host, when it is put into a table.

use stowplan_model::Uuid;

use super::{Figures, GuestSupport, HostFacts, HostNuma, InstanceProps, PciPools, Ratio};

/// One host, ready to be put into a [`super::HostTable`].
#[derive(Clone, Debug, PartialEq)]
pub struct HostRow {
    /// Names, texts and lists.
    pub facts: HostFacts,
    /// Figures.
    pub figures: Figures,
    /// Allocation ratios of CPUs, memory and disk, in the order of [`Ratio`].
    pub ratios: [f64; Ratio::COUNT],
    /// What guests it runs.
    pub guests: GuestSupport,
    /// CPU description, as JSON text.
    pub cpu_info: Option<String>,
    /// Servers on it.
    pub instances: Vec<(Uuid, InstanceProps)>,
    /// PCI pools; null without PCI tracking.
    pub pci_pools: Option<PciPools>,
    /// NUMA cells; null when the topology is unknown.
    pub numa: Option<HostNuma>,
}

impl Default for HostRow {
    fn default() -> Self {
        Self {
            facts: HostFacts::default(),
            figures: Figures::default(),
            ratios: [1.0; Ratio::COUNT],
            guests: GuestSupport::default(),
            cpu_info: None,
            instances: Vec::new(),
            pci_pools: None,
            numa: None,
        }
    }
}
