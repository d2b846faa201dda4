//! Host aggregates.

use stowplan_ledger::Image;
use stowplan_ledger::rows::HostAggregateRow;
use stowplan_model::Uuid;

use super::{Call, Scheduler, Written};
use crate::aggregates::{self, AggregateUpdate, Joined, NewAggregate};

impl Scheduler {
    /// Makes a host aggregate.
    ///
    /// # Errors
    /// As [`aggregates::create_aggregate`], or a ledger that cannot write.
    pub async fn create_aggregate(
        &self,
        call: Call<'_>,
        new: NewAggregate,
    ) -> Written<HostAggregateRow> {
        let (uuid, now) = (Uuid::new_v4(), call.now);
        let propose = move |image: &Image| aggregates::create_aggregate(image, uuid, &new, now);
        self.write(call, propose).await
    }

    /// Renames a host aggregate or changes its metadata.
    ///
    /// # Errors
    /// As [`aggregates::update_aggregate`], or a ledger that cannot write.
    pub async fn update_aggregate(
        &self,
        call: Call<'_>,
        key: &str,
        update: AggregateUpdate,
    ) -> Written<HostAggregateRow> {
        let (key, now) = (key.to_owned(), call.now);
        let propose = move |image: &Image| aggregates::update_aggregate(image, &key, &update, now);
        self.write(call, propose).await
    }

    /// Deletes a host aggregate.
    ///
    /// # Errors
    /// As [`aggregates::delete_aggregate`], or a ledger that cannot write.
    pub async fn delete_aggregate(&self, call: Call<'_>, key: &str) -> Written<()> {
        let key = key.to_owned();
        self.write(call, move |image| aggregates::delete_aggregate(image, &key)).await
    }

    /// Adds a host to an aggregate.
    ///
    /// # Errors
    /// As [`aggregates::add_host`], or a ledger that cannot write.
    pub async fn add_to_aggregate(&self, call: Call<'_>, key: &str, host: &str) -> Written<Joined> {
        let (key, host, now) = (key.to_owned(), host.to_owned(), call.now);
        self.write(call, move |image| aggregates::add_host(image, &key, &host, now)).await
    }

    /// Adds a host that is known to an aggregate that it is not in.
    ///
    /// # Errors
    /// As [`aggregates::add_known_host`], or a ledger that cannot write.
    pub async fn add_known_to_aggregate(
        &self,
        call: Call<'_>,
        key: &str,
        host: &str,
    ) -> Written<HostAggregateRow> {
        let (key, host, now) = (key.to_owned(), host.to_owned(), call.now);
        self.write(call, move |image| aggregates::add_known_host(image, &key, &host, now)).await
    }

    /// Takes a host out of an aggregate.
    ///
    /// # Errors
    /// As [`aggregates::remove_host`], or a ledger that cannot write.
    pub async fn remove_from_aggregate(
        &self,
        call: Call<'_>,
        key: &str,
        host: &str,
    ) -> Written<HostAggregateRow> {
        let (key, host, now) = (key.to_owned(), host.to_owned(), call.now);
        self.write(call, move |image| aggregates::remove_host(image, &key, &host, now)).await
    }
}
