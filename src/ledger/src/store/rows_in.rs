//! From the tables' rows to the ledger's rows. A row that this version cannot
//! have written stops the start with its table and key.

use crate::{
    change::Record,
    error::OpenError,
    image::{Image, ids::Kind},
    rows::{
        AllocationRow, BatchObjectRow, CallRow, CellRow, ConsumerRow, HostAggregateRow, HostRow,
        HostSource, Inventories, InventoryOwner, JobRow, NameRow, ProviderRow, QueueRow,
        RequestKeyRow, ServerGroupRow, ServiceRow, StampRow, TaskRow,
    },
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use stowplan_db::entity::{
    allocation, batch_object, call, cell, consumer, counter, host, host_aggregate,
    host_aggregate_host, host_aggregate_metadata, inventory, job, provider_aggregate,
    provider_trait, queue, request_key, resource_class, resource_provider, server_group,
    server_group_member, service, stamp, task, trait_name,
};
use stowplan_model::{Inventory, Micros, Uuid};

fn uuid(table: &'static str, row: &dyn ToString, text: &str) -> Result<Uuid, OpenError> {
    Uuid::parse_str(text).map_err(|_| OpenError::Row {
        table,
        row: row.to_string(),
        problem: format!("'{text}' is no uuid"),
    })
}

fn some_uuid(
    table: &'static str,
    row: &dyn ToString,
    text: Option<&str>,
) -> Result<Option<Uuid>, OpenError> {
    text.map(|text| uuid(table, row, text)).transpose()
}

fn json<T: DeserializeOwned>(
    table: &'static str,
    row: &dyn ToString,
    text: &str,
) -> Result<T, OpenError> {
    serde_json::from_str(text).map_err(|error| OpenError::Row {
        table,
        row: row.to_string(),
        problem: format!("JSON that this version does not read: {error}"),
    })
}

/// What a key of one table stands for in another.
fn look<'a, V>(
    map: &'a HashMap<i64, V>,
    key: i64,
    table: &'static str,
    what: &str,
) -> Result<&'a V, OpenError> {
    map.get(&key).ok_or_else(|| OpenError::Row {
        table,
        row: format!("{what} {key}"),
        problem: format!("there is no such {what}"),
    })
}

pub(super) fn counted(row: &counter::Model) -> Result<Kind, OpenError> {
    Kind::of(row.id).ok_or_else(|| OpenError::Row {
        table: "counters",
        row: row.id.to_string(),
        problem: format!("'{}' is not counted by this version", row.kind),
    })
}

pub(super) fn class(row: resource_class::Model) -> NameRow {
    let (created, updated) = (Micros(row.created_us), Micros(row.updated_us));
    NameRow { id: row.id, name: row.name, created, updated }
}

pub(super) fn trait_name(row: trait_name::Model) -> NameRow {
    let (created, updated) = (Micros(row.created_us), Micros(row.updated_us));
    NameRow { id: row.id, name: row.name, created, updated }
}

/// Names of classes and traits by their ids.
pub(super) struct NameIds {
    classes: HashMap<i64, String>,
    traits: HashMap<i64, String>,
}

impl NameIds {
    pub fn new(image: &Image) -> Self {
        Self {
            classes: image.classes.iter().map(|row| (row.id, row.name.clone())).collect(),
            traits: image.traits.iter().map(|row| (row.id, row.name.clone())).collect(),
        }
    }
}

/// Uuids of providers by their ids, while the provider tables are read.
pub(super) struct ProviderIds(HashMap<i64, Uuid>);

impl ProviderIds {
    pub fn new(rows: &[resource_provider::Model]) -> Result<Self, OpenError> {
        let pairs =
            rows.iter().map(|row| Ok((row.id, uuid("resource_providers", &row.id, &row.uuid)?)));
        pairs.collect::<Result<_, OpenError>>().map(Self)
    }

    fn uuid(&self, id: i64, table: &'static str) -> Result<Uuid, OpenError> {
        look(&self.0, id, table, "provider").copied()
    }

