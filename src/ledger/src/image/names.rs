//! Interned names: resource classes, traits, and the uuids of aggregates.

use super::Map;
use crate::rows::NameRow;
use std::sync::Arc;

/// Dense number of an interned name; valid in one image and its successors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ix(pub u32);

/// A table of named rows with dense numbers.
///
/// Numbers are never reused: a deleted row leaves a hole, so that a bitset or
/// column of it cannot be taken for another's.
#[derive(Clone, Debug, Default)]
pub struct Names {
    by_name: Map<Arc<str>, Ix>,
    rows: imbl::Vector<Option<Arc<NameRow>>>,
    last_id: i64,
}

impl Names {
    /// Puts a row in place, new or changed.
    pub(super) fn put(&mut self, row: NameRow) {
        self.last_id = self.last_id.max(row.id);
        if let Some(ix) = self.ix(&row.name) {
            self.rows.set(ix.0 as usize, Some(Arc::new(row)));
            return;
        }
        let ix = Ix(u32::try_from(self.rows.len()).unwrap_or(u32::MAX));
        self.by_name.insert(row.name.as_str().into(), ix);
        self.rows.push_back(Some(Arc::new(row)));
    }

    /// Takes a row out.
    pub(super) fn remove(&mut self, name: &str) {
        if let Some(ix) = self.by_name.remove(name) {
            self.rows.set(ix.0 as usize, None);
        }
    }

    /// The number of a name that exists.
    #[must_use]
    pub fn ix(&self, name: &str) -> Option<Ix> {
        self.by_name.get(name).copied()
    }

    /// The row of a number; none once it was deleted.
    #[must_use]
    pub fn row(&self, ix: Ix) -> Option<&Arc<NameRow>> {
        self.rows.get(ix.0 as usize)?.as_ref()
    }

    /// The name of a number; empty once it was deleted.
    #[must_use]
    pub fn name(&self, ix: Ix) -> &str {
        self.row(ix).map_or("", |row| &row.name)
    }

    /// The row of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<NameRow>> {
        self.row(self.ix(name)?)
    }

    /// All rows, in order of creation.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<NameRow>> {
        self.rows.iter().flatten()
    }

    /// The id that the next new row takes.
    #[must_use]
    pub fn next_id(&self) -> i64 {
        self.last_id + 1
    }

    pub(super) fn last_id(&self) -> i64 {
        self.last_id
    }

    pub(super) fn raise_id(&mut self, last: i64) {
        self.last_id = self.last_id.max(last);
    }
}

/// The uuids of Placement aggregates with dense numbers. An aggregate is born
/// when the first provider names it and is never forgotten while we run.
#[derive(Clone, Debug, Default)]
pub struct Aggregates {
    by_uuid: Map<uuid::Uuid, Ix>,
    uuids: imbl::Vector<uuid::Uuid>,
}

impl Aggregates {
    pub(super) fn intern(&mut self, uuid: uuid::Uuid) -> Ix {
        if let Some(ix) = self.ix(uuid) {
            return ix;
        }
        let ix = Ix(u32::try_from(self.uuids.len()).unwrap_or(u32::MAX));
        self.by_uuid.insert(uuid, ix);
        self.uuids.push_back(uuid);
        ix
    }

    /// The number of an aggregate that some provider has named.
    #[must_use]
    pub fn ix(&self, uuid: uuid::Uuid) -> Option<Ix> {
        self.by_uuid.get(&uuid).copied()
    }

    /// The uuid of a number.
    #[must_use]
    pub fn uuid(&self, ix: Ix) -> uuid::Uuid {
        self.uuids.get(ix.0 as usize).copied().unwrap_or_default()
    }
}
