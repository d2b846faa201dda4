//! The image as rows again: what the loader, the tests and a snapshot read.
//!
//! Two images are the same when their dumps are, whatever dense numbers and
//! places they use inside.

use super::{Image, consumers::Consumer, providers::At};
use crate::{
    change::Record,
    rows::{AllocationRow, ConsumerRow, ProviderRow},
};

impl Image {
    /// The row of a consumer.
    #[must_use]
    pub fn consumer_row(&self, consumer: &Consumer) -> ConsumerRow {
        let allocations = consumer.allocations.iter().map(|allocation| AllocationRow {
            provider: self.providers.uuid(allocation.provider),
            class: self.classes.name(allocation.class).to_owned(),
            used: allocation.used,
        });
        ConsumerRow {
            id: consumer.id,
            uuid: consumer.uuid,
            generation: consumer.generation,
            project: consumer.project.to_string(),
            user: consumer.user.to_string(),
            consumer_type: consumer.consumer_type.as_deref().map(str::to_owned),
            allocations: allocations.collect(),
            origin: consumer.origin.as_deref().cloned(),
            created: consumer.created,
            updated: consumer.updated,
        }
    }

    /// The row of a provider.
    #[must_use]
    pub fn provider_row(&self, at: At) -> Option<ProviderRow> {
        let provider = self.providers.get(at)?;
        Some(ProviderRow {
            id: provider.id,
            uuid: provider.uuid,
            name: provider.name.to_string(),
            generation: self.providers.generation(at),
            parent: provider.parent.map(|parent| self.providers.uuid(parent)),
            root: self.providers.uuid(provider.root),
            created: provider.created,
            updated: provider.updated,
        })
    }

    /// Everything durable, as records in a fixed order: applied to an empty
    /// image they give one that is the same.
    #[must_use]
    pub fn dump(&self) -> Vec<Record> {
        let mut records = Vec::new();
        records.extend(self.classes.iter().map(|row| Record::Class((**row).clone())));
        records.extend(self.traits.iter().map(|row| Record::Trait((**row).clone())));
        let mut providers: Vec<At> = self.providers.iter().collect();
        providers.sort_by_key(|&at| (self.depth(at), self.providers.get(at).map(|p| p.id)));
        records
            .extend(providers.iter().filter_map(|&at| self.provider_row(at).map(Record::Provider)));
        for at in providers {
            self.dump_provider_parts(at, &mut records);
        }
        let mut consumers: Vec<_> = self.consumers.iter().collect();
        consumers.sort_by_key(|consumer| consumer.id);
        records.extend(self.cells.iter().map(|row| Record::Cell((**row).clone())));
        records.extend(self.services.iter().map(|row| Record::Service((**row).clone())));
        records.extend(
            self.hosts.iter().map(|host| Record::Host(Box::new(host.row.as_ref().clone()))),
        );
        records.extend(
            consumers.into_iter().map(|c| Record::Consumer(Box::new(self.consumer_row(c)))),
        );
        records.extend(self.host_aggregates.iter().map(|r| Record::HostAggregate((**r).clone())));
        records.extend(self.server_groups.iter().map(|r| Record::ServerGroup((**r).clone())));
        records.extend(self.batch.queues().map(|row| Record::Queue((**row).clone())));
        records.extend(self.batch.jobs.iter().map(|row| Record::Job(Box::new((**row).clone()))));
        records.extend(self.calls.iter().map(|row| Record::Call(Box::new((**row).clone()))));
        records.extend(self.stamps.iter().map(|row| Record::Stamp((**row).clone())));
        records.extend(self.batch.tasks.iter().map(|row| Record::Task((**row).clone())));
        records.extend(self.request_keys.iter().map(|row| Record::RequestKey((**row).clone())));
        records.extend(self.batch.objects.iter().map(|r| Record::BatchObject((**r).clone())));
        records
    }

    fn dump_provider_parts(&self, at: At, records: &mut Vec<Record>) {
        let Some(provider) = self.providers.get(at) else { return };
        let uuid = provider.uuid;
        if !provider.classes.is_empty() {
            let inventories = provider.classes.iter().filter_map(|&class| {
                let inventory = self.providers.inventory(at, class)?;
                Some((self.classes.name(class).to_owned(), *inventory))
            });
            records
                .push(Record::Inventories { provider: uuid, inventories: inventories.collect() });
        }
        if !provider.traits.is_empty() {
            let mut traits: Vec<String> =
                provider.traits.iter().map(|&name| self.traits.name(name).to_owned()).collect();
            traits.sort();
            records.push(Record::Traits { provider: uuid, traits });
        }
        if !provider.aggregates.is_empty() {
            let mut aggregates: Vec<_> =
                provider.aggregates.iter().map(|&ix| self.aggregates.uuid(ix)).collect();
            aggregates.sort();
            records.push(Record::Aggregates { provider: uuid, aggregates });
        }
    }

    fn depth(&self, at: At) -> usize {
        let up = |at: &At| self.providers.get(*at).and_then(|provider| provider.parent);
        std::iter::successors(Some(at), up).count()
    }
}
