//! Builds the image from the tables: every row becomes a record and is applied
//! as a change would be, so that a fresh load cannot differ from a replay.

use super::rows_in;
use crate::{change::Record, error::OpenError, image::Image};
use stowplan_db::{
    Connection,
    entity::{
        allocation, batch_object, call, cell, consumer, counter, host, host_aggregate,
        host_aggregate_host, host_aggregate_metadata, inventory, job, provider_aggregate,
        provider_trait, queue, request_key, resource_class, resource_provider, server_group,
        server_group_member, service, stamp, task, trait_name,
    },
    read_head,
    sea_orm::{
        ColumnTrait, DatabaseTransaction, EntityTrait, ModelTrait, Order, PaginatorTrait,
        QueryFilter, QueryOrder, QuerySelect,
    },
};

/// Rows read at a time.
const PAGE: u64 = 20_000;

/// Told how far the loading is.
pub trait Progress: Send + Sync {
    /// `done` of `total` rows are in the image.
    fn rows(&mut self, done: u64, total: u64);
}

/// A progress that nobody looks at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Progress for Quiet {
    fn rows(&mut self, _done: u64, _total: u64) {}
}

/// Loads the whole image in one read-only snapshot of the database.
pub(crate) async fn load(
    connection: &Connection,
    progress: &mut dyn Progress,
) -> Result<Image, OpenError> {
    let snapshot = connection.snapshot().await?;
    let image = load_in(&snapshot, progress).await?;
    snapshot.rollback().await?;
    Ok(image)
}

/// Loads the whole image as a transaction sees it, what it has written itself
/// included.
pub(crate) async fn load_in(
    snapshot: &DatabaseTransaction,
    progress: &mut dyn Progress,
) -> Result<Image, OpenError> {
    let head = read_head(snapshot).await?;
    let mut loader = Loader { snapshot, image: Image::default(), done: 0, total: 0, progress };
    loader.count().await?;
    loader.names().await?;
    loader.providers().await?;
    // Consumers before hosts, so that a host's live figures are summed once.
    loader.consumers().await?;
    loader.hosts().await?;
    loader.groups().await?;
    loader.batch().await?;
    loader.request_keys().await?;
    loader.bus().await?;
    loader.counters().await?;
    let Loader { mut image, .. } = loader;
    image.set_seq(head.seq);
    Ok(image)
}

struct Loader<'a> {
    snapshot: &'a DatabaseTransaction,
    image: Image,
    done: u64,
    total: u64,
    progress: &'a mut dyn Progress,
}

