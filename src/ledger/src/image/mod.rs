//! The image: everything the ledger holds, as one immutable value in memory.
//!
//! A reader takes the current image and keeps it for as long as one answer or
//! session lasts; it never sees half of a mutation. The writer clones the
//! image (the parts are shared), applies a batch of changes to the clone, and
//! publishes it after the commit. Nothing is copied but what a change touches.

pub mod batch;
pub mod block;
pub mod consumers;
mod dump;
pub mod figures;
pub mod groups;
pub mod hosts;
pub mod ids;
pub mod mask;
pub mod memo;
pub mod names;
pub mod providers;
pub mod usage;

use crate::{
    change::{Change, Record},
    rows::{CallRow, ConsumerRow, ProviderRow},
};
use consumers::{Allocation, Consumer};
use smallvec::SmallVec;
use std::sync::Arc;
use stowplan_model::Uuid;

/// A hash map that is shared when it is cloned.
type Map<K, V> =
    imbl::GenericHashMap<K, V, foldhash::fast::RandomState, imbl::shared_ptr::DefaultSharedPtr>;

/// Everything the ledger holds, at one point of the order of all changes.
#[derive(Clone, Debug, Default)]
pub struct Image {
    seq: i64,
    /// Resource classes.
    pub classes: names::Names,
    /// Traits.
    pub traits: names::Names,
    /// Placement aggregates: sets of providers.
    pub aggregates: names::Aggregates,
    /// Resource providers with inventories and what is used of them.
    pub providers: providers::Providers,
    /// Consumers with their allocations.
    pub consumers: consumers::Consumers,
    /// Cells.
    pub cells: groups::Cells,
    /// Services.
    pub services: groups::Services,
    /// Hosts, with the columns that the engine reads.
    pub hosts: hosts::Hosts,
    /// Host aggregates.
    pub host_aggregates: groups::HostAggregates,
    /// Server groups.
    pub server_groups: groups::ServerGroups,
    /// Queues, jobs and tasks.
    pub batch: batch::Batch,
    /// Keys of requests.
    pub request_keys: groups::RequestKeys,
    /// Calls over the message bus, with their answers.
    pub calls: groups::Calls,
    /// How new what was learnt from the message bus is.
    pub stamps: groups::Stamps,
    memo: memo::Memo,
}

impl Image {
    /// The number of the last change that is in this image.
    #[must_use]
    pub fn seq(&self) -> i64 {
        self.seq
    }

    /// The number that the next change gets: what a proposal checked against
    /// this image may write into its records.
    #[must_use]
    pub fn next_seq(&self) -> i64 {
        self.seq + 1
    }

    /// Applies a committed or staged change, the one after the last.
    pub fn apply(&mut self, change: &Change) {
        self.seq += 1;
        for record in &change.records {
            self.apply_record(record);
        }
    }

    /// Sets the place in the order of changes, after loading rows.
    pub(crate) fn set_seq(&mut self, seq: i64) {
        self.seq = seq;
    }

