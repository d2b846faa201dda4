//! `/v1/explain/candidates`: why a query has no allocation candidates, or few.

use super::{caller::Caller, params::json};
use crate::{
    failure::Failure,
    placement::query::candidate_query,
    version::{Feature, Version},
};
use actix_web::{HttpRequest, HttpResponse, http::StatusCode};
use serde::Serialize;
use stowplan_ledger::Image;
use stowplan_model::Uuid;
use stowplan_placement::{
    PlacementError,
    candidates::{
        CandidateQuery, NearestMiss, Requirement, RequirementLoss, candidates, explain, unlocking,
    },
};
use utoipa::ToSchema;

/// Candidates that are counted; beyond, it is only said that there are more.
const COUNTED: usize = 1000;

/// A query for allocation candidates, taken apart.
#[derive(Debug, Serialize, ToSchema)]
pub struct CandidatesExplained {
    /// The microversion by whose rules the query was read.
    #[schema(examples("1.39"))]
    microversion: String,
    /// How many candidates there are.
    candidates: CandidateCount,
    /// Root providers in all.
    roots: usize,
    /// Every requirement in the order in which it was tried, with what it left.
    requirements: Vec<RequirementStep>,
    /// Where there is no candidate: the requirements without which, one at a
    /// time, there would be one. None if no single one stands in the way, or
    /// if it was not among the first hundred.
    unlocks: Vec<RequirementView>,
}

/// A count that stops somewhere.
#[derive(Debug, Serialize, ToSchema)]
pub struct CandidateCount {
    /// Candidates counted, at most 1,000; `limit` does not matter.
    count: usize,
    /// Whether there are more.
    more: bool,
}

/// One requirement, and the root providers before and after it.
#[derive(Debug, Serialize, ToSchema)]
pub struct RequirementStep {
    #[serde(flatten)]
    requirement: RequirementView,
    /// Roots that the requirements before it left.
    before: usize,
    /// Roots that it left.
    after: usize,
    /// Of a resource: the provider where most was free of those that the
    /// requirements before it left; not there if none of them has the class.
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest: Option<NearestView>,
}

/// A requirement, for people and for programs.
#[derive(Debug, Serialize, ToSchema)]
pub struct RequirementView {
    /// The requirement in words.
    #[schema(examples("8 VCPU"))]
    text: String,
    #[serde(flatten)]
    what: RequirementKind,
}

/// What is required. `group` is the suffix of its request group, "" for the
/// one without.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RequirementKind {
    /// `root_required`: the root has a trait.
    RootTrait { name: String },
    /// `root_required`: the root has not a trait.
    ForbiddenRootTrait { name: String },
    /// `in_tree`: the group is met in the tree of this provider.
    Tree { group: String, provider: Uuid },
    /// `member_of`: providers of the group are in one of these aggregates.
    Aggregate { group: String, any_of: Vec<Uuid> },
    /// `member_of`: providers of the group are in none of these aggregates.
    ForbiddenAggregate { group: String, none_of: Vec<Uuid> },
    /// `required`: providers of the group have one of these traits.
    Trait { group: String, any_of: Vec<String> },
    /// `required`: no provider of the group has this trait.
    ForbiddenTrait { group: String, name: String },
    /// `resources`: an amount of a class fits into some provider.
    Resource { group: String, class: String, wanted: i64 },
    /// A group without resources asks for a trait or an aggregate: one that
    /// only forbids is met by nothing.
    Wish { group: String },
    /// All amounts fit at once in one tree and what shares with it.
    Together,
    /// The traits of the group without a suffix are found among the providers
    /// that it takes from.
    TraitsTogether,
    /// `group_policy=isolate`: each group with a suffix has a provider of its
    /// own.
    GroupPolicy,
    /// `same_subtree`: the providers of these groups stand under one of them.
    SameSubtree { groups: Vec<String> },
}

/// The provider where most of a class was free.
#[derive(Debug, Serialize, ToSchema)]
pub struct NearestView {
    /// Units that one allocation could take there, were it not for `min_unit`
    /// and `step_size`; negative where more is in use than there is.
    largest_free: i64,
    /// Its uuid.
    provider: Uuid,
    /// Its name.
    provider_name: String,
    /// `(total - reserved) x allocation_ratio`.
    capacity: i64,
    /// Units in use.
    used: i64,
    /// The smallest amount of one allocation.
    min_unit: i64,
    /// The largest amount of one allocation.
    max_unit: i64,
    /// Amounts are multiples of this.
    step_size: i64,
}

