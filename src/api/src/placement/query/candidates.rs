//! The query of allocation candidates.

use super::parts::{self, Traits};
use crate::{
    failure::{Code, Failure},
    placement::schemas,
    query::Query,
    schema::is_suffix,
    version::{Feature, Version},
};
use std::collections::HashMap;
use stowplan_config::{CandidatesStrategy, Placement};
use stowplan_placement::candidates::{CandidateQuery, GroupPolicy, RequestGroup, Strategy};

/// The parameters of a request group.
const KEYS: [&str; 4] = ["resources", "required", "member_of", "in_tree"];

/// Checks the query of `GET /allocation_candidates` and gives what it asks
/// for. `seed` is taken where the options say that candidates come in random
/// order.
///
/// # Errors
/// 400 naming the parameter, its value and what was expected.
pub fn candidate_query(
    text: &str,
    version: Version,
    options: &Placement,
    seed: impl FnOnce() -> u64,
) -> Result<CandidateQuery, Failure> {
    let query = Query::parse(text)?;
    query.check(schemas::candidate_query(version))?;
    let root = root_required(&query)?;
    let same_subtree = same_subtree(&query)?;
    let groups = groups(&query, version)?;
    if version.has(Feature::SameSubtree) {
        check_suffixes(&groups, &same_subtree)?;
    } else {
        check_orphans(&groups)?;
    }
    if version.has(Feature::ForbiddenTraits) {
        check_conflicts(&groups)?;
    }
    let granular = groups.iter().filter(|group| group.is_granular()).count();
    let policy = query.first("group_policy");
    if policy.is_none() && granular > 1 {
        return Err(Failure::bad_request(
            "The \"group_policy\" parameter is required when specifying more than one \
             \"resources{N}\" parameter.",
        ));
    }
    let limit = bound(query.first("limit"), options.max_allocation_candidates);
    Ok(CandidateQuery {
        groups,
        group_policy: match policy {
            Some("isolate") => GroupPolicy::Isolate,
            _ => GroupPolicy::None,
        },
        same_subtree,
        root_required: root.required.into_iter().flatten().collect(),
        root_forbidden: root.forbidden,
        limit,
        strategy: strategy(options.allocation_candidates_generation_strategy, limit),
        seed: options.randomize_allocation_candidates.then(seed),
        nested: version.has(Feature::NestedCandidates),
    })
}

/// The smaller of the caller's limit and the service's own; beyond what a
/// number of this machine holds there is no bound.
fn bound(limit: Option<&str>, max: i64) -> Option<usize> {
    let asked = limit.and_then(|text| text.parse().ok());
    let max = usize::try_from(max).ok();
    match (asked, max) {
        (Some(asked), Some(max)) => Some(max.min(asked)),
        (one, other) => one.or(other),
    }
}

/// The order that the options name. Where they name none, a bounded answer
/// goes round the roots, so that it does not hold one host alone.
fn strategy(named: Option<CandidatesStrategy>, limit: Option<usize>) -> Strategy {
    match (named, limit) {
        (Some(CandidatesStrategy::DepthFirst), _) | (None, None) => Strategy::DepthFirst,
        (Some(CandidatesStrategy::BreadthFirst), _) | (None, Some(_)) => Strategy::BreadthFirst,
    }
}

fn root_required(query: &Query) -> Result<Traits, Failure> {
    let mut values = query.all("root_required");
    let mut traits = Traits::default();
    let Some(text) = values.next() else { return Ok(traits) };
    if values.next().is_some() {
        return Err(Failure::new(
            Code::RepeatedQueryKey,
            "Query parameter 'root_required' may be specified only once.",
        ));
    }
    if text.starts_with("in:") {
        return Err(Failure::bad_request(format!(
            "Invalid query string parameters: The format 'in:HW_CPU_X86_VMX,CUSTOM_MAGIC' only \
             supported since microversion 1.39. Got: {text}"
        )));
    }
    parts::flat_traits(text, true, &mut traits)?;
    let mut both: Vec<&str> = traits
        .required
        .iter()
        .flatten()
        .filter(|t| traits.forbidden.contains(t))
        .map(String::as_str)
        .collect();
    both.sort_unstable();
    both.dedup();
    if both.is_empty() {
        return Ok(traits);
    }
    Err(Failure::new(
        Code::BadQueryValue,
        format!(
            "Conflicting required and forbidden traits found in root_required: {}",
            both.join(", ")
        ),
    ))
}

fn same_subtree(query: &Query) -> Result<Vec<Vec<String>>, Failure> {
    let mut sets = Vec::new();
    for value in query.all("same_subtree") {
        let mut suffixes: Vec<String> =
            value.split(',').map(|suffix| suffix.trim().to_owned()).collect();
        if suffixes.iter().any(String::is_empty) {
            return Err(Failure::new(
                Code::BadQueryValue,
                "Empty string (unsuffixed group) can not be specified in `same_subtree` ",
            ));
        }
        suffixes.sort_unstable();
        suffixes.dedup();
        sets.push(suffixes);
    }
    Ok(sets)
}

