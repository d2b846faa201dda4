//! What a batch writes, as SQL text: per table the ids whose rows go, and the
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
    },
};
use std::collections::BTreeSet;
use stowplan_db::{
    LiteralError,
    entity::{
        allocation, cell, consumer, decision, host, host_aggregate, host_aggregate_host,
        host_aggregate_metadata, inventory, job, journal, provider_aggregate, provider_trait,
        queue, resource_class, resource_provider, server_group, server_group_member, service, task,
        trait_name,
    },
    render_into,
    sea_orm::{
        ColumnTrait, DbBackend, EntityTrait, ExprTrait, IntoActiveModel, ModelTrait, QueryTrait,
        StatementBuilder,
        sea_query::{CaseStatement, Expr, Query},
    },
};
use stowplan_model::Uuid;

/// Rows or ids in one statement: below every database's limits on the length
/// of a text, and long enough that the round trip does not count.
const CHUNK: usize = 400;
/// Bytes of SQL in one round trip.
const TEXT: usize = 512 * 1024;

/// The SQL of one batch.
pub(crate) struct Sheets<'a> {
    backend: DbBackend,
    before: &'a Image,
    after: &'a Image,
    texts: Vec<String>,
    failed: Option<LiteralError>,
}

impl<'a> Sheets<'a> {
    /// The statements that take the tables from `before` to `after`, where
    /// only what is `touched` differs, and add the journal rows.
    pub fn write(
        backend: DbBackend,
        before: &'a Image,
        after: &'a Image,
        touched: &Touched,
        entries: &[Entry],
        batch: &str,
    ) -> Result<Vec<String>, Unavailable> {
        let mut sheets = Sheets { backend, before, after, texts: Vec::new(), failed: None };
        sheets.names(touched);
        sheets.providers(touched);
        sheets.consumers(touched);
        sheets.hosts(touched)?;
        sheets.groups(touched);
        sheets.batch(touched);
        sheets.journal(entries, batch)?;
        match sheets.failed {
            None => Ok(sheets.texts),
            Some(error) => Err(Unavailable::fault(&error)),
        }
    }

    fn names(&mut self, touched: &Touched) {
        let (before, after) = (self.before, self.after);
        let ids = |name: &String| before.classes.get(name).map(|row| row.id);
        self.delete(resource_class::Column::Id, touched.classes.iter().filter_map(ids));
        let rows = touched.classes.iter().filter_map(|name| after.classes.get(name));
        self.insert(rows.map(|row| rows_out::class(row)));
        let ids = |name: &String| before.traits.get(name).map(|row| row.id);
        self.delete(trait_name::Column::Id, touched.traits.iter().filter_map(ids));
        let rows = touched.traits.iter().filter_map(|name| after.traits.get(name));
        self.insert(rows.map(|row| rows_out::trait_name(row)));
    }

    fn providers(&mut self, touched: &Touched) {
        let (before, after) = (self.before, self.after);
        let old = |uuid: &Uuid| provider_id(before, *uuid);
        let old_ids = |keys: &BTreeSet<Uuid>| keys.iter().filter_map(old).collect::<Vec<i64>>();
        self.delete(resource_provider::Column::Id, old_ids(&touched.providers));
        self.delete(inventory::Column::ProviderId, old_ids(&touched.inventories));
        self.delete(provider_trait::Column::ProviderId, old_ids(&touched.provider_traits));
        self.delete(provider_aggregate::Column::ProviderId, old_ids(&touched.provider_aggregates));

        let find = |uuid: &Uuid| after.providers.find(*uuid);
        let rows = touched.providers.iter().filter_map(find);
        self.insert(rows.filter_map(|at| rows_out::provider(after, at)));
        let rows = touched.inventories.iter().filter_map(find);
        self.insert(rows.flat_map(|at| rows_out::inventories(after, at)));
        let rows = touched.provider_traits.iter().filter_map(find);
        self.insert(rows.flat_map(|at| rows_out::provider_traits(after, at)));
        let rows = touched.provider_aggregates.iter().filter_map(find);
        self.insert(rows.flat_map(|at| rows_out::provider_aggregates(after, at)));

        let moved = touched.generations.difference(&touched.providers).filter_map(find);
        let moved = moved
            .filter_map(|at| Some((after.providers.get(at)?.id, after.providers.generation(at))));
        self.generations(&moved.collect::<Vec<_>>());
    }

    fn generations(&mut self, moved: &[(i64, i64)]) {
        use resource_provider::{Column, Entity};
        for moved in moved.chunks(CHUNK) {
            let mut case = CaseStatement::new();
            for (id, generation) in moved {
                case = case.case(Expr::col(Column::Id).eq(*id), *generation);
            }
            // Every row has its arm; the column itself is for the parser only.
            case = case.finally(Expr::col(Column::Generation));
            let mut update = Query::update();
            update
                .table(Entity)
                .value(Column::Generation, case)
                .and_where(Expr::col(Column::Id).is_in(moved.iter().map(|(id, _)| *id)));
            self.add(&update);
        }
    }

    fn consumers(&mut self, touched: &Touched) {
        let (before, after) = (self.before, self.after);
        let old: Vec<i64> = touched
            .consumers
            .iter()
            .filter_map(|uuid| before.consumers.get(*uuid).map(|consumer| consumer.id))
            .collect();
        self.delete(consumer::Column::Id, old.iter().copied());
        self.delete(allocation::Column::ConsumerId, old);
        let now: Vec<_> =
            touched.consumers.iter().filter_map(|uuid| after.consumers.get(*uuid)).collect();
        self.insert(now.iter().map(|consumer| rows_out::consumer(consumer)));
        self.insert(now.iter().flat_map(|consumer| rows_out::allocations(after, consumer)));
    }

