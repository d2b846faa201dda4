//! Host aggregates, server groups, services and cells.

use super::{Image, Map};
use crate::rows::{
    BatchObjectRow, CallRow, CellRow, HostAggregateRow, JobRow, RequestKeyRow, ServerGroupRow,
    ServiceRow, StampRow, TaskRow,
};
use std::sync::Arc;
use stowplan_model::Uuid;

/// Rows with an integer id and a uuid, in order of their ids.
#[derive(Clone, Debug)]
pub struct Rows<T> {
    by_id: imbl::OrdMap<i64, Arc<T>>,
    ids: Map<Uuid, i64>,
    last_id: i64,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self { by_id: imbl::OrdMap::new(), ids: Map::default(), last_id: 0 }
    }
}

impl<T> Rows<T> {
    pub(super) fn put(&mut self, id: i64, uuid: Uuid, row: T) -> Option<Arc<T>> {
        self.last_id = self.last_id.max(id);
        self.ids.insert(uuid, id);
        self.by_id.insert(id, Arc::new(row))
    }

    pub(super) fn remove(&mut self, uuid: Uuid) -> Option<Arc<T>> {
        let id = self.ids.remove(&uuid)?;
        self.by_id.remove(&id)
    }

    /// The row with this uuid.
    #[must_use]
    pub fn get(&self, uuid: Uuid) -> Option<&Arc<T>> {
        self.by_id(*self.ids.get(&uuid)?)
    }

    /// The row with this id.
    #[must_use]
    pub fn by_id(&self, id: i64) -> Option<&Arc<T>> {
        self.by_id.get(&id)
    }

    /// All rows, in order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<T>> {
        self.by_id.values()
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
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

/// Host aggregates, with the names of their hosts.
pub type HostAggregates = Rows<HostAggregateRow>;
/// Server groups, with their members.
pub type ServerGroups = Rows<ServerGroupRow>;
/// Services of hosts.
pub type Services = Rows<ServiceRow>;
/// Calls over the message bus.
pub type Calls = Rows<CallRow>;
/// How new what was learnt is.
pub type Stamps = Rows<StampRow>;
/// Keys of requests.
pub type RequestKeys = Rows<RequestKeyRow>;
/// Cells.
pub type Cells = Rows<CellRow>;

impl Image {
    /// Notes that the answer to a call was taken; nothing where the call is gone.
    pub fn note_delivered(&mut self, call: Uuid) {
        if let Some(row) = self.calls.get(call).filter(|row| !row.delivered) {
            let row = CallRow { delivered: true, ..CallRow::clone(row) };
            self.calls.put(row.id, row.uuid, row);
        }
    }
}

/// A row with a durable integer id.
pub trait HasId {
    /// The id.
    fn id(&self) -> i64;
}

macro_rules! has_id {
    ($($row:ty),*) => {
        $(impl HasId for $row {
            fn id(&self) -> i64 {
                self.id
            }
        })*
    };
}

has_id!(
    BatchObjectRow,
    CallRow,
    CellRow,
    HostAggregateRow,
    RequestKeyRow,
    ServerGroupRow,
    ServiceRow,
    StampRow,
    JobRow,
    TaskRow
);
