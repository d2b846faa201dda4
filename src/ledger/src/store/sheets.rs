//! What a batch writes, as statements: per table the ids whose rows go, and the
//! rows that come.
//!
//! A changed row is deleted and inserted again in the same transaction, which
//! reads alike on all databases; only a provider's generation, which every
//! claim moves, has an update of its own.

use super::{rows_out, touched::Touched};
use crate::{
    change::{CHANGE_VERSION, Entry, Record},
    error::Unavailable,
    image::{
        Image,
        groups::{HasId, Rows},
        ids::Kind,
        providers::Provider,
    },
};
use std::collections::{BTreeMap, BTreeSet};
use stowplan_db::{
    LiteralError, Script, Statements,
    entity::{
        allocation, batch_object, call, cell, consumer, counter, decision, host, host_aggregate,
        host_aggregate_host, host_aggregate_metadata, inventory, job, journal, provider_aggregate,
        provider_trait, queue, request_answer, request_key, resource_class, resource_provider,
        server_group, server_group_member, service, stamp, task, trait_name,
    },
    sea_orm::{ColumnTrait, ModelTrait},
};
use stowplan_model::Uuid;

/// The statements of one batch.
pub(crate) struct Sheets<'a> {
    before: &'a Image,
    after: &'a Image,
    script: Script,
    counters: BTreeMap<i64, counter::Model>,
}

/// A batch as it is written.
pub struct Written {
    pub statements: Statements,
    /// How many bytes the body of each journal row has.
    pub bodies: Vec<usize>,
}

impl<'a> Sheets<'a> {
    /// The statements that take the tables from `before` to `after`, where
    /// only what is `touched` differs, and add the journal rows.
    pub fn write(
        script: Script,
        before: &'a Image,
        after: &'a Image,
        touched: &'a Touched,
        entries: &[Entry],
        batch: &str,
    ) -> Result<Written, Unavailable> {
        let mut sheets = Sheets { before, after, script, counters: BTreeMap::new() };
        sheets.names(touched);
        sheets.providers(touched);
        sheets.consumers(touched)?;
        sheets.hosts(touched)?;
        sheets.groups(touched);
        sheets.batch(touched);
        sheets.request_keys(touched);
        sheets.bus(touched)?;
        sheets.counters();
        let bodies = sheets.journal(entries, batch)?;
        let statements = sheets.script.finish().map_err(|error| match error {
            LiteralError::TooLong { bytes, most } => Unavailable::TooLarge { bytes, most },
            other => Unavailable::fault(&other),
        })?;
        Ok(Written { statements, bodies })
    }

    fn names(&mut self, touched: &'a Touched) {
        let (before, after) = (self.before, self.after);
        let old = touched.classes.iter().filter_map(|name| before.classes.get(name));
        let now = touched.classes.iter().filter_map(|name| after.classes.get(name));
        self.counted(Kind::Class, old.clone().map(|row| row.id), now.clone().map(|row| row.id));
        self.script.delete(resource_class::Column::Id, old.map(|row| row.id));
        self.script.insert(now.map(|row| rows_out::class(row)));
        let old = touched.traits.iter().filter_map(|name| before.traits.get(name));
        let now = touched.traits.iter().filter_map(|name| after.traits.get(name));
        self.counted(Kind::Trait, old.clone().map(|row| row.id), now.clone().map(|row| row.id));
        self.script.delete(trait_name::Column::Id, old.map(|row| row.id));
        self.script.insert(now.map(|row| rows_out::trait_name(row)));
    }

