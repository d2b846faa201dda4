//! The tasks of the follower: one for the API database, one for each cell.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use stowplan_config::{Nova, Settings};
use stowplan_model::{Micros, Uuid};
use stowplan_scheduler::{Scheduler, nova};
use tokio::{sync::watch, task::JoinHandle};

use super::books::{Books, cell_facts, is_due};
use super::cell::{Cell, News};
use super::cells::{Cells, Followed, followed};
use super::source::{Found, Source, within};
use super::tell::{Refused, Teller};
use super::{schema, tables::CellMapping};
use crate::{clock, database};

/// The name of the API database in the status.
const API: &str = "api";
/// A database is read by one task, and a server needs two connections at most.
const CONNECTIONS: u32 = 2;

/// The follower, until it is stopped.
pub struct Follower {
    status: Arc<nova::Status>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

/// What each task works with.
#[derive(Clone)]
struct Context {
    scheduler: Scheduler,
    settings: Arc<ArcSwap<Settings>>,
    status: Arc<nova::Status>,
    stop: watch::Receiver<bool>,
}

impl Follower {
    /// Starts it on the current tokio runtime, if there is anything to follow.
    pub fn start(scheduler: &Scheduler, settings: &Arc<ArcSwap<Settings>>) -> Option<Self> {
        if !settings.load().nova.is_on() {
            return None;
        }
        let (stop, stopped) = watch::channel(false);
        let status = Arc::<nova::Status>::default();
        let context = Context {
            scheduler: scheduler.clone(),
            settings: settings.clone(),
            status: status.clone(),
            stop: stopped,
        };
        let task = tokio::spawn(Api::new(context).run());
        Some(Self { status, stop, task })
    }

    /// How the reading goes.
    pub fn status(&self) -> Arc<nova::Status> {
        self.status.clone()
    }

    /// Ends all tasks, and waits for that.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the follower broke off");
        }
    }
}

impl Context {
    /// Does something, unless it is time to stop: then nothing.
    async fn unless_stopped<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut stop = self.stop.clone();
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => None,
            done = work => Some(done),
        }
    }

    fn options(&self) -> Nova {
        self.settings.load().nova.clone()
    }

    fn spec(&self, url: &stowplan_config::DatabaseUrl) -> stowplan_db::ConnectSpec {
        let mut spec = database::spec_of(url, &self.settings.load().placement_database);
        spec.max_connections = CONNECTIONS;
        spec
    }
}

/// The task of the API database, which looks after those of the cells.
struct Api {
    context: Context,
    source: Option<Source>,
    books: Books,
    refused: Refused,
    complete: Option<Micros>,
    cells: BTreeMap<Uuid, CellTask>,
    problems: Vec<String>,
}

