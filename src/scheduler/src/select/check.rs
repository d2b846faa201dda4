//! Whether a request can be meant, and the form in which it is decided.

use std::collections::BTreeSet;

use stowplan_model::Uuid;
use stowplan_model::flavor::Flavor;
use stowplan_model::request::{InstanceGroup, ScheduleRequest};

use super::bounds::check_lists;
use super::hint::Hinted;
use super::networks::RequestedNetwork;
use super::query::RootTraits;
use super::request::{GroupRef, RequestedGroup, SelectRequest};
use crate::error::SchedulerError;
use crate::fields::{FieldErrors, MAX_TEXT};
use crate::groups::Policy;
use crate::hosts::check_class;

/// Servers of one request at most.
pub const MAX_INSTANCES: usize = 1000;
/// Alternates of one server at most.
pub const MAX_ALTERNATES: i64 = 100;
/// The largest amount of a flavor.
const MAX_AMOUNT: i64 = 2_147_483_647;
/// PCI devices of one request at most.
const MAX_DEVICES: i64 = 256;
/// The longest suffix of a request group.
const MAX_SUFFIX: usize = 64;

/// A request, checked.
#[derive(Clone, Debug)]
pub struct Order {
    /// The request as filters see it, without its group; its instance is the
    /// first.
    pub request: ScheduleRequest,
    /// The servers.
    pub instances: Vec<Uuid>,
    /// The hosts that they must or would rather have.
    pub(super) hint: Hinted,
    /// The group, as the request names it.
    pub group: Option<GroupRef>,
    /// Request groups that do not come from the flavor.
    pub groups: Vec<RequestedGroup>,
    /// Sets of suffixes whose providers must stand under one of them.
    pub same_subtree: Vec<Vec<String>>,
    /// Networks and ports that the servers attach to.
    pub networks: Vec<RequestedNetwork>,
    /// Traits asked of the root provider of a host.
    pub(super) root: RootTraits,
    /// Alternates of each server.
    pub alternates: usize,
    /// Whether a zone that no host aggregate has fails the request.
    pub zone_must_exist: bool,
    /// Claims nothing.
    pub dry_run: bool,
    /// Consumers that count as gone; of a dry run.
    pub as_if_released: Vec<Uuid>,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Order {
    /// Checks a request. `caller` are the project and user that a request
    /// without its own belongs to, `seed` is taken where it has none.
    ///
    /// # Errors
    /// Every field that cannot be.
    pub fn check(
        asked: SelectRequest,
        caller: (&str, &str),
        seed: u64,
    ) -> Result<Self, SchedulerError> {
        let mut errors = FieldErrors::default();
        let instances = instances(&mut errors, &asked);
        match &asked.flavor {
            Some(flavor) => check_flavor(&mut errors, flavor),
            None => errors.add("flavor", &asked.flavor, "what each server needs"),
        }
        check_lists(&mut errors, &asked);
        let mut ids = BTreeSet::new();
        for (place, group) in asked.requested_resources.iter().enumerate() {
            let is_new = ids.insert(group.requester_id.as_str());
            let is_joined = asked.same_subtree.iter().flatten().any(|it| *it == group.requester_id);
            check_group(&mut errors, place, group, is_new, is_joined);
        }
        check_places(&mut errors, &asked);
        errors.require(
            asked.as_if_released.is_empty() || asked.dry_run,
            "as_if_released",
            &asked.as_if_released,
            "nothing, unless dry_run is true",
        );
        errors.require(
            (0..=MAX_ALTERNATES).contains(&asked.alternates),
            "alternates",
            &asked.alternates,
            format!("a whole number from 0 to {MAX_ALTERNATES}"),
        );
        if let Some(GroupRef::Inline(group)) = &asked.group {
            check_policies(&mut errors, group);
            let limit = group.rules.and_then(|rules| rules.max_server_per_host);
            errors.require(
                limit.is_none_or(|limit| limit >= 1),
                "group.rules.max_server_per_host",
                &limit,
                "a whole number of at least 1",
            );
        }
        let hint = Hinted::check(&mut errors, "", asked.hint.as_ref(), &asked.annotations);
        let project = asked.project_id.as_deref().unwrap_or(caller.0).to_owned();
        let user = asked.user_id.as_deref().unwrap_or(caller.1).to_owned();
        errors.require_text("project_id", &project, MAX_TEXT);
        errors.require_text("user_id", &user, MAX_TEXT);
        errors.into_result(())?;
        let listed = |names: Vec<String>| Some(names).filter(|names| !names.is_empty());
        let request = ScheduleRequest {
            instance_uuid: instances.first().copied().unwrap_or_default(),
            project_id: Some(project),
            user_id: Some(user),
            availability_zone: asked.availability_zone,
            is_bfv: asked.is_bfv,
            flavor: asked.flavor.unwrap_or_default(),
            image: Some(asked.image.unwrap_or_default()),
            scheduler_hints: asked.scheduler_hints.0,
            ignore_hosts: listed(asked.ignore_hosts),
            force_hosts: listed(asked.force_hosts),
            force_nodes: listed(asked.force_nodes),
            requested_destination: asked.requested_destination,
            pci_requests: Some(asked.pci_requests).filter(|list| !list.is_empty()),
            numa_topology: asked.numa_topology,
            network_metadata: asked.network_metadata,
            ..ScheduleRequest::default()
        };
        Ok(Self {
            // A rebuild stays where it is: its host is only checked.
            dry_run: asked.dry_run || request.is_rebuild(),
            zone_must_exist: true,
            as_if_released: asked.as_if_released,
            request,
            instances,
            hint,
            group: asked.group,
            groups: asked.requested_resources,
            same_subtree: asked.same_subtree,
            networks: asked.requested_networks,
            root: RootTraits { required: asked.root_required, forbidden: asked.root_forbidden },
            alternates: usize::try_from(asked.alternates).unwrap_or_default(),
            seed: asked.seed.unwrap_or(seed),
        })
    }
}

impl Order {
    /// Whether filters look at the candidates of hosts: the request is for PCI
    /// devices or NUMA cells.
    pub(super) fn wants_places(&self) -> bool {
        let devices = self.request.pci_requests.as_ref().is_some_and(|list| !list.is_empty());
        devices || self.request.numa_topology.as_ref().is_some_and(|it| !it.cells.is_empty())
    }
}

/// The servers: those named, or as many new ones as are asked for.
fn instances(errors: &mut FieldErrors, asked: &SelectRequest) -> Vec<Uuid> {
    let most = i64::try_from(MAX_INSTANCES).unwrap_or(i64::MAX);
    errors.require(
        asked.count.is_none_or(|count| (1..=most).contains(&count)),
        "count",
        &asked.count,
        format!("a whole number from 1 to {MAX_INSTANCES}"),
    );
    let Some(named) = &asked.instance_uuids else {
        let count = asked.count.unwrap_or(1).clamp(1, most);
        return (0..count).map(|_| Uuid::new_v4()).collect();
    };
    errors.require(
        (1..=MAX_INSTANCES).contains(&named.len()),
        "instance_uuids",
        &named.len(),
        format!("1 to {MAX_INSTANCES} uuids"),
    );
    errors.require(
        asked.count.is_none_or(|count| usize::try_from(count) == Ok(named.len())),
        "count",
        &asked.count,
        format!("nothing, or as many as there are instance_uuids ({})", named.len()),
    );
    let mut seen = BTreeSet::new();
    for (place, uuid) in named.iter().enumerate() {
        errors.require(
            !uuid.is_nil() && seen.insert(uuid),
            format!("instance_uuids[{place}]"),
            uuid,
            "a uuid that is not nil and stands only once",
        );
    }
    named.clone()
}

fn check_flavor(errors: &mut FieldErrors, flavor: &Flavor) {
    errors.require_text("flavor.name", &flavor.name, MAX_TEXT);
    // Nova keeps keys and values of 255 characters at most.
    for (key, value) in flavor.extra_specs.iter() {
        if key.len() > MAX_TEXT || value.len() > MAX_TEXT {
            errors.require_text("flavor.extra_specs", key, MAX_TEXT);
            errors.require_text(format!("flavor.extra_specs.{key}"), value, MAX_TEXT);
        }
    }
    let amounts = [
        ("flavor.vcpus", flavor.vcpus),
        ("flavor.memory_mb", flavor.memory_mb),
        ("flavor.root_gb", flavor.root_gb),
        ("flavor.ephemeral_gb", flavor.ephemeral_gb),
        ("flavor.swap", flavor.swap),
    ];
    for (field, amount) in amounts {
        errors.require(
            (0..=MAX_AMOUNT).contains(&amount),
            field,
            &amount,
            format!("a whole number from 0 to {MAX_AMOUNT}"),
        );
    }
}

/// A group whose place alone counts must be joined to others (`same_subtree`): that
/// is Placement's rule.
fn check_group(
    errors: &mut FieldErrors,
    place: usize,
    group: &RequestedGroup,
    is_new: bool,
    is_joined: bool,
) {
    let field = |name: &str| format!("requested_resources[{place}].{name}");
    let id = &group.requester_id;
    errors.require(
        is_suffix(id) && is_new,
        field("requester_id"),
        id,
        format!("1 to {MAX_SUFFIX} letters, digits, - or _, none of them another group's"),
    );
    errors.require(
        !group.resources.is_empty() || is_joined,
        field("resources"),
        &group.resources,
        "at least one resource class, unless same_subtree names the group",
    );
    for (class, amount) in &group.resources {
        check_class(errors, field(&format!("resources.{class}")), class);
        errors.require(
            (1..=MAX_AMOUNT).contains(amount),
            field(&format!("resources.{class}")),
            amount,
            format!("a whole number from 1 to {MAX_AMOUNT}"),
        );
    }
}

/// A group in full says what it does to its members.
fn check_policies(errors: &mut FieldErrors, group: &InstanceGroup) {
    let expected = Policy::ALL.map(Policy::as_str).join(" or ");
    let is_known = |name: &String| Policy::ALL.iter().any(|policy| policy.as_str() == name);
    let policies = group.policies.as_deref().unwrap_or_default();
    errors.require(
        group.policy.as_ref().map_or(!policies.is_empty(), is_known),
        "group.policy",
        &group.policy,
        expected.as_str(),
    );
    for (place, policy) in policies.iter().enumerate() {
        let field = format!("group.policies[{place}]");
        errors.require(is_known(policy), field, policy, expected.as_str());
    }
}

/// PCI devices and NUMA cells.
fn check_places(errors: &mut FieldErrors, asked: &SelectRequest) {
    let mut ids = BTreeSet::new();
    for (place, request) in asked.pci_requests.iter().enumerate() {
        let field = |name: &str| format!("pci_requests[{place}].{name}");
        let id = request.request_id.as_deref().unwrap_or_default();
        errors.require(
            is_suffix(id) && ids.insert(id),
            field("request_id"),
            &request.request_id,
            format!("1 to {MAX_SUFFIX} letters, digits, - or _, none of them another request's"),
        );
        errors.require(
            (1..=MAX_DEVICES).contains(&request.count),
            field("count"),
            &request.count,
            format!("a whole number from 1 to {MAX_DEVICES}"),
        );
        errors.require(
            !request.spec.is_empty(),
            field("spec"),
            &request.spec,
            "at least one object of what the devices must have",
        );
    }
    let devices: i64 =
        asked.pci_requests.iter().map(|request| request.count.max(0)).fold(0, i64::saturating_add);
    errors.require(
        devices <= MAX_DEVICES,
        "pci_requests",
        &devices,
        format!("at most {MAX_DEVICES} devices in all"),
    );
    let cells = asked.numa_topology.iter().flat_map(|topology| &topology.cells);
    for (place, cell) in cells.enumerate() {
        errors.require(
            (0..=MAX_AMOUNT).contains(&cell.memory),
            format!("numa_topology.cells[{place}].memory"),
            &cell.memory,
            format!("MiB, a whole number from 0 to {MAX_AMOUNT}"),
        );
    }
}

/// Whether a text can be the suffix of a request group.
pub(super) fn is_suffix(text: &str) -> bool {
    (1..=MAX_SUFFIX).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}
