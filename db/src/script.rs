//! The statements of a batch, in the form in which the database is quickest with
//! them.

use crate::bound::{Bound, Bounds};
use crate::connect::Connection;
use crate::literal::LiteralError;
use crate::text::Texts;
use sea_orm::{ColumnTrait, DbErr, ModelTrait};

/// Statements in the making, see [`Connection::write`].
#[derive(Debug)]
pub struct Script(Form);

#[derive(Debug)]
enum Form {
    /// A server: its round trips are what counts.
    Text(Texts),
    /// A SQLite file: to read a text is what counts.
    Bound(Bounds),
}

/// Statements that are ready to be run.
#[derive(Debug)]
pub struct Statements(Ready);

#[derive(Debug)]
enum Ready {
    Texts(Vec<String>),
    Bound(Vec<Bound>),
}

impl Script {
    /// No statements yet, for the batches of this connection.
    #[must_use]
    pub fn new(connection: &Connection) -> Self {
        if connection.takes_bound() {
            Self(Form::Bound(Bounds::default()))
        } else {
            Self::text(connection)
        }
    }

    /// No statements yet, for a transaction of this connection beside its
    /// batches ([`crate::Batch::execute_all`]).
    #[must_use]
    pub fn text(connection: &Connection) -> Self {
        Self(Form::Text(Texts::new(connection.backend(), connection.most_bytes())))
    }

    /// The statements.
    ///
    /// # Errors
    /// When the database holds no such value, or a row is longer than it takes.
    pub fn finish(self) -> Result<Statements, LiteralError> {
        Ok(Statements(match self.0 {
            Form::Text(texts) => Ready::Texts(texts.finish()?),
            Form::Bound(bounds) => Ready::Bound(bounds.finish()?),
        }))
    }

    /// Deletes the rows that hold one of these ids in this column.
    pub fn delete<C: ColumnTrait>(&mut self, column: C, ids: impl IntoIterator<Item = i64>) {
        match &mut self.0 {
            Form::Text(texts) => texts.delete(column, ids),
            Form::Bound(bounds) => bounds.delete(column, ids),
        }
    }

    /// Inserts rows of one table.
    pub fn insert<M: ModelTrait>(&mut self, rows: impl IntoIterator<Item = M>) {
        match &mut self.0 {
            Form::Text(texts) => texts.insert(rows),
            Form::Bound(bounds) => bounds.insert(rows),
        }
    }

    /// Sets one number of rows known by their ids: `(id, number)`.
    pub fn set<C: ColumnTrait>(&mut self, id: C, column: C, numbers: &[(i64, i64)]) {
        match &mut self.0 {
            Form::Text(texts) => texts.set(id, column, numbers),
            Form::Bound(bounds) => bounds.set(id, column, numbers),
        }
    }
}

impl Statements {
    /// None at all: a batch that moves the head alone.
    #[must_use]
    pub fn none(connection: &Connection) -> Self {
        Self(if connection.takes_bound() {
            Ready::Bound(Vec::new())
        } else {
            Ready::Texts(Vec::new())
        })
    }

    pub(crate) fn into_texts(self) -> Result<Vec<String>, DbErr> {
        match self.0 {
            Ready::Texts(texts) => Ok(texts),
            Ready::Bound(_) => Err(foreign()),
        }
    }

    pub(crate) fn into_bound(self) -> Result<Vec<Bound>, DbErr> {
        match self.0 {
            Ready::Bound(bound) => Ok(bound),
            Ready::Texts(_) => Err(foreign()),
        }
    }
}

/// A fault of whoever calls.
fn foreign() -> DbErr {
    DbErr::Custom("the statements were made for another kind of connection".to_owned())
}
