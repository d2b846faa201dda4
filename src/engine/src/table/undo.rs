//! Steps on a host table that can be taken back.

use std::sync::Arc;

use stowplan_model::Uuid;

use super::{Figure, HostIx, HostNuma, HostTable, InstanceProps, PciPools, PoolId};
use crate::view::HostView;

/// A log of changes to one [`HostTable`], each with what was there before.
///
/// Make every change through the log; [`Undo::back_to`] then restores the very
/// table of a mark, in time proportional to the changes since.
#[derive(Debug, Default)]
pub struct Undo {
    steps: Vec<Step>,
}

/// A place in an [`Undo`] log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(usize);

#[derive(Debug)]
enum Step {
    Figure(HostIx, Figure, i64),
    /// A server came; its properties before, if it was there.
    Came(HostIx, Uuid, Option<PoolId>),
    /// A server went; its properties' number is still held by the log.
    Went(HostIx, Uuid, PoolId),
    Pci(HostIx, Option<Arc<PciPools>>),
    Numa(HostIx, Option<Arc<HostNuma>>),
}

impl Undo {
    /// An empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The place after the last change.
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark(self.steps.len())
    }

    /// Hosts changed since a mark, in the order of the changes, with
    /// repetitions: what an index over hosts has to look at again.
    pub fn touched_since(&self, mark: Mark) -> impl Iterator<Item = HostIx> + '_ {
        self.steps.iter().skip(mark.0).map(|step| match step {
            Step::Figure(host, ..)
            | Step::Came(host, ..)
            | Step::Went(host, ..)
            | Step::Pci(host, ..)
            | Step::Numa(host, ..) => *host,
        })
    }

    /// Sets a figure.
    pub fn set_figure(&mut self, table: &mut HostTable, host: HostIx, figure: Figure, value: i64) {
        let old = table.set_figure(host, figure, value);
        if old != value {
            self.steps.push(Step::Figure(host, figure, old));
        }
    }

    /// Adds to a figure.
    pub fn add(&mut self, table: &mut HostTable, host: HostIx, figure: Figure, change: i64) {
        let value = table.figure(figure, host).saturating_add(change);
        self.set_figure(table, host, figure, value);
    }

    /// Adds a server to a host, or replaces its image properties.
    pub fn add_instance(
        &mut self,
        table: &mut HostTable,
        host: HostIx,
        instance: Uuid,
        props: InstanceProps,
    ) {
        let old = table.take_instance(host, instance);
        table.add_instance(host, instance, props);
        self.steps.push(Step::Came(host, instance, old));
    }

    /// Takes a server off a host, if it is there.
    pub fn remove_instance(&mut self, table: &mut HostTable, host: HostIx, instance: Uuid) {
        if let Some(props) = table.take_instance(host, instance) {
            self.steps.push(Step::Went(host, instance, props));
        }
    }

    /// Replaces the PCI pools of a host.
    pub fn set_pci(&mut self, table: &mut HostTable, host: HostIx, pools: Option<Arc<PciPools>>) {
        let old = table.set_pci(host, pools);
        self.steps.push(Step::Pci(host, old));
    }

    /// Replaces the NUMA cells of a host.
    pub fn set_numa(&mut self, table: &mut HostTable, host: HostIx, numa: Option<Arc<HostNuma>>) {
        let old = table.set_numa(host, numa);
        self.steps.push(Step::Numa(host, old));
    }

    /// Takes back every change since `mark`, the last first.
    pub fn back_to(&mut self, table: &mut HostTable, mark: Mark) {
        while self.steps.len() > mark.0 {
            match self.steps.pop() {
                None => return,
                Some(Step::Figure(host, figure, old)) => {
                    table.set_figure(host, figure, old);
                }
                Some(Step::Came(host, instance, old)) => {
                    table.remove_instance(host, instance);
                    if let Some(props) = old {
                        table.add_instance_id(host, instance, props);
                    }
                }
                Some(Step::Went(host, instance, props)) => {
                    table.add_instance_id(host, instance, props);
                }
                Some(Step::Pci(host, old)) => {
                    table.set_pci(host, old);
                }
                Some(Step::Numa(host, old)) => {
                    table.set_numa(host, old);
                }
            }
        }
    }

    /// Keeps all changes: they can no longer be taken back.
    pub fn keep(&mut self, table: &mut HostTable) {
        for step in self.steps.drain(..) {
            match step {
                Step::Went(_, _, props) | Step::Came(_, _, Some(props)) => {
                    table.release_props(props);
                }
                _ => {}
            }
        }
    }
}
