//! From a snapshot to an image.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use stowplan_ledger::rows::{
    AllocationRow, CellRow, ConsumerRow, NameRow, ProviderRow, ServerGroupRow, ServiceRow,
};
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::Uuid;
use stowplan_placement::names::seed;

use super::form::{Provider, Snapshot};
use crate::hosts::BINARY;

/// Why a snapshot is no cloud.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// A uuid stands twice.
    #[error("providers: {0} stands twice")]
    Twice(Uuid),
    /// A parent is not there, or stands below its own child.
    #[error("provider {provider}: its parent {parent} is not listed, or stands below it")]
    Parent {
        /// The provider.
        provider: Uuid,
        /// Its parent.
        parent: Uuid,
    },
    /// Something is held of a class that the provider does not have.
    #[error("provider {provider}: consumer {consumer} holds {class}, of which it has none")]
    Held {
        /// The provider.
        provider: Uuid,
        /// Who holds it.
        consumer: Uuid,
        /// The class.
        class: String,
    },
}

impl Snapshot {
    /// An image in which the cloud is as the snapshot says. Its hosts have their
    /// columns alone.
    ///
    /// # Errors
    /// Providers that are no trees, or allocations of what is not there.
    pub fn image(&self) -> Result<Image, SnapshotError> {
        let mut image = Image::default();
        image.apply(&seed(&image, self.now).0);
        let mut records = self.names(&image);
        records.extend(self.trees()?);
        for provider in &self.providers {
            records.extend(parts(provider));
        }
        records.extend(self.consumers()?);
        records.extend(self.rest());
        image.apply(&Change { kind: String::new(), records });
        image.set_host_table(self.table());
        Ok(image)
    }

    /// Classes and traits that are not standard.
    fn names(&self, image: &Image) -> Vec<Record> {
        let classes = self.providers.iter().flat_map(|provider| provider.inventories.keys());
        let classes = self.resource_classes.iter().chain(classes);
        let classes = missing(classes, |name| image.classes.ix(name).is_none());
        let traits = self.providers.iter().flat_map(|provider| &provider.traits);
        let traits = self.traits.iter().chain(traits);
        let traits = missing(traits, |name| image.traits.ix(name).is_none());
        let row = |(id, name): (i64, &String)| NameRow {
            id,
            name: name.clone(),
            created: self.now,
            updated: self.now,
        };
        let classes = (image.classes.next_id()..).zip(classes).map(row).map(Record::Class);
        let traits = (image.traits.next_id()..).zip(traits).map(row).map(Record::Trait);
        classes.chain(traits).collect()
    }

    /// The rows of all providers, parents before their children; ids say in which
    /// order they were made.
    fn trees(&self) -> Result<Vec<Record>, SnapshotError> {
        let mut by_uuid: HashMap<Uuid, &Provider> = HashMap::new();
        for provider in &self.providers {
            if by_uuid.insert(provider.uuid, provider).is_some() {
                return Err(SnapshotError::Twice(provider.uuid));
            }
        }
        let mut rows: Vec<(usize, ProviderRow)> = Vec::with_capacity(self.providers.len());
        for (id, provider) in (1..).zip(&self.providers) {
            let (mut root, mut depth) = (provider, 0);
            while let Some(parent) = root.parent {
                let wrong = SnapshotError::Parent { provider: root.uuid, parent };
                root = by_uuid.get(&parent).ok_or_else(|| wrong.clone())?;
                depth += 1;
                if depth > self.providers.len() {
                    return Err(wrong);
                }
            }
            let name = Some(&provider.name).filter(|name| !name.is_empty()).cloned();
            let row = ProviderRow {
                id,
                uuid: provider.uuid,
                name: name.unwrap_or_else(|| provider.uuid.to_string()),
                generation: 1,
                parent: provider.parent,
                root: root.uuid,
                created: self.now,
                updated: self.now,
            };
            rows.push((depth, row));
        }
        rows.sort_by_key(|(depth, row)| (*depth, row.id));
        Ok(rows.into_iter().map(|(_, row)| Record::Provider(row)).collect())
    }

