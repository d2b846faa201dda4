//! What a decision about servers records.
//!
//! Only what stands here is kept of a request: conductors send addresses and
//! tokens along that must not be seen again.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use stowplan_ledger::rows::DecisionRow;
use stowplan_model::{Micros, Uuid};
use stowplan_placement::candidates::{CandidateQuery, GroupPolicy};

use super::check::Order;
use super::decide::{Decided, Refused, ServerTrace, Trace};
use super::hint::SchedulingHint;
use super::reasons::{LossRecord, Reasons};
use super::request::{Hints, SelectRequest};
use super::unlock::Unlock;
use crate::decisions::{Body, InstanceRecord};

/// Hints that are kept: those that filters read.
const HINTS: [&str; 7] = [
    "_nova_check_type",
    "build_near_host_ip",
    "cidr",
    "different_host",
    "group",
    "query",
    "same_host",
];
/// Version of the form of bodies: from 2 on `request` is the body of a request.
pub(crate) const VERSION: u32 = 2;
/// Servers that a header names.
const NAMED: usize = 20;

/// What is kept of a request, in the form in which it can be made again. It
/// names the servers and the seed, whoever chose them.
fn request(order: &Order) -> SelectRequest {
    let request = order.request.clone();
    let hints = request.scheduler_hints.into_iter();
    SelectRequest {
        flavor: Some(request.flavor),
        image: request.image.map(|image| image.known()),
        count: None,
        instance_uuids: Some(order.instances.clone()),
        project_id: request.project_id,
        user_id: request.user_id,
        availability_zone: request.availability_zone,
        is_bfv: request.is_bfv,
        scheduler_hints: Hints(hints.filter(|(name, _)| HINTS.contains(&name.as_str())).collect()),
        hint: order.hint.hint.as_ref().map(SchedulingHint::names_of),
        annotations: BTreeMap::new(),
        group: order.group.clone(),
        ignore_hosts: request.ignore_hosts.unwrap_or_default(),
        force_hosts: request.force_hosts.unwrap_or_default(),
        force_nodes: request.force_nodes.unwrap_or_default(),
        requested_destination: request.requested_destination,
        requested_resources: order.groups.clone(),
        pci_requests: request.pci_requests.unwrap_or_default(),
        numa_topology: request.numa_topology,
        requested_networks: order.networks.clone(),
        network_metadata: request.network_metadata,
        same_subtree: order.same_subtree.clone(),
        root_required: order.root.required.clone(),
        root_forbidden: order.root.forbidden.clone(),
        alternates: i64::try_from(order.alternates).unwrap_or(i64::MAX),
        dry_run: order.dry_run,
        as_if_released: order.as_if_released.clone(),
        seed: Some(order.seed),
    }
}

/// What was asked of the ledger, in the words of its query parameters.
pub(super) fn query(queries: &[CandidateQuery]) -> Value {
    queries.iter().map(one_query).collect()
}

fn one_query(query: &CandidateQuery) -> Value {
    let groups = query.groups.iter().map(|group| {
        let mut said = Map::new();
        let mut say = |name: &str, value: Value, empty: bool| {
            if !empty {
                said.insert(name.to_owned(), value);
            }
        };
        say("suffix", json!(group.suffix), group.suffix.is_empty());
        let resources: BTreeMap<_, _> = group.resources.iter().cloned().collect();
        say("resources", json!(resources), resources.is_empty());
        say("required", json!(group.required), group.required.is_empty());
        say("forbidden", json!(group.forbidden), group.forbidden.is_empty());
        say("member_of", json!(group.member_of), group.member_of.is_empty());
        let forbidden = &group.forbidden_aggregates;
        say("forbidden_aggregates", json!(forbidden), forbidden.is_empty());
        say("in_tree", json!(group.in_tree), group.in_tree.is_none());
        Value::Object(said)
    });
    json!({
        "groups": groups.collect::<Vec<_>>(),
        "group_policy": match query.group_policy {
            GroupPolicy::None => "none",
            GroupPolicy::Isolate => "isolate",
        },
        "same_subtree": query.same_subtree,
        "root_required": query.root_required,
        "root_forbidden": query.root_forbidden,
        "limit": query.limit,
    })
}

/// What came of a request, for its header.
pub(super) enum Outcome<'a> {
    /// Hosts for all servers.
    Found(&'a Decided),
    /// No valid host.
    Refused(&'a Refused, &'a Reasons),
}

/// The header of a decision.
pub(super) fn header(
    id: Uuid,
    request_id: &str,
    order: &Order,
    outcome: &Outcome<'_>,
    now: Micros,
) -> DecisionRow {
    let (word, seq, said) = match outcome {
        Outcome::Found(decided) => {
            let hosts = decided.placed.iter().take(NAMED).map(|placed| {
                json!({
                    "instance_uuid": placed.claim.consumer,
                    "host": placed.destination.host,
                    "node": placed.destination.node,
                })
            });
            let word = if order.dry_run { "dry_run" } else { "placed" };
            (word, decided.seq, json!({ "hosts": hosts.collect::<Vec<_>>() }))
        }
        Outcome::Refused(refused, reasons) => {
            let said = json!({ "reasons": reasons.shown(), "dry_run": order.dry_run });
            ("no_valid_host", refused.seq, said)
        }
    };
    let mut header = said;
    header["count"] = json!(order.instances.len());
    // What a claim changes comes later, others' changes between.
    header["decided_on"] = json!(seq);
    if let Outcome::Found(_) = outcome
        && let Some(more) = order.instances.get(NAMED..).filter(|more| !more.is_empty())
    {
        header["more_servers"] = json!(more);
    }
    DecisionRow {
        id,
        request_id: request_id.to_owned(),
        seq,
        seed: order.seed,
        kind: "servers".to_owned(),
        outcome: word.to_owned(),
        header,
        created: now,
    }
}

/// The body of a decision.
pub(super) fn body(
    order: &Order,
    trace: Trace,
    reasons: Reasons,
    conflicts: Vec<String>,
) -> Body<SelectRequest, Value, LossRecord, Unlock> {
    let queries = trace.queries;
    Body {
        version: VERSION,
        request: Some(request(order)),
        query: Some(query(queries.as_ref().map_or(&[], |q| &q.queries))),
        candidates: trace.hosts,
        attempts: u32::try_from(conflicts.len() + 1).unwrap_or(u32::MAX),
        conflicts,
        reasons: reasons.sentences,
        unlocks: reasons.unlocks,
        losses: reasons.losses,
        warnings: queries
            .map(|q| q.warnings)
            .unwrap_or_default()
            .into_iter()
            .chain(order.hint.warning.clone())
            .collect(),
        servers: trace.servers.into_iter().map(InstanceRecord::from).collect(),
        more_servers: 0,
    }
}

impl From<ServerTrace> for InstanceRecord {
    fn from(server: ServerTrace) -> Self {
        Self {
            instance_uuid: server.instance,
            host: server.chosen.as_ref().map(|(host, _)| host.clone()),
            node: server.chosen.map(|(_, node)| node),
            exhausted: server.exhausted,
            more_exhausted: server.more_exhausted,
            explanation: server.explanation,
        }
    }
}
