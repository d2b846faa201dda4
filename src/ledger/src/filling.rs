//! Filling an empty ledger with the books of another program, in one
//! transaction: either all of it is there afterwards or nothing.
//!
//! Names and providers come first and are kept in an image, for what comes
//! later refers to them; consumers come in pages, each written and forgotten.
//! Before the commit the image is loaded from what the tables then hold, so
//! that whoever fills can prove it.

use crate::{
    OpenOptions,
    change::{Change, Entry, Record},
    clock,
    error::{FillError, OpenError, Unavailable},
    hold,
    image::Image,
    lock::Lock,
    rows::{ConsumerRow, LEADER},
    store::{
        load::{self, Progress, Quiet},
        sheets::Sheets,
        touched::Touched,
    },
};
use stowplan_db::{Batch, Connection, Hold, Script, connect, migrate};
use stowplan_model::names::is_custom;
use uuid::Uuid;

/// An empty ledger that is being filled; dropped, it is as it was.
pub struct Filling {
    open: Open,
    /// Names and providers, as far as they have come.
    image: Image,
}

/// A ledger that holds everything, uncommitted; dropped, it is as it was.
pub struct Filled {
    open: Open,
    image: Image,
}

/// The transaction, and what must outlive it.
struct Open {
    batch: Batch,
    connection: Connection,
    lock: Option<Lock>,
    _hold: Option<Hold>,
    id: String,
}

impl Filling {
    /// Opens the database, brings its schema up to date, and takes the ledger's
    /// head until the end: nothing else writes meanwhile.
    ///
    /// # Errors
    /// As [`crate::Ledger::open`], and when the ledger is not empty: it may hold
    /// nothing but what a start of the service puts there.
    pub async fn begin(options: OpenOptions) -> Result<Self, FillError> {
        let lock = options.lock_file.as_deref().map(Lock::take).transpose()?;
        let connection = connect(&options.database).await.map_err(OpenError::from)?;
        let hold = hold::take(&connection, options.database.hold_patience).await?;
        migrate(&connection, |_| {}).await.map_err(OpenError::from)?;
        let mut batch = Batch::begin(&connection).await.map_err(Unavailable::database)?;
        batch.lock_head().await.map_err(Unavailable::database)?;
        let image = load::load_in(batch.transaction(), &mut Quiet).await?;
        let present = present(&image);
        if !present.is_empty() {
            return Err(FillError::NotEmpty { present });
        }
        let id = Uuid::new_v4().to_string();
        let open = Open { batch, connection, lock, _hold: hold, id };
        let mut filling = Self { open, image };
        filling.put(standard_names_gone(&filling.image)).await?;
        Ok(filling)
    }

    /// Writes names, or providers and what hangs on them; a parent has to come
    /// before its children.
    ///
    /// # Errors
    /// When the database does not take it: the filling is void then.
    pub async fn put(&mut self, records: Vec<Record>) -> Result<(), FillError> {
        let change = Change { kind: KIND.to_owned(), records };
        let mut after = self.image.clone();
        self.open.write(&self.image, &mut after, &change, &[]).await?;
        self.image = after;
        Ok(())
    }

    /// Writes a page of consumers, whose providers and classes must have come.
    ///
    /// # Errors
    /// When the database does not take it: the filling is void then.
    pub async fn put_consumers(&mut self, rows: Vec<ConsumerRow>) -> Result<(), FillError> {
        let records = rows.into_iter().map(|row| Record::Consumer(Box::new(row))).collect();
        let change = Change { kind: KIND.to_owned(), records };
        let mut after = self.image.clone();
        self.open.write(&self.image, &mut after, &change, &[]).await
    }

