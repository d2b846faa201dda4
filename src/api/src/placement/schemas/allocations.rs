//! Allocations, and the reshaper's body that holds them.

use super::{History, INVENTORY_SET, pick};
use crate::{
    schema::{INTEGER, Object, Pattern, Schema, Text, UUID},
    version::{Feature, Version},
};

const AMOUNT: Schema = Schema::Integer { min: Some(1), max: None };
const RESOURCES: Schema = Schema::Object(Object::keyed(&[(Pattern::Name, &AMOUNT)]).at_least(1));
const OWNER: Schema = Schema::Text(Text::sized(1, 255));
const GENERATION: Schema = Schema::OrNull(&INTEGER);
const CONSUMER_TYPE: Schema = Schema::Text(Text::sized(1, 255).of(Pattern::Name));

// Before 1.12: a list of providers with their resources.
const NAMED_PROVIDER: Schema = Schema::Object(Object::of(&[("uuid", &UUID)]).required(&["uuid"]));
const LISTED: Schema = Schema::Object(
    Object::of(&[("resource_provider", &NAMED_PROVIDER), ("resources", &RESOURCES)])
        .required(&["resource_provider", "resources"]),
);
const LIST: Schema = Schema::List { items: &LISTED, min: 1, max: usize::MAX, unique: false };
const PUT_1_0: Schema =
    Schema::Object(Object::of(&[("allocations", &LIST)]).required(&["allocations"]));
const PUT_1_8: Schema =
    Schema::Object(
        Object::of(&[("allocations", &LIST), ("project_id", &OWNER), ("user_id", &OWNER)])
            .required(&["allocations", "project_id", "user_id"]),
    );

// From 1.12 on: an object keyed by provider.
const AT_PROVIDER: Schema = Schema::Object(
    Object::of(&[("generation", &INTEGER), ("resources", &RESOURCES)]).required(&["resources"]),
);
const BY_PROVIDER: Object = Object::keyed(&[(Pattern::UuidKey, &AT_PROVIDER)]);
const SOME: Schema = Schema::Object(BY_PROVIDER.at_least(1));
const ANY: Schema = Schema::Object(BY_PROVIDER);
const PROVIDERS: Schema = Schema::List { items: &UUID, min: 1, max: usize::MAX, unique: false };
const MAPPINGS: Schema = Schema::Object(
    Object { open: true, ..Object::keyed(&[(Pattern::Suffix, &PROVIDERS)]) }.at_least(1),
);

macro_rules! consumer {
    ($allocations:expr; $($name:literal: $schema:expr),*; $($required:literal),*) => {
        Schema::Object(
            Object::of(&[
                ("allocations", &$allocations),
                ("project_id", &OWNER),
                ("user_id", &OWNER),
                $(($name, &$schema)),*
            ])
            .required(&["allocations", "project_id", "user_id", $($required),*]),
        )
    };
}

const PUT_1_12: Schema = consumer!(SOME;;);
const EACH_1_13: Schema = consumer!(ANY;;);
const EACH_1_28: Schema = consumer!(ANY; "consumer_generation": GENERATION; "consumer_generation");
const EACH_1_34: Schema = consumer!(
    ANY; "consumer_generation": GENERATION, "mappings": MAPPINGS; "consumer_generation"
);
pub(in crate::placement) const EACH_1_38: Schema = consumer!(
    ANY;
    "consumer_generation": GENERATION, "mappings": MAPPINGS, "consumer_type": CONSUMER_TYPE;
    "consumer_generation", "consumer_type"
);

/// The body of `PUT /allocations/{consumer}`.
pub fn put_allocations(version: Version) -> &'static Schema {
    const HISTORY: History = &[
        (Feature::Always, &PUT_1_0),
        (Feature::ConsumerOwner, &PUT_1_8),
        (Feature::AllocationsByProvider, &PUT_1_12),
        (Feature::ConsumerGeneration, &EACH_1_28),
        (Feature::Mappings, &EACH_1_34),
        (Feature::ConsumerTypes, &EACH_1_38),
    ];
    pick(HISTORY, version)
}

const MANY_1_13: Object = Object::keyed(&[(Pattern::UuidKey, &EACH_1_13)]);
const MANY_1_28: Object = Object::keyed(&[(Pattern::UuidKey, &EACH_1_28)]);
const MANY_1_34: Object = Object::keyed(&[(Pattern::UuidKey, &EACH_1_34)]);
const MANY_1_38: Object = Object::keyed(&[(Pattern::UuidKey, &EACH_1_38)]);
pub(in crate::placement) const POST_1_38: Schema = Schema::Object(MANY_1_38.at_least(1));

/// The body of `POST /allocations`.
pub fn post_allocations(version: Version) -> &'static Schema {
    const HISTORY: History = &[
        (Feature::PostAllocations, &Schema::Object(MANY_1_13.at_least(1))),
        (Feature::ConsumerGeneration, &Schema::Object(MANY_1_28.at_least(1))),
        (Feature::Mappings, &Schema::Object(MANY_1_34.at_least(1))),
        (Feature::ConsumerTypes, &POST_1_38),
    ];
    pick(HISTORY, version)
}

const RESHAPED: Schema =
    Schema::Object(Object::keyed(&[(Pattern::UuidKey, &INVENTORY_SET)]).at_least(1));

macro_rules! reshape {
    ($allocations:expr) => {
        Schema::Object(
            Object::of(&[
                ("inventories", &RESHAPED),
                ("allocations", &Schema::Object($allocations)),
            ])
            .required(&["inventories", "allocations"]),
        )
    };
}

pub(in crate::placement) const RESHAPE_1_38: Schema = reshape!(MANY_1_38);

/// The body of `POST /reshaper`.
pub fn reshape(version: Version) -> &'static Schema {
    const HISTORY: History = &[
        (Feature::Reshaper, &reshape!(MANY_1_28)),
        (Feature::Mappings, &reshape!(MANY_1_34)),
        (Feature::ConsumerTypes, &RESHAPE_1_38),
    ];
    pick(HISTORY, version)
}