/// The task of a cell.
struct CellTask {
    followed: Followed,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Api {
    fn new(context: Context) -> Self {
        let source =
            context.options().api_database.as_ref().map(|url| {
                Source::new(API, context.spec(url), &schema::API, context.status.clone())
            });
        Self {
            context,
            source,
            books: Books::default(),
            refused: Refused::default(),
            complete: None,
            cells: BTreeMap::new(),
            problems: Vec::new(),
        }
    }

    async fn run(mut self) {
        let context = self.context.clone();
        loop {
            let round = async {
                let pause = self.round().await;
                tokio::time::sleep(pause).await;
            };
            if context.unless_stopped(round).await.is_none() {
                break;
            }
        }
        for (_, cell) in std::mem::take(&mut self.cells) {
            cell.end().await;
        }
    }

    /// Reads once. Gives the pause until the next time.
    async fn round(&mut self) -> Duration {
        let options = self.context.options();
        let Some(mut source) = self.source.take() else {
            self.follow(&options, None).await;
            return options.poll_interval;
        };
        let pause = match self.read(&mut source, &options).await {
            Ok(found) => source.is_read(found, options.poll_interval),
            Err(reason) => {
                self.books.distrust();
                source.is_away(reason)
            }
        };
        self.source = Some(source);
        pause
    }

    async fn read(&mut self, source: &mut Source, options: &Nova) -> Result<Found, String> {
        let now = clock::now();
        let all = is_due(self.complete, now, options.full_interval);
        let snapshot = source.snapshot().await?;
        let told = within(self.books.read(&snapshot, all)).await?;
        within(snapshot.end()).await?;
        if all {
            self.complete = Some(now);
            self.refused.start_anew();
        }
        let scheduler = self.context.scheduler.clone();
        let image = scheduler.ledger().image();
        let mut facts = nova::cells(&image, &cell_facts(&told.mappings));
        facts.extend(told.aggregates.iter().flat_map(|told| nova::aggregates(&image, told)));
        facts.extend(told.groups.iter().flat_map(|told| nova::groups(&image, told)));
        let teller = Teller { scheduler: &scheduler, at: now };
        if !teller.facts(facts, &mut self.refused).await {
            self.books.distrust();
        }
        self.follow(options, Some(&told.mappings)).await;
        Ok(Found {
            at: now,
            known: self.cells.len(),
            refused: self.refused.len() + self.problems.len(),
            reason: self.problems.first().cloned().or_else(|| self.refused.first()),
        })
    }

    /// Starts and ends tasks of cells, so that those run that are to be followed. Hosts
    /// of cells that are not any more go.
    async fn follow(&mut self, options: &Nova, mappings: Option<&[CellMapping]>) {
        let (cells, problems) = followed(options, mappings);
        if problems != self.problems {
            for problem in &problems {
                tracing::warn!(problem, "a cell of Nova is not followed");
            }
            self.problems = problems;
        }
        for uuid in self.cells.keys().copied().collect::<Vec<_>>() {
            let is_same =
                self.cells.get(&uuid).is_some_and(|task| cells.get(&uuid) == Some(&task.followed));
            if !is_same && let Some(task) = self.cells.remove(&uuid) {
                task.end().await;
            }
        }
        // A cell whose address cannot be read is there all the same.
        if self.problems.is_empty() {
            self.forget_others(&cells).await;
        }
        for (uuid, followed) in cells {
            let context = &self.context;
            self.cells.entry(uuid).or_insert_with(|| CellTask::start(context, uuid, followed));
        }
    }

    async fn forget_others(&self, cells: &Cells) {
        let scheduler = &self.context.scheduler;
        let teller = Teller { scheduler, at: clock::now() };
        let image = scheduler.ledger().image();
        let is_gone = |_, cell: Option<Uuid>| cell.is_none_or(|cell| !cells.contains_key(&cell));
        teller.gone(&image, is_gone).await;
    }
}

impl CellTask {
    fn start(context: &Context, uuid: Uuid, followed: Followed) -> Self {
        let (stop, stopped) = watch::channel(false);
        let context = Context { stop: stopped, ..context.clone() };
        let spec = context.spec(&followed.url);
        let source = Source::new(&followed.name, spec, &schema::CELL, context.status.clone());
        let reader = Reader {
            context,
            source,
            uuid,
            cell: Cell::new(uuid),
            refused: Refused::default(),
            complete: None,
        };
        Self { followed, stop, task: tokio::spawn(reader.run()) }
    }

    async fn end(self) {
        self.stop.send_replace(true);
        if let Err(error) = self.task.await {
            tracing::error!(%error, cell = self.followed.name, "the follower of a cell broke off");
        }
    }
}

/// Reads the database of a cell.
struct Reader {
    context: Context,
    source: Source,
    uuid: Uuid,
    cell: Cell,
    refused: Refused,
    complete: Option<Micros>,
}

impl Reader {
    async fn run(mut self) {
        let context = self.context.clone();
        loop {
            let round = async {
                let pause = self.round().await;
                tokio::time::sleep(pause).await;
            };
            if context.unless_stopped(round).await.is_none() {
                return;
            }
        }
    }

    async fn round(&mut self) -> Duration {
        let options = self.context.options();
        match self.read(&options).await {
            Ok(found) => self.source.is_read(found, options.poll_interval),
            Err(reason) => {
                self.cell.distrust();
                self.source.is_away(reason)
            }
        }
    }

    async fn read(&mut self, options: &Nova) -> Result<Found, String> {
        let now = clock::now();
        let all = is_due(self.complete, now, options.full_interval);
        // Claims made later are none that the database could know of.
        let as_of = self.context.scheduler.ledger().image().seq();
        let snapshot = self.source.snapshot().await?;
        let news = within(self.cell.read(&snapshot, now, all)).await?;
        within(snapshot.end()).await?;
        if all {
            self.complete = Some(now);
            self.refused.start_anew();
        }
        let known = self.tell(news, as_of, now).await;
        let (refused, reason) = (self.refused.len(), self.refused.first());
        Ok(Found { at: now, known, refused, reason })
    }

    /// Tells the ledger: first what is gone, whose names may be another's by now.
    /// Gives how many nodes there are.
    async fn tell(&mut self, news: News, as_of: i64, now: Micros) -> usize {
        let scheduler = &self.context.scheduler;
        let max_tasks = i64::from(self.context.settings.load().batch.default_max_tasks);
        let known: HashSet<Uuid> = self.cell.known();
        let teller = Teller { scheduler, at: now };
        let ours = Some(self.uuid);
        let image = scheduler.ledger().image();
        teller.gone(&image, |uuid, cell| cell == ours && !known.contains(&uuid)).await;
        let again = teller.nodes(news.changed, as_of, max_tasks, &mut self.refused).await;
        for id in again {
            self.cell.again(id);
        }
        if let Err(error) = scheduler.heard(news.heard) {
            tracing::debug!(%error, "signs of life are lost; the next ones tell more");
        }
        known.len()
    }
}
