//! From a request to queries for allocation candidates.

mod cpus;
mod extra_specs;
mod features;
mod groups;
mod pci;
mod prefilters;
mod site;
mod text;
mod wishes;

use stowplan_config::Settings;
use stowplan_engine::CheckedRequest;
use stowplan_model::Uuid;
use stowplan_model::image_props::ImageProps;
use stowplan_model::request::{Destination, ScheduleRequest};
use stowplan_placement::candidates::{CandidateQuery, GroupPolicy, Strategy};

use self::groups::{Groups, Place};
use self::prefilters::Prefilter;
pub(crate) use self::prefilters::RootTraits;
pub(crate) use self::site::Site;
pub(crate) use self::text::query_string;
use self::wishes::Wishes;
use super::bounds::MAX_GROUPS;
use super::check::Order;
use super::networks::RequestedNetwork;
use super::request::RequestedGroup;
use crate::error::SchedulerError;

/// MiB in a GiB.
const MB_PER_GB: i64 = 1024;

/// Hints that need the members of all hosts, so that no limit may cut them.
const UNLIMITED: [&str; 3] = ["group", "same_host", "different_host"];

/// What a request asks of the ledger.
#[derive(Clone, Debug)]
pub(crate) struct Queries {
    /// The queries in order of preference: a host takes the first one that it
    /// can meet.
    pub queries: Vec<CandidateQuery>,
    /// How the groups with a suffix stand to each other, as far as anybody has
    /// said so: the same of all queries.
    pub policy: Option<GroupPolicy>,
    /// Whether the request asks for dedicated CPUs.
    pub pinned: bool,
    /// What was passed over.
    pub warnings: Vec<String>,
}

/// What is translated.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub request: &'a ScheduleRequest,
    /// The image's properties, typed; none where there is no image object.
    pub image: Option<&'a ImageProps>,
    /// Groups that do not come from the flavor.
    pub groups: &'a [RequestedGroup],
    /// Sets of suffixes whose providers must stand under one of them.
    pub same_subtree: &'a [Vec<String>],
    /// Networks and ports that the servers attach to.
    pub networks: &'a [RequestedNetwork],
    /// Traits asked of the root provider.
    pub root: &'a RootTraits,
    /// See [`Prefilter::zone_must_exist`].
    pub zone_must_exist: bool,
}

impl<'a> Asked<'a> {
    /// What an order asks for.
    pub fn of(order: &'a Order, checked: &'a CheckedRequest) -> Self {
        Self {
            request: &order.request,
            image: checked.image(),
            groups: &order.groups,
            same_subtree: &order.same_subtree,
            networks: &order.networks,
            root: &order.root,
            zone_must_exist: order.zone_must_exist,
        }
    }
}

/// Translates a request.
///
/// # Errors
/// What the peer fails a request for: policies that contradict each other, a
/// zone that is none, aggregates that are no uuids.
pub(crate) fn translate(
    site: &dyn Site,
    asked: Asked<'_>,
    settings: &Settings,
) -> Result<Queries, SchedulerError> {
    let first = query(site, asked, settings, true)?;
    let (policy, pinned, warnings) = (first.policy, first.pinned, first.warnings);
    let mut queries = vec![first.query];
    if pinned && !settings.workarounds.disable_fallback_pcpu_query {
        // Older hosts offer their dedicated CPUs as shared ones.
        queries.push(query(site, asked, settings, false)?.query);
    }
    Ok(Queries { queries, policy, pinned, warnings })
}

impl Queries {
    /// Whether Placement would take them.
    ///
    /// # Errors
    /// A flavor with several groups that does not say how they stand to each
    /// other.
    pub fn check(&self) -> Result<(), SchedulerError> {
        let suffixed = |query: &CandidateQuery| {
            query.groups.iter().filter(|group| group.is_granular()).count() >= 2
        };
        if self.policy.is_none() && self.queries.iter().any(suffixed) {
            return Err(SchedulerError::Request(
                "the flavor asks for several groups of resources: expected an extra spec \
                 group_policy with the value none or isolate"
                    .to_owned(),
            ));
        }
        Ok(())
    }
}

