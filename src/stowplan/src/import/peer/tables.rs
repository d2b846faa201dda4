//! The peer's tables, as far as they say something; fields have the names of
//! the columns. What is left out are ids that nothing refers to, and times that
//! no answer shows.

use stowplan_db::rows;
use stowplan_model::Micros;

rows! {
    /// A resource class.
    Class from "resource_classes" {
        id: i64,
        name: String,
        created_at: Option<Micros>,
        updated_at: Option<Micros>,
    }

    /// A trait.
    Trait from "traits" {
        id: i64,
        name: String,
        created_at: Option<Micros>,
        updated_at: Option<Micros>,
    }

    /// A project of Keystone.
    Project from "projects" {
        id: i64,
        external_id: String,
    }

    /// A user of Keystone.
    User from "users" {
        id: i64,
        external_id: String,
    }

    /// A consumer type.
    ConsumerType from "consumer_types" {
        id: i64,
        name: String,
    }

    /// A resource provider.
    Provider from "resource_providers" {
        id: i64,
        uuid: String,
        name: Option<String>,
        generation: Option<i64>,
        root_provider_id: Option<i64>,
        parent_provider_id: Option<i64>,
        created_at: Option<Micros>,
        updated_at: Option<Micros>,
    }

    /// What a provider has of one class.
    Inventory from "inventories" {
        id: i64,
        resource_provider_id: i64,
        resource_class_id: i64,
        total: i64,
        reserved: i64,
        min_unit: i64,
        max_unit: i64,
        step_size: i64,
        allocation_ratio: f64,
    }

    /// A trait of a provider.
    ProviderTrait from "resource_provider_traits" {
        resource_provider_id: i64,
        trait_id: i64,
    }

    /// An aggregate: a set of providers.
    Aggregate from "placement_aggregates" {
        id: i64,
        uuid: Option<String>,
    }

    /// A provider in an aggregate.
    ProviderAggregate from "resource_provider_aggregates" {
        resource_provider_id: i64,
        aggregate_id: i64,
    }

    /// A consumer.
    Consumer from "consumers" {
        id: i64,
        uuid: String,
        project_id: i64,
        user_id: i64,
        generation: i64,
        consumer_type_id: Option<i64>,
        created_at: Option<Micros>,
    }

    /// What a consumer that exists holds of one class of one provider.
    Allocation from "allocations a JOIN consumers c ON c.uuid = a.consumer_id" {
        id: i64 = "a.id",
        consumer: i64 = "c.id",
        resource_provider_id: i64 = "a.resource_provider_id",
        resource_class_id: i64 = "a.resource_class_id",
        used: i64 = "a.used",
        created_at: Option<Micros> = "a.created_at",
        updated_at: Option<Micros> = "a.updated_at",
    }

    /// A consumer that holds something and does not exist.
    Orphan from "allocations a LEFT JOIN consumers c ON c.uuid = a.consumer_id" {
        consumer_id: String = "a.consumer_id",
    }
}
