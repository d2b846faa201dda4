//! The rows of the ledger as they travel in changes: durable ids only, names
//! and uuids spelled out, so that a journal can be read by a person and
//! applied by any process.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use stowplan_model::{
    Inventory, Micros, Uuid,
    host::{HostReport, ServiceReport},
};

/// A resource class or trait that exists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NameRow {
    /// Durable integer id, in order of creation.
    pub id: i64,
    /// The name, exact.
    pub name: String,
    /// When it was created.
    pub created: Micros,
    /// When it was last changed.
    pub updated: Micros,
}

/// A resource provider, without what hangs on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProviderRow {
    /// Durable integer id, in order of creation: the order of every answer.
    pub id: i64,
    /// The provider's uuid.
    pub uuid: Uuid,
    /// Its name, unique, at most 200 characters.
    pub name: String,
    /// Its generation.
    pub generation: i64,
    /// The provider above it in its tree; none for a root.
    pub parent: Option<Uuid>,
    /// The root of its tree; itself for a root.
    pub root: Uuid,
    /// When it was created.
    pub created: Micros,
    /// When its row was last changed.
    pub updated: Micros,
}

/// One amount that a consumer holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AllocationRow {
    /// The provider.
    pub provider: Uuid,
    /// The resource class.
    pub class: String,
    /// Units held, at least 1.
    pub used: i64,
}

/// Who made a consumer's claim, where we made it ourselves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// What kind of workload it is.
    pub kind: OriginKind,
    /// The host: uuid of its compute node, which is its root provider.
    pub host: Uuid,
    /// The ledger's sequence number of the claim.
    pub seq: i64,
    /// The decision that chose the host.
    pub decision: Option<Uuid>,
    /// The server group that the claim belongs to.
    pub group: Option<Uuid>,
    /// Until when the claim must be confirmed; none when it is, or need not be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
}

/// The time that a claim has until it is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// When it ends.
    pub until: Micros,
    /// The consumer's generation after the claim: what somebody else has changed
    /// since has no lease any more.
    pub generation: i64,
}

/// The kinds of workload that we place ourselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OriginKind {
    /// A virtual machine placed by select_destinations.
    Server,
    /// A task of a batch job.
    BatchTask,
}

/// A consumer with all that it holds: one record, swapped whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConsumerRow {
    /// Durable integer id, in order of creation.
    pub id: i64,
    /// The consumer's uuid.
    pub uuid: Uuid,
    /// Its generation.
    pub generation: i64,
    /// Project (external id).
    pub project: String,
    /// User (external id).
    pub user: String,
    /// Consumer type; none is shown as `unknown`.
    pub consumer_type: Option<String>,
    /// What it holds; never empty, for a consumer that holds nothing is gone.
    pub allocations: Vec<AllocationRow>,
    /// Who made the claim, where we made it ourselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// When it was created.
    pub created: Micros,
    /// When it was last changed.
    pub updated: Micros,
}

/// A cell of the cloud.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellRow {
    /// Durable integer id.
    pub id: i64,
    /// The cell's uuid.
    pub uuid: Uuid,
    /// Its name; empty if nobody has said.
    pub name: String,
    /// Whether its hosts are left out of scheduling.
    pub disabled: bool,
}

/// Where a host's state comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostSource {
    /// `PUT /v1/hosts/{host}`.
    Rest,
    /// The message bus.
    Bus,
    /// Nova's own databases.
    NovaDb,
}

/// Who writes the inventory of a host's root provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InventoryOwner {
    /// Clients of the Placement API (nova-compute does).
    Placement,
    /// The host's own report.
    Report,
}

/// A host and node with its last report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostRow {
    /// Durable integer id, as the oldest hypervisor API shows it.
    pub id: i64,
    /// Uuid of the compute node: its root provider.
    pub uuid: Uuid,
    /// Name of the host (the service).
    pub host: String,
    /// Name of the node; the host's name unless one service has several.
    pub node: String,
    /// Where the state comes from.
    pub source: HostSource,
    /// Who writes the root provider's inventory.
    pub inventory_owner: InventoryOwner,
    /// What the host said last, as it said it.
    pub report: HostReport,
    /// The ledger's sequence number of that report.
    pub report_seq: i64,
    /// Instances that came (true) or went (false) since, by word of the host.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub news: BTreeMap<Uuid, bool>,
    /// When the host was created.
    pub created: Micros,
    /// When its row was last changed.
    pub updated: Micros,
}

