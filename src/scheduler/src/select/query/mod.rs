//! From a request to queries for allocation candidates.

mod cpus;
mod extra_specs;
mod features;
mod groups;
mod prefilters;

use stowplan_config::Settings;
use stowplan_engine::CheckedRequest;
use stowplan_ledger::Image;
use stowplan_model::Uuid;
use stowplan_model::request::Destination;
use stowplan_placement::candidates::{CandidateQuery, GroupPolicy, Strategy};

use self::groups::Groups;
use self::prefilters::{Prefilter, RootTraits};
use super::check::Order;
use crate::error::SchedulerError;

/// MiB in a GiB.
const MB_PER_GB: i64 = 1024;

/// Hints that need the members of all hosts, so that no limit may cut them.
const UNLIMITED: [&str; 3] = ["group", "same_host", "different_host"];

/// What a request asks of the ledger.
#[derive(Clone, Debug)]
pub(super) struct Queries {
    /// The queries in order of preference: a host takes the first one that it
    /// can meet.
    pub queries: Vec<CandidateQuery>,
    /// What was passed over.
    pub warnings: Vec<String>,
}

/// Translates a request.
///
/// # Errors
/// What the peer fails a request for: policies that contradict each other, a
/// zone that is none, aggregates that are no uuids.
pub(super) fn translate(
    image: &Image,
    order: &Order,
    checked: &CheckedRequest,
    settings: &Settings,
) -> Result<Queries, SchedulerError> {
    let mut warnings = Vec::new();
    let (first, pinned) = query(image, order, checked, settings, true, &mut warnings)?;
    let mut queries = vec![first];
    if pinned && !settings.workarounds.disable_fallback_pcpu_query {
        // Older hosts offer their dedicated CPUs as shared ones.
        queries.push(query(image, order, checked, settings, false, &mut Vec::new())?.0);
    }
    Ok(Queries { queries, warnings })
}

fn query(
    image: &Image,
    order: &Order,
    checked: &CheckedRequest,
    settings: &Settings,
    pinning: bool,
    warnings: &mut Vec<String>,
) -> Result<(CandidateQuery, bool), SchedulerError> {
    let request = &order.request;
    let flavor = &request.flavor;
    let mut groups = Groups::default();
    let mut policy = extra_specs::read(&flavor.extra_specs, &mut groups, warnings);
    let of_flavor = groups.suffixed();
    if let Some(image) = &request.image {
        image.required_traits().for_each(|name| groups.require("", name));
    }
    let pinned = pinning && cpus::read(flavor, checked.image(), &mut groups)?;
    for group in &order.groups {
        let suffix = group.requester_id.as_str();
        group.resources.iter().for_each(|(class, amount)| groups.set(suffix, class, *amount));
        group.required_traits.iter().for_each(|name| groups.require(suffix, name));
        group.forbidden_traits.iter().for_each(|name| groups.forbid(suffix, name));
    }
    flavor_amounts(order, &mut groups);
    features::read(flavor, checked.image(), &mut groups);
    if let Some(destination) = &request.requested_destination {
        destination_aggregates(destination, &mut groups)?;
    }
    let mut root = RootTraits::default();
    Prefilter { image, request, settings, groups: &mut groups, root: &mut root, warnings }.run()?;
    if policy.is_none() && groups.suffixed() >= 2 {
        if of_flavor >= 2 {
            return Err(SchedulerError::Request(
                "the flavor asks for several groups of resources: expected an extra spec \
                 group_policy with the value none or isolate"
                    .to_owned(),
            ));
        }
        policy = Some(GroupPolicy::None);
    }
    let unlimited = UNLIMITED.iter().any(|name| request.scheduler_hints.contains_key(*name));
    let limit = settings.scheduler.max_placement_results.filter(|_| !unlimited);
    let query = CandidateQuery {
        group_policy: policy.unwrap_or_default(),
        same_subtree: order.same_subtree.clone(),
        root_required: root.required,
        root_forbidden: root.forbidden,
        limit: limit.map(|limit| limit as usize),
        strategy: Strategy::BreadthFirst,
        ..CandidateQuery::new(groups.finish())
    };
    Ok((query, pinned))
}

/// The flavor's own amounts, for classes that nothing else has named.
fn flavor_amounts(order: &Order, groups: &mut Groups) {
    let flavor = &order.request.flavor;
    if !groups.names("VCPU") && !groups.names("PCPU") {
        groups.set("", "VCPU", flavor.vcpus);
    }
    let swap_gb = flavor.swap.div_euclid(MB_PER_GB) + i64::from(flavor.swap % MB_PER_GB > 0);
    let root_gb = if order.request.is_bfv { 0 } else { flavor.root_gb };
    let disk_gb = flavor.ephemeral_gb.saturating_add(swap_gb).saturating_add(root_gb);
    for (class, amount) in [("MEMORY_MB", flavor.memory_mb), ("DISK_GB", disk_gb)] {
        if !groups.names(class) {
            groups.set("", class, amount);
        }
    }
}

/// Placement aggregates that a destination names.
fn destination_aggregates(
    destination: &Destination,
    groups: &mut Groups,
) -> Result<(), SchedulerError> {
    for (place, any_of) in destination.aggregates.iter().flatten().enumerate() {
        let uuids = any_of.split(',').map(|text| aggregate(text, "aggregates", place));
        groups.member_of.push(uuids.collect::<Result<_, _>>()?);
    }
    for (place, text) in destination.forbidden_aggregates.iter().flatten().enumerate() {
        groups.forbidden_aggregates.push(aggregate(text, "forbidden_aggregates", place)?);
    }
    Ok(())
}

fn aggregate(text: &str, field: &str, place: usize) -> Result<Uuid, SchedulerError> {
    Uuid::parse_str(text.trim()).map_err(|_| {
        SchedulerError::Request(format!(
            "requested_destination.{field}[{place}] is \"{text}\": expected the uuid of an aggregate"
        ))
    })
}
