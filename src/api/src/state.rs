//! What every handler works with.

use crate::metrics::Requests;
use crate::policy::{Policy, PolicyFault, PolicySource};
use arc_swap::{ArcSwap, Guard};
use std::sync::Arc;
use stowplan_config::Settings;
use stowplan_ledger::Ledger;
use stowplan_model::Micros;
use stowplan_scheduler::Scheduler;

/// The clock of the service: now, in microseconds since the epoch.
pub type Clock = Arc<dyn Fn() -> Micros + Send + Sync>;

/// What the HTTP surfaces stand on.
#[derive(Clone)]
pub struct ApiState {
    /// The ledger.
    pub ledger: Ledger,
    /// Hosts, host aggregates, server groups, destinations and decisions.
    pub scheduler: Scheduler,
    /// The options in force; a reload swaps them whole.
    pub settings: Arc<ArcSwap<Settings>>,
    /// The clock.
    pub clock: Clock,
    /// How the message bus is; none where there is none.
    pub bus: Option<Arc<stowplan_bus::Status>>,
    /// What shadow mode has found; none where there is no bus.
    pub shadow: Option<Arc<stowplan_bus::Comparisons>>,
    /// What batch cycles have done.
    pub batch: Arc<stowplan_batch::CycleFigures>,
}

/// The same with what this crate makes of it, shared by all workers.
pub struct Shared {
    /// What the surfaces stand on.
    pub api: ApiState,
    /// What is counted of requests.
    pub requests: Requests,
    policy: PolicySource,
}

impl Shared {
    /// Prepares what the workers share.
    ///
    /// # Errors
    /// When there is a policy file that cannot be used.
    pub fn new(api: ApiState) -> Result<Self, PolicyFault> {
        let policy = PolicySource::open(&api.settings.load().oslo_policy)?;
        Ok(Self { policy, api, requests: Requests::default() })
    }

    /// Who may do what, at the moment.
    pub fn policy(&self) -> Guard<Arc<Policy>> {
        self.policy.current(self.now())
    }

    /// Now.
    #[must_use]
    pub fn now(&self) -> Micros {
        (self.api.clock)()
    }
}
