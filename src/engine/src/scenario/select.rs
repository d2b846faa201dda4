//! The form of a scenario that asks for destinations: several servers of one
//! request, claims that hosts may refuse, alternates.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stowplan_config::Settings;
use stowplan_model::Uuid;

use super::Scenario;
use super::check::Difference;
use super::evaluate::{Failure, hosts};
use crate::engine::Engine;
use crate::explain::{Detail, Explanation};
use crate::fault::StageFault;
use crate::offers::{Kept, Mappings};
use crate::request::CheckedRequest;
use crate::sequence::{Sequence, Start, Supply};
use crate::table::{Figure, HostIx, HostTable};
use crate::view::HostView;

/// The version of Placement's API that claims are made at.
const VERSION: &str = "1.36";
/// The key of aggregates that make a zone.
const ZONE: &str = "availability_zone";
/// What the peer says when filters and claims leave too few hosts.
const NOT_ENOUGH: &str = "No valid host was found. There are not enough hosts available.";
/// Figures that a scenario shows afterwards.
const FIGURES: [(&str, Figure); 5] = [
    ("free_ram_mb", Figure::FreeRamMb),
    ("free_disk_mb", Figure::FreeDiskMb),
    ("vcpus_used", Figure::VcpusUsed),
    ("num_instances", Figure::NumInstances),
    ("num_io_ops", Figure::NumIoOps),
];

/// One scenario of this form.
#[derive(Clone, Debug)]
pub struct SelectScenario {
    /// What it has in common with the others.
    pub common: Scenario,
    asked: Asked,
    /// What is expected of it.
    pub expect: Option<ExpectedDestinations>,
}

/// What this form adds.
#[derive(Clone, Debug, Deserialize)]
struct Asked {
    /// The servers, in order.
    instance_uuids: Vec<Uuid>,
    /// Whether each gets alternates, one fewer than `[scheduler] max_attempts`.
    #[serde(default)]
    return_alternates: bool,
    /// Hosts that refuse every claim.
    #[serde(default)]
    claim_refused: Vec<String>,
    /// How many allocation candidates each host has; the first is claimed.
    #[serde(default = "one")]
    candidates_per_host: u32,
}

const fn one() -> u32 {
    1
}

/// What a scenario expects.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExpectedDestinations {
    selections: Option<Vec<Vec<Destination>>>,
    claims: Option<Vec<Claim>>,
    after: Option<BTreeMap<String, BTreeMap<String, i64>>>,
    group_hosts: Option<Vec<String>>,
    rolled_back: Option<Vec<Uuid>>,
    error: Option<PeerError>,
}

/// What came of one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Destinations {
    /// For each server its destination, then its alternates; empty when there
    /// was not a host for each.
    pub selections: Vec<Vec<Destination>>,
    /// Claims in their order.
    pub claims: Vec<Claim>,
    /// Servers whose claims were taken back, because others found no host.
    pub rolled_back: Vec<Uuid>,
    /// What the peer would say.
    pub error: Option<PeerError>,
    /// Figures of the hosts afterwards, by the host's name.
    pub after: BTreeMap<String, BTreeMap<&'static str, i64>>,
    /// Hosts of the server group afterwards, duplicates kept.
    pub group_hosts: Option<Vec<String>>,
    /// How each server was placed.
    pub explanations: Vec<Explanation>,
}

/// A host that a server may go to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Destination {
    /// The host.
    pub host: String,
    /// The node.
    pub node: String,
    /// Its cell.
    pub cell_uuid: Option<Uuid>,
    /// Its availability zone.
    pub availability_zone: String,
    /// Uuid of its compute node, which is no part of the form.
    #[serde(skip)]
    pub compute_node_uuid: Uuid,
    /// The number of the host's candidate, from 1.
    pub allocation_vcpu: u32,
    /// The version of Placement's API that the claim is made at.
    pub version: String,
}

/// The number of a server, the host, and whether the host took it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim(usize, String, bool);

/// An exception as the peer raises it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerError {
    #[serde(rename = "type")]
    exception: String,
    message: String,
}

impl std::fmt::Display for PeerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl SelectScenario {
    /// Whether a JSON value is a scenario of this form.
    #[must_use]
    pub fn is_one(item: &Value) -> bool {
        item.get("instance_uuids").is_some()
    }

    /// A scenario of its JSON value.
    ///
    /// # Errors
    /// A field that is missing or not of its type.
    pub fn read(mut item: Value) -> serde_json::Result<Self> {
        let expect = item.as_object_mut().and_then(|fields| fields.remove("expect"));
        let expect = expect.map(serde_json::from_value).transpose()?;
        let asked = Asked::deserialize(&item)?;
        Ok(Self { common: Scenario::read(item)?, asked, expect })
    }