impl Loader<'_> {
    /// The tables that grow with the cloud tell how long loading takes.
    async fn count(&mut self) -> Result<(), OpenError> {
        self.total = resource_provider::Entity::find().count(self.snapshot).await?
            + inventory::Entity::find().count(self.snapshot).await?
            + consumer::Entity::find().count(self.snapshot).await?
            + allocation::Entity::find().count(self.snapshot).await?
            + task::Entity::find().count(self.snapshot).await?;
        Ok(())
    }

    fn counted(&mut self, rows: usize) {
        self.done += rows as u64;
        self.progress.rows(self.done, self.total);
    }

    async fn all<E: EntityTrait>(&self, order: E::Column) -> Result<Vec<E::Model>, OpenError>
    where
        E::Model: ModelTrait + Send,
    {
        Ok(E::find().order_by(order, Order::Asc).all(self.snapshot).await?)
    }

    async fn names(&mut self) -> Result<(), OpenError> {
        for row in self.all::<resource_class::Entity>(resource_class::Column::Id).await? {
            self.image.apply_record(&Record::Class(rows_in::class(row)));
        }
        for row in self.all::<trait_name::Entity>(trait_name::Column::Id).await? {
            self.image.apply_record(&Record::Trait(rows_in::trait_name(row)));
        }
        Ok(())
    }

    async fn providers(&mut self) -> Result<(), OpenError> {
        let rows = self.all::<resource_provider::Entity>(resource_provider::Column::Id).await?;
        self.counted(rows.len());
        let tree = rows_in::ProviderIds::new(&rows)?;
        for record in tree.records(rows)? {
            self.image.apply_record(&record);
        }
        let inventories = self.all::<inventory::Entity>(inventory::Column::ProviderId).await?;
        self.counted(inventories.len());
        let traits = self.all::<provider_trait::Entity>(provider_trait::Column::ProviderId).await?;
        let aggregates =
            self.all::<provider_aggregate::Entity>(provider_aggregate::Column::ProviderId).await?;
        let names = rows_in::NameIds::new(&self.image);
        let mut records = tree.inventories(inventories, &names)?;
        records.extend(tree.traits(traits, &names)?);
        records.extend(tree.aggregates(aggregates)?);
        for record in &records {
            self.image.apply_record(record);
        }
        Ok(())
    }

    async fn consumers(&mut self) -> Result<(), OpenError> {
        let ids = rows_in::RowIds::new(&self.image);
        let mut last = i64::MIN;
        loop {
            let consumers = consumer::Entity::find()
                .filter(consumer::Column::Id.gt(last))
                .order_by_asc(consumer::Column::Id)
                .limit(PAGE)
                .all(self.snapshot)
                .await?;
            let Some(end) = consumers.last().map(|row| row.id) else { return Ok(()) };
            let allocations = allocation::Entity::find()
                .filter(allocation::Column::ConsumerId.gt(last))
                .filter(allocation::Column::ConsumerId.lte(end))
                .order_by_asc(allocation::Column::ConsumerId)
                .order_by_asc(allocation::Column::ProviderId)
                .order_by_asc(allocation::Column::ClassId)
                .all(self.snapshot)
                .await?;
            self.counted(consumers.len() + allocations.len());
            for record in ids.consumers(consumers, allocations)? {
                self.image.apply_record(&record);
            }
            last = end;
        }
    }

    async fn hosts(&mut self) -> Result<(), OpenError> {
        for row in self.all::<cell::Entity>(cell::Column::Id).await? {
            self.image.apply_record(&Record::Cell(rows_in::cell(row)?));
        }
        for row in self.all::<service::Entity>(service::Column::Id).await? {
            self.image.apply_record(&Record::Service(rows_in::service(row)?));
        }
        for row in self.all::<host::Entity>(host::Column::Id).await? {
            self.image.apply_record(&Record::Host(Box::new(rows_in::host(row)?)));
        }
        Ok(())
    }

    async fn groups(&mut self) -> Result<(), OpenError> {
        let rows = self.all::<host_aggregate::Entity>(host_aggregate::Column::Id).await?;
        let hosts =
            self.all::<host_aggregate_host::Entity>(host_aggregate_host::Column::Position).await?;
        let metadata = self
            .all::<host_aggregate_metadata::Entity>(host_aggregate_metadata::Column::AggregateId)
            .await?;
        for row in rows_in::host_aggregates(rows, hosts, metadata)? {
            self.image.apply_record(&Record::HostAggregate(row));
        }
        let rows = self.all::<server_group::Entity>(server_group::Column::Id).await?;
        let members =
            self.all::<server_group_member::Entity>(server_group_member::Column::Position).await?;
        for row in rows_in::server_groups(rows, members)? {
            self.image.apply_record(&Record::ServerGroup(row));
        }
        Ok(())
    }

    async fn request_keys(&mut self) -> Result<(), OpenError> {
        for row in self.all::<request_key::Entity>(request_key::Column::Id).await? {
            self.image.apply_record(&Record::RequestKey(rows_in::request_key(row)?));
        }
        Ok(())
    }

    async fn counters(&mut self) -> Result<(), OpenError> {
        for row in self.all::<counter::Entity>(counter::Column::Id).await? {
            self.image.raise_id(rows_in::counted(&row)?, row.last_id);
        }
        Ok(())
    }

    async fn bus(&mut self) -> Result<(), OpenError> {
        for row in self.all::<call::Entity>(call::Column::Id).await? {
            self.image.apply_record(&Record::Call(Box::new(rows_in::call(row)?)));
        }
        for row in self.all::<stamp::Entity>(stamp::Column::Id).await? {
            self.image.apply_record(&Record::Stamp(rows_in::stamp(row)?));
        }
        Ok(())
    }

    async fn batch(&mut self) -> Result<(), OpenError> {
        for row in self.all::<queue::Entity>(queue::Column::Id).await? {
            self.image.apply_record(&Record::Queue(rows_in::queue(row)?));
        }
        for row in self.all::<job::Entity>(job::Column::Id).await? {
            self.image.apply_record(&Record::Job(Box::new(rows_in::job(row)?)));
        }
        let tasks = self.all::<task::Entity>(task::Column::Id).await?;
        self.counted(tasks.len());
        for row in tasks {
            self.image.apply_record(&Record::Task(rows_in::task(row)?));
        }
        for row in self.all::<batch_object::Entity>(batch_object::Column::Id).await? {
            self.image.apply_record(&Record::BatchObject(rows_in::batch_object(row)?));
        }
        Ok(())
    }
}
