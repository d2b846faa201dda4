//! Ports of the host that tasks listen on.

use crate::session::{HostVerdict, NodePredicate, Shape, State, Wishes};
use crate::world::World;
use std::sync::Arc;
use stowplan_engine::fault::Fault;
use stowplan_engine::{HostIx, HostSet};

/// No task that stays on the host listens on a port that this one wants.
pub(super) struct PortCheck(Arc<Wishes>);

impl PortCheck {
    /// For a shape; none when it wants no port.
    pub(super) fn new(shape: &Shape) -> Option<Self> {
        shape.wishes.clone().filter(|wishes| !wishes.ports.is_empty()).map(Self)
    }

    fn is_taken(&self, state: &State, host: HostIx) -> bool {
        let stay = state.residents(host).iter().filter(|task| !state.is_evicted(**task));
        stay.filter_map(|task| state.shape_of(*task).wishes.as_ref())
            .any(|other| other.ports.iter().any(|port| self.0.ports.contains(port)))
    }
}

impl NodePredicate for PortCheck {
    fn narrow(&self, _world: &World, _hosts: &mut HostSet) -> Result<(), Fault> {
        Ok(())
    }

    fn judge(&self, state: &State, host: HostIx) -> Result<HostVerdict, Fault> {
        let taken = self.is_taken(state, host);
        Ok(if taken { HostVerdict::Unschedulable } else { HostVerdict::Passes })
    }

    fn objection(&self, state: &State, host: HostIx) -> Result<Option<String>, Fault> {
        Ok(self.is_taken(state, host).then(|| "have its ports in use".to_owned()))
    }
}
