//! `predicates`: which hosts a task may go to at all.

use super::{PluginFault, Setup};
use crate::session::{
    NodePredicate, Plugin, Point, Shape, ShapeIx, State, Toleration, TolerationOperator,
};
use crate::world::World;
use stowplan_engine::config::EngineConfig;
use stowplan_engine::fault::Fault;
use stowplan_engine::filter::{Filter, Predicate, Verdict};
use stowplan_engine::offers::{Offers, Survivors};
use stowplan_engine::reason::Reason;
use stowplan_engine::registry;
use stowplan_engine::request::{CheckedRequest, RequestCx};
use stowplan_engine::table::StateFlags;
use stowplan_engine::{Figure, HostIx, HostSet, HostView};
use stowplan_model::host::{Taint, TaintEffect};
use stowplan_model::request::ScheduleRequest;

/// The argument that names the engine's filters.
const FILTERS: &str = "filters";

/// A host must take batch tasks, carry the labels that the task selects by, and
/// have no taint that the task does not tolerate; and the engine's own filters
/// must let it pass (its service is enabled and alive).
pub struct Predicates {
    engine: EngineConfig,
    filters: Vec<Box<dyn Filter>>,
}

impl Predicates {
    /// With the engine's filters of `[batch:predicates] filters`; if none are
    /// given, ComputeFilter alone, for the others look at what only virtual
    /// machines have.
    ///
    /// # Errors
    /// A name that no filter has.
    pub fn new(setup: &Setup<'_>) -> Result<Self, PluginFault> {
        let mut names: Vec<String> = setup.arguments.list(FILTERS).map(str::to_owned).collect();
        if setup.arguments.text(FILTERS).is_none() {
            names.push("ComputeFilter".to_owned());
        }
        let filters = registry::filters(&names)
            .map_err(|error| setup.arguments.fault(FILTERS, &error.to_string()))?;
        Ok(Self { engine: setup.engine.clone(), filters })
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
        let request =
            CheckedRequest::check(ScheduleRequest::default()).map_err(|stage| stage.fault)?;
        let cx = RequestCx {
            request: &request,
            config: &self.engine,
            now: state.now,
            view: &state.world,
        };
        let mut filters = Vec::new();
        for filter in &self.filters {
            let fixed = filter.runs().once_per_request;
            filters.extend(filter.prepare(&cx)?.map(|predicate| Judge { predicate, fixed }));
        }
        Ok(Some(Box::new(HostCheck { shape: state[shape].clone(), filters })))
    }
}

/// A filter made ready, and whether nothing in this session moves its answer.
struct Judge {
    predicate: Box<dyn Predicate>,
    fixed: bool,
}

impl Judge {
    fn fails(&self, world: &World, host: HostIx) -> Result<Option<Reason>, Fault> {
        let left = Survivors::default();
        Ok(match self.predicate.judge(world, host, &Offers::default(), &left)? {
            Verdict::Fail(reason) => Some(reason),
            Verdict::Pass | Verdict::PassWith(_) => None,
        })
    }
}

/// The predicates made ready for one shape.
struct HostCheck {
    shape: Shape,
    filters: Vec<Judge>,
}

impl NodePredicate for HostCheck {
    fn narrow(&self, world: &World, hosts: &mut HostSet) -> Result<(), Fault> {
        let mut left = Survivors::all(std::mem::take(hosts));
        for filter in self.filters.iter().filter(|filter| filter.fixed) {
            filter.predicate.narrow(world, &Offers::default(), &mut left)?;
        }
        *hosts = left.hosts;
        hosts.retain(|host| self.own_objection(world, host).is_none());
        Ok(())
    }

    fn passes_now(&self, world: &World, host: HostIx) -> Result<bool, Fault> {
        for filter in self.filters.iter().filter(|filter| !filter.fixed) {
            if filter.fails(world, host)?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn objection(&self, world: &World, host: HostIx) -> Result<Option<String>, Fault> {
        for filter in &self.filters {
            if let Some(reason) = filter.fails(world, host)? {
                return Ok(Some(match reason {
                    Reason::ServiceDisabled { .. }
                    | Reason::ServiceForcedDown
                    | Reason::ServiceSilent { .. } => "are disabled or down".to_owned(),
                    other => other.to_string(),
                }));
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
        let missing = self
            .shape
            .node_selector
            .iter()
            .find(|(key, value)| facts.labels.get(*key) != Some(value));
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
    let every_key = toleration.key.is_empty() && toleration.operator == TolerationOperator::Exists;
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