fn groups(query: &Query, version: Version) -> Result<Vec<RequestGroup>, Failure> {
    let mut groups: Vec<RequestGroup> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for parameter in query.keys() {
        let Some((key, suffix)) = split_key(parameter, version) else { continue };
        let place = *places.entry(suffix).or_insert_with(|| {
            groups.push(RequestGroup { suffix: suffix.to_owned(), ..RequestGroup::default() });
            groups.len() - 1
        });
        let group = &mut groups[place];
        match key {
            "required" => {
                let traits = parts::traits(query, suffix, version)?;
                (group.required, group.forbidden) = (traits.required, traits.forbidden);
            }
            "member_of" => {
                let membership = parts::membership(query, suffix, version)?;
                (group.member_of, group.forbidden_aggregates) =
                    (membership.member_of, membership.forbidden);
            }
            // Of these the last counts, and all must be in order.
            "resources" => {
                for value in query.all(parameter) {
                    group.resources = parts::resources(value)?;
                }
            }
            _ => {
                for value in query.all(parameter) {
                    group.in_tree = Some(parts::in_tree(value)?);
                }
            }
        }
    }
    Ok(groups)
}

/// A parameter of a request group and its suffix.
fn split_key(key: &str, version: Version) -> Option<(&'static str, &str)> {
    KEYS.iter().find_map(|known| {
        let suffix = key.strip_prefix(known)?;
        let number = !suffix.starts_with('0') && suffix.bytes().all(|b| b.is_ascii_digit());
        let fits = suffix.is_empty()
            || if version.has(Feature::WordSuffixes) { is_suffix(suffix) } else { number };
        fits.then_some((*known, suffix))
    })
}

/// From 1.36 on: groups without resources are there for a subtree only.
fn check_suffixes(groups: &[RequestGroup], same_subtree: &[Vec<String>]) -> Result<(), Failure> {
    if groups.iter().all(|group| group.resources.is_empty()) {
        return Err(Failure::new(
            Code::MissingQueryValue,
            "There must be at least one resources or resources[$S] parameter.",
        ));
    }
    let in_subtree = |suffix: &String| same_subtree.iter().flatten().any(|s| s == suffix);
    let listed = |suffixes: &[&String]| {
        let quoted: Vec<String> = suffixes.iter().map(|suffix| format!("'{suffix}'")).collect();
        format!("[{}]", quoted.join(", "))
    };
    let resourceless: Vec<&String> = groups
        .iter()
        .filter(|group| group.resources.is_empty() && !in_subtree(&group.suffix))
        .map(|group| &group.suffix)
        .collect();
    if !resourceless.is_empty() {
        let detail = format!(
            "Resourceless suffixed group request should be specified in `same_subtree` query \
             param: bad group(s) - {}.",
            listed(&resourceless),
        );
        return Err(Failure::new(Code::BadQueryValue, detail));
    }
    let known: Vec<&String> = groups.iter().map(|group| &group.suffix).collect();
    let mut unknown: Vec<&String> =
        same_subtree.iter().flatten().filter(|suffix| !known.contains(suffix)).collect();
    unknown.sort_unstable();
    unknown.dedup();
    if unknown.is_empty() {
        return Ok(());
    }
    let detail = format!(
        "Real suffixes should be specified in `same_subtree`: {} not found in {}.",
        listed(&unknown),
        listed(&known),
    );
    Err(Failure::new(Code::BadQueryValue, detail))
}

/// Before 1.36: every group has resources.
fn check_orphans(groups: &[RequestGroup]) -> Result<(), Failure> {
    let orphans = |key: &str, has: fn(&RequestGroup) -> bool| {
        let found = groups.iter().filter(|group| group.resources.is_empty() && has(group));
        found.map(|group| format!("{key}{}", group.suffix)).collect::<Vec<_>>().join(", ")
    };
    let traits = orphans("required", |group| !group.required.is_empty());
    if !traits.is_empty() {
        return Err(Failure::bad_request(format!(
            "All traits parameters must be associated with resources.  Found the following \
             orphaned traits keys: {traits}"
        )));
    }
    let aggregates = orphans("member_of", |group| {
        !group.member_of.is_empty() || !group.forbidden_aggregates.is_empty()
    });
    if !aggregates.is_empty() {
        return Err(Failure::bad_request(format!(
            "All member_of parameters must be associated with resources. Found the following \
             orphaned member_of keys: {aggregates}"
        )));
    }
    if groups.is_empty() {
        return Err(Failure::bad_request(
            "At least one request group (`resources` or `resources{$S}`) is required.",
        ));
    }
    if groups.iter().any(|group| group.resources.is_empty()) {
        return Err(Failure::bad_request("All request groups must specify resources."));
    }
    Ok(())
}

fn check_conflicts(groups: &[RequestGroup]) -> Result<(), Failure> {
    let mut conflicts = Vec::new();
    for group in groups {
        for set in &group.required {
            if set.iter().all(|name| group.forbidden.contains(name)) {
                conflicts.push(format!("required{}: ({})", group.suffix, set.join(", ")));
            }
        }
    }
    if conflicts.is_empty() {
        return Ok(());
    }
    conflicts.sort_unstable();
    Err(Failure::bad_request(format!(
        "Conflicting required and forbidden traits found in the following traits keys: {}",
        conflicts.join(", ")
    )))
}