    fn providers(&mut self, touched: &'a Touched) {
        let (before, after) = (self.before, self.after);
        let old =
            |keys: &'a BTreeSet<Uuid>| keys.iter().filter_map(|key| provider_id(before, *key));
        let now =
            |keys: &'a BTreeSet<Uuid>| keys.iter().filter_map(|key| after.providers.find(*key));
        self.counted(
            Kind::Provider,
            old(&touched.providers),
            touched.providers.iter().filter_map(|key| provider_id(after, *key)),
        );
        self.script.delete(resource_provider::Column::Id, old(&touched.providers));
        // Of a new provider there is nothing to delete.
        let having = |keys: &'a BTreeSet<Uuid>, has: fn(&Provider) -> bool| {
            let old =
                keys.iter().filter_map(|key| before.providers.get(before.providers.find(*key)?));
            old.filter(move |provider| has(provider)).map(|provider| provider.id)
        };
        let old = having(&touched.inventories, |provider| !provider.classes.is_empty());
        self.script.delete(inventory::Column::ProviderId, old);
        let old = having(&touched.provider_traits, |provider| !provider.traits.is_empty());
        self.script.delete(provider_trait::Column::ProviderId, old);
        let aggregates = &touched.provider_aggregates;
        let old = having(aggregates, |provider| !provider.aggregates.is_empty());
        self.script.delete(provider_aggregate::Column::ProviderId, old);

        let rows = now(&touched.providers).filter_map(|at| rows_out::provider(after, at));
        self.script.insert(rows);
        let rows = now(&touched.inventories).flat_map(|at| rows_out::inventories(after, at));
        self.script.insert(rows);
        let rows =
            now(&touched.provider_traits).flat_map(|at| rows_out::provider_traits(after, at));
        self.script.insert(rows);
        let rows = now(aggregates).flat_map(|at| rows_out::provider_aggregates(after, at));
        self.script.insert(rows);

