//! A query as Placement's clients write it.

use stowplan_model::Uuid;
use stowplan_placement::candidates::{CandidateQuery, GroupPolicy, RequestGroup};

/// The query string of `GET /allocation_candidates` that asks the same:
/// parameters by name and value, form-encoded. `policy` is none where nobody has
/// said how groups with a suffix stand to each other.
pub(crate) fn query_string(
    query: &CandidateQuery,
    policy: Option<GroupPolicy>,
    in_tree: Option<Uuid>,
) -> String {
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut push = |name: String, value: String| pairs.push((name, value));
    for group in &query.groups {
        of_group(group, &mut push);
    }
    for set in &query.same_subtree {
        push("same_subtree".to_owned(), set.join(","));
    }
    let root = signed(&query.root_required, &query.root_forbidden);
    if !root.is_empty() {
        push("root_required".to_owned(), root);
    }
    match policy {
        Some(GroupPolicy::None) => push("group_policy".to_owned(), "none".to_owned()),
        Some(GroupPolicy::Isolate) => push("group_policy".to_owned(), "isolate".to_owned()),
        None => {}
    }
    if let Some(root) = in_tree {
        push("in_tree".to_owned(), root.to_string());
    }
    if let Some(limit) = query.limit {
        push("limit".to_owned(), limit.to_string());
    }
    pairs.sort();
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

fn of_group(group: &RequestGroup, push: &mut impl FnMut(String, String)) {
    let RequestGroup { suffix, resources, required, forbidden, .. } = group;
    let mut amounts: Vec<String> =
        resources.iter().map(|(class, amount)| format!("{class}:{amount}")).collect();
    amounts.sort();
    if !amounts.is_empty() {
        push(format!("resources{suffix}"), amounts.join(","));
    }
    // A translation asks for single traits only.
    let required: Vec<String> = required.iter().flatten().cloned().collect();
    let traits = signed(&required, forbidden);
    if !traits.is_empty() {
        push(format!("required{suffix}"), traits);
    }
    for any_of in &group.member_of {
        push(format!("member_of{suffix}"), format!("in:{}", listed(any_of)));
    }
    if !group.forbidden_aggregates.is_empty() {
        push(format!("member_of{suffix}"), format!("!in:{}", listed(&group.forbidden_aggregates)));
    }
    if let Some(provider) = group.in_tree {
        push(format!("in_tree{suffix}"), provider.to_string());
    }
}

/// What is required, then what is forbidden, each sorted.
fn signed(required: &[String], forbidden: &[String]) -> String {
    let mut names = required.to_vec();
    names.sort();
    names.dedup();
    let mut never: Vec<String> = forbidden.iter().map(|name| format!("!{name}")).collect();
    never.sort();
    never.dedup();
    names.extend(never);
    names.join(",")
}

fn listed(uuids: &[Uuid]) -> String {
    let mut texts: Vec<String> = uuids.iter().map(Uuid::to_string).collect();
    texts.sort();
    texts.dedup();
    texts.join(",")
}
