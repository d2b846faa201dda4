//! The scheduler as everybody above uses it. One room for each kind of thing.

mod aggregates;
mod calls;
mod decisions;
mod facts;
mod groups;
mod hosts;
mod select;

use std::sync::Arc;

use arc_swap::ArcSwap;
use stowplan_config::Settings;
use stowplan_engine::Engine;
use stowplan_engine::registry::RegistryError;
use stowplan_ledger::{Change, Image, Ledger, Unavailable, WriteError};
use stowplan_model::{Micros, Uuid};

use crate::beside::Beside;
use crate::decisions::DecisionLog;
use crate::error::SchedulerError;
use crate::select::{Networks, Tally};
pub use select::Answer;

/// What comes of a call that writes.
pub type Written<T> = Result<T, WriteError<SchedulerError>>;

/// Options with what is made of them once.
pub struct Prepared {
    /// The options.
    pub settings: Arc<Settings>,
    /// Filters and weighers.
    pub engine: Engine,
}

impl Prepared {
    fn new(settings: Arc<Settings>) -> Result<Self, RegistryError> {
        Ok(Self { engine: Engine::new(&settings)?, settings })
    }
}

/// Who asks, and when.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The request's id, under which journal and decisions know the call.
    pub request_id: &'a str,
    /// Now.
    pub now: Micros,
}

/// Hosts, host aggregates, server groups, destinations and decisions on one
/// ledger: cheap to clone.
#[derive(Clone)]
pub struct Scheduler {
    ledger: Ledger,
    settings: Arc<ArcSwap<Settings>>,
    prepared: Arc<ArcSwap<Prepared>>,
    log: DecisionLog,
    beside: Beside,
    tally: Arc<Tally>,
    networks: Option<Arc<dyn Networks>>,
    seeds: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl Scheduler {
    /// A scheduler on a ledger. Options that are swapped later take effect
    /// with the next call. Starts the task that writes the bodies of decisions
    /// on the current tokio runtime.
    ///
    /// # Errors
    /// A filter or weigher that the options name and that is not there.
    pub fn new(ledger: Ledger, settings: Arc<ArcSwap<Settings>>) -> Result<Self, RegistryError> {
        let prepared = Arc::new(ArcSwap::from_pointee(Prepared::new(settings.load_full())?));
        let options = settings.clone();
        let log = DecisionLog::start(ledger.clone(), move || options.load().decisions.clone());
        let (beside, tally, seeds) = (Beside::new(), Arc::default(), Arc::new(chance));
        Ok(Self { ledger, settings, prepared, log, beside, tally, networks: None, seeds })
    }

    /// The same with seeds from elsewhere, so that decisions can be foreseen.
    #[must_use]
    pub fn with_seeds(self, seeds: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self { seeds: Arc::new(seeds), ..self }
    }

    /// The same with somebody who knows of networks and ports.
    #[must_use]
    pub fn with_networks(self, networks: Arc<dyn Networks>) -> Self {
        Self { networks: Some(networks), ..self }
    }

    /// The ledger.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The options in force with the engine that they make. Options that no
    /// engine can be made of are passed over, with an error in the log.
    #[must_use]
    pub fn prepared(&self) -> Arc<Prepared> {
        let settings = self.settings.load_full();
        let prepared = self.prepared.load_full();
        if Arc::ptr_eq(&settings, &prepared.settings) {
            return prepared;
        }
        match Prepared::new(settings) {
            Ok(prepared) => {
                let prepared = Arc::new(prepared);
                self.prepared.store(prepared.clone());
                prepared
            }
            Err(error) => {
                tracing::error!(%error, "the new options are not used");
                prepared
            }
        }
    }

    /// Runs a computation of more than a fraction of a millisecond beside the calling
    /// thread. Decisions run so too: all of these together are no more at once than
    /// there are processors.
    ///
    /// # Errors
    /// When the service is stopping; or when the computation broke off, which is
    /// logged under the id that the error has.
    pub async fn beside<T, F>(&self, work: F) -> Result<T, Unavailable>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        self.beside.run(work).await
    }

    /// How many requests for destinations there were, by outcome.
    #[must_use]
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Waits until the bodies of all decisions made so far are written.
    pub async fn drain(&self) {
        self.log.drain().await;
    }

    async fn write<T, F>(&self, call: Call<'_>, propose: F) -> Written<T>
    where
        T: Send + 'static,
        F: FnMut(&Image) -> Result<(Change, T), SchedulerError> + Send + 'static,
    {
        self.ledger.write(call.request_id, propose).await
    }
}

/// A seed by chance, small enough for every reader of JSON.
fn chance() -> u64 {
    const BITS: u32 = 53;
    let (high, low) = Uuid::new_v4().as_u64_pair();
    (high ^ low.rotate_left(32)) >> (u64::BITS - BITS)
}