impl HostRow {
    /// Whether an instance is on the host by its own word: its last report, and
    /// what it has said since.
    #[must_use]
    pub fn has_instance(&self, instance: Uuid) -> bool {
        let reported = || self.report.instances.contains_key(&instance);
        self.news.get(&instance).copied().unwrap_or_else(reported)
    }
}

/// The program of services that run servers.
pub const COMPUTE_BINARY: &str = "nova-compute";

/// A service of a host (nova-compute, as a rule).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServiceRow {
    /// Durable integer id, as the API shows it before 2.53.
    pub id: i64,
    /// The service's uuid.
    pub uuid: Uuid,
    /// The host that it runs on.
    pub host: String,
    /// The program, such as `nova-compute`.
    pub binary: String,
    /// Availability zone that it says it is in; none means by host aggregate.
    pub zone: Option<String>,
    /// Version of the service's RPC objects, as Nova counts it.
    pub version: i64,
    /// Whether an operator has taken it out of scheduling.
    pub disabled: bool,
    /// Why.
    pub disabled_reason: Option<String>,
    /// Whether somebody has declared it down.
    pub forced_down: bool,
    /// When it was last heard, as of this row; the image may know better.
    pub last_seen: Option<Micros>,
    /// When it was created.
    pub created: Micros,
    /// When its row was last changed.
    pub updated: Micros,
}

impl ServiceRow {
    /// The service as a host's report tells of it.
    #[must_use]
    pub fn as_report(&self) -> ServiceReport {
        ServiceReport {
            uuid: Some(self.uuid),
            binary: Some(self.binary.clone()),
            version: self.version,
            disabled: self.disabled,
            disabled_reason: self.disabled_reason.clone(),
            forced_down: self.forced_down,
            last_seen_up: self.last_seen,
            created_at: Some(self.created),
            zone: self.zone.clone(),
        }
    }
}

/// A host aggregate (Nova's: hosts with metadata).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostAggregateRow {
    /// Durable integer id, as the compute API shows it.
    pub id: i64,
    /// Its uuid, which is also that of the mirrored Placement aggregate.
    pub uuid: Uuid,
    /// Its name, unique.
    pub name: String,
    /// Names of its hosts, in order of joining.
    pub hosts: Vec<String>,
    /// Metadata; `availability_zone` makes it a zone.
    pub metadata: BTreeMap<String, String>,
    /// Its id elsewhere, where it was learnt from another service: that one looks
    /// after the mirrored Placement aggregate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_id: Option<i64>,
    /// When it was created.
    pub created: Micros,
    /// When it was last changed.
    pub updated: Micros,
}

/// A server group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerGroupRow {
    /// Durable integer id.
    pub id: i64,
    /// The group's uuid.
    pub uuid: Uuid,
    /// Its name.
    pub name: String,
    /// `affinity`, `anti-affinity`, `soft-affinity` or `soft-anti-affinity`.
    pub policy: String,
    /// How many members one host may hold, for anti-affinity; 1 when unset.
    pub max_server_per_host: Option<i64>,
    /// Project (external id).
    pub project: String,
    /// User (external id).
    pub user: String,
    /// Uuids of its members, in order of joining.
    pub members: Vec<Uuid>,
    /// When it was created.
    pub created: Micros,
    /// When it was last changed.
    pub updated: Micros,
}

/// A queue of batch jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueueRow {
    /// Durable integer id.
    pub id: i64,
    /// Its name, unique.
    pub name: String,
    /// Its specification, as the batch crate writes it.
    pub spec: Value,
    /// `Open`, `Closing`, `Closed` or `Unknown`.
    pub state: String,
    /// Counts the changes of its specification.
    pub generation: i64,
    /// When it was created.
    pub created: Micros,
    /// When it was last changed.
    pub updated: Micros,
}

/// A batch job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobRow {
    /// Durable integer id, in order of submission.
    pub id: i64,
    /// The job's uuid.
    pub uuid: Uuid,
    /// Namespace (the project, unless the job says otherwise).
    pub namespace: String,
    /// Name, unique in its namespace.
    pub name: String,
    /// The queue that it waits in.
    pub queue: String,
    /// `Pending`, `Inqueue`, `Running`, ... as the batch crate writes it.
    pub phase: String,
    /// Its specification, as the batch crate writes it.
    pub spec: Value,
    /// Why it stands where it stands, as the batch crate writes it.
    pub conditions: Value,
    /// When it was submitted.
    pub created: Micros,
    /// When it was last changed.
    pub updated: Micros,
}

/// The kind of the object that tells who leads batch cycles.
pub const LEADER: &str = "leader";