    /// Provider records: first every provider by itself, in order of creation,
    /// so that it takes the place that it would have taken alive; then those in
    /// a tree below their parents, every parent before its children (a provider
    /// may have been moved below one that was made after it).
    pub fn records(&self, rows: Vec<resource_provider::Model>) -> Result<Vec<Record>, OpenError> {
        let mut records = Vec::with_capacity(rows.len());
        for row in &rows {
            let mut alone = self.row(row)?;
            (alone.parent, alone.root) = (None, alone.uuid);
            records.push(Record::Provider(alone));
        }
        let (roots, mut waiting): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|row| row.parent_id.is_none());
        let mut placed: HashSet<i64> = roots.into_iter().map(|row| row.id).collect();
        while !waiting.is_empty() {
            let before = waiting.len();
            let mut later = Vec::new();
            for row in waiting {
                if row.parent_id.is_some_and(|parent| placed.contains(&parent)) {
                    placed.insert(row.id);
                    records.push(Record::Provider(self.row(&row)?));
                } else {
                    later.push(row);
                }
            }
            if let Some(stuck) = later.first()
                && later.len() == before
            {
                return Err(OpenError::Row {
                    table: "resource_providers",
                    row: stuck.uuid.clone(),
                    problem: "its parents form a circle or are missing".to_owned(),
                });
            }
            waiting = later;
        }
        Ok(records)
    }

    fn row(&self, row: &resource_provider::Model) -> Result<ProviderRow, OpenError> {
        const TABLE: &str = "resource_providers";
        Ok(ProviderRow {
            id: row.id,
            uuid: self.uuid(row.id, TABLE)?,
            parent: row.parent_id.map(|id| self.uuid(id, TABLE)).transpose()?,
            root: self.uuid(row.root_id, TABLE)?,
            name: row.name.clone(),
            generation: row.generation,
            created: Micros(row.created_us),
            updated: Micros(row.updated_us),
        })
    }

    pub fn inventories(
        &self,
        rows: Vec<inventory::Model>,
        names: &NameIds,
    ) -> Result<Vec<Record>, OpenError> {
        let mut all: BTreeMap<i64, Inventories> = BTreeMap::new();
        for row in rows {
            let class = look(&names.classes, row.class_id, "inventories", "class")?.clone();
            let inventory = Inventory {
                total: row.total,
                reserved: row.reserved,
                min_unit: row.min_unit,
                max_unit: row.max_unit,
                step_size: row.step_size,
                allocation_ratio: row.allocation_ratio,
            };
            all.entry(row.provider_id).or_default().insert(class, inventory);
        }
        self.each(all, "inventories", |provider, inventories| Record::Inventories {
            provider,
            inventories,
        })
    }

    pub fn traits(
        &self,
        rows: Vec<provider_trait::Model>,
        names: &NameIds,
    ) -> Result<Vec<Record>, OpenError> {
        let mut all: BTreeMap<i64, Vec<String>> = BTreeMap::new();
        for row in rows {
            let name = look(&names.traits, row.trait_id, "provider_traits", "trait")?.clone();
            all.entry(row.provider_id).or_default().push(name);
        }
        self.each(all, "provider_traits", |provider, traits| Record::Traits { provider, traits })
    }

    pub fn aggregates(
        &self,
        rows: Vec<provider_aggregate::Model>,
    ) -> Result<Vec<Record>, OpenError> {
        let mut all: BTreeMap<i64, Vec<Uuid>> = BTreeMap::new();
        for row in rows {
            let aggregate = uuid("provider_aggregates", &row.provider_id, &row.aggregate)?;
            all.entry(row.provider_id).or_default().push(aggregate);
        }
        self.each(all, "provider_aggregates", |provider, aggregates| Record::Aggregates {
            provider,
            aggregates,
        })
    }

    fn each<V>(
        &self,
        all: BTreeMap<i64, V>,
        table: &'static str,
        record: impl Fn(Uuid, V) -> Record,
    ) -> Result<Vec<Record>, OpenError> {
        all.into_iter().map(|(id, value)| Ok(record(self.uuid(id, table)?, value))).collect()
    }
}

/// Providers and classes by their ids, while consumers are read.
pub(super) struct RowIds {
    providers: HashMap<i64, Uuid>,
    classes: HashMap<i64, String>,
}

impl RowIds {
    pub fn new(image: &Image) -> Self {
        let providers = image.providers.iter().filter_map(|at| image.providers.get(at));
        Self {
            providers: providers.map(|provider| (provider.id, provider.uuid)).collect(),
            classes: NameIds::new(image).classes,
        }
    }

