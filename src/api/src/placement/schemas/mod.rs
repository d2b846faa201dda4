//! What bodies and queries of the Placement API must look like, by
//! microversion.

mod allocations;
mod inventories;
mod queries;

pub(super) use allocations::{EACH_1_38, POST_1_38, RESHAPE_1_38};
pub use allocations::{post_allocations, put_allocations, reshape};
pub use inventories::{INVENTORY_CREATE, INVENTORY_SET, INVENTORY_UPDATE, MAX_AMOUNT};
pub use queries::{TRAIT_QUERY, candidate_query, provider_query, usage_query};

use crate::{
    schema::{INTEGER, Object, Pattern, Schema, Text, UUID},
    version::{Feature, Version},
};
use stowplan_model::names::MAX_PROVIDER_NAME;

/// A schema and what it came with; the last row that a version has counts.
type History = &'static [(Feature, &'static Schema)];

fn pick(history: History, version: Version) -> &'static Schema {
    let known = history.iter().rev().find(|(since, _)| version.has(*since));
    known.map_or(&ANYTHING, |(_, schema)| schema)
}

const ANYTHING: Schema = Schema::Object(Object { open: true, ..Object::of(&[]) });

const PROVIDER_NAME: Schema = Schema::Text(Text::sized(0, MAX_PROVIDER_NAME));
const PARENT: Schema = Schema::OrNull(&UUID);

const PROVIDER_CREATE: Schema =
    Schema::Object(Object::of(&[("name", &PROVIDER_NAME), ("uuid", &UUID)]).required(&["name"]));
pub(super) const PROVIDER_CREATE_NESTED: Schema = Schema::Object(
    Object::of(&[("name", &PROVIDER_NAME), ("uuid", &UUID), ("parent_provider_uuid", &PARENT)])
        .required(&["name"]),
);
const PROVIDER_UPDATE: Schema =
    Schema::Object(Object::of(&[("name", &PROVIDER_NAME)]).required(&["name"]));
pub(super) const PROVIDER_UPDATE_NESTED: Schema = Schema::Object(
    Object::of(&[("name", &PROVIDER_NAME), ("parent_provider_uuid", &PARENT)]).required(&["name"]),
);

/// The body of `POST /resource_providers`.
pub fn provider_create(version: Version) -> &'static Schema {
    const HISTORY: History =
        &[(Feature::Always, &PROVIDER_CREATE), (Feature::NestedProviders, &PROVIDER_CREATE_NESTED)];
    pick(HISTORY, version)
}

/// The body of `PUT /resource_providers/{uuid}`.
pub fn provider_update(version: Version) -> &'static Schema {
    const HISTORY: History =
        &[(Feature::Always, &PROVIDER_UPDATE), (Feature::NestedProviders, &PROVIDER_UPDATE_NESTED)];
    pick(HISTORY, version)
}

/// Aggregates that a provider may be in. The peer knows no bound; clouds have a
/// few for each host.
const MAX_AGGREGATES: usize = 10_000;
const AGGREGATE_LIST: Schema =
    Schema::List { items: &UUID, min: 0, max: MAX_AGGREGATES, unique: true };
pub(super) const AGGREGATES_WITH_GENERATION: Schema = Schema::Object(
    Object::of(&[("aggregates", &AGGREGATE_LIST), ("resource_provider_generation", &INTEGER)])
        .required(&["aggregates", "resource_provider_generation"]),
);

/// The body of `PUT /resource_providers/{uuid}/aggregates`.
pub fn aggregates(version: Version) -> &'static Schema {
    const HISTORY: History = &[
        (Feature::Aggregates, &AGGREGATE_LIST),
        (Feature::AggregatesGeneration, &AGGREGATES_WITH_GENERATION),
    ];
    pick(HISTORY, version)
}

/// The body that names a class: `POST /resource_classes`, and before 1.7 `PUT
/// /resource_classes/{name}`.
pub const CLASS: Schema = Schema::Object(Object::of(&[("name", &CUSTOM_NAME)]).required(&["name"]));
/// A name of one's own.
pub const CUSTOM_NAME: Schema = Schema::Text(Text::sized(0, 255).of(Pattern::CustomName));

const TRAIT_NAME: Schema = Schema::Text(Text::sized(1, 255));
const TRAIT_NAMES: Schema =
    Schema::List { items: &TRAIT_NAME, min: 0, max: usize::MAX, unique: false };

/// The body of `PUT /resource_providers/{uuid}/traits`.
pub const PROVIDER_TRAITS: Schema = Schema::Object(
    Object::of(&[("traits", &TRAIT_NAMES), ("resource_provider_generation", &INTEGER)])
        .required(&["traits", "resource_provider_generation"]),
);
