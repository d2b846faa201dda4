//! The bus at work: what comes is read, decided and answered.

mod acknowledged;
mod calls;
mod casts;
mod dead;
mod deliveries;
mod delivery;
mod duplicates;
mod events;
mod feed;
mod freshness;
mod intake;
mod notices;
mod patience;
mod repeated;
mod session;
mod shadow;
mod status;
mod tasks;
mod tell;
mod thread;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use stowplan_config::{Mode, Rabbit, Settings};
use stowplan_model::Micros;
use stowplan_scheduler::Scheduler;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinHandle;

use crate::link::{Dialler, Names, Post};
use crate::shadow::Comparisons;
use casts::Cast;
use dead::Dead;
use deliveries::Deliveries;
use duplicates::Duplicates;
use feed::Feed;
use freshness::Freshness;
use repeated::Repeated;
pub use status::{Counter, Link, Status};
use tasks::Tasks;
use tell::Tell;
use thread::Thread;

/// The clock of the service.
pub type Clock = Arc<dyn Fn() -> Micros + Send + Sync>;

/// How long calls under way may take to end when the service stops.
const FAREWELL: Duration = Duration::from_secs(10);
/// Microseconds in a day: how long it is kept how new knowledge is.
const DAY_US: i64 = 86_400_000_000;
/// Between two looks for answers that may be forgotten.
const TRIM: Duration = Duration::from_secs(60);

/// What the bus works with.
pub struct Parts {
    /// Where requests are decided and the ledger is changed.
    pub scheduler: Scheduler,
    /// The options in force.
    pub settings: Arc<ArcSwap<Settings>>,
    /// The clock.
    pub clock: Clock,
    /// The name of this machine.
    pub hostname: String,
}

/// What all tasks of the bus share.
struct Hub {
    scheduler: Scheduler,
    settings: Arc<ArcSwap<Settings>>,
    clock: Clock,
    names: Names,
    dialler: Arc<Dialler>,
    replies: Arc<Post>,
    status: Arc<Status>,
    permits: Arc<Semaphore>,
    duplicates: Duplicates,
    freshness: Freshness,
    deliveries: Arc<Deliveries>,
    dead: Dead,
    casts: mpsc::Sender<Cast>,
    tell: Option<Tell>,
    comparisons: Arc<Comparisons>,
    /// Places of copies that wait to be compared.
    compared: Semaphore,
    tasks: Tasks,
    /// What was told of unreadable messages.
    unreadable: Repeated,
}

impl Hub {
    fn options(&self) -> &Rabbit {
        self.dialler.options()
    }
}

/// The bus, started.
pub struct Bus {
    status: Arc<Status>,
    hub: Arc<Hub>,
    stop: watch::Sender<bool>,
    listeners: Vec<JoinHandle<()>>,
    tasks: Vec<JoinHandle<()>>,
    note: JoinHandle<()>,
    thread: Thread,
}