        let moved = touched.generations.difference(&touched.providers);
        let moved = moved.filter_map(|key| after.providers.find(*key));
        let moved = moved
            .filter_map(|at| Some((after.providers.get(at)?.id, after.providers.generation(at))));
        let (id, generation) =
            (resource_provider::Column::Id, resource_provider::Column::Generation);
        self.script.set(id, generation, &moved.collect::<Vec<_>>());
    }

    fn consumers(&mut self, touched: &'a Touched) -> Result<(), Unavailable> {
        let (before, after) = (self.before, self.after);
        let old = touched.consumers.iter().filter_map(|uuid| before.consumers.get(*uuid));
        let old: Vec<i64> = old.map(|consumer| consumer.id).collect();
        let now = touched.consumers.iter().filter_map(|uuid| after.consumers.get(*uuid));
        self.counted(Kind::Consumer, old.iter().copied(), now.clone().map(|consumer| consumer.id));
        self.script.delete(consumer::Column::Id, old.iter().copied());
        self.script.delete(allocation::Column::ConsumerId, old);
        let rows = now.clone().map(|consumer| rows_out::consumer(consumer));
        self.script.insert(rows.collect::<Result<Vec<_>, _>>()?);
        self.script.insert(now.flat_map(|consumer| rows_out::allocations(after, consumer)));
        Ok(())
    }

    fn hosts(&mut self, touched: &'a Touched) -> Result<(), Unavailable> {
        let (before, after) = (self.before, self.after);
        let old = touched.hosts.iter().filter_map(|uuid| before.hosts.get(*uuid));
        let now = touched.hosts.iter().filter_map(|uuid| after.hosts.get(*uuid));
        let (old, ids) = (old.map(|host| host.row.id), now.clone().map(|host| host.row.id));
        self.counted(Kind::Host, old.clone(), ids);
        self.script.delete(host::Column::Id, old);
        let rows = now.map(|host| rows_out::host(&host.row));
        self.script.insert(rows.collect::<Result<Vec<_>, _>>()?);
        let of = |image: &'a Image| &image.services;
        let id = service::Column::Id;
        self.rows(Kind::Service, id, &touched.services, of, rows_out::service);
        let of = |image: &'a Image| &image.cells;
        self.rows(Kind::Cell, cell::Column::Id, &touched.cells, of, rows_out::cell);
        Ok(())
    }

    fn groups(&mut self, touched: &'a Touched) {
        let keys = &touched.host_aggregates;
        let of = |image: &'a Image| &image.host_aggregates;
        let id = host_aggregate::Column::Id;
        self.rows(Kind::HostAggregate, id, keys, of, rows_out::host_aggregate);
        self.parts(host_aggregate_host::Column::AggregateId, keys, of, rows_out::aggregate_hosts);
        self.parts(
            host_aggregate_metadata::Column::AggregateId,
            keys,
            of,
            rows_out::aggregate_metadata,
        );
        let keys = &touched.server_groups;
        let of = |image: &'a Image| &image.server_groups;
        self.rows(Kind::ServerGroup, server_group::Column::Id, keys, of, rows_out::server_group);
        self.parts(server_group_member::Column::GroupId, keys, of, rows_out::group_members);
    }

    fn batch(&mut self, touched: &'a Touched) {
        let (before, after) = (self.before, self.after);
        let old = touched.queues.iter().filter_map(|name| before.batch.queue(name));
        let now = touched.queues.iter().filter_map(|name| after.batch.queue(name));
        self.counted(Kind::Queue, old.clone().map(|row| row.id), now.clone().map(|row| row.id));
        self.script.delete(queue::Column::Id, old.map(|queue| queue.id));
        self.script.insert(now.map(|queue| rows_out::queue(queue)));
        let of = |image: &'a Image| &image.batch.jobs;
        self.rows(Kind::Job, job::Column::Id, &touched.jobs, of, rows_out::job);
        let of = |image: &'a Image| &image.batch.tasks;
        self.rows(Kind::Task, task::Column::Id, &touched.tasks, of, rows_out::task);
        let of = |image: &'a Image| &image.batch.objects;
        let (id, keys) = (batch_object::Column::Id, &touched.batch_objects);
        self.rows(Kind::BatchObject, id, keys, of, rows_out::batch_object);
        // A job that is forgotten takes its tasks with it.
        let old = touched.jobs.iter().filter_map(|uuid| before.batch.jobs.get(*uuid));
        let gone = old.filter(|job| after.batch.jobs.by_id(job.id).is_none()).map(|job| job.id);
        let tasks = gone.clone().flat_map(|job| before.batch.tasks_of(job)).map(|task| task.id);
        let last = after.batch.tasks.by_id(after.last_id(Kind::Task));
        self.counted(Kind::Task, tasks, last.map(|task| task.id));
        self.script.delete(task::Column::JobId, gone);
    }

    fn bus(&mut self, touched: &'a Touched) -> Result<(), Unavailable> {
        let (before, after) = (self.before, self.after);
        let old = touched.calls.iter().filter_map(|uuid| before.calls.get(*uuid));
        let now = touched.calls.iter().filter_map(|uuid| after.calls.get(*uuid));
        self.counted(Kind::Call, old.clone().map(|row| row.id), now.clone().map(|row| row.id));
        self.script.delete(call::Column::Id, old.map(|row| row.id));
        self.script.insert(now.map(|row| rows_out::call(row)).collect::<Result<Vec<_>, _>>()?);
        let of = |image: &'a Image| &image.stamps;
        self.rows(Kind::Stamp, stamp::Column::Id, &touched.stamps, of, rows_out::stamp);
        Ok(())
    }

    /// Keys of requests. A key that goes takes its answer with it.
    fn request_keys(&mut self, touched: &'a Touched) {
        let keys = &touched.request_keys;
        let old = keys.iter().filter_map(|uuid| self.before.request_keys.get(*uuid));
        let old: Vec<i64> = old.map(|key| key.id).collect();
        self.script.delete(request_answer::Column::KeyId, old);
        let of = |image: &'a Image| &image.request_keys;
        self.rows(Kind::RequestKey, request_key::Column::Id, keys, of, rows_out::request_key);
    }

    /// Notes the last id of a kind for the table of counters, when a thing of
    /// this batch bore it and none bears it any more: of the things of the
    /// batch, the ids before and those now.
    fn counted(
        &mut self,
        kind: Kind,
        old: impl IntoIterator<Item = i64>,
        now: impl IntoIterator<Item = i64>,
    ) {
        let (before, after) = (self.before.last_id(kind), self.after.last_id(kind));
        let was_borne = after > before || old.into_iter().any(|id| id == after);
        if was_borne && !now.into_iter().any(|id| id == after) {
            self.counters.insert(kind.number(), rows_out::counter(kind, after));
        }
    }

    fn counters(&mut self) {
        let counters = std::mem::take(&mut self.counters);
        self.script.delete(counter::Column::Id, counters.keys().copied());
        self.script.insert(counters.into_values());
    }

    fn journal(&mut self, entries: &[Entry], batch: &str) -> Result<Vec<usize>, Unavailable> {
        let mut rows = Vec::with_capacity(entries.len());
        for entry in entries {
            let body =
                serde_json::to_string(&entry.change.records).map_err(Unavailable::encoding)?;
            rows.push(journal::Model {
                seq: entry.seq,
                batch: batch.to_owned(),
                version: CHANGE_VERSION,
                kind: entry.change.kind.clone(),
                request_id: entry.request_id.clone(),
                time_us: entry.time.0,
                body,
            });
        }
        let bodies = rows.iter().map(|row| row.body.len()).collect();
        self.script.insert(rows);
        let decisions = entries.iter().flat_map(|entry| &entry.change.records);
        let decisions = decisions.filter_map(|record| match record {
            Record::Decision(row) => Some(rows_out::decision(row)),
            _ => None,
        });
        self.script.insert(decisions.collect::<Vec<decision::Model>>());
        let answers = entries.iter().flat_map(|entry| &entry.change.records);
        let answers = answers.filter_map(|record| match record {
            Record::RequestAnswer(row) => Some(rows_out::request_answer(row)),
            _ => None,
        });
        self.script.insert(answers.collect::<Vec<request_answer::Model>>());
        Ok(bodies)
    }

    /// Rewrites the rows of one table whose things were touched.
    fn rows<T, M>(
        &mut self,
        kind: Kind,
        id: impl ColumnTrait,
        keys: &BTreeSet<Uuid>,
        of: impl Fn(&'a Image) -> &'a Rows<T>,
        model: impl Fn(&T) -> M,
    ) where
        T: HasId + 'a,
        M: ModelTrait,
    {
        let (before, after) = (self.before, self.after);
        let old = keys.iter().filter_map(|uuid| of(before).get(*uuid));
        let now = keys.iter().filter_map(|uuid| of(after).get(*uuid));
        self.counted(kind, old.map(|row| row.id()), now.map(|row| row.id()));
        self.parts(id, keys, of, |row| [model(row)]);
    }

    /// Rewrites the rows of a table that hang on things that were touched.
    fn parts<T, I>(
        &mut self,
        id: impl ColumnTrait,
        keys: &BTreeSet<Uuid>,
        of: impl Fn(&'a Image) -> &'a Rows<T>,
        models: impl Fn(&T) -> I,
    ) where
        T: HasId + 'a,
        I: IntoIterator,
        I::Item: ModelTrait,
    {
        let old = keys.iter().filter_map(|uuid| of(self.before).get(*uuid));
        self.script.delete(id, old.map(|row| row.id()).collect::<Vec<_>>());
        let now = keys.iter().filter_map(|uuid| of(self.after).get(*uuid));
        self.script.insert(now.flat_map(|row| models(row)).collect::<Vec<_>>());
    }
}

fn provider_id(image: &Image, uuid: Uuid) -> Option<i64> {
    let at = image.providers.find(uuid)?;
    image.providers.get(at).map(|provider| provider.id)
}