    /// The records of a page of consumers, whose allocations are sorted by
    /// consumer.
    pub fn consumers(
        &self,
        consumers: Vec<consumer::Model>,
        allocations: Vec<allocation::Model>,
    ) -> Result<Vec<Record>, OpenError> {
        let mut held: HashMap<i64, Vec<AllocationRow>> = HashMap::with_capacity(consumers.len());
        for row in allocations {
            let allocation = AllocationRow {
                provider: *look(&self.providers, row.provider_id, "allocations", "provider")?,
                class: look(&self.classes, row.class_id, "allocations", "class")?.clone(),
                used: row.used,
            };
            held.entry(row.consumer_id).or_default().push(allocation);
        }
        let record = |row: consumer::Model| {
            let origin = row.origin.as_deref().map(|text| json("consumers", &row.id, text));
            Ok(Record::Consumer(Box::new(ConsumerRow {
                id: row.id,
                uuid: uuid("consumers", &row.id, &row.uuid)?,
                generation: row.generation,
                project: row.project,
                user: row.user_id,
                consumer_type: row.consumer_type,
                allocations: held.remove(&row.id).unwrap_or_default(),
                origin: origin.transpose()?,
                created: Micros(row.created_us),
                updated: Micros(row.updated_us),
            })))
        };
        consumers.into_iter().map(record).collect()
    }
}

pub(super) fn cell(row: cell::Model) -> Result<CellRow, OpenError> {
    let uuid = uuid("cells", &row.id, &row.uuid)?;
    Ok(CellRow { id: row.id, uuid, name: row.name, disabled: row.disabled })
}

pub(super) fn request_key(row: request_key::Model) -> Result<RequestKeyRow, OpenError> {
    const TABLE: &str = "request_keys";
    Ok(RequestKeyRow {
        id: row.id,
        uuid: uuid(TABLE, &row.id, &row.uuid)?,
        fingerprint: uuid(TABLE, &row.id, &row.fingerprint)?,
        created: Micros(row.created_us),
    })
}

pub(super) fn service(row: service::Model) -> Result<ServiceRow, OpenError> {
    Ok(ServiceRow {
        id: row.id,
        uuid: uuid("services", &row.id, &row.uuid)?,
        host: row.host,
        binary: row.binary,
        zone: row.zone,
        version: row.version,
        disabled: row.disabled,
        disabled_reason: row.disabled_reason,
        forced_down: row.forced_down,
        last_seen: row.last_seen_us.map(Micros),
        created: Micros(row.created_us),
        updated: Micros(row.updated_us),
    })
}

pub(super) fn host(row: host::Model) -> Result<HostRow, OpenError> {
    const TABLE: &str = "hosts";
    let word = |column: &str, text: &str| OpenError::Row {
        table: TABLE,
        row: row.uuid.clone(),
        problem: format!("column {column} holds '{text}'"),
    };
    let source = match row.source.as_str() {
        "rest" => HostSource::Rest,
        "bus" => HostSource::Bus,
        "nova_db" => HostSource::NovaDb,
        other => return Err(word("source", other)),
    };
    let inventory_owner = match row.inventory_owner.as_str() {
        "placement" => InventoryOwner::Placement,
        "report" => InventoryOwner::Report,
        other => return Err(word("inventory_owner", other)),
    };
    Ok(HostRow {
        id: row.id,
        uuid: uuid(TABLE, &row.id, &row.uuid)?,
        source,
        inventory_owner,
        report: json(TABLE, &row.uuid, &row.report)?,
        news: match &row.news {
            Some(news) => json(TABLE, &row.uuid, news)?,
            None => BTreeMap::new(),
        },
        host: row.host,
        node: row.node,
        report_seq: row.report_seq,
        created: Micros(row.created_us),
        updated: Micros(row.updated_us),
    })
}

pub(super) fn host_aggregates(
    rows: Vec<host_aggregate::Model>,
    hosts: Vec<host_aggregate_host::Model>,
    metadata: Vec<host_aggregate_metadata::Model>,
) -> Result<Vec<HostAggregateRow>, OpenError> {
    let mut by_id: HashMap<i64, (Vec<String>, BTreeMap<String, String>)> = HashMap::new();
    for row in hosts {
        by_id.entry(row.aggregate_id).or_default().0.push(row.host);
    }
    for row in metadata {
        by_id.entry(row.aggregate_id).or_default().1.insert(row.meta_key, row.meta_value);
    }
    let row = |row: host_aggregate::Model| {
        let (hosts, metadata) = by_id.remove(&row.id).unwrap_or_default();
        Ok(HostAggregateRow {
            id: row.id,
            uuid: uuid("host_aggregates", &row.id, &row.uuid)?,
            name: row.name,
            hosts,
            metadata,
            external_id: row.external_id,
            created: Micros(row.created_us),
            updated: Micros(row.updated_us),
        })
    };
    rows.into_iter().map(row).collect()
}

