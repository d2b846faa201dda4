//! One cycle, from an image of the ledger to what is written of it.

use super::Clock;
use super::apart::apart;
use super::commits::LedgerCommits;
use crate::actions::{Action, ActionFault, actions};
use crate::amounts::{Dims, DimsFault};
use crate::fragment::Experience;
use crate::plugins::{Outside, PluginFault, completed, tiers};
use crate::session::{Diary, Session, SessionOptions, State, Tiers, Verdict};
use crate::store::{
    BindTerms, Epoch, LoadOptions, SpecCache, Superseded, Terms, load, news, record_verdicts,
};
use std::sync::Arc;
use std::time::Duration;
use stowplan_config::Settings;
use stowplan_engine::config::EngineConfig;
use stowplan_ledger::{Image, Ledger};
use stowplan_model::Micros;
use thiserror::Error;
use tokio::runtime::Handle;
use tokio::time::Instant;

/// The action that admits jobs; without it allocate does.
const ENQUEUE: &str = "enqueue";
/// The action that has something to do when no task waits, too.
const SHUFFLE: &str = "shuffle";

/// All that a cycle is made with: dimensions, actions, plugins, as configured.
pub struct Plant {
    pub(crate) load: LoadOptions,
    actions: Vec<Box<dyn Action>>,
    pub(crate) tiers: Tiers,
    options: SessionOptions,
    terms: BindTerms,
    shuffles: bool,
}

/// Settings that no cycle can run with.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlantFault {
    /// The map of dimensions.
    #[error(transparent)]
    Dims(#[from] DimsFault),
    /// An action.
    #[error(transparent)]
    Action(#[from] ActionFault),
    /// A plugin.
    #[error(transparent)]
    Plugin(#[from] PluginFault),
}

impl Plant {
    /// Preferred hosts of a hint that are looked at, at most.
    pub(crate) const fn max_hint_nodes(&self) -> usize {
        self.options.max_hint_nodes
    }

    /// As `[batch]` and `[batch:<plugin>]` say; nobody outside is asked.
    ///
    /// # Errors
    /// An action or plugin that does not exist, with the nearest that does; an
    /// argument or quantum that cannot be.
    pub fn new(settings: &Settings) -> Result<Self, PlantFault> {
        Self::with(settings, &Outside::default())
    }

    /// The same, with what plugins reach outside of sessions.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with(settings: &Settings, outside: &Outside) -> Result<Self, PlantFault> {
        let settings = &completed(settings);
        let batch = &settings.batch;
        let micros = |time: Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        let loop_window = micros(batch.loop_window);
        Ok(Self {
            load: LoadOptions {
                dims: Arc::new(Dims::from_settings(settings)?),
                shares: batch.total,
                loop_window,
            },
            actions: actions(batch.actions.iter().map(String::as_str), &settings.batch_plugins)?,
            tiers: tiers(settings, &EngineConfig::from(settings), outside)?,
            shuffles: batch.actions.iter().any(|action| action == SHUFFLE),
            terms: BindTerms { keep: micros(batch.nomination_timeout), loop_window },
            options: SessionOptions {
                commit_retries: batch.commit_retries,
                enqueues: batch.actions.iter().any(|action| action == ENQUEUE),
                max_hint_nodes: settings.scheduler.max_hint_nodes as usize,
            },
        })
    }
}

impl Plant {
    /// Whether a cycle has something to do even if no task waits.
    #[must_use]
    pub fn is_due(&self, now: Micros, memory: &Memory) -> bool {
        self.shuffles && !self.tiers.shufflers(now, &memory.diary).is_empty()
    }
}

/// What one cycle leaves to the next.
#[derive(Debug, Default)]
pub struct Memory {
    specs: SpecCache,
    diary: Diary,
    experience: Experience,
}

/// A cycle about to run.
pub struct Cycle {
    ledger: Ledger,
    plant: Plant,
    clock: Clock,
    epoch: Epoch,
}

/// What a cycle has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CycleReport {
    /// The ledger's sequence number that it started from.
    pub cycle: i64,
    /// Tasks bound.
    pub binds: usize,
    /// Statements that were refused at commit.
    pub refusals: usize,
    /// Whether it broke off: a fault of ours.
    pub broke_off: bool,
    /// How long it has worked; waiting for commits is no work.
    pub busy: Duration,
}

impl Cycle {
    /// A cycle on a ledger, of who leads in this epoch.
    #[must_use]
    pub fn new(ledger: Ledger, plant: Plant, clock: Clock, epoch: Epoch) -> Self {
        Self { ledger, plant, clock, epoch }
    }

    /// Runs it on an image. What it says of jobs is written as far as it is
    /// news.
    pub async fn run(self, image: Arc<Image>, memory: Memory) -> (Memory, CycleReport) {
        let (ledger, clock, epoch) = (self.ledger.clone(), self.clock.clone(), self.epoch);
        let said_at = clock.clone();
        let cycle = image.seq();
        let request_id = format!("batch-cycle-{cycle}");
        let runtime = Handle::current();
        let plant = self.plant;
        let terms = Terms { cycle, request_id: request_id.as_str().into(), evictions: plant.terms };
        let commits = LedgerCommits::new(self.ledger, self.clock, runtime, epoch, terms);
        let now = clock();
        let ran = apart(move || {
            let began = Instant::now();
            let Memory { mut specs, diary, experience } = memory;
            let mut commits = commits;
            let mut loaded = load(&image, &plant.load, &mut specs, now);
            loaded.state.diary = diary;
            loaded.state.experience = experience;
            let mut session = Session::open(loaded.state, plant.tiers, plant.options, &mut commits);
            for action in &plant.actions {
                action.run(&mut session);
            }
            let closed = session.close(cycle);
            let mut verdicts = closed.verdicts;
            verdicts.extend(loaded.unreadable);
            let verdicts = news(&commits.image(), verdicts, clock());
            let report = CycleReport {
                cycle,
                binds: closed.binds,
                refusals: commits.refusals(),
                broke_off: false,
                busy: began.elapsed().saturating_sub(commits.waited()),
            };
            let State { diary, experience, .. } = closed.state;
            (Memory { specs, diary, experience }, verdicts, report)
        });
        match ran.await {
            Some((memory, verdicts, report)) => {
                say(&ledger, verdicts, &request_id, epoch, said_at).await;
                (memory, report)
            }
            None => {
                tracing::error!(cycle, "a batch cycle broke off");
                (
                    Memory::default(),
                    CycleReport { cycle, broke_off: true, ..CycleReport::default() },
                )
            }
        }
    }
}

async fn say(
    ledger: &Ledger,
    verdicts: Vec<Verdict>,
    request_id: &str,
    epoch: Epoch,
    clock: Clock,
) {
    if verdicts.is_empty() {
        return;
    }
    let written = ledger.write::<_, (), Superseded>(request_id, move |image| {
        epoch.check(image)?;
        Ok((record_verdicts(image, &verdicts, clock()), ()))
    });
    if let Err(error) = written.await {
        tracing::warn!(%error, "what a batch cycle says of jobs was not written");
    }
}
