//! Which things a batch of changes has touched: the writer writes the last
//! state of each, once, however often the batch changed it.

use crate::change::{Change, Record};
use std::collections::BTreeSet;
use stowplan_model::Uuid;

/// Keys of everything that a batch has touched.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    pub classes: BTreeSet<String>,
    pub traits: BTreeSet<String>,
    pub providers: BTreeSet<Uuid>,
    pub generations: BTreeSet<Uuid>,
    pub inventories: BTreeSet<Uuid>,
    pub provider_traits: BTreeSet<Uuid>,
    pub provider_aggregates: BTreeSet<Uuid>,
    pub consumers: BTreeSet<Uuid>,
    pub cells: BTreeSet<Uuid>,
    pub hosts: BTreeSet<Uuid>,
    pub services: BTreeSet<Uuid>,
    pub host_aggregates: BTreeSet<Uuid>,
    pub server_groups: BTreeSet<Uuid>,
    pub queues: BTreeSet<String>,
    pub jobs: BTreeSet<Uuid>,
    pub tasks: BTreeSet<Uuid>,
    pub request_keys: BTreeSet<Uuid>,
    pub calls: BTreeSet<Uuid>,
    pub stamps: BTreeSet<Uuid>,
    pub batch_objects: BTreeSet<Uuid>,
}

impl Touched {
    /// Notes what a change touches.
    pub fn note(&mut self, change: &Change) {
        for record in &change.records {
            self.note_record(record);
        }
    }

    fn note_record(&mut self, record: &Record) {
        match record {
            Record::Class(row) => note(&mut self.classes, row.name.clone()),
            Record::ClassGone(name) => note(&mut self.classes, name.clone()),
            Record::Trait(row) => note(&mut self.traits, row.name.clone()),
            Record::TraitGone(name) => note(&mut self.traits, name.clone()),
            Record::Provider(row) => note(&mut self.providers, row.uuid),
            Record::Generation { provider, .. } => note(&mut self.generations, *provider),
            Record::ProviderGone(uuid) => {
                // What hung on it goes too, whether or not it was touched.
                for set in [
                    &mut self.providers,
                    &mut self.inventories,
                    &mut self.provider_traits,
                    &mut self.provider_aggregates,
                ] {
                    set.insert(*uuid);
                }
            }
            Record::Inventories { provider, .. } => note(&mut self.inventories, *provider),
            Record::Traits { provider, .. } => note(&mut self.provider_traits, *provider),
            Record::Aggregates { provider, .. } => note(&mut self.provider_aggregates, *provider),
            Record::Consumer(row) => note(&mut self.consumers, row.uuid),
            Record::ConsumerGone(uuid) => note(&mut self.consumers, *uuid),
            Record::Cell(row) => note(&mut self.cells, row.uuid),
            Record::Host(row) => note(&mut self.hosts, row.uuid),
            Record::HostGone(uuid) => note(&mut self.hosts, *uuid),
            Record::Service(row) => note(&mut self.services, row.uuid),
            Record::ServiceGone(uuid) => note(&mut self.services, *uuid),
            Record::HostAggregate(row) => note(&mut self.host_aggregates, row.uuid),
            Record::HostAggregateGone(uuid) => note(&mut self.host_aggregates, *uuid),
            Record::ServerGroup(row) => note(&mut self.server_groups, row.uuid),
            Record::ServerGroupGone(uuid) => note(&mut self.server_groups, *uuid),
            Record::Queue(row) => note(&mut self.queues, row.name.clone()),
            Record::QueueGone(name) => note(&mut self.queues, name.clone()),
            Record::Job(row) => note(&mut self.jobs, row.uuid),
            Record::JobGone(uuid) => note(&mut self.jobs, *uuid),
            Record::Task(row) => note(&mut self.tasks, row.uuid),
            Record::Call(row) => note(&mut self.calls, row.uuid),
            Record::CallGone(uuid) => note(&mut self.calls, *uuid),
            Record::Stamp(row) => note(&mut self.stamps, row.uuid),
            Record::StampGone(uuid) => note(&mut self.stamps, *uuid),
            Record::RequestKey(row) => note(&mut self.request_keys, row.uuid),
            Record::RequestKeyGone(uuid) => note(&mut self.request_keys, *uuid),
            Record::Decision(_) | Record::RequestAnswer(_) => {}
            Record::BatchObject(row) => note(&mut self.batch_objects, row.uuid),
            Record::BatchObjectGone(uuid) => note(&mut self.batch_objects, *uuid),
        }
    }
}

fn note<K: Ord>(keys: &mut BTreeSet<K>, key: K) {
    keys.insert(key);
}
