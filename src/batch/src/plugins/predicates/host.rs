//! What the host itself has to say.

use crate::amounts::DimIx;
use crate::session::{HostVerdict, NodePredicate, Shape, State};
use crate::world::{Kind, World};
use stowplan_engine::fault::Fault;
use stowplan_engine::table::StateFlags;
use stowplan_engine::{Figure, HostIx, HostSet, HostView};
use stowplan_model::host::{Taint, TaintEffect};

/// It takes batch tasks, has a place left, the labels that are selected by, and
/// no taint that keeps the task off.
pub(super) struct HostCheck {
    pub(super) shape: Shape,
    pub(super) affinity: bool,
    pub(super) taints: bool,
}

impl HostCheck {
    fn fixed(&self, world: &World, host: HostIx) -> Option<String> {
        if world.figure(Figure::StateFlags, host) & StateFlags::UNSCHEDULABLE != 0 {
            return Some("take no batch tasks".to_owned());
        }
        let facts = world.facts(host);
        if self.affinity && !self.shape.selects(&facts.labels) {
            let mut selectors = self.shape.node_selector.iter();
            let missing = selectors.find(|(key, value)| facts.labels.get(*key) != Some(value));
            return Some(match missing {
                Some((key, value)) => format!("do not have label {key}={value}"),
                None => "do not have the labels of the host affinity".to_owned(),
            });
        }
        let taint = facts.taints.iter().find(|taint| self.is_kept_off(taint))?;
        Some(format!("have taint {}={} that is not tolerated", taint.key, taint.value))
    }

    fn is_kept_off(&self, taint: &Taint) -> bool {
        let hard = taint.effect != TaintEffect::PreferNoSchedule;
        self.taints && hard && !self.shape.tolerates(taint)
    }
}

/// Whether a host has a place for one more task beside those that stay.
fn has_place(world: &World, host: HostIx) -> bool {
    let places = world.amount(Kind::Allocatable, DimIx::PODS, host);
    world.staying(DimIx::PODS, host) < places
}

impl NodePredicate for HostCheck {
    fn narrow(&self, world: &World, hosts: &mut HostSet) -> Result<(), Fault> {
        hosts.retain(|host| self.fixed(world, host).is_none());
        Ok(())
    }

    fn judge(&self, state: &State, host: HostIx) -> Result<HostVerdict, Fault> {
        let free = has_place(&state.world, host);
        Ok(if free { HostVerdict::Passes } else { HostVerdict::Unschedulable })
    }

    fn counts_places(&self) -> bool {
        true
    }

    fn objection(&self, state: &State, host: HostIx) -> Result<Option<String>, Fault> {
        Ok(self.fixed(&state.world, host))
    }
}