/// One query, and what was learnt on the way.
struct Translated {
    query: CandidateQuery,
    policy: Option<GroupPolicy>,
    pinned: bool,
    warnings: Vec<String>,
}

fn query(
    site: &dyn Site,
    asked: Asked<'_>,
    settings: &Settings,
    pinning: bool,
) -> Result<Translated, SchedulerError> {
    let Asked { request, image, .. } = asked;
    let flavor = &request.flavor;
    let wishes = Wishes { flavor, image };
    let (mut groups, mut warnings) = (Groups::default(), Vec::new());
    let mut policy = extra_specs::read(&flavor.extra_specs, &mut groups, &mut warnings);
    let of_flavor = groups.suffixed();
    if let Some(image) = &request.image {
        image.required_traits().for_each(|name| groups.require("", name));
    }
    let required: Vec<String> = groups.required().cloned().collect();
    let pinned = pinning && cpus::read(flavor, image, &mut groups)?;
    for group in asked.groups {
        let suffix = group.requester_id.as_str();
        group.resources.iter().for_each(|(class, amount)| groups.set(suffix, class, *amount));
        group.required_traits.iter().for_each(|name| groups.require(suffix, name));
        group.forbidden_traits.iter().for_each(|name| groups.forbid(suffix, name));
        let place = Place {
            member_of: group.aggregates.clone(),
            forbidden_aggregates: group.forbidden_aggregates.clone(),
            in_tree: group.in_tree,
        };
        groups.put(suffix, place);
    }
    let devices = request.pci_requests.as_deref().unwrap_or_default();
    let devices = if settings.filter_scheduler.pci_in_placement { devices } else { &[] };
    let pci = pci::read(devices, &mut groups);
    flavor_amounts(request, &mut groups);
    features::read(wishes, &mut groups)?;
    let mut root = asked.root.clone();
    Prefilter {
        site,
        request,
        wishes,
        required: &required,
        networks: asked.networks,
        pci: &pci,
        zone_must_exist: asked.zone_must_exist,
        settings,
        groups: &mut groups,
        root: &mut root,
        warnings: &mut warnings,
    }
    .run()?;
    if let Some(destination) = &request.requested_destination {
        destination_aggregates(destination, &mut groups)?;
    }
    let count = groups.suffixed();
    if count > MAX_GROUPS {
        return Err(SchedulerError::Request(format!(
            "flavor, requested_resources and pci_requests make {count} groups of resources: \
             expected at most {MAX_GROUPS} in all"
        )));
    }
    if policy.is_none() && groups.suffixed() >= 2 && of_flavor < 2 {
        policy = Some(GroupPolicy::None);
    }
    let unlimited = UNLIMITED.iter().any(|name| request.scheduler_hints.contains_key(*name));
    let limit = settings.scheduler.max_placement_results.filter(|_| !unlimited);
    let query = CandidateQuery {
        group_policy: policy.unwrap_or_default(),
        same_subtree: asked.same_subtree.to_vec(),
        root_required: root.required,
        root_forbidden: root.forbidden,
        limit: limit.map(|limit| limit as usize),
        strategy: Strategy::BreadthFirst,
        ..CandidateQuery::new(groups.finish())
    };
    Ok(Translated { query, policy, pinned, warnings })
}

/// The flavor's own amounts, for classes that nothing else has named.
fn flavor_amounts(request: &ScheduleRequest, groups: &mut Groups) {
    let flavor = &request.flavor;
    if !groups.names("VCPU") && !groups.names("PCPU") {
        groups.set("", "VCPU", flavor.vcpus);
    }
    let swap_gb = flavor.swap.div_euclid(MB_PER_GB) + i64::from(flavor.swap % MB_PER_GB > 0);
    let root_gb = if request.is_bfv { 0 } else { flavor.root_gb };
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
