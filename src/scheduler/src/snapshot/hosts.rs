//! Hosts of a snapshot, and their host aggregates.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use stowplan_engine::HostTable;
use stowplan_ledger::rows::HostAggregateRow;
use stowplan_model::Uuid;
use stowplan_model::host::HostAggregate;

use super::form::Snapshot;

impl Snapshot {
    /// Host aggregates by id: those that are listed, and those that hosts say
    /// they are in.
    pub(super) fn host_aggregates(&self) -> BTreeMap<i64, HostAggregateRow> {
        let mut rows: BTreeMap<i64, HostAggregateRow> = BTreeMap::new();
        let row = |id, uuid, name: &str, metadata: &BTreeMap<String, String>| HostAggregateRow {
            id,
            uuid,
            name: name.to_owned(),
            hosts: Vec::new(),
            metadata: metadata.clone(),
            external_id: None,
            created: self.now,
            updated: self.now,
        };
        for aggregate in &self.aggregates {
            let next = rows.last_key_value().map_or(1, |(last, _)| last + 1);
            let id = if aggregate.id > 0 { aggregate.id } else { next };
            let made = row(id, aggregate.uuid, &aggregate.name, &aggregate.metadata);
            rows.insert(id, HostAggregateRow { hosts: aggregate.hosts.clone(), ..made });
        }
        for host in &self.hosts {
            for own in host.aggregates() {
                let uuid =
                    own.uuid.unwrap_or_else(|| Uuid::from_u128(own.id.unsigned_abs().into()));
                let made = rows
                    .entry(own.id)
                    .or_insert_with(|| row(own.id, uuid, &own.name, &own.metadata));
                made.hosts.push(host.host.clone());
            }
        }
        rows
    }

    /// The columns of the hosts.
    pub(super) fn table(&self) -> HostTable {
        let mut of_hosts: HashMap<String, Vec<Arc<HostAggregate>>> = HashMap::new();
        for row in self.host_aggregates().into_values() {
            let aggregate = Arc::new(HostAggregate {
                id: row.id,
                name: row.name,
                uuid: Some(row.uuid),
                metadata: row.metadata,
            });
            for host in row.hosts {
                of_hosts.entry(host).or_default().push(aggregate.clone());
            }
        }
        let mut table = HostTable::new();
        for host in &self.hosts {
            let ix = table.free_ix();
            table.upsert(ix, host.row(self.now));
            table.set_aggregates(ix, of_hosts.get(&host.host).cloned().unwrap_or_default());
        }
        table
    }
}