/// A named object that steers batch jobs, such as a priority class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchObjectRow {
    /// Durable integer id.
    pub id: i64,
    /// Its uuid, which follows from kind and name.
    pub uuid: Uuid,
    /// What it is, as the batch crate writes it.
    pub kind: String,
    /// Its name, unique in its kind.
    pub name: String,
    /// Its specification, as the batch crate writes it.
    pub spec: Value,
    /// Counts the changes of its specification.
    pub generation: i64,
    /// When it was created.
    pub created: Micros,
    /// When it was last changed.
    pub updated: Micros,
}

/// A task of a batch job. Its uuid is the consumer's once it is bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskRow {
    /// Durable integer id.
    pub id: i64,
    /// The task's uuid, which is its consumer's.
    pub uuid: Uuid,
    /// Id of its job.
    pub job: i64,
    /// Its role in the job.
    pub role: String,
    /// Its number in the role, from 0.
    pub index: i64,
    /// `Pending`, `Bound`, `Running`, ... as the batch crate writes it.
    pub state: String,
    /// How many times it has been bound.
    pub attempt: i64,
    /// The host that it is bound to: uuid of the compute node.
    pub host: Option<Uuid>,
    /// Why it stands where it stands.
    pub reason: Option<String>,
    /// What else there is to it, as the batch crate writes it; null for
    /// nothing.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub detail: Value,
    /// When it was created.
    pub created: Micros,
    /// When it was last changed.
    pub updated: Micros,
}

/// The part of a decision that commits with its claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DecisionRow {
    /// The decision's uuid.
    pub id: Uuid,
    /// The request that asked.
    pub request_id: String,
    /// The ledger's sequence number of the claim, or of the image that said no.
    pub seq: i64,
    /// The seed of the decision's random numbers.
    pub seed: u64,
    /// What was decided about: `servers` or `job`.
    pub kind: String,
    /// `placed`, `no_valid_host`, `dry_run`, ...
    pub outcome: String,
    /// What else the header says (hosts chosen, short reason), as its writer
    /// writes it.
    pub header: Value,
    /// When it was made.
    pub created: Micros,
}

/// A key of a request, under which it is answered once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestKeyRow {
    /// Durable integer id, in order of use.
    pub id: i64,
    /// What the key and its owner come to.
    pub uuid: Uuid,
    /// What the request's body comes to.
    pub fingerprint: Uuid,
    /// When it was used.
    pub created: Micros,
}

/// The answer of a request with a key. Kept by the database, not by the image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestAnswerRow {
    /// The key's id.
    pub key: i64,
    /// The status of the answer.
    pub status: u16,
    /// Its body, as its writer writes it.
    pub body: String,
}

/// A call over the message bus whose answer claims something: kept so that a
/// second copy gets the same answer, and that an answer which reaches nobody is
/// undone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallRow {
    /// Durable integer id.
    pub id: i64,
    /// The call's id as a uuid.
    pub uuid: Uuid,
    /// The call's id as its caller wrote it.
    pub msg_id: String,
    /// The message's id as its sender wrote it; empty when it had none.
    pub unique_id: String,
    /// The queue that the answer goes to.
    pub reply_queue: String,
    /// The answer, as the bus writes it.
    pub answer: String,
    /// What was claimed.
    pub claims: Vec<CallClaim>,
    /// Whether nothing is to be done for it any more: the broker took the answer, or
    /// it was given up.
    pub delivered: bool,
    /// When it was made.
    pub created: Micros,
    /// When it was last changed; after `created` once no queue was there for the
    /// answer.
    pub updated: Micros,
}

impl CallRow {
    /// Whether it is known that the answer had not reached the caller: there was no
    /// queue for it.
    #[must_use]
    pub fn was_missing(&self) -> bool {
        self.updated > self.created
    }
}

/// What a call claimed for one consumer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallClaim {
    /// The consumer.
    pub consumer: Uuid,
    /// Its generation after the claim.
    pub generation: i64,
    /// The providers on which it holds something since.
    pub providers: Vec<Uuid>,
    /// Who had made its claim before, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin_before: Option<Origin>,
    /// Why it was not taken back, though the answer reached nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stays: Option<String>,
}

/// How new something is that was learnt from the message bus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StampRow {
    /// Durable integer id.
    pub id: i64,
    /// Made of what it is about.
    pub uuid: Uuid,
    /// What it is about, such as `aggregate/<uuid>`.
    pub about: String,
    /// What was said, where that is kept nowhere else.
    pub state: Option<String>,
    /// When its sender said so, by the sender's clock.
    pub said: Micros,
    /// When we heard it.
    pub noted: Micros,
}

/// The inventories of one provider, by class name.
pub type Inventories = BTreeMap<String, Inventory>;
