//! `predicates`: which hosts a task may go to at all.

use super::{PluginFault, Setup};
use crate::session::{
    NodePredicate, Plugin, Point, Shape, ShapeIx, State, Toleration, TolerationOperator,
};
use crate::world::World;
use stowplan_engine::config::EngineConfig;
use stowplan_engine::fault::Fault;
use stowplan_engine::filter::{Filter, Predicate, Verdict};
use stowplan_engine::filters::ComputeFilter;
use stowplan_engine::offers::{Offers, Survivors};
use stowplan_engine::request::{CheckedRequest, RequestCx};
use stowplan_engine::table::StateFlags;
use stowplan_engine::{Figure, HostIx, HostSet, HostView};
use stowplan_model::host::{Taint, TaintEffect};
use stowplan_model::request::ScheduleRequest;

/// A host must take batch tasks, carry the labels that the task selects by, and
/// have no taint that the task does not tolerate; and the engine's own filters
/// must let it pass (its service is enabled and alive).
pub struct Predicates {
    engine: EngineConfig,
}

impl Predicates {
    /// With the engine's settings.
    ///
    /// # Errors
    /// None so far.
    pub fn new(setup: &Setup<'_>) -> Result<Self, PluginFault> {
        Ok(Self { engine: setup.engine.clone() })
    }
}

impl Plugin for Predicates {
    fn name(&self) -> &'static str {
        "predicates"
    }

    fn points(&self) -> &'static [Point] {
        &[Point::Predicate]
    }

    fn predicate(
        &self,
        state: &State,
        shape: ShapeIx,
    ) -> Result<Option<Box<dyn NodePredicate>>, Fault> {
        let request = CheckedRequest::check(ScheduleRequest::default())
            .map_err(|stage| stage.fault)?;
        let cx = RequestCx {
            request: &request,
            config: &self.engine,
            now: state.now,
            view: &state.world,
        };
        let filters = ComputeFilter.prepare(&cx)?.into_iter().collect();
        Ok(Some(Box::new(HostCheck { shape: state[shape].clone(), filters })))
    }
}

/// The predicates made ready for one shape. None of them looks at what changes
/// within a session.
struct HostCheck {
    shape: Shape,
    filters: Vec<Box<dyn Predicate>>,
}

impl NodePredicate for HostCheck {
    fn narrow(&self, world: &World, hosts: &mut HostSet) -> Result<(), Fault> {
        let mut left = Survivors::all(std::mem::take(hosts));
        for filter in &self.filters {
            filter.narrow(world, &Offers::default(), &mut left)?;
        }
        *hosts = left.hosts;
        hosts.retain(|host| self.own_objection(world, host).is_none());
        Ok(())
    }

    fn passes_now(&self, _world: &World, _host: HostIx) -> Result<bool, Fault> {
        Ok(true)
    }

    fn objection(&self, world: &World, host: HostIx) -> Result<Option<String>, Fault> {
        let left = Survivors::default();
        for filter in &self.filters {
            if let Verdict::Fail(_) = filter.judge(world, host, &Offers::default(), &left)? {
                return Ok(Some("are disabled or down".to_owned()));
            }
        }
        Ok(self.own_objection(world, host))
    }
}

impl HostCheck {
    fn own_objection(&self, world: &World, host: HostIx) -> Option<String> {
        if world.figure(Figure::StateFlags, host) & StateFlags::UNSCHEDULABLE != 0 {
            return Some("take no batch tasks".to_owned());
        }
        let facts = world.facts(host);
        let missing =
            self.shape.node_selector.iter().find(|(key, value)| facts.labels.get(*key) != Some(value));
        if let Some((key, value)) = missing {
            return Some(format!("do not have label {key}={value}"));
        }
        let taint = facts.taints.iter().find(|taint| self.is_kept_off(taint))?;
        Some(format!("have taint {}={} that is not tolerated", taint.key, taint.value))
    }

    fn is_kept_off(&self, taint: &Taint) -> bool {
        taint.effect != TaintEffect::PreferNoSchedule
            && !self.shape.tolerations.iter().any(|toleration| tolerates(toleration, taint))
    }
}

/// Kubernetes' rule.
fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let every_key =
        toleration.key.is_empty() && toleration.operator == TolerationOperator::Exists;
    let value = match toleration.operator {
        TolerationOperator::Exists => true,
        TolerationOperator::Equal => toleration.value == taint.value,
    };
    (every_key || toleration.key == taint.key)
        && value
        && toleration.effect.is_none_or(|effect| effect == taint.effect)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerations_follow_key_value_and_effect() {
        let taint = Taint {
            key: "gpu".to_owned(),
            value: "a100".to_owned(),
            effect: TaintEffect::NoSchedule,
        };
        let toleration = |key: &str, operator, value: &str, effect| Toleration {
            key: key.to_owned(),
            operator,
            value: value.to_owned(),
            effect,
        };
        use TolerationOperator::{Equal, Exists};
        for (toleration, tolerated) in [
            (toleration("gpu", Equal, "a100", None), true),
            (toleration("gpu", Equal, "h100", None), false),
            (toleration("gpu", Exists, "", Some(TaintEffect::NoSchedule)), true),
            (toleration("gpu", Exists, "", Some(TaintEffect::NoExecute)), false),
            (toleration("", Exists, "", None), true),
            (toleration("", Equal, "a100", None), false),
        ] {
            assert_eq!(tolerates(&toleration, &taint), tolerated, "{toleration:?}");
        }
    }
}
