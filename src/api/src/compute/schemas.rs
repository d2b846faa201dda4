//! What bodies of the compute API must look like, by microversion.

use super::version::{Feature, Microversion};
use crate::schema::{Object, Pattern, Schema, Text, UUID};

/// A schema and what it came with; the last row that a version has counts.
type History = &'static [(Feature, &'static Schema)];

fn pick(history: History, version: Microversion) -> &'static Schema {
    let known = history.iter().rev().find(|(since, _)| version.has(*since));
    known.map_or(&NOTHING, |(_, schema)| schema)
}

const NOTHING: Schema = Schema::Object(Object::of(&[]));

const NAME: Schema = Schema::Text(Text::sized(1, 255).of(Pattern::Printable));
const SPACED_NAME: Schema = Schema::Text(Text::sized(1, 255).of(Pattern::Spaced));
const ZONE: Schema = Schema::Text(Text::sized(1, 255).of(Pattern::Zone));
const ZONE_OR_NULL: Schema = Schema::OrNull(&ZONE);
const HOST: Schema = Schema::Text(Text::sized(1, 255).of(Pattern::HostName));
const TEXT: Schema = Schema::Text(Text::sized(1, 255));

/// One object under a key.
macro_rules! under {
    ($key:literal, $inner:expr) => {
        Schema::Object(Object::of(&[($key, &$inner)]).required(&[$key]))
    };
}

/// The body of `POST /os-aggregates`.
pub const CREATE_AGGREGATE: Schema = under!(
    "aggregate",
    Schema::Object(
        Object::of(&[("name", &NAME), ("availability_zone", &ZONE_OR_NULL)]).required(&["name"])
    )
);

/// The body of `PUT /os-aggregates/{id}`.
pub const UPDATE_AGGREGATE: Schema = under!(
    "aggregate",
    Schema::Object(
        Object::of(&[("name", &SPACED_NAME), ("availability_zone", &ZONE_OR_NULL)]).at_least(1)
    )
);

const HOST_OBJECT: Schema = Schema::Object(Object::of(&[("host", &HOST)]).required(&["host"]));
/// The action that adds a host to an aggregate.
pub const ADD_HOST: Schema = under!("add_host", HOST_OBJECT);
/// The action that takes a host out of an aggregate.
pub const REMOVE_HOST: Schema = under!("remove_host", HOST_OBJECT);

const METADATA_VALUE: Schema = Schema::OrNull(&Schema::Text(Text::sized(0, 255)));
const METADATA: Schema = Schema::Object(Object::keyed(&[(Pattern::MetadataKey, &METADATA_VALUE)]));
/// The action that changes metadata of an aggregate.
pub const SET_METADATA: Schema = under!(
    "set_metadata",
    Schema::Object(Object::of(&[("metadata", &METADATA)]).required(&["metadata"]))
);

const IMAGE: Schema = Schema::Object(Object::of(&[("id", &UUID)]).required(&["id"]));
const IMAGES: Schema = Schema::List { items: &IMAGE, min: 1, max: usize::MAX, unique: false };
/// The body of `POST /os-aggregates/{id}/images`.
pub const CACHE_IMAGES: Schema = under!("cache", IMAGES);

const HARD: &[&str] = &["anti-affinity", "affinity"];
const ALL: &[&str] = &["anti-affinity", "affinity", "soft-anti-affinity", "soft-affinity"];
const HARD_POLICY: Schema = Schema::Text(Text { one_of: HARD, ..Text::ANY });
const POLICY: Schema = Schema::Text(Text { one_of: ALL, ..Text::ANY });
const HARD_POLICIES: Schema = Schema::List { items: &HARD_POLICY, min: 1, max: 1, unique: true };
const POLICIES: Schema = Schema::List { items: &POLICY, min: 1, max: 1, unique: true };
const RULES: Schema =
    Schema::Object(Object::of(&[("max_server_per_host", &Schema::Count { min: 1 })]));

const GROUP: Schema = under!(
    "server_group",
    Schema::Object(
        Object::of(&[("name", &NAME), ("policies", &HARD_POLICIES)])
            .required(&["name", "policies"])
    )
);
const GROUP_2_15: Schema = under!(
    "server_group",
    Schema::Object(
        Object::of(&[("name", &NAME), ("policies", &POLICIES)]).required(&["name", "policies"])
    )
);
pub(super) const GROUP_2_64: Schema = under!(
    "server_group",
    Schema::Object(
        Object::of(&[("name", &NAME), ("policy", &POLICY), ("rules", &RULES)])
            .required(&["name", "policy"])
    )
);

/// The body of `POST /os-server-groups`.
pub fn create_group(version: Microversion) -> &'static Schema {
    const HISTORY: History = &[
        (Feature::Always, &GROUP),
        (Feature::SoftPolicies, &GROUP_2_15),
        (Feature::GroupPolicy, &GROUP_2_64),
    ];
    pick(HISTORY, version)
}