/// Explains the answer of `GET /allocation_candidates` to the same query.
///
/// Takes every query that the Placement API takes there, and refuses what it
/// refuses. The header `OpenStack-API-Version: placement 1.N` (1.10 or later)
/// says by which rules the query is read; without it, by those of the newest
/// version. Root providers are counted before and after each requirement: those
/// of roots first, then group by group its tree, aggregates, traits and
/// resources, at last what binds groups to each other. After the last one
/// exactly the roots with a candidate are left.
#[utoipa::path(get, path = "/v1/explain/candidates", tag = "explain", security(("token" = [])),
    params(
        ("OpenStack-API-Version" = Option<String>, Header,
            description = "`placement 1.N`, `placement latest`; without it the newest."),
        ("resources" = Option<String>, Query,
            description = "As in `GET /allocation_candidates`, and so are all the others that it \
                takes: `required`, `member_of`, `in_tree`, each also with a suffix; \
                `group_policy`, `limit`, `root_required`, `same_subtree`.",
            example = "VCPU:8,MEMORY_MB:4096"),
    ),
    responses(
        (status = 200, description = "The query, requirement by requirement.",
            body = CandidatesExplained, example = json!({
                "microversion": "1.39",
                "candidates": {"count": 0, "more": false},
                "roots": 3,
                "requirements": [
                    {"kind": "trait", "group": "", "any_of": ["HW_CPU_X86_AVX2"],
                        "text": "trait HW_CPU_X86_AVX2", "before": 3, "after": 2},
                    {"kind": "resource", "group": "", "class": "VCPU", "wanted": 8,
                        "text": "8 VCPU", "before": 2, "after": 0,
                        "nearest": {"largest_free": 6,
                            "provider": "7d2590ae-fb85-4080-9306-058b4c915e60",
                            "provider_name": "compute-2", "capacity": 16, "used": 10,
                            "min_unit": 1, "max_unit": 16, "step_size": 1}},
                    {"kind": "together", "text": "all amounts at once in one tree",
                        "before": 0, "after": 0},
                ],
                "unlocks": [
                    {"kind": "resource", "group": "", "class": "VCPU", "wanted": 8,
                        "text": "8 VCPU"},
                ],
            })),
        (status = 400, description = "What `GET /allocation_candidates` would refuse too, with the \
            same words; or a microversion before 1.10."),
        (status = 406, description = "A microversion that is not spoken here."),
    ))]
pub async fn explain_candidates(
    caller: Caller,
    request: HttpRequest,
) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:explain:candidates")?;
    let version = Version::asked(request.headers())?.unwrap_or(Version::MAX);
    if !version.has(Feature::Candidates) {
        return Err(Failure::bad_request(format!(
            "OpenStack-API-Version: placement {version}: allocation candidates are there from 1.10 \
             on"
        )));
    }
    let settings = caller.api().settings.load_full();
    let query = candidate_query(request.query_string(), version, &settings.placement, || 0)?;
    let image = caller.api().ledger.image();
    let explained = caller.beside(move || explained(&image, &query, version)).await??;
    Ok(json(StatusCode::OK, &explained))
}

fn explained(
    image: &Image,
    query: &CandidateQuery,
    version: Version,
) -> Result<CandidatesExplained, PlacementError> {
    let counted = CandidateQuery { limit: Some(COUNTED + 1), seed: None, ..query.clone() };
    let found = candidates(image, &counted)?.count();
    let losses = explain(image, query)?;
    let unlocks = unlocking(image, query, &losses);
    Ok(CandidatesExplained {
        microversion: version.to_string(),
        candidates: CandidateCount { count: found.min(COUNTED), more: found > COUNTED },
        roots: losses.first().map_or(0, |loss| loss.before),
        unlocks: unlocks.into_iter().map(RequirementView::from).collect(),
        requirements: losses.into_iter().map(|loss| RequirementStep::of(image, loss)).collect(),
    })
}

impl RequirementStep {
    fn of(image: &Image, loss: RequirementLoss) -> Self {
        Self {
            requirement: loss.requirement.into(),
            before: loss.before,
            after: loss.after,
            nearest: loss.nearest.map(|nearest| NearestView::of(image, &nearest)),
        }
    }
}

impl NearestView {
    fn of(image: &Image, nearest: &NearestMiss) -> Self {
        let provider =
            image.providers.find(nearest.provider).and_then(|at| image.providers.get(at));
        Self {
            largest_free: nearest.largest_free,
            provider: nearest.provider,
            provider_name: provider.map(|provider| provider.name.to_string()).unwrap_or_default(),
            capacity: nearest.inventory.capacity(),
            used: nearest.used,
            min_unit: nearest.inventory.min_unit,
            max_unit: nearest.inventory.max_unit,
            step_size: nearest.inventory.step_size,
        }
    }
}

impl From<Requirement> for RequirementView {
    fn from(requirement: Requirement) -> Self {
        Self { text: requirement.to_string(), what: requirement.into() }
    }
}

impl From<Requirement> for RequirementKind {
    fn from(requirement: Requirement) -> Self {
        match requirement {
            Requirement::RootRequired { name } => Self::RootTrait { name },
            Requirement::RootForbidden { name } => Self::ForbiddenRootTrait { name },
            Requirement::InTree { group, provider } => Self::Tree { group, provider },
            Requirement::MemberOf { group, any_of } => Self::Aggregate { group, any_of },
            Requirement::ForbiddenAggregates { group, none_of } => {
                Self::ForbiddenAggregate { group, none_of }
            }
            Requirement::Required { group, any_of } => Self::Trait { group, any_of },
            Requirement::Forbidden { group, name } => Self::ForbiddenTrait { group, name },
            Requirement::Resource { group, class, wanted } => {
                Self::Resource { group, class, wanted }
            }
            Requirement::Wish { group } => Self::Wish { group },
            Requirement::Together => Self::Together,
            Requirement::TraitsTogether => Self::TraitsTogether,
            Requirement::Isolate => Self::GroupPolicy,
            Requirement::SameSubtree { groups } => Self::SameSubtree { groups },
        }
    }
}
