//! One of Nova's databases: its connection, how its reading goes, and when it is
//! tried again.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use stowplan_db::ConnectSpec;
use stowplan_db::peer::{Peer, Schema, Snapshot};
use stowplan_model::Micros;
use stowplan_scheduler::nova::{Database, DatabaseState, Status};

/// How long one answer may take: a line may be dead without a word.
const PATIENCE: Duration = Duration::from_secs(120);
/// The shortest pause after a failure, doubled with each further one.
const SHORTEST: Duration = Duration::from_secs(1);
/// The longest.
const LONGEST: Duration = Duration::from_secs(60);

/// A database that is read again and again.
pub struct Source {
    name: String,
    spec: ConnectSpec,
    schema: &'static Schema,
    peer: Option<Peer>,
    failures: u32,
    status: Arc<Status>,
    database: Database,
    began: Instant,
}

/// What a reading has found, as far as the status tells of it.
pub struct Found {
    /// When it was read.
    pub at: Micros,
    /// Things known.
    pub known: usize,
    /// Things that cannot be taken up.
    pub refused: usize,
    /// Why the first of them cannot.
    pub reason: Option<String>,
}

impl Source {
    pub fn new(
        name: &str,
        spec: ConnectSpec,
        schema: &'static Schema,
        status: Arc<Status>,
    ) -> Self {
        let database = Database::default();
        status.set(name, &database);
        Self {
            name: name.to_owned(),
            spec,
            schema,
            peer: None,
            failures: 0,
            status,
            database,
            began: Instant::now(),
        }
    }

    /// A snapshot of the database, which is opened first if need be. After a failure it
    /// is opened anew: nobody knows what its connections are worth.
    ///
    /// # Errors
    /// Why nothing can be read, without a password.
    pub async fn snapshot(&mut self) -> Result<Snapshot, String> {
        self.began = Instant::now();
        let peer = match self.peer.take() {
            Some(peer) => peer,
            None => self.open().await?,
        };
        let snapshot = within(peer.snapshot()).await?;
        self.peer = Some(peer);
        Ok(snapshot)
    }

    async fn open(&self) -> Result<Peer, String> {
        let peer = within(Peer::open(&self.spec)).await?;
        let snapshot = within(peer.snapshot()).await?;
        match within(snapshot.objection(self.schema)).await? {
            None => Ok(peer),
            Some(objection) => Err(format!("{}: {objection}", self.spec.place())),
        }
    }

    /// Notes that it was read. Gives the pause until the next reading, of which there
    /// is one in each `interval`.
    pub fn is_read(&mut self, found: Found, interval: Duration) -> Duration {
        if self.database.state != DatabaseState::Following {
            let (database, known) = (&self.name, found.known);
            tracing::info!(database, known, "Nova's database is followed");
        }
        self.failures = 0;
        self.tell(Database {
            state: DatabaseState::Following,
            reason: found.reason,
            read: Some(found.at),
            known: found.known,
            refused: found.refused,
        });
        interval.saturating_sub(self.began.elapsed())
    }

    /// Notes that it cannot be read. Gives the pause until the next try.
    pub fn is_away(&mut self, reason: String) -> Duration {
        self.peer = None;
        if self.database.state != DatabaseState::Away
            || self.database.reason.as_ref() != Some(&reason)
        {
            tracing::warn!(
                database = self.name,
                reason,
                "Nova's database is not read; it is tried again"
            );
        }
        self.tell(Database {
            state: DatabaseState::Away,
            reason: Some(reason),
            ..self.database.clone()
        });
        let pause = SHORTEST.saturating_mul(1 << self.failures.min(10)).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        pause
    }

    fn tell(&mut self, database: Database) {
        if self.database != database {
            self.status.set(&self.name, &database);
            self.database = database;
        }
    }
}

/// Waits for an answer of a database, but not for ever.
///
/// # Errors
/// What it says, or that it says nothing.
pub async fn within<T, E: ToString>(work: impl Future<Output = Result<T, E>>) -> Result<T, String> {
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no answer within {} s", PATIENCE.as_secs())),
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.status.forget(&self.name);
    }
}