const STATUS: Schema = Schema::Text(Text { one_of: &["enabled", "disabled"], ..Text::ANY });

const SERVICE: Schema = Schema::Object(
    Object::of(&[("host", &HOST), ("binary", &TEXT), ("disabled_reason", &TEXT)])
        .required(&["host", "binary"]),
);
const SERVICE_2_11: Schema = Schema::Object(
    Object::of(&[
        ("host", &HOST),
        ("binary", &TEXT),
        ("disabled_reason", &TEXT),
        ("forced_down", &Schema::Flag),
    ])
    .required(&["host", "binary"]),
);
pub(super) const SERVICE_2_53: Schema = Schema::Object(Object::of(&[
    ("status", &STATUS),
    ("disabled_reason", &TEXT),
    ("forced_down", &Schema::Flag),
]));

/// The body of `PUT /os-services/{id}`.
pub fn update_service(version: Microversion) -> &'static Schema {
    const HISTORY: History = &[
        (Feature::Always, &SERVICE),
        (Feature::ForcedDown, &SERVICE_2_11),
        (Feature::Uuids, &SERVICE_2_53),
    ];
    pick(HISTORY, version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn bodies_that_are_refused_say_where_and_why() {
        let (old, new) = (Microversion::MIN, Microversion::MAX);
        let long = "x".repeat(256);
        for (schema, body, place, message) in [
            (&CREATE_AGGREGATE, json!({}), "", "'aggregate' is a required property"),
            (&CREATE_AGGREGATE, json!({"aggregate": {}}), "aggregate", "'name' is a required"),
            (&CREATE_AGGREGATE, json!({"aggregate": {"name": ""}}), "aggregate.name", "non-empty"),
            (&CREATE_AGGREGATE, json!({"aggregate": {"name": long}}), "aggregate.name", "too long"),
            (
                &CREATE_AGGREGATE,
                json!({"aggregate": {"name": "a", "availability_zone": "a:b"}}),
                "aggregate.availability_zone",
                "expected printable characters but colons",
            ),
            (&UPDATE_AGGREGATE, json!({"aggregate": {}}), "aggregate", "should be non-empty"),
            (&ADD_HOST, json!({"add_host": {"host": "a b"}}), "add_host.host", "expected letters"),
            (
                &SET_METADATA,
                json!({"set_metadata": {"metadata": {"k": 1}}}),
                "set_metadata.metadata.k",
                "1 is not of type 'string'",
            ),
            (
                &SET_METADATA,
                json!({"set_metadata": {"metadata": {"a/b": "1"}}}),
                "set_metadata.metadata",
                "'a/b' does not match any of the regexes",
            ),
            (&CACHE_IMAGES, json!({"cache": [{"id": "x"}]}), "cache[0].id", "is not a 'uuid'"),
            (
                create_group(old),
                json!({"server_group": {"name": "a", "policies": ["soft-affinity"]}}),
                "server_group.policies[0]",
                "is not one of ['anti-affinity', 'affinity']",
            ),
            (
                create_group(old),
                json!({"server_group": {"name": "a", "policies": ["affinity", "affinity"]}}),
                "server_group.policies",
                "expected at most 1 items",
            ),
            (
                create_group(new),
                json!({"server_group": {
                    "name": "a", "policy": "affinity", "rules": {"max_server_per_host": "0"},
                }}),
                "server_group.rules.max_server_per_host",
                "less than the minimum of 1",
            ),
            (
                update_service(old),
                json!({"host": "h", "binary": "b", "forced_down": true}),
                "",
                "'forced_down' was unexpected",
            ),
            (update_service(new), json!({"status": "on"}), "status", "is not one of"),
            (update_service(new), json!({"forced_down": 1}), "forced_down", "neither true nor"),
        ] {
            let fault = schema.check(&body).map_or_else(|fault| fault, |()| panic!("{body}"));
            assert_eq!(fault.place(), place, "{body}");
            assert!(fault.message().contains(message), "{body}: {}", fault.message());
        }
    }

    #[test]
    fn bodies_that_pass() {
        let all: [(&Schema, Value); 7] = [
            (&CREATE_AGGREGATE, json!({"aggregate": {"name": "a", "availability_zone": null}})),
            (&UPDATE_AGGREGATE, json!({"aggregate": {"name": " a "}})),
            (&SET_METADATA, json!({"set_metadata": {"metadata": {"trait:X": "", "b": null}}})),
            (
                create_group(Microversion::MAX),
                json!({"server_group": {
                    "name": "a", "policy": "soft-affinity", "rules": {"max_server_per_host": "2"},
                }}),
            ),
            (
                create_group(Microversion::MIN),
                json!({"server_group": {"name": "a", "policies": ["affinity"]}}),
            ),
            (update_service(Microversion::MAX), json!({"forced_down": "yes"})),
            (update_service(Microversion::MIN), json!({"host": "h", "binary": "nova-compute"})),
        ];
        for (schema, body) in all {
            assert!(schema.check(&body).is_ok(), "{body}");
        }
    }
}