    fn hosts(&mut self, touched: &Touched) -> Result<(), Unavailable> {
        let (before, after) = (self.before, self.after);
        let old = touched.hosts.iter().filter_map(|uuid| before.hosts.get(*uuid));
        self.delete(host::Column::Id, old.map(|host| host.row.id));
        let now = touched.hosts.iter().filter_map(|uuid| after.hosts.get(*uuid));
        self.insert(now.map(|host| rows_out::host(&host.row)).collect::<Result<Vec<_>, _>>()?);
        self.rows(
            service::Column::Id,
            &touched.services,
            |image| &image.services,
            rows_out::service,
        );
        self.rows(cell::Column::Id, &touched.cells, |image| &image.cells, rows_out::cell);
        Ok(())
    }

    fn groups(&mut self, touched: &Touched) {
        let keys = &touched.host_aggregates;
        let of = |image: &'a Image| &image.host_aggregates;
        self.rows(host_aggregate::Column::Id, keys, of, rows_out::host_aggregate);
        self.parts(host_aggregate_host::Column::AggregateId, keys, of, rows_out::aggregate_hosts);
        self.parts(
            host_aggregate_metadata::Column::AggregateId,
            keys,
            of,
            rows_out::aggregate_metadata,
        );
        let keys = &touched.server_groups;
        let of = |image: &'a Image| &image.server_groups;
        self.rows(server_group::Column::Id, keys, of, rows_out::server_group);
        self.parts(server_group_member::Column::GroupId, keys, of, rows_out::group_members);
    }

    fn batch(&mut self, touched: &Touched) {
        let (before, after) = (self.before, self.after);
        let old = touched.queues.iter().filter_map(|name| before.batch.queue(name));
        self.delete(queue::Column::Id, old.map(|queue| queue.id));
        let now = touched.queues.iter().filter_map(|name| after.batch.queue(name));
        self.insert(now.map(|queue| rows_out::queue(queue)));
        self.rows(job::Column::Id, &touched.jobs, |image| &image.batch.jobs, rows_out::job);
        self.rows(task::Column::Id, &touched.tasks, |image| &image.batch.tasks, rows_out::task);
        // A job that is forgotten takes its tasks with it.
        let old = touched.jobs.iter().filter_map(|uuid| before.batch.jobs.get(*uuid));
        let gone = old.filter(|job| after.batch.jobs.by_id(job.id).is_none());
        self.delete(task::Column::JobId, gone.map(|job| job.id));
    }

    fn journal(&mut self, entries: &[Entry], batch: &str) -> Result<(), Unavailable> {
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
        self.insert(rows);
        let decisions = entries.iter().flat_map(|entry| &entry.change.records);
        let decisions = decisions.filter_map(|record| match record {
            Record::Decision(row) => Some(rows_out::decision(row)),
            _ => None,
        });
        self.insert(decisions.collect::<Vec<decision::Model>>());
        Ok(())
    }

    /// Rewrites the rows of one table whose things were touched.
    fn rows<T, M>(
        &mut self,
        id: impl ColumnTrait,
        keys: &BTreeSet<Uuid>,
        of: impl Fn(&'a Image) -> &'a Rows<T>,
        model: impl Fn(&T) -> M,
    ) where
        T: HasId + 'a,
        M: Row,
    {
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
        I::Item: Row,
    {
        let old = keys.iter().filter_map(|uuid| of(self.before).get(*uuid));
        self.delete(id, old.map(|row| row.id()).collect::<Vec<_>>());
        let now = keys.iter().filter_map(|uuid| of(self.after).get(*uuid));
        self.insert(now.flat_map(|row| models(row)).collect::<Vec<_>>());
    }

    fn delete<C: ColumnTrait>(&mut self, column: C, ids: impl IntoIterator<Item = i64>) {
        let ids: Vec<i64> = ids.into_iter().collect();
        for ids in ids.chunks(CHUNK) {
            let mut delete = Query::delete();
            delete.from_table(column.entity_name()).and_where(column.is_in(ids.iter().copied()));
            self.add(&delete);
        }
    }

    fn insert<M: Row>(&mut self, models: impl IntoIterator<Item = M>) {
        let mut models = models.into_iter().peekable();
        while models.peek().is_some() {
            let chunk = models.by_ref().take(CHUNK).map(IntoActiveModel::into_active_model);
            let insert = <M::Entity as EntityTrait>::insert_many(chunk).into_query();
            self.add(&insert);
        }
    }

    fn add<S: StatementBuilder>(&mut self, statement: &S) {
        if self.failed.is_some() {
            return;
        }
        if self.texts.last().is_none_or(|text| text.len() > TEXT) {
            self.texts.push(String::new());
        }
        let Some(text) = self.texts.last_mut() else { return };
        match render_into(text, self.backend, statement) {
            Ok(()) => text.push_str(";\n"),
            Err(error) => self.failed = Some(error),
        }
    }
}

/// A model that can be inserted.
trait Row: ModelTrait + IntoActiveModel<<Self::Entity as EntityTrait>::ActiveModel> {}

impl<M> Row for M where M: ModelTrait + IntoActiveModel<<M::Entity as EntityTrait>::ActiveModel> {}

fn provider_id(image: &Image, uuid: Uuid) -> Option<i64> {
    let at = image.providers.find(uuid)?;
    image.providers.get(at).map(|provider| provider.id)
}
