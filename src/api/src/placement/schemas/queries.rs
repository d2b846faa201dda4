//! Query parameters.

use super::{History, pick};
use crate::{
    schema::{Object, Pattern, Schema, TEXT, Text, UUID},
    version::{Feature, Version},
};

macro_rules! parameters {
    ($($name:literal: $schema:expr),* $(,)?) => {
        Object::of(&[$(($name, &$schema)),*])
    };
}

/// The query of `GET /resource_providers`.
pub fn provider_query(version: Version) -> &'static Schema {
    const HISTORY: History = &[
        (Feature::Always, &Schema::Object(parameters!("name": TEXT, "uuid": UUID))),
        (
            Feature::ProvidersByAggregate,
            &Schema::Object(parameters!("name": TEXT, "uuid": UUID, "member_of": TEXT)),
        ),
        (
            Feature::ProvidersByResources,
            &Schema::Object(parameters!(
                "name": TEXT, "uuid": UUID, "member_of": TEXT, "resources": TEXT
            )),
        ),
        (
            Feature::NestedProviders,
            &Schema::Object(parameters!(
                "name": TEXT, "uuid": UUID, "member_of": TEXT, "resources": TEXT,
                "in_tree": UUID
            )),
        ),
        (
            Feature::ProvidersByTraits,
            &Schema::Object(parameters!(
                "name": TEXT, "uuid": UUID, "member_of": TEXT, "resources": TEXT,
                "in_tree": UUID, "required": TEXT
            )),
        ),
    ];
    pick(HISTORY, version)
}

const LIMIT: Schema = Schema::Text(Text::sized(1, usize::MAX).of(Pattern::Limit));
const POLICY: Schema = Schema::Text(Text { one_of: &["none", "isolate"], ..Text::ANY });

const NUMBERED: &[(Pattern, &Schema)] = &[
    (Pattern::NumberedGroup("resources"), &TEXT),
    (Pattern::NumberedGroup("required"), &TEXT),
    (Pattern::NumberedGroup("member_of"), &TEXT),
];
const NUMBERED_IN_TREE: &[(Pattern, &Schema)] = &[
    (Pattern::NumberedGroup("resources"), &TEXT),
    (Pattern::NumberedGroup("required"), &TEXT),
    (Pattern::NumberedGroup("member_of"), &TEXT),
    (Pattern::NumberedGroup("in_tree"), &TEXT),
];
const WORDS: &[(Pattern, &Schema)] = &[
    (Pattern::WordGroup("resources"), &TEXT),
    (Pattern::WordGroup("required"), &TEXT),
    (Pattern::WordGroup("member_of"), &TEXT),
    (Pattern::WordGroup("in_tree"), &TEXT),
];

macro_rules! grouped {
    ($patterns:expr; $($parameters:tt)*) => {
        Schema::Object(Object { patterns: $patterns, ..parameters!($($parameters)*) })
    };
}

/// The query of `GET /allocation_candidates`.
pub fn candidate_query(version: Version) -> &'static Schema {
    const HISTORY: History = &[
        (
            Feature::Candidates,
            &Schema::Object(parameters!("resources": TEXT).required(&["resources"])),
        ),
        (
            Feature::CandidatesLimit,
            &Schema::Object(
                parameters!("resources": TEXT, "limit": LIMIT).required(&["resources"]),
            ),
        ),
        (
            Feature::CandidatesTraits,
            &Schema::Object(
                parameters!("resources": TEXT, "limit": LIMIT, "required": TEXT)
                    .required(&["resources"]),
            ),
        ),
        (
            Feature::CandidatesByAggregate,
            &Schema::Object(
                parameters!(
                    "resources": TEXT, "limit": LIMIT, "required": TEXT, "member_of": TEXT
                )
                .required(&["resources"]),
            ),
        ),
        (Feature::NumberedGroups, &grouped!(NUMBERED; "limit": LIMIT, "group_policy": POLICY)),
        (
            Feature::CandidatesInTree,
            &grouped!(NUMBERED_IN_TREE; "limit": LIMIT, "group_policy": POLICY),
        ),
        (Feature::WordSuffixes, &grouped!(WORDS; "limit": LIMIT, "group_policy": POLICY)),
        (
            Feature::RootRequired,
            &grouped!(WORDS; "limit": LIMIT, "group_policy": POLICY, "root_required": TEXT),
        ),
        (
            Feature::SameSubtree,
            &grouped!(
                WORDS;
                "limit": LIMIT, "group_policy": POLICY, "root_required": TEXT,
                "same_subtree": TEXT
            ),
        ),
    ];
    pick(HISTORY, version)
}

const OWNER: Schema = Schema::Text(Text::sized(1, 255));
const TYPE: Schema = Schema::Text(Text::sized(1, 255).of(Pattern::ConsumerType));

/// The query of `GET /usages`.
pub fn usage_query(version: Version) -> &'static Schema {
    const HISTORY: History = &[
        (
            Feature::Usages,
            &Schema::Object(
                parameters!("project_id": OWNER, "user_id": OWNER).required(&["project_id"]),
            ),
        ),
        (
            Feature::ConsumerTypes,
            &Schema::Object(
                parameters!("project_id": OWNER, "user_id": OWNER, "consumer_type": TYPE)
                    .required(&["project_id"]),
            ),
        ),
    ];
    pick(HISTORY, version)
}

/// The query of `GET /traits`.
pub const TRAIT_QUERY: Schema = Schema::Object(parameters!("name": TEXT, "associated": TEXT));
