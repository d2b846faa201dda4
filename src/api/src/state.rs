//! What every handler works with.

use crate::{
    door::Door,
    metrics::Requests,
    policy::{Policy, PolicyFault, PolicySource},
};
use arc_swap::{ArcSwap, Guard};
use std::sync::Arc;
use stowplan_cloud::AccountFault;
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
    /// How the reading of Nova's databases goes; none where none are read.
    pub nova: Option<Arc<stowplan_scheduler::nova::Status>>,
}

/// The same with what this crate makes of it, shared by all workers.
pub struct Shared {
    /// What the surfaces stand on.
    pub api: ApiState,
    /// What is counted of requests.
    pub requests: Requests,
    /// How it is found out who calls.
    pub door: Door,
    policy: PolicySource,
}

/// Why the surfaces cannot be made ready.
#[derive(Debug, thiserror::Error)]
pub enum Unready {
    /// There is a policy file that cannot be used.
    #[error(transparent)]
    Policy(#[from] PolicyFault),
    /// Keystone cannot be asked.
    #[error(transparent)]
    Keystone(#[from] AccountFault),
}

impl Shared {
    /// Prepares what the workers share.
    ///
    /// # Errors
    /// When there is a policy file that cannot be used, or no way to ask Keystone.
    pub fn new(api: ApiState) -> Result<Self, Unready> {
        let settings = api.settings.load();
        let policy = PolicySource::open(&settings.oslo_policy)?;
        let door = Door::new(&settings, api.clock.clone())?;
        drop(settings);
        Ok(Self { door, policy, api, requests: Requests::default() })
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
