//! What a snapshot holds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stowplan_engine::scenario::ScenarioHost;
use stowplan_model::{Inventory, Micros, Uuid};

/// A cloud at one moment. Keys that are not listed are let pass.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Snapshot {
    /// The ledger's sequence number.
    #[serde(default)]
    pub seq: i64,
    /// The moment, microseconds since the epoch.
    #[serde(default = "stowplan_engine::scenario::new_year")]
    pub now: Micros,
    /// Options by `section.name` that are not at their defaults, as far as they
    /// bear on where servers go.
    #[serde(default)]
    pub config: Map<String, Value>,
    /// Custom resource classes in order of creation. Those that providers have
    /// need not be listed.
    #[serde(default)]
    pub resource_classes: Vec<String>,
    /// Custom traits in order of creation; likewise.
    #[serde(default)]
    pub traits: Vec<String>,
    /// Hosts.
    pub hosts: Vec<ScenarioHost>,
    /// Resource providers in order of creation. A host's root provider has its
    /// uuid.
    pub providers: Vec<Provider>,
    /// Host aggregates in order of creation.
    #[serde(default)]
    pub aggregates: Vec<Aggregate>,
    /// Server groups.
    #[serde(default)]
    pub groups: Vec<Group>,
    /// Services, for the lowest version among them; those of hosts need not be
    /// listed.
    #[serde(default)]
    pub services: Vec<Service>,
    /// Cells that are known by name or disabled.
    #[serde(default)]
    pub cells: Vec<Cell>,
}

/// A resource provider with all that hangs on it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Provider {
    /// Its uuid.
    pub uuid: Uuid,
    /// Its name; empty means its uuid.
    pub name: String,
    /// The provider above it; null for a root.
    pub parent: Option<Uuid>,
    /// What it has, by resource class.
    pub inventories: BTreeMap<String, Inventory>,
    /// Its traits.
    pub traits: Vec<String>,
    /// Placement aggregates that it is in.
    pub aggregates: Vec<Uuid>,
    /// What consumers hold of it: units by resource class.
    pub allocations: BTreeMap<Uuid, BTreeMap<String, i64>>,
}

/// A host aggregate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Aggregate {
    /// Its id; 0 means the next one.
    #[serde(default)]
    pub id: i64,
    /// Its uuid, which is the mirrored Placement aggregate's too.
    pub uuid: Uuid,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// Names of its hosts.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Metadata; `availability_zone` makes it a zone.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
}

/// A server group.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Group {
    /// Its uuid.
    pub uuid: Uuid,
    /// `affinity`, `anti-affinity`, `soft-affinity` or `soft-anti-affinity`.
    pub policy: String,
    /// Members on one host at most; null means 1.
    #[serde(default)]
    pub max_server_per_host: Option<i64>,
    /// Its servers.
    #[serde(default)]
    pub members: Vec<Uuid>,
}

/// A service.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Service {
    /// Its host.
    pub host: String,
    /// The program.
    pub binary: String,
    /// Version of its RPC objects.
    #[serde(default)]
    pub version: i64,
}

/// A cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cell {
    /// Its uuid.
    pub uuid: Uuid,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// Whether its hosts are left out.
    #[serde(default)]
    pub disabled: bool,
}
