//! What goes on beside the answering of requests.

use super::extender::HttpExtender;
use crate::clock;
use arc_swap::ArcSwap;
use std::{sync::Arc, time::Duration};
use stowplan_batch::CycleFigures;
use stowplan_batch::plugins::Outside;
use stowplan_config::Settings;
use stowplan_ledger::{Flushed, Ledger};
use stowplan_model::Micros;
use stowplan_scheduler::{Call, Scheduler};
use tokio::{runtime::Handle, sync::watch, task::JoinHandle};

/// How many times their age changes may reach whose events are not sent.
const PATIENCE: i64 = 4;
/// Time between two looks for changes in the journal that are too old.
const TRIM_INTERVAL: Duration = Duration::from_secs(60);

/// Time between two looks for what has run out.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// The tasks in the background, until they are stopped.
pub struct Tasks {
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
}

/// What each of them works with.
#[derive(Clone)]
struct Context {
    ledger: Ledger,
    settings: Arc<ArcSwap<Settings>>,
    stop: watch::Receiver<bool>,
}

impl Context {
    /// Sleeps, and is awake early when it is time to stop: then false.
    async fn sleep(&mut self, time: Duration) -> bool {
        tokio::time::timeout(time, self.stop.wait_for(|stop| *stop)).await.is_err()
    }
}

/// Starts them all.
pub fn start(
    runtime: &Handle,
    ledger: &Ledger,
    scheduler: &Scheduler,
    settings: &Arc<ArcSwap<Settings>>,
    cycles: &Arc<CycleFigures>,
) -> Tasks {
    let (stop, stopped) = watch::channel(false);
    let context = Context { ledger: ledger.clone(), settings: settings.clone(), stop: stopped };
    let cycles = stowplan_batch::run(
        context.ledger.clone(),
        context.settings.clone(),
        Arc::new(clock::now),
        Outside { extender: Some(Arc::new(HttpExtender::new())) },
        cycles.clone(),
        context.stop.clone(),
    );
    let tasks = vec![
        runtime.spawn(cycles),
        runtime.spawn(trim_journal(context.clone())),
        runtime.spawn(sweep(context.clone(), scheduler.clone())),
        runtime.spawn(flush_signs_of_life(context)),
    ];
    Tasks { stop, tasks }
}

impl Tasks {
    /// Lets each finish what it is at, and waits for it.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        for task in self.tasks {
            if let Err(error) = task.await {
                tracing::error!(%error, "a task in the background broke off");
            }
        }
    }
}

/// Writes when hosts were last heard to the database
/// (`[ledger] last_seen_flush_interval`), and once more at the end.
async fn flush_signs_of_life(mut context: Context) {
    let mut flushed = Flushed::new();
    loop {
        let interval = context.settings.load().ledger.last_seen_flush_interval;
        let goes_on = context.sleep(interval).await;
        if let Err(error) = context.ledger.flush_heard(&mut flushed).await {
            tracing::warn!(%error, "hosts' signs of life were not written; they will be later");
        }
        if !goes_on {
            return;
        }
    }
}

/// Releases claims that were not confirmed in time, and forgets keys of requests
/// whose time is over.
async fn sweep(mut context: Context, scheduler: Scheduler) {
    while context.sleep(SWEEP_INTERVAL).await {
        let call = Call { request_id: "sweep", now: clock::now() };
        match scheduler.expire_claims(call).await {
            Ok(servers) if servers.is_empty() => {}
            Ok(servers) => tracing::info!(?servers, "claims were not confirmed and are released"),
            Err(error) => tracing::warn!(%error, "claims were not released; they will be later"),
        }
        if let Err(error) = scheduler.forget_request_keys(call).await {
            tracing::warn!(%error, "keys of requests were not forgotten; they will be later");
        }
    }
}

/// Forgets changes before `oldest`, none after `upto` if that is named.
async fn forget(context: &Context, oldest: Micros, upto: Option<i64>) {
    while !*context.stop.borrow() {
        match context.ledger.trim_journal(oldest, upto).await {
            Ok(0) => break,
            Ok(count) => tracing::debug!(count, "old changes were forgotten"),
            Err(error) => {
                tracing::warn!(%error, "old changes could not be forgotten");
                break;
            }
        }
    }
}

/// Forgets changes in the journal that are older than `[ledger]
/// journal_max_age`, a piece at a time, so that writes come in between.
async fn trim_journal(mut context: Context) {
    while context.sleep(TRIM_INTERVAL).await {
        let age = context.settings.load().ledger.journal_max_age.as_micros();
        let age = i64::try_from(age).unwrap_or(i64::MAX);
        let before = |age: i64| Micros(clock::now().0.saturating_sub(age));
        let unsent = match context.settings.load().stowplan_events.enabled {
            true => context.ledger.outbox().await.ok().flatten(),
            false => None,
        };
        if unsent.is_some() {
            // Changes wait until their events are sent, but not for ever.
            forget(&context, before(age.saturating_mul(PATIENCE)), None).await;
        }
        forget(&context, before(age), unsent).await;
    }
}