impl Bus {
    /// Starts the bus on a thread of its own, if there is a `transport_url`.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn start(parts: Parts) -> io::Result<Option<Self>> {
        let Parts { scheduler, settings, clock, hostname } = parts;
        let options = settings.load_full();
        let Some(url) = options.default.transport_url.clone() else {
            tracing::info!("[DEFAULT] transport_url is not set: there is no message bus");
            return Ok(None);
        };
        let thread = Thread::start()?;
        let _entered = thread.enter();
        let host = options.default.host.clone().unwrap_or_else(|| hostname.clone());
        let rabbit = options.oslo_messaging_rabbit.clone();
        tracing::info!(%url, host, "the message bus is on");
        let dialler = Arc::new(Dialler::new(url, rabbit, "stowplan".to_owned()));
        let (delivered, to_note) = mpsc::unbounded_channel();
        let (casts, to_apply) = mpsc::channel(casts::WAITING);
        let rpc = &options.stowplan_rpc;
        let names = Names::new(&options, &host, &hostname);
        let status = Arc::new(Status::new(rpc.max_in_flight as usize));
        let deliveries = Arc::new(Deliveries::new(delivered));
        let aside = Arc::new(Post::new(dialler.clone()));
        let means = tell::Means {
            post: Post::new(dialler.clone()),
            names: names.clone(),
            status: status.clone(),
            clock: clock.clone(),
            settings: options.clone(),
        };
        let hub = Arc::new(Hub {
            names,
            replies: Arc::new(Post::new(dialler.clone())),
            permits: status.permits(),
            status,
            tell: Tell::start(means, &host),
            comparisons: Arc::default(),
            compared: Semaphore::new(shadow::COMPARED),
            duplicates: Duplicates::default(),
            freshness: Freshness::default(),
            deliveries: deliveries.clone(),
            dead: Dead::start(aside, rpc.dead_queue.clone(), rpc.dead_max_length),
            casts,
            tasks: Tasks::default(),
            unreadable: Repeated::default(),
            dialler,
            scheduler: scheduler.clone(),
            settings,
            clock,
        });
        let note = tokio::spawn(delivery::note(scheduler, Arc::downgrade(&deliveries), to_note));
        let (stop, stopped) = watch::channel(false);
        let calls = match options.scheduler.mode {
            Mode::Active => Feed::Calls,
            Mode::Shadow => Feed::Shadow,
        };
        let listeners = [calls, Feed::Notices].map(|feed| {
            let is_on = feed != Feed::Notices || options.stowplan_notifications.is_on();
            is_on.then(|| tokio::spawn(hub.clone().listen(feed, stopped.clone())))
        });
        let mut tasks = vec![
            tokio::spawn(hub.clone().apply_casts(to_apply)),
            tokio::spawn(hub.clone().keep_house(stopped.clone())),
        ];
        if options.stowplan_events.enabled {
            tasks.push(tokio::spawn(hub.clone().send_events(stopped)));
        }
        let listeners = listeners.into_iter().flatten().collect();
        let status = hub.status.clone();
        Ok(Some(Self { status, hub, stop, listeners, tasks, note, thread }))
    }

    /// How the bus is.
    #[must_use]
    pub fn status(&self) -> Arc<Status> {
        self.status.clone()
    }

    /// What shadow mode has found.
    #[must_use]
    pub fn comparisons(&self) -> Arc<Comparisons> {
        self.hub.comparisons.clone()
    }

    /// Takes no more messages, ends what is under way, closes the connections.
    /// An answer that is not delivered by then is by the next process.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        let Self { hub, listeners, tasks, note, thread, .. } = self;
        for listener in listeners {
            listener.await.unwrap_or_else(|error| broke_off(&error));
        }
        let left = hub.tasks.wait(FAREWELL).await;
        if left > 0 {
            tracing::warn!(left, "answers are still under way; the next process delivers them");
        }
        for task in tasks {
            task.abort();
        }
        hub.replies.close().await;
        hub.status.set(Link::Stopped);
        // The last of these lets go of the deliveries to be noted.
        drop(hub);
        if tokio::time::timeout(FAREWELL, note).await.is_err() {
            tracing::warn!("deliveries were not noted in time");
        }
        thread.end();
    }
}

fn broke_off(error: &tokio::task::JoinError) {
    tracing::error!(%error, "a task of the message bus broke off");
}

impl Hub {
    /// Looks after answers: those that nobody delivers, and those that are old.
    async fn keep_house(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        let mut rounds = 0u32;
        loop {
            let stopping = stop.wait_for(|stop| *stop);
            if tokio::time::timeout(delivery::SWEEP, stopping).await.is_ok() {
                return;
            }
            self.sweep();
            rounds += 1;
            if u64::from(rounds) * delivery::SWEEP.as_secs() >= TRIM.as_secs() {
                rounds = 0;
                self.forget().await;
            }
        }
    }

    async fn forget(&self) {
        let settings = self.settings.load_full();
        let rpc = &settings.stowplan_rpc;
        let age = i64::try_from(rpc.answers_max_age.as_micros()).unwrap_or(i64::MAX);
        let oldest = Micros((self.clock)().0.saturating_sub(age));
        let most = rpc.answers_max_rows as usize;
        loop {
            match self.scheduler.forget_calls(oldest, most).await {
                Ok(0) => break,
                Ok(calls) => tracing::debug!(calls, "old answers were forgotten"),
                Err(error) => {
                    tracing::warn!(%error, "old answers could not be forgotten");
                    break;
                }
            }
        }
        let day = Micros((self.clock)().0.saturating_sub(DAY_US));
        if let Err(error) = self.scheduler.forget_stamps(day).await {
            tracing::warn!(%error, "old stamps could not be forgotten");
        }
    }
}