    fn consumers(&self) -> Result<Vec<Record>, SnapshotError> {
        let mut held: BTreeMap<Uuid, Vec<AllocationRow>> = BTreeMap::new();
        for provider in &self.providers {
            for (consumer, amounts) in &provider.allocations {
                for (class, used) in amounts {
                    if !provider.inventories.contains_key(class) {
                        return Err(SnapshotError::Held {
                            provider: provider.uuid,
                            consumer: *consumer,
                            class: class.clone(),
                        });
                    }
                    let provider = provider.uuid;
                    let row = AllocationRow { provider, class: class.clone(), used: *used };
                    held.entry(*consumer).or_default().push(row);
                }
            }
        }
        let rows = (1..).zip(held).map(|(id, (uuid, allocations))| ConsumerRow {
            id,
            uuid,
            generation: 1,
            project: String::new(),
            user: String::new(),
            consumer_type: None,
            allocations,
            origin: None,
            created: self.now,
            updated: self.now,
        });
        Ok(rows.map(|row| Record::Consumer(Box::new(row))).collect())
    }

    /// Cells, services, host aggregates and server groups.
    fn rest(&self) -> Vec<Record> {
        let cells = (1..).zip(&self.cells).map(|(id, cell)| {
            let (uuid, name, disabled) = (cell.uuid, cell.name.clone(), cell.disabled);
            Record::Cell(CellRow { id, uuid, name, disabled })
        });
        let groups = (1..).zip(&self.groups).map(|(id, group)| {
            Record::ServerGroup(ServerGroupRow {
                id,
                uuid: group.uuid,
                name: String::new(),
                policy: group.policy.clone(),
                max_server_per_host: group.max_server_per_host,
                project: String::new(),
                user: String::new(),
                members: group.members.clone(),
                created: self.now,
                updated: self.now,
            })
        });
        let aggregates = self.host_aggregates().into_values().map(Record::HostAggregate);
        cells.chain(self.services()).chain(aggregates).chain(groups).collect()
    }

    fn services(&self) -> Vec<Record> {
        let listed =
            self.services.iter().map(|it| (it.host.as_str(), it.binary.as_str(), it.version));
        let of_hosts = self.hosts.iter().filter(|_| self.services.is_empty());
        let of_hosts = of_hosts.map(|it| (it.host.as_str(), BINARY, it.service_version()));
        let row = |(id, (host, binary, version)): (i64, (&str, &str, i64))| {
            let name = format!("{binary} of {host}");
            Record::Service(ServiceRow {
                id,
                uuid: Uuid::new_v5(&Uuid::NAMESPACE_DNS, name.as_bytes()),
                host: host.to_owned(),
                binary: binary.to_owned(),
                zone: None,
                version,
                disabled: false,
                disabled_reason: None,
                forced_down: false,
                last_seen: None,
                created: self.now,
                updated: self.now,
            })
        };
        (1..).zip(listed.chain(of_hosts)).map(row).collect()
    }
}

/// What hangs on a provider.
fn parts(provider: &Provider) -> [Record; 3] {
    let uuid = provider.uuid;
    [
        Record::Inventories { provider: uuid, inventories: provider.inventories.clone() },
        Record::Traits { provider: uuid, traits: provider.traits.clone() },
        Record::Aggregates { provider: uuid, aggregates: provider.aggregates.clone() },
    ]
}

/// The names that are missing, each once, in the order given.
fn missing<'a>(
    names: impl Iterator<Item = &'a String>,
    is_missing: impl Fn(&str) -> bool,
) -> Vec<&'a String> {
    let mut seen = BTreeSet::new();
    names.filter(|name| is_missing(name) && seen.insert(name.as_str())).collect()
}
