//! Runs a scenario through the engine.

use std::collections::BTreeMap;

use serde::Serialize;
use stowplan_config::{OptionError, Settings};

use super::Scenario;
use super::state::{HostState, state};
use crate::engine::{Ask, Engine, Evaluation};
use crate::explain::{Detail, Explanation};
use crate::fault::StageFault;
use crate::hint::Guide;
use crate::offers::Offers;
use crate::registry::RegistryError;
use crate::request::CheckedRequest;
use crate::table::{HostIx, HostTable};

/// What came of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Outcome {
    /// Of the select form.
    Selection(Box<Selection>),
    /// Of the state form.
    HostState(HostState),
}

impl Outcome {
    /// What filters and weighers made of the hosts; `None` for a scenario of
    /// another form.
    #[must_use]
    pub fn into_selection(self) -> Option<Selection> {
        match self {
            Self::Selection(selection) => Some(*selection),
            Self::HostState(_) => None,
        }
    }
}

/// What filters and weighers made of the hosts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Selection {
    /// Hosts that passed, as `host/node`, in order.
    pub filtered: Vec<String>,
    /// The filter that eliminated each other host; `pre` means the request's
    /// own lists of hosts.
    pub eliminated_by: BTreeMap<String, String>,
    /// Candidates that still stand of each host that passed.
    pub candidates: BTreeMap<String, Vec<u32>>,
    /// Everything, with reasons and the table of weights.
    pub explanation: Explanation,
}

/// Why nothing came of a scenario.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// An option of the scenario cannot be set.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// A filter or weigher that is not there.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The request failed: no host is chosen.
    #[error(transparent)]
    Request(#[from] StageFault),
    /// The scenario has resource providers, and nobody computed candidates.
    #[error(
        "host {host} has no candidates: they are to be computed from the scenario's providers \
         before it is evaluated"
    )]
    NoCandidates {
        /// The first such host.
        host: String,
    },
}

/// What came of a scenario, or why nothing did.
pub type Result = std::result::Result<Outcome, Failure>;

/// The name that expectations give to the request's own lists of hosts.
const PRESELECTION: &str = "pre";

/// Runs a scenario on settings: those of `base`, then the scenario's own, then
/// `overrides` (`section.name` and value).
///
/// # Errors
/// The request fails, or the scenario names an option, filter or weigher that
/// does not exist.
pub fn evaluate(scenario: &Scenario, base: &Settings, overrides: &[(String, String)]) -> Result {
    let settings = scenario.settings(base, overrides)?;
    if let Some(record) = &scenario.compute_node {
        return Ok(Outcome::HostState(state(scenario, record, &settings)?));
    }
    let engine = Engine::new(&settings)?;
    let (table, hosts, offers) = hosts(scenario)?;
    let request = CheckedRequest::check(scenario.request()?)?;
    let ask = Ask {
        view: &table,
        request: &request,
        now: scenario.now,
        index: scenario.index,
        hosts: &hosts,
        offers: &offers,
    };
    let hint = scenario.hint()?;
    let evaluation = engine.evaluate_hinted(&ask, hint.as_ref().map(Guide::of))?;
    let explanation = engine.explain(&ask, &evaluation, Detail::ALL);
    let selection = selection(scenario, &offers, &evaluation, explanation);
    Ok(Outcome::Selection(Box::new(selection)))
}

/// The hosts of a scenario, in its order, with their candidates.
///
/// # Errors
/// A host whose candidates nobody has computed.
pub(super) fn hosts(
    scenario: &Scenario,
) -> std::result::Result<(HostTable, Vec<HostIx>, Offers), Failure> {
    let mut table = HostTable::new();
    let mut hosts = Vec::with_capacity(scenario.hosts.len());
    let mut offers = Offers::default();
    for (n, host) in scenario.hosts.iter().enumerate() {
        let ix = HostIx(n as u32);
        table.upsert(ix, host.row(scenario.now));
        table.set_aggregates(ix, host.aggregates());
        match &host.candidates {
            Some(candidates) => {
                offers.list(ix, candidates.iter().map(|c| c.mappings.clone()).collect());
            }
            None if scenario.providers.is_some() => {
                return Err(Failure::NoCandidates { host: host.name() });
            }
            None => {}
        }
        hosts.push(ix);
    }
    Ok((table, hosts, offers))
}

fn selection(
    scenario: &Scenario,
    offers: &Offers,
    evaluation: &Evaluation,
    explanation: Explanation,
) -> Selection {
    let name = |host: HostIx| scenario.hosts[host.index()].name();
    let before = evaluation.preselection.removed.iter();
    let mut eliminated_by: BTreeMap<String, String> =
        before.map(|(host, _)| (name(*host), PRESELECTION.to_owned())).collect();
    for (filter, eliminated) in evaluation.filters.eliminations() {
        eliminated_by.extend(eliminated.iter().map(|host| (name(host), filter.to_owned())));
    }
    let survivors = &evaluation.weighed.hosts;
    Selection {
        filtered: survivors.iter().map(|host| name(*host)).collect(),
        eliminated_by,
        candidates: survivors
            .iter()
            .map(|host| {
                let standing = offers.standing(&evaluation.filters.left, *host);
                (name(*host), standing.map(|(number, _)| number).collect())
            })
            .collect(),
        explanation,
    }
}