pub(super) fn server_groups(
    rows: Vec<server_group::Model>,
    members: Vec<server_group_member::Model>,
) -> Result<Vec<ServerGroupRow>, OpenError> {
    let mut by_id: HashMap<i64, Vec<Uuid>> = HashMap::new();
    for row in members {
        let member = uuid("server_group_members", &row.group_id, &row.instance)?;
        by_id.entry(row.group_id).or_default().push(member);
    }
    let row = |row: server_group::Model| {
        Ok(ServerGroupRow {
            id: row.id,
            uuid: uuid("server_groups", &row.id, &row.uuid)?,
            name: row.name,
            policy: row.policy,
            max_server_per_host: row.max_server_per_host,
            project: row.project,
            user: row.user_id,
            members: by_id.remove(&row.id).unwrap_or_default(),
            created: Micros(row.created_us),
            updated: Micros(row.updated_us),
        })
    };
    rows.into_iter().map(row).collect()
}

pub(super) fn queue(row: queue::Model) -> Result<QueueRow, OpenError> {
    Ok(QueueRow {
        id: row.id,
        spec: json("queues", &row.name, &row.spec)?,
        name: row.name,
        state: row.state,
        generation: row.generation,
        created: Micros(row.created_us),
        updated: Micros(row.updated_us),
    })
}

pub(super) fn job(row: job::Model) -> Result<JobRow, OpenError> {
    Ok(JobRow {
        id: row.id,
        uuid: uuid("jobs", &row.id, &row.uuid)?,
        namespace: row.namespace,
        name: row.name,
        queue: row.queue,
        phase: row.phase,
        spec: json("jobs", &row.uuid, &row.spec)?,
        conditions: json("jobs", &row.uuid, &row.conditions)?,
        created: Micros(row.created_us),
        updated: Micros(row.updated_us),
    })
}

pub(super) fn task(row: task::Model) -> Result<TaskRow, OpenError> {
    Ok(TaskRow {
        id: row.id,
        uuid: uuid("tasks", &row.id, &row.uuid)?,
        job: row.job_id,
        role: row.role,
        index: row.task_index,
        state: row.state,
        attempt: row.attempt,
        host: some_uuid("tasks", &row.id, row.host_uuid.as_deref())?,
        reason: row.reason,
        detail: match row.detail {
            Some(text) => json("tasks", &row.id, &text)?,
            None => Value::Null,
        },
        created: Micros(row.created_us),
        updated: Micros(row.updated_us),
    })
}

pub(super) fn batch_object(row: batch_object::Model) -> Result<BatchObjectRow, OpenError> {
    Ok(BatchObjectRow {
        id: row.id,
        uuid: uuid("batch_objects", &row.id, &row.uuid)?,
        spec: json("batch_objects", &row.name, &row.spec)?,
        kind: row.kind,
        name: row.name,
        generation: row.generation,
        created: Micros(row.created_us),
        updated: Micros(row.updated_us),
    })
}

pub(super) fn call(row: call::Model) -> Result<CallRow, OpenError> {
    Ok(CallRow {
        id: row.id,
        uuid: uuid("calls", &row.id, &row.uuid)?,
        claims: json("calls", &row.uuid, &row.claims)?,
        msg_id: row.msg_id,
        unique_id: row.unique_id,
        reply_queue: row.reply_queue,
        answer: row.answer,
        delivered: row.delivered,
        created: Micros(row.created_us),
        updated: Micros(row.updated_us),
    })
}

pub(super) fn stamp(row: stamp::Model) -> Result<StampRow, OpenError> {
    Ok(StampRow {
        id: row.id,
        uuid: uuid("stamps", &row.id, &row.uuid)?,
        about: row.about,
        state: row.state,
        said: Micros(row.said_us),
        noted: Micros(row.noted_us),
    })
}
