//! The loop that runs cycles: the only part of this crate that waits.
//!
//! A cycle starts every `[batch] schedule_period`, or at once when the ledger
//! has changed and a task waits for a host. The session itself runs on a thread
//! that gives way to the workers that answer requests; its statements go to the
//! ledger's writer without making it wait.

mod apart;
mod commits;
mod cycle;
mod figures;
mod sweeping;

pub use cycle::{Cycle, CycleReport, Memory, Plant, PlantFault};
pub use figures::{CycleFigures, Figures};

use crate::plugins::Outside;
use crate::store::{Epoch, has_work, seed, take_lead};
use arc_swap::ArcSwap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use stowplan_config::Settings;
use stowplan_ledger::{Image, Ledger, Unavailable, WriteError};
use stowplan_model::Micros;
use thiserror::Error;
use tokio::sync::watch;
use tokio::time::Instant;

/// The clock of the service: now, in microseconds since the epoch.
pub type Clock = Arc<dyn Fn() -> Micros + Send + Sync>;

/// The shortest pause between two cycles that a change asks for.
const SHORTEST_PAUSE: Duration = Duration::from_millis(10);

/// Why batch cycles cannot begin.
#[derive(Debug, Error)]
pub enum PrepareError {
    /// The settings.
    #[error(transparent)]
    Settings(#[from] PlantFault),
    /// The ledger does not take what must be there.
    #[error("the default queue cannot be made: {0}")]
    Ledger(#[from] Unavailable),
}

/// To be called once before anybody is answered: checks the settings, and makes
/// the queues that must be there before the first job.
///
/// # Errors
/// Settings that no cycle can run with, or a ledger that cannot write.
pub async fn prepare(
    ledger: &Ledger,
    settings: &Settings,
    now: Micros,
) -> Result<(), PrepareError> {
    Plant::new(settings)?;
    let made =
        ledger.write::<_, (), Infallible>("batch-seed", move |image| Ok((seed(image, now), ())));
    match made.await {
        Ok(()) => Ok(()),
        Err(WriteError::Unavailable(trouble)) => Err(trouble.into()),
        Err(WriteError::Refused(never)) => match never {},
    }
}

/// Runs cycles until `stop` says true or is dropped. A cycle that is under way
/// is finished: all it handed over is committed or refused.
pub async fn run(
    ledger: Ledger,
    settings: Arc<ArcSwap<Settings>>,
    clock: Clock,
    outside: Outside,
    figures: Arc<CycleFigures>,
    mut stop: watch::Receiver<bool>,
) {
    let Some(epoch) = lead(&ledger, &settings, &clock, &mut stop).await else { return };
    let mut head = ledger.watch();
    let mut memory = Memory::default();
    let mut known_fault = String::new();
    let mut sweeper = sweeping::Sweeper::default();
    // It is made of all settings: not for each change of a ledger in which no task
    // waits.
    let mut kept_plant: Option<(Arc<Settings>, Plant)> = None;
    loop {
        let options = settings.load_full();
        let mut busy = Duration::ZERO;
        if let Err(superseded) = epoch.check(&ledger.image()) {
            tracing::error!(%superseded, "batch cycles end here");
            return;
        }
        sweeper.sweep(&ledger, &options, epoch, &clock).await;
        let kept = kept_plant.take().filter(|(of, _)| Arc::ptr_eq(of, &options));
        match kept.map_or_else(|| Plant::with(&options, &outside), |(_, plant)| Ok(plant)) {
            Ok(plant) => {
                known_fault.clear();
                head.borrow_and_update();
                let (image, now) = (ledger.image(), clock());
                if has_work(&image, now) || plant.is_due(now, &memory) {
                    let cycle = Cycle::new(ledger.clone(), plant, clock.clone(), epoch);
                    (memory, busy) = turn(cycle, image, &figures, memory).await;
                } else {
                    kept_plant = Some((options.clone(), plant));
                }
            }
            Err(fault) => {
                let fault = fault.to_string();
                if fault != known_fault {
                    tracing::error!(%fault, "no batch cycle runs until the settings are mended");
                }
                known_fault = fault;
            }
        }
        // Never more than half of the time goes into cycles.
        let pause = busy.max(SHORTEST_PAUSE);
        let period = options.batch.schedule_period.max(pause);
        let woken = async {
            tokio::time::sleep(pause).await;
            // An error means that the ledger is gone; the period ends the wait.
            if head.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => return,
            () = woken => {}
            () = tokio::time::sleep(period) => {}
        }
    }
}

/// Takes the lead of cycles; none when it is time to stop before the ledger
/// takes that.
async fn lead(
    ledger: &Ledger,
    settings: &ArcSwap<Settings>,
    clock: &Clock,
    stop: &mut watch::Receiver<bool>,
) -> Option<Epoch> {
    loop {
        let now = clock();
        let taken = ledger
            .write::<_, _, Infallible>("batch-lead", move |image| Ok(take_lead(image, now)))
            .await;
        match taken {
            Ok(epoch) => return Some(epoch),
            Err(error) => tracing::warn!(%error, "no batch cycle runs yet"),
        }
        let pause = settings.load().batch.schedule_period;
        if tokio::time::timeout(pause, stop.wait_for(|stop| *stop)).await.is_ok() {
            return None;
        }
    }
}

/// One turn: runs a cycle, and tells how long that has worked.
async fn turn(
    cycle: Cycle,
    image: Arc<Image>,
    figures: &CycleFigures,
    memory: Memory,
) -> (Memory, Duration) {
    let began = Instant::now();
    let (memory, report) = cycle.run(image, memory).await;
    let took = began.elapsed();
    figures.add(report, took);
    if report.binds > 0 || report.refusals > 0 {
        tracing::info!(
            cycle = report.cycle,
            binds = report.binds,
            refusals = report.refusals,
            "batch cycle"
        );
    }
    // One that broke off says nothing of itself, and is not to come again at once.
    (memory, if report.broke_off { took } else { report.busy })
}