    /// Applies one record.
    pub(crate) fn apply_record(&mut self, record: &Record) {
        match record {
            Record::Class(row) => self.classes.put(row.clone()),
            Record::ClassGone(name) => self.classes.remove(name),
            Record::Trait(row) => self.traits.put(row.clone()),
            Record::TraitGone(name) => self.traits.remove(name),
            Record::Provider(row) => self.apply_provider(row),
            Record::Generation { provider, generation } => {
                self.providers.set_generation(*provider, *generation);
            }
            Record::ProviderGone(uuid) => {
                let host = self.root_of(*uuid);
                self.providers.remove(*uuid);
                self.memo.forget_hosts();
                host.into_iter().for_each(|host| self.recount(host));
            }
            Record::Inventories { provider, inventories } => {
                self.providers.set_inventories(*provider, inventories, &self.classes);
                self.root_of(*provider).into_iter().for_each(|host| self.refresh_figures(host));
            }
            Record::Traits { provider, traits } => {
                self.providers.set_traits(*provider, traits, &self.traits);
            }
            Record::Aggregates { provider, aggregates } => {
                self.providers.set_aggregates(*provider, aggregates, &mut self.aggregates);
            }
            Record::Consumer(row) => self.apply_consumer(row),
            Record::ConsumerGone(uuid) => {
                if let Some(before) = self.consumers.remove(*uuid) {
                    self.count(&before, -1);
                    self.consumer_went(&before);
                }
            }
            Record::Cell(row) => {
                self.cells.put(row.id, row.uuid, row.clone());
            }
            Record::Host(row) => self.apply_host(row),
            Record::HostGone(uuid) => {
                self.hosts.remove(*uuid);
                self.memo.forget_hosts();
            }
            Record::Service(row) => {
                self.apply_service(row);
                self.memo.forget_services();
            }
            Record::ServiceGone(uuid) => {
                self.remove_service(*uuid);
                self.memo.forget_services();
            }
            Record::HostAggregate(row) => {
                let before = self.host_aggregates.put(row.id, row.uuid, row.clone());
                self.refresh_aggregates(before.as_deref(), Some(row));
            }
            Record::HostAggregateGone(uuid) => {
                let before = self.host_aggregates.remove(*uuid);
                self.refresh_aggregates(before.as_deref(), None);
            }
            Record::ServerGroup(row) => {
                self.server_groups.put(row.id, row.uuid, row.clone());
            }
            Record::ServerGroupGone(uuid) => {
                self.server_groups.remove(*uuid);
            }
            Record::Queue(row) => self.batch.put_queue(row),
            Record::QueueGone(name) => self.batch.remove_queue(name),
            Record::Job(row) => self.batch.put_job(row),
            Record::JobGone(uuid) => self.batch.remove_job(*uuid),
            Record::Task(row) => self.batch.put_task(row),
            Record::Call(row) => {
                self.calls.put(row.id, row.uuid, CallRow::clone(row));
            }
            Record::CallGone(uuid) => {
                self.calls.remove(*uuid);
            }
            Record::Stamp(row) => {
                self.stamps.put(row.id, row.uuid, row.clone());
            }
            Record::StampGone(uuid) => {
                self.stamps.remove(*uuid);
            }
            Record::RequestKey(row) => {
                self.request_keys.put(row.id, row.uuid, row.clone());
            }
            Record::RequestKeyGone(uuid) => {
                self.request_keys.remove(*uuid);
            }
            // The image holds neither decisions nor answers: they are read from
            // the database.
            Record::Decision(_) | Record::RequestAnswer(_) => {}
            Record::BatchObject(row) => {
                self.batch.objects.put(row.id, row.uuid, row.clone());
            }
            Record::BatchObjectGone(uuid) => {
                self.batch.objects.remove(*uuid);
            }
        }
    }

    /// Puts a provider in place. One that leaves a tree takes its inventories
    /// from one host to another.
    fn apply_provider(&mut self, row: &ProviderRow) {
        let before = self.root_of(row.uuid);
        if before.is_none() {
            self.memo.forget_hosts();
        }
        self.providers.put(row);
        let after = self.root_of(row.uuid);
        if before != after {
            before.into_iter().chain(after).for_each(|host| self.recount(host));
        }
    }

    /// The root of the tree that a provider is in.
    fn root_of(&self, provider: Uuid) -> Option<Uuid> {
        let provider = self.providers.get(self.providers.find(provider)?)?;
        Some(self.providers.uuid(provider.root))
    }

    fn apply_consumer(&mut self, row: &ConsumerRow) {
        let allocations = row.allocations.iter().filter_map(|allocation| {
            Some(Allocation {
                provider: self.providers.find(allocation.provider)?,
                class: self.classes.ix(&allocation.class)?,
                used: allocation.used,
            })
        });
        let mut allocations: SmallVec<[Allocation; 3]> = allocations.collect();
        // One order, whether a change, the journal or a table brought them.
        allocations.sort_by_key(|a| (self.providers.get(a.provider).map(|p| p.id), a.class));
        let consumer = Consumer {
            id: row.id,
            uuid: row.uuid,
            generation: row.generation,
            allocations,
            project: self.consumers.intern(&row.project),
            user: self.consumers.intern(&row.user),
            consumer_type: row.consumer_type.as_deref().map(|text| self.consumers.intern(text)),
            origin: row.origin.clone().map(Arc::new),
            created: row.created,
            updated: row.updated,
        };
        self.count(&consumer, 1);
        if let Some(before) = self.consumers.put(consumer.clone()) {
            self.count(&before, -1);
            self.consumer_went(&before);
        }
        self.consumer_came(&consumer);
    }

    /// Adds what a consumer holds to the used columns, or takes it out.
    fn count(&mut self, consumer: &Consumer, sign: i64) {
        for allocation in &consumer.allocations {
            self.providers.add_used(allocation.provider, allocation.class, sign * allocation.used);
        }
    }
}
