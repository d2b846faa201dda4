//! A mutation as it is journalled, written to the tables and applied to the
//! image: a list of after-images.
//!
//! The ledger knows records and how to apply them, nothing of the rules that
//! made them: those live in the crates above. Applying cannot fail, and the
//! same function serves the process that wrote a change, one that reads it
//! from the journal, and the loader.

use crate::rows::{
    BatchObjectRow, CallRow, CellRow, ConsumerRow, DecisionRow, HostAggregateRow, HostRow,
    Inventories, JobRow, NameRow, ProviderRow, QueueRow, RequestAnswerRow, RequestKeyRow,
    ServerGroupRow, ServiceRow, StampRow, TaskRow,
};
use serde::{Deserialize, Serialize};
use stowplan_model::{Micros, Uuid};

/// The version of the records' form, written with every journal row.
pub const CHANGE_VERSION: i32 = 1;

/// The after-image of one thing, or word that it is gone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// A resource class.
    Class(NameRow),
    /// A resource class that was deleted.
    ClassGone(String),
    /// A trait.
    Trait(NameRow),
    /// A trait that was deleted.
    TraitGone(String),
    /// A resource provider's own row.
    Provider(ProviderRow),
    /// A provider's generation alone: what a claim changes.
    Generation {
        /// The provider.
        provider: Uuid,
        /// Its new generation.
        generation: i64,
    },
    /// A provider that was deleted, with all that hung on it.
    ProviderGone(Uuid),
    /// All inventories of a provider.
    Inventories {
        /// The provider.
        provider: Uuid,
        /// By class name.
        inventories: Inventories,
    },
    /// All traits of a provider.
    Traits {
        /// The provider.
        provider: Uuid,
        /// Their names.
        traits: Vec<String>,
    },
    /// All aggregates of a provider.
    Aggregates {
        /// The provider.
        provider: Uuid,
        /// Their uuids.
        aggregates: Vec<Uuid>,
    },
    /// A consumer with all that it holds.
    Consumer(Box<ConsumerRow>),
    /// A consumer that holds nothing any more.
    ConsumerGone(Uuid),
    /// A cell.
    Cell(CellRow),
    /// A host with its report.
    Host(Box<HostRow>),
    /// A host that was deleted.
    HostGone(Uuid),
    /// A service.
    Service(ServiceRow),
    /// A service that was deleted.
    ServiceGone(Uuid),
    /// A host aggregate.
    HostAggregate(HostAggregateRow),
    /// A host aggregate that was deleted, by uuid.
    HostAggregateGone(Uuid),
    /// A server group.
    ServerGroup(ServerGroupRow),
    /// A server group that was deleted.
    ServerGroupGone(Uuid),
    /// A queue.
    Queue(QueueRow),
    /// A queue that was deleted, by name.
    QueueGone(String),
    /// A job.
    Job(Box<JobRow>),
    /// A job that was forgotten, with its tasks.
    JobGone(Uuid),
    /// A task.
    Task(TaskRow),
    /// A call with its answer.
    Call(Box<CallRow>),
    /// A call that was forgotten.
    CallGone(Uuid),
    /// How new something is that was learnt.
    Stamp(StampRow),
    /// A stamp that was forgotten.
    StampGone(Uuid),
    /// A request's key.
    RequestKey(RequestKeyRow),
    /// A request's key that is forgotten, with its answer.
    RequestKeyGone(Uuid),
    /// The answer of a request with a key. Kept by the database, not by the image.
    RequestAnswer(Box<RequestAnswerRow>),
    /// A named object of the batch layer.
    BatchObject(BatchObjectRow),
    /// A named object of the batch layer that was deleted.
    BatchObjectGone(Uuid),
    /// A decision's header. Kept by the database, not by the image.
    Decision(Box<DecisionRow>),
}

/// One mutation: what kind it is, and what it leaves behind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// What happened, such as `allocations.put`: for readers of the journal.
    pub kind: String,
    /// The after-images, in the order in which they are applied.
    pub records: Vec<Record>,
}

impl Change {
    /// A change of this kind with no records yet.
    #[must_use]
    pub fn new(kind: &str) -> Self {
        Self { kind: kind.to_owned(), records: Vec::new() }
    }

    /// A change that leaves everything as it is: nothing is written for it.
    #[must_use]
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Adds a record.
    pub fn push(&mut self, record: Record) {
        self.records.push(record);
    }
}

/// A committed change, as the journal keeps it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// Its place in the one order of all changes.
    pub seq: i64,
    /// The request that asked for it.
    pub request_id: String,
    /// When it was committed, by the writer's clock.
    pub time: Micros,
    /// The change.
    #[serde(flatten)]
    pub change: Change,
}
