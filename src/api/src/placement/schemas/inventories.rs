//! Inventories.

use crate::schema::{INTEGER, Object, Pattern, Schema, Text};

/// The greatest amount of an inventory.
pub const MAX_AMOUNT: i64 = 0x7fff_ffff;
/// The greatest ratio: that of a float of four bytes.
const MAX_RATIO: f64 = 3.402_82e38;

const AMOUNT: Schema = Schema::Integer { min: Some(1), max: Some(MAX_AMOUNT) };
const RESERVED: Schema = Schema::Integer { min: Some(0), max: Some(MAX_AMOUNT) };
const RATIO: Schema = Schema::Number { max: Some(MAX_RATIO) };
const CLASS_NAME: Schema = Schema::Text(Text::ANY.of(Pattern::Name));

macro_rules! inventory {
    ($($more:expr),*) => {
        Object::of(&[
            ("resource_provider_generation", &INTEGER),
            ("total", &AMOUNT),
            ("reserved", &RESERVED),
            ("min_unit", &AMOUNT),
            ("max_unit", &AMOUNT),
            ("step_size", &AMOUNT),
            ("allocation_ratio", &RATIO),
            $($more),*
        ])
    };
}

/// The body of `PUT /resource_providers/{uuid}/inventories/{class}`.
pub const INVENTORY_UPDATE: Schema =
    Schema::Object(inventory!().required(&["total", "resource_provider_generation"]));
/// The body of `POST /resource_providers/{uuid}/inventories`.
pub const INVENTORY_CREATE: Schema = Schema::Object(
    inventory!(("resource_class", &CLASS_NAME)).required(&["total", "resource_class"]),
);
const INVENTORY: Schema = Schema::Object(inventory!().required(&["total"]));
// Keys of other forms are let through here, as with the peer, and refused as
// classes that do not exist.
const BY_CLASS: Schema =
    Schema::Object(Object { open: true, ..Object::keyed(&[(Pattern::Name, &INVENTORY)]) });

/// The body of `PUT /resource_providers/{uuid}/inventories`, and one provider
/// of a reshape.
pub const INVENTORY_SET: Schema = Schema::Object(
    Object::of(&[("resource_provider_generation", &INTEGER), ("inventories", &BY_CLASS)])
        .required(&["resource_provider_generation", "inventories"]),
);
