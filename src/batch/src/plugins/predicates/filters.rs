//! The engine's own filters.

use crate::session::{HostVerdict, NodePredicate, State};
use crate::world::World;
use stowplan_engine::config::EngineConfig;
use stowplan_engine::fault::Fault;
use stowplan_engine::filter::{Filter, Predicate, Verdict};
use stowplan_engine::offers::{Offers, Survivors};
use stowplan_engine::reason::Reason;
use stowplan_engine::request::{CheckedRequest, RequestCx};
use stowplan_engine::{HostIx, HostSet};
use stowplan_model::request::ScheduleRequest;

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

/// The filters made ready for a task.
pub(super) struct EngineCheck {
    filters: Vec<Judge>,
}

impl EngineCheck {
    /// Makes filters ready.
    ///
    /// # Errors
    /// A request that a filter cannot judge.
    pub(super) fn new(
        filters: &[Box<dyn Filter>],
        config: &EngineConfig,
        state: &State,
    ) -> Result<Self, Fault> {
        let request =
            CheckedRequest::check(ScheduleRequest::default()).map_err(|stage| stage.fault)?;
        let cx = RequestCx { request: &request, config, now: state.now, view: &state.world };
        let mut ready = Vec::new();
        for filter in filters {
            let fixed = filter.runs().once_per_request;
            ready.extend(filter.prepare(&cx)?.map(|predicate| Judge { predicate, fixed }));
        }
        Ok(Self { filters: ready })
    }
}

impl NodePredicate for EngineCheck {
    fn narrow(&self, world: &World, hosts: &mut HostSet) -> Result<(), Fault> {
        let mut left = Survivors::all(std::mem::take(hosts));
        for filter in self.filters.iter().filter(|filter| filter.fixed) {
            filter.predicate.narrow(world, &Offers::default(), &mut left)?;
        }
        *hosts = left.hosts;
        Ok(())
    }

    fn judge(&self, state: &State, host: HostIx) -> Result<HostVerdict, Fault> {
        for filter in self.filters.iter().filter(|filter| !filter.fixed) {
            if filter.fails(&state.world, host)?.is_some() {
                return Ok(HostVerdict::Unresolvable);
            }
        }
        Ok(HostVerdict::Passes)
    }

    fn objection(&self, state: &State, host: HostIx) -> Result<Option<String>, Fault> {
        for filter in &self.filters {
            if let Some(reason) = filter.fails(&state.world, host)? {
                return Ok(Some(match reason {
                    Reason::ServiceDisabled { .. }
                    | Reason::ServiceForcedDown
                    | Reason::ServiceSilent { .. } => "are disabled or down".to_owned(),
                    other => other.to_string(),
                }));
            }
        }
        Ok(None)
    }
}
