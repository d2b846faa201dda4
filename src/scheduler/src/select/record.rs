//! What a decision about servers records.
//!
//! Only what stands here is kept of a request: conductors send addresses and
//! tokens along that must not be seen again.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};
use stowplan_engine::CheckedRequest;
use stowplan_ledger::rows::DecisionRow;
use stowplan_model::flavor::Flavor;
use stowplan_model::{Micros, Uuid};
use stowplan_placement::candidates::{CandidateQuery, GroupPolicy};

use super::check::Order;
use super::decide::{Decided, Refused, Trace};
use super::hint::HintRecord;
use super::reasons::{LossRecord, Reasons};
use super::request::GroupRef;
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
/// Servers that a header names.
const NAMED: usize = 20;

/// What is kept of a request.
#[derive(Clone, Debug, Serialize)]
pub(super) struct RequestRecord {
    flavor: Flavor,
    image: Option<String>,
    image_properties: BTreeMap<&'static str, String>,
    count: usize,
    project_id: Option<String>,
    user_id: Option<String>,
    availability_zone: Option<String>,
    is_bfv: bool,
    scheduler_hints: BTreeMap<String, Vec<String>>,
    hint: Option<HintRecord>,
    group: Option<GroupRef>,
    ignore_hosts: Option<Vec<String>>,
    force_hosts: Option<Vec<String>>,
    force_nodes: Option<Vec<String>>,
    requested_destination: Option<stowplan_model::request::Destination>,
    alternates: usize,
    dry_run: bool,
    as_if_released: Vec<Uuid>,
}

impl RequestRecord {
    pub fn of(order: &Order) -> Self {
        let request = &order.request;
        let hints = request.scheduler_hints.iter();
        let checked = CheckedRequest::check(request.clone()).ok();
        let props = checked.as_ref().and_then(CheckedRequest::image);
        Self {
            flavor: request.flavor.clone(),
            image: request.image.as_ref().and_then(|image| image.id.clone()),
            image_properties: props
                .into_iter()
                .flat_map(|props| props.iter())
                .map(|(name, value)| (name, value.to_string()))
                .collect(),
            count: order.instances.len(),
            project_id: request.project_id.clone(),
            user_id: request.user_id.clone(),
            availability_zone: request.availability_zone.clone(),
            is_bfv: request.is_bfv,
            scheduler_hints: hints
                .filter(|(name, _)| HINTS.contains(&name.as_str()))
                .map(|(name, values)| (name.clone(), values.clone()))
                .collect(),
            hint: order.hint.hint.as_ref().map(HintRecord::from),
            group: order.group.clone(),
            ignore_hosts: request.ignore_hosts.clone(),
            force_hosts: request.force_hosts.clone(),
            force_nodes: request.force_nodes.clone(),
            requested_destination: request.requested_destination.clone(),
            alternates: order.alternates,
            dry_run: order.dry_run,
            as_if_released: order.as_if_released.clone(),
        }
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
            ("no_valid_host", refused.image.seq(), said)
        }
    };
    let mut header = said;
    header["count"] = json!(order.instances.len());
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
) -> Body<RequestRecord, Value, LossRecord> {
    let queries = trace.queries;
    Body {
        version: 1,
        request: RequestRecord::of(order),
        query: query(queries.as_ref().map_or(&[], |q| &q.queries)),
        candidates: trace.hosts,
        attempts: u32::try_from(conflicts.len() + 1).unwrap_or(u32::MAX),
        conflicts,
        reasons: reasons.sentences,
        losses: reasons.losses,
        warnings: queries
            .map(|q| q.warnings)
            .unwrap_or_default()
            .into_iter()
            .chain(order.hint.warning.clone())
            .collect(),
        servers: trace
            .servers
            .into_iter()
            .map(|server| InstanceRecord {
                instance_uuid: server.instance,
                host: server.chosen.as_ref().map(|(host, _)| host.clone()),
                node: server.chosen.map(|(_, node)| node),
                exhausted: server.exhausted,
                explanation: server.explanation,
            })
            .collect(),
        more_servers: 0,
    }
}
