//! One batch of the ledger's writer: one transaction around the head.

use crate::connect::{Connection, Writer};
use crate::entity::head;
use crate::head::HEAD_ID;
use crate::link::{Link, Pooled};
use crate::literal::{LiteralError, value_literal};
use crate::migration::KNOWN_EPOCH;
use crate::script::Statements;
use crate::trouble::Code;
use sea_orm::sea_query::{Expr, ExprTrait, Query, UpdateStatement};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, EntityTrait, QueryFilter,
    QuerySelect, SqliteTransactionMode, StatementBuilder, TransactionOptions, TransactionTrait,
};

/// What became of a batch that met no trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It is committed.
    Committed,
    /// The head was not where we knew it, or something else has written the
    /// SQLite file: another process wrote. Nothing was kept; read what it wrote
    /// and try again. It is the answer too when the database has had a migration
    /// that this binary does not know, which [`crate::read_head`] then says.
    HeadMoved,
}

/// An open transaction of the writer. On SQLite it holds the write lock from
/// the start (`BEGIN IMMEDIATE`); elsewhere it runs at READ COMMITTED. Dropped
/// without a commit it is rolled back.
#[derive(Debug)]
pub struct Batch {
    transaction: DatabaseTransaction,
    failed: bool,
    /// Given back after the transaction has ended.
    _writer: Writer,
}

/// The step of the head that makes a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move<'a> {
    pub known: i64,
    pub new: i64,
    pub batch: &'a str,
}

impl Batch {
    /// Opens a transaction.
    ///
    /// # Errors
    /// When no connection is to be had, or on SQLite the write lock is not.
    pub async fn begin(connection: &Connection) -> Result<Self, DbErr> {
        let options = TransactionOptions {
            sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
            ..TransactionOptions::default()
        };
        let writer = connection.writer().await;
        let transaction = writer.begin_with_options(options).await?;
        Ok(Self { transaction, failed: false, _writer: writer })
    }

    /// Moves the head from `known` to `new` and names the batch that did it.
    /// False when the head was elsewhere or the schema is not the one this
    /// binary knows: roll back then.
    ///
    /// # Errors
    /// When the statement fails; the batch can then only be rolled back.
    pub async fn move_head(&mut self, known: i64, new: i64, batch: &str) -> Result<bool, DbErr> {
        let moved = self.execute(&head_update(known, new, batch)).await?;
        Ok(moved == 1)
    }

    /// Takes the head's row for this transaction alone and gives what it
    /// holds: what is not in the journal by then will never be.
    ///
    /// # Errors
    /// When the lock is not to be had in time.
    pub async fn lock_head(&mut self) -> Result<head::Model, DbErr> {
        let mut find = head::Entity::find().filter(head::Column::Id.eq(HEAD_ID));
        // SQLite's write lock is ours since the beginning.
        if self.transaction.get_database_backend() != DbBackend::Sqlite {
            find = find.lock_exclusive();
        }
        let found = find.one(&self.transaction).await;
        let head = self.watch(found)?;
        head.ok_or_else(|| DbErr::RecordNotFound("the ledger has no head row".to_owned()))
    }

    /// Runs statements with their values in place, separated by semicolons, in
    /// one round trip.
    ///
    /// # Errors
    /// When one of them fails; the batch can then only be rolled back.
    pub async fn execute_text(&mut self, text: &str) -> Result<(), DbErr> {
        let done = self.transaction.execute_unprepared(text).await;
        self.watch(done).map(|_| ())
    }

    /// Runs statements that were made as text ([`crate::Script::text`]).
    ///
    /// # Errors
    /// When one of them fails; the batch can then only be rolled back.
    pub async fn execute_all(&mut self, statements: Statements) -> Result<(), DbErr> {
        for text in statements.into_texts()? {
            self.execute_text(&text).await?;
        }
        Ok(())
    }

    /// Runs one statement with its values bound; the number of rows it touched.
    ///
    /// # Errors
    /// When it fails; the batch can then only be rolled back.
    pub async fn execute<S: StatementBuilder>(&mut self, statement: &S) -> Result<u64, DbErr> {
        let done = self.transaction.execute(statement).await;
        Ok(self.watch(done)?.rows_affected())
    }

    /// The transaction, for reading. What is written through it by other ways
    /// than this type's is not watched for failures.
    pub fn transaction(&self) -> &DatabaseTransaction {
        &self.transaction
    }