    /// Places its servers, on settings: those of `base`, then the scenario's
    /// own, then `overrides` (`section.name` and value).
    ///
    /// # Errors
    /// The request fails, or the scenario names an option, filter or weigher
    /// that does not exist.
    pub fn evaluate(
        &self,
        base: &Settings,
        overrides: &[(String, String)],
    ) -> Result<Destinations, Failure> {
        let settings = self.common.settings(base, overrides)?;
        let engine = Engine::new(&settings)?;
        let (table, hosts, offers) = hosts(&self.common)?;
        let servers = &self.asked.instance_uuids;
        let most = usize::try_from(settings.scheduler.max_attempts).unwrap_or(usize::MAX);
        let alternates = if self.asked.return_alternates { most.saturating_sub(1) } else { 0 };
        let request = CheckedRequest::check(self.common.request()?)?;
        let hint = self.common.hint()?;
        let start = Start {
            table: &table,
            now: self.common.now,
            hosts: &hosts,
            offers: &offers,
            seed: self.common.seed,
            servers: servers.len(),
            alternates,
            hint: hint.as_ref(),
        };
        let mut sequence = Sequence::new(&engine, request, start);
        let mut supply = Refusing {
            asked: &self.asked,
            zone: &settings.default.default_availability_zone,
            claims: Vec::new(),
            index: 0,
        };
        let mut explanations = Vec::with_capacity(servers.len());
        let mut placed: Vec<(HostIx, Destination)> = Vec::with_capacity(servers.len());
        for (index, instance) in servers.iter().enumerate() {
            supply.index = index;
            let turn = sequence.place(index, *instance, Detail::ALL, &mut supply)?;
            explanations.push(turn.explanation);
            match turn.placed {
                Some(found) => placed.push(found),
                None => break,
            }
        }
        let group = sequence.request().request().instance_group.as_ref();
        let mut destinations = Destinations {
            selections: Vec::new(),
            claims: Vec::new(),
            rolled_back: Vec::new(),
            error: None,
            after: hosts.iter().map(|host| figures(sequence.table(), *host)).collect(),
            group_hosts: group.map(|group| group.hosts.clone()),
            explanations,
        };
        if placed.len() < servers.len() {
            destinations.rolled_back = servers[..placed.len()].to_vec();
            destinations.error = Some(PeerError {
                exception: "NoValidHost".to_owned(),
                message: NOT_ENOUGH.to_owned(),
            });
        } else {
            let chosen: Vec<HostIx> = placed.iter().map(|(host, _)| *host).collect();
            let others = sequence.alternates(&chosen, alternates, &mut supply)?;
            let rows = placed.into_iter().zip(others);
            destinations.selections = rows
                .map(|((_, first), others)| std::iter::once(first).chain(others).collect())
                .collect();
        }
        destinations.claims = supply.claims;
        Ok(destinations)
    }
}

fn figures(table: &HostTable, host: HostIx) -> (String, BTreeMap<&'static str, i64>) {
    let all = FIGURES.map(|(name, figure)| (name, table.figure(figure, host)));
    (table.facts(host).host.clone(), all.into())
}

/// Hosts that take or refuse claims by their names.
struct Refusing<'a> {
    asked: &'a Asked,
    zone: &'a str,
    claims: Vec<Claim>,
    /// The server in turn.
    index: usize,
}

impl Refusing<'_> {
    fn destination(&self, table: &HostTable, host: HostIx) -> Option<Destination> {
        let facts = table.facts(host);
        let aggregates = table.aggregates_of(host);
        let zone = aggregates.and_then(|set| set.values(ZONE).next());
        let zone = zone.map_or(self.zone, |(_, zone)| zone);
        (self.asked.candidates_per_host > 0).then(|| Destination {
            host: facts.host.clone(),
            node: facts.node.clone(),
            cell_uuid: facts.cell_uuid,
            compute_node_uuid: facts.uuid,
            availability_zone: zone.to_owned(),
            allocation_vcpu: 1,
            version: VERSION.to_owned(),
        })
    }
}

impl Supply for Refusing<'_> {
    type Claim = Destination;
    type Offer = Destination;
    type Error = StageFault;

    fn claim(
        &mut self,
        table: &HostTable,
        host: HostIx,
        _: Uuid,
        _: Option<&Kept>,
    ) -> Result<Option<Destination>, StageFault> {
        let Some(destination) = self.destination(table, host) else { return Ok(None) };
        let takes = !self.asked.claim_refused.contains(&destination.host);
        self.claims.push(Claim(self.index, destination.host.clone(), takes));
        Ok(takes.then_some(destination))
    }

    fn mappings(_: &Destination) -> Mappings {
        Mappings::new()
    }

    fn offer(
        &mut self,
        table: &HostTable,
        host: HostIx,
        _: Option<&Kept>,
    ) -> Result<Option<Destination>, StageFault> {
        Ok(self.destination(table, host))
    }
}

/// What came out differently than expected; nothing when the case passes.
#[must_use]
pub fn check_destinations(
    expected: &ExpectedDestinations,
    result: &Result<Destinations, Failure>,
) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut compare = |what: &str, expected: Value, got: Value| {
        if expected != got {
            differences.push(Difference { what: what.to_owned(), expected, got });
        }
    };
    match result {
        Err(failure) => compare("error", json!(expected.error), json!(failure.to_string())),
        Ok(got) => {
            compare("error", json!(expected.error), json!(got.error));
            for (what, expected, got) in [
                ("selections", json!(expected.selections), json!(got.selections)),
                ("claims", json!(expected.claims), json!(got.claims)),
                ("after", json!(expected.after), json!(got.after)),
                ("group_hosts", json!(expected.group_hosts), json!(got.group_hosts)),
                ("rolled_back", json!(expected.rolled_back), json!(got.rolled_back)),
            ] {
                // What a case does not name it does not ask for.
                if !expected.is_null() {
                    compare(what, expected, got);
                }
            }
        }
    }
    differences
}
