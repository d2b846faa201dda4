//! The statements of a batch as text, cut into pieces that the database takes.
//!
//! The shapes that every batch is made of are written as text at once: to build
//! a syntax tree for each and to read its text again for the places of its
//! values took half of a batch's time.

use crate::literal::{LiteralError, value_literal};
use sea_orm::{ColumnTrait, DbBackend, EntityName, EntityTrait, IdenStatic, Iterable, ModelTrait};
use std::fmt::Write as _;

/// Bytes in one text, where a row does not need more: long enough that the
/// round trip does not count.
const TEXT: usize = 512 * 1024;
/// Bytes left for what begins and ends a batch.
const FRAME: usize = 1024;
/// Ids in one statement.
const IDS: usize = 400;
/// Arms in one CASE, which is gone through for each row.
const ARMS: usize = 64;

/// Statements with their values in place.
#[derive(Debug)]
pub(crate) struct Texts {
    backend: DbBackend,
    /// Bytes in one text, and in one that a single row fills.
    usual: usize,
    most: usize,
    texts: Vec<String>,
    failed: Option<LiteralError>,
}

impl Texts {
    /// No statements yet, for a database that takes so many bytes in one text.
    pub fn new(backend: DbBackend, most_bytes: usize) -> Self {
        let most = most_bytes.saturating_sub(FRAME);
        let usual = TEXT.min(most);
        Self { backend, usual, most, texts: Vec::new(), failed: None }
    }

    /// The texts to be written.
    ///
    /// # Errors
    /// When a value has no literal, or a row is longer than the database takes.
    pub fn finish(self) -> Result<Vec<String>, LiteralError> {
        let longest = self.texts.iter().map(String::len).max().unwrap_or_default();
        match self.failed {
            Some(error) => Err(error),
            None if longest > self.most => {
                Err(LiteralError::TooLong { bytes: longest, most: self.most })
            }
            None => Ok(self.texts),
        }
    }

    /// Deletes the rows that hold one of these ids in this column.
    pub fn delete<C: ColumnTrait>(&mut self, column: C, ids: impl IntoIterator<Item = i64>) {
        let ids: Vec<i64> = ids.into_iter().collect();
        let (table, column) = (C::EntityName::default(), column.as_str());
        for ids in ids.chunks(IDS) {
            let (q, table) = (self.quote(), table.table_name());
            let text = self.room();
            let _ = write!(text, "DELETE FROM {q}{table}{q} WHERE {q}{column}{q} IN (");
            list(text, ids.iter());
            text.push_str(");\n");
        }
    }

    /// Inserts rows of one table.
    pub fn insert<M: ModelTrait>(&mut self, rows: impl IntoIterator<Item = M>) {
        let mut rows = rows.into_iter().peekable();
        if rows.peek().is_none() {
            return;
        }
        let head = self.insert_head::<M::Entity>();
        self.room().push_str(&head);
        let mut first = true;
        for row in rows {
            let start = self.row(&row);
            let Some(text) = self.texts.last_mut() else { return };
            if text.len() > self.usual && !first {
                // The row begins a text of its own.
                let row = text.split_off(start);
                close(text);
                self.texts.push(format!("{head}{row}"));
            }
            first = false;
        }
        if let Some(text) = self.texts.last_mut() {
            close(text);
        }
    }

    /// Sets one number of rows known by their ids: `(id, number)`.
    pub fn set<C: ColumnTrait>(&mut self, id: C, column: C, numbers: &[(i64, i64)]) {
        let table = C::EntityName::default();
        let (id, column) = (id.as_str(), column.as_str());
        for numbers in numbers.chunks(ARMS) {
            let (q, table) = (self.quote(), table.table_name());
            let text = self.room();
            let _ = write!(text, "UPDATE {q}{table}{q} SET {q}{column}{q} = CASE {q}{id}{q}");
            for (id, number) in numbers {
                let _ = write!(text, " WHEN {id} THEN {number}");
            }
            let _ = write!(text, " END WHERE {q}{id}{q} IN (");
            list(text, numbers.iter().map(|(id, _)| id));
            text.push_str(");\n");
        }
    }

    /// The text that the next statement goes to.
    fn room(&mut self) -> &mut String {
        if self.texts.last().is_none_or(|text| text.len() > self.usual) {
            self.texts.push(String::new());
        }
        let last = self.texts.len() - 1;
        &mut self.texts[last]
    }

    fn quote(&self) -> char {
        if self.backend == DbBackend::MySql { '`' } else { '"' }
    }

    fn insert_head<E: EntityTrait>(&self) -> String {
        let q = self.quote();
        let mut head = format!("INSERT INTO {q}{}{q} (", E::default().table_name());
        for (place, column) in E::Column::iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            let _ = write!(head, "{comma}{q}{}{q}", column.as_str());
        }
        head.push_str(") VALUES ");
        head
    }

    /// Appends a row with a comma, and says where it begins.
    fn row<M: ModelTrait>(&mut self, row: &M) -> usize {
        let Some(text) = self.texts.last_mut() else { return 0 };
        let start = text.len();
        let mut before = '(';
        for column in <M::Entity as EntityTrait>::Column::iter() {
            text.push(before);
            if let Err(error) = value_literal(text, self.backend, &row.get(column)) {
                self.failed.get_or_insert(error);
            }
            before = ',';
        }
        text.push_str("),");
        start
    }
}

/// Ends an INSERT: a semicolon for the last row's comma.
fn close(text: &mut String) {
    text.pop();
    text.push_str(";\n");
}

fn list<'a>(text: &mut String, numbers: impl Iterator<Item = &'a i64>) {
    for (place, number) in numbers.enumerate() {
        let comma = if place == 0 { "" } else { "," };
        let _ = write!(text, "{comma}{number}");
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::entity::trait_name;

    #[test]
    fn rows_fill_texts_up_to_their_usual_length() {
        let row = |(id, length): (i64, usize)| trait_name::Model {
            id,
            name: "x".repeat(length),
            created_us: 0,
            updated_us: 0,
        };
        // Short ones, some that share a text, one longer than a text, and again.
        let lengths = [6, 160_000, 160_000, 160_000, 900_000, 6, 300_000, 300_000, 6];
        let mut texts = Texts::new(DbBackend::MySql, 10 << 20);
        texts.insert((1..).zip(lengths).map(row));
        texts.set(trait_name::Column::Id, trait_name::Column::UpdatedUs, &[(1, 7)]);
        texts.delete(trait_name::Column::Id, [2]);
        let texts = texts.finish().unwrap();
        let kilobytes: Vec<_> = texts.iter().map(|text| text.len() / 1000).collect();
        assert_eq!(kilobytes, [480, 900, 300, 300]);
    }
}