    /// Commits. An error here leaves the outcome in doubt when
    /// [`crate::Trouble::Lost`] is what it is classified as.
    ///
    /// # Errors
    /// When the commit fails, or a statement failed before: PostgreSQL would
    /// answer such a commit with success and keep nothing, MariaDB would keep
    /// half.
    pub async fn commit(self) -> Result<(), DbErr> {
        if self.failed {
            self.transaction.rollback().await?;
            return Err(DbErr::Custom(
                "a batch with a failed statement was rolled back".to_owned(),
            ));
        }
        self.transaction.commit().await
    }

    /// Gives everything up.
    ///
    /// # Errors
    /// When the connection is lost, which gives everything up too.
    pub async fn rollback(self) -> Result<(), DbErr> {
        self.transaction.rollback().await
    }

    fn watch<T>(&mut self, outcome: Result<T, DbErr>) -> Result<T, DbErr> {
        self.failed |= outcome.is_err();
        outcome
    }
}

impl Connection {
    /// One whole batch: moves the head from `known` to `new` in the name of
    /// `batch`, runs the statements of a [`crate::Script`] and commits. On a
    /// SQLite file it holds the calling thread until the disk has it; on the
    /// servers it is one round trip for each text.
    ///
    /// # Errors
    /// As the database gives them; nothing was kept, unless the error is
    /// classified as [`crate::Trouble::Lost`], which leaves it in doubt.
    pub async fn write(
        &self,
        known: i64,
        new: i64,
        batch: &str,
        statements: Statements,
    ) -> Result<Written, DbErr> {
        let step = Move { known, new, batch };
        match &mut *self.link.lock().await {
            Link::File(file) => file.write(&step, &statements.into_bound()?).await,
            Link::Pooled(pooled) => {
                write_texts(pooled, self.backend(), &step, statements.into_texts()?).await
            }
        }
    }
}

async fn write_texts(
    link: &mut Pooled,
    backend: DbBackend,
    step: &Move<'_>,
    mut texts: Vec<String>,
) -> Result<Written, DbErr> {
    let begin = begin_text(backend, step)?;
    match texts.first_mut() {
        Some(first) => first.insert_str(0, &begin),
        None => texts.push(begin),
    }
    if let Some(last) = texts.last_mut() {
        last.push_str("COMMIT");
    }
    match link.execute(texts).await {
        Ok(()) => Ok(Written::Committed),
        Err(error) if is_guard(&error) => Ok(Written::HeadMoved),
        Err(error) => Err(error),
    }
}

/// The beginning of a batch: the head's move, which fails unless the head is
/// where we know it. A move of no row would not stop the rest. To ask in the same
/// statement saves the servers a quarter of a small batch's time.
fn begin_text(backend: DbBackend, step: &Move<'_>) -> Result<String, DbErr> {
    let Move { known, new, batch } = *step;
    let mut name = String::new();
    value_literal(&mut name, backend, &batch.into()).map_err(unwritable)?;
    let is_known = format!("seq = {known} AND schema_epoch = {KNOWN_EPOCH}");
    let (begin, fails) = match backend {
        // Of no constants: those are reckoned out beforehand.
        DbBackend::Postgres => ("BEGIN", "1 / (seq - seq)".to_owned()),
        DbBackend::MySql => ("BEGIN", "(SELECT 1 UNION SELECT 2)".to_owned()),
        _ => ("BEGIN IMMEDIATE", format!("json_extract('{{}}', '{SQLITE_GUARD}' || seq)")),
    };
    Ok(format!(
        "{begin}; UPDATE head SET seq = CASE WHEN {is_known} THEN {new} ELSE {fails} END, \
         batch = {name} WHERE id = {HEAD_ID}; "
    ))
}

fn head_update(known: i64, new: i64, batch: &str) -> UpdateStatement {
    Query::update()
        .table(head::Entity)
        .value(head::Column::Seq, new)
        .value(head::Column::Batch, batch)
        .and_where(Expr::col(head::Column::Id).eq(HEAD_ID))
        .and_where(Expr::col(head::Column::Seq).eq(known))
        .and_where(Expr::col(head::Column::SchemaEpoch).eq(KNOWN_EPOCH))
        .to_owned()
}

/// What SQLite's guard names as a path that JSON has not: its error says it.
const SQLITE_GUARD: &str = "the head has moved";

/// Whether the guard failed: a division by zero, a row too many, a bad path.
fn is_guard(error: &DbErr) -> bool {
    Code::is(error, Code::Postgres("22012"))
        || Code::is(error, Code::MariaDb(1242))
        || (Code::is(error, Code::Sqlite(1)) && error.to_string().contains(SQLITE_GUARD))
}

fn unwritable(error: LiteralError) -> DbErr {
    DbErr::Custom(error.to_string())
}