    /// Ends the filling: moves the head, and loads the image from the tables.
    ///
    /// # Errors
    /// When the database does not answer, or a row cannot be read again.
    pub async fn load(mut self, progress: &mut dyn Progress) -> Result<Filled, FillError> {
        // The journal does not hold what came. The number left out tells whoever
        // follows it that changes are missing, and that the tables have to be read.
        let known = self.image.seq();
        let entry = Entry {
            seq: known + 2,
            request_id: String::new(),
            time: clock::now(),
            change: Change::new(KIND),
        };
        let id = self.open.id.clone();
        let moved = self.open.batch.move_head(known, entry.seq, &id).await;
        if !moved.map_err(Unavailable::database)? {
            return Err(Unavailable::database("the ledger's head has moved").into());
        }
        let mut after = self.image.clone();
        self.open.write(&self.image, &mut after, &Change::nothing(), &[entry]).await?;
        let image = load::load_in(self.open.batch.transaction(), progress).await?;
        Ok(Filled { open: self.open, image })
    }

    /// Gives it up: the ledger is as it was.
    ///
    /// # Errors
    /// When the connection is lost, which gives it up too.
    pub async fn give_up(self) -> Result<(), FillError> {
        self.open.give_up().await
    }
}

impl Filled {
    /// Everything that the tables hold now.
    #[must_use]
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Makes it durable.
    ///
    /// # Errors
    /// When the commit fails. If the connection broke in the midst of it the
    /// outcome is open: a second filling tells, for it is refused if the first
    /// was kept.
    pub async fn commit(self) -> Result<(), FillError> {
        let Open { batch, connection, lock, .. } = self.open;
        batch.commit().await.map_err(Unavailable::database)?;
        end(&connection, lock).await
    }

    /// Gives it up: the ledger is as it was.
    ///
    /// # Errors
    /// When the connection is lost, which gives it up too.
    pub async fn give_up(self) -> Result<(), FillError> {
        self.open.give_up().await
    }
}

/// What changes of a filling are called in the journal.
const KIND: &str = "ledger.fill";

impl Open {
    /// Applies a change to `after` and writes what it has touched.
    async fn write(
        &mut self,
        before: &Image,
        after: &mut Image,
        change: &Change,
        entries: &[Entry],
    ) -> Result<(), FillError> {
        let mut touched = Touched::default();
        touched.note(change);
        change.records.iter().for_each(|record| after.apply_record(record));
        let script = Script::text(&self.connection);
        let sheets = Sheets::write(script, before, after, &touched, entries, &self.id)?;
        Ok(self.batch.execute_all(sheets.statements).await.map_err(Unavailable::database)?)
    }

    async fn give_up(self) -> Result<(), FillError> {
        self.batch.rollback().await.map_err(Unavailable::database)?;
        end(&self.connection, self.lock).await
    }
}

async fn end(connection: &Connection, lock: Option<Lock>) -> Result<(), FillError> {
    connection.close().await.map_err(Unavailable::database)?;
    if let Some(lock) = lock {
        lock.release();
    }
    Ok(())
}

/// What an image holds beyond what a start of the service puts there (standard
/// names and queues), with how much of it.
fn present(image: &Image) -> Vec<(&'static str, usize)> {
    let custom = |names: &crate::image::names::Names| {
        names.iter().filter(|row| is_custom(&row.name)).count()
    };
    // Who leads batch cycles is noted at each start.
    let objects = image.batch.objects.iter().filter(|row| row.kind != LEADER);
    let counts = [
        ("custom resource classes", custom(&image.classes)),
        ("custom traits", custom(&image.traits)),
        ("resource providers", image.providers.len()),
        ("consumers", image.consumers.len()),
        ("cells", image.cells.len()),
        ("hosts", image.hosts.len()),
        ("services", image.services.len()),
        ("host aggregates", image.host_aggregates.len()),
        ("server groups", image.server_groups.len()),
        ("jobs", image.batch.jobs.len()),
        ("objects of batch jobs", objects.count()),
    ];
    counts.into_iter().filter(|(_, count)| *count > 0).collect()
}

/// Standard names make way for those that come, which have ids of their own.
fn standard_names_gone(image: &Image) -> Vec<Record> {
    let classes = image.classes.iter().map(|row| Record::ClassGone(row.name.clone()));
    let traits = image.traits.iter().map(|row| Record::TraitGone(row.name.clone()));
    classes.chain(traits).collect()
}
