//! One batch of the ledger's writer: one transaction around the head.

use crate::connect::{Connection, write_mark};
use crate::entity::head;
use crate::head::HEAD_ID;
use crate::literal::{LiteralError, render};
use crate::migration::KNOWN_EPOCH;
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
        let transaction = connection.writer().begin_with_options(options).await?;
        Ok(Self { transaction, failed: false })
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

    /// Runs one statement with its values bound; the number of rows it touched.
    ///
    /// # Errors
    /// When it fails; the batch can then only be rolled back.
    pub async fn execute<S: StatementBuilder>(&mut self, statement: &S) -> Result<u64, DbErr> {
        let done = self.transaction.execute(statement).await;
        Ok(self.watch(done)?.rows_affected())
    }

    /// A number that changes when anything but our own writer has written the
    /// SQLite file since it was read last; none on the servers, where the head
    /// tells. Our own writes do not change it.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn foreign_write_mark(&mut self) -> Result<Option<i64>, DbErr> {
        let mark = write_mark(&self.transaction).await;
        self.watch(mark)
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

    /// The head's move and all the texts; false when the head was elsewhere. On
    /// the servers it moves in the same text as the first rows, which saves a
    /// round trip; on SQLite one costs next to nothing.
    async fn fill(
        &mut self,
        known: i64,
        new: i64,
        batch: &str,
        texts: &[String],
    ) -> Result<bool, DbErr> {
        let backend = self.transaction.get_database_backend();
        let rest = match texts.split_first() {
            Some((first, rest)) if backend != DbBackend::Sqlite => {
                let first = guarded(backend, known, new, batch, first)?;
                self.execute_text(&first).await?;
                rest
            }
            _ => {
                if !self.move_head(known, new, batch).await? {
                    return Ok(false);
                }
                texts
            }
        };
        for text in rest {
            self.execute_text(text).await?;
        }
        Ok(true)
    }

    fn watch<T>(&mut self, outcome: Result<T, DbErr>) -> Result<T, DbErr> {
        self.failed |= outcome.is_err();
        outcome
    }
}

impl Connection {
    /// One whole batch in as few round trips as the database allows: moves the
    /// head from `known` to `new` in the name of `batch`, runs the statements
    /// in `texts` (values in place, separated by semicolons) and commits.
    ///
    /// # Errors
    /// As the database gives them; nothing was kept, unless the error is
    /// classified as [`crate::Trouble::Lost`], which leaves it in doubt.
    pub async fn write(
        &self,
        known: i64,
        new: i64,
        batch: &str,
        texts: &[String],
    ) -> Result<Written, DbErr> {
        if let (DbBackend::Postgres, [only]) = (self.backend(), texts) {
            return self.write_at_once(known, new, batch, only).await;
        }
        let mut open = Batch::begin(self).await?;
        let mark = open.foreign_write_mark().await?;
        if self.is_foreign(mark) {
            open.rollback().await?;
            return Ok(Written::HeadMoved);
        }
        let filled = open.fill(known, new, batch, texts).await;
        match self.unless_head_moved(filled) {
            Ok(Written::Committed) => open.commit().await.map(|()| Written::Committed),
            given_up => {
                // A lost connection has rolled back already.
                let _ = open.rollback().await;
                given_up
            }
        }
    }

    /// PostgreSQL runs a text of several statements as one transaction of its
    /// own: one round trip for everything.
    async fn write_at_once(
        &self,
        known: i64,
        new: i64,
        batch: &str,
        text: &str,
    ) -> Result<Written, DbErr> {
        let text = guarded(DbBackend::Postgres, known, new, batch, text)?;
        let done = self.writer().execute_unprepared(&text).await;
        self.unless_head_moved(done.map(|_| true))
    }

    fn unless_head_moved(&self, outcome: Result<bool, DbErr>) -> Result<Written, DbErr> {
        match outcome {
            Ok(true) => Ok(Written::Committed),
            Ok(false) => Ok(Written::HeadMoved),
            Err(error) if Code::is(&error, guard_code(self.backend())) => Ok(Written::HeadMoved),
            Err(error) => Err(error),
        }
    }
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

/// The head's move, a statement that fails unless the move succeeded, and the
/// text. Without the middle one a move of no row would not stop the rest. (It has
/// to be a SELECT: MariaDB turns the errors of DO into warnings.)
fn guarded(
    backend: DbBackend,
    known: i64,
    new: i64,
    batch: &str,
    text: &str,
) -> Result<String, DbErr> {
    let head = render(backend, &head_update(known, new, batch)).map_err(unwritable)?;
    let moved = Query::select()
        .expr(Expr::col(head::Column::Id).count())
        .from(head::Entity)
        .and_where(Expr::col(head::Column::Id).eq(HEAD_ID))
        .and_where(Expr::col(head::Column::Seq).eq(new))
        .and_where(Expr::col(head::Column::Batch).eq(batch))
        .to_owned();
    let moved = render(backend, &moved).map_err(unwritable)?;
    let guard = if backend == DbBackend::Postgres {
        format!("SELECT 1 / ({moved})")
    } else {
        format!("SELECT IF(({moved}) = 1, 1, (SELECT 1 UNION SELECT 2))")
    };
    Ok(format!("{head}; {guard}; {text}"))
}

/// What the guard fails with: a division by zero, a row too many.
fn guard_code(backend: DbBackend) -> Code<'static> {
    if backend == DbBackend::Postgres { Code::Postgres("22012") } else { Code::MariaDb(1242) }
}

fn unwritable(error: LiteralError) -> DbErr {
    DbErr::Custom(error.to_string())
}
