//! Why this host and not that one: what a decision records.

use std::collections::BTreeSet;

use serde::Serialize;
use stowplan_config::WeightNormalization;

use crate::chain::{FilterRun, Judged, Outcome};
use crate::choose::Draw;
use crate::config::EngineConfig;
use crate::engine::{Ask, Evaluation};
use crate::filter::Verdict;
use crate::finding::Finding;
use crate::hint::HintTrace;
use crate::idle_keys::idle_keys;
use crate::offers::Offers;
use crate::overrides::Source;
use crate::reason::Reason;
use crate::score::Score;
use crate::table::HostIx;
use crate::view::HostView;
use crate::weigh::WeighPlan;

/// How much an explanation says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detail {
    /// Hosts per filter whose reasons are given; the rest are counted.
    pub losers: usize,
    /// Hosts whose weights are given, the best ones; the rest are counted.
    pub weights: usize,
}

impl Default for Detail {
    /// What a decision keeps.
    fn default() -> Self {
        Self { losers: 100, weights: 20 }
    }
}

impl Detail {
    /// Numbers alone.
    pub const NONE: Self = Self { losers: 0, weights: 0 };
    /// Everything.
    pub const ALL: Self = Self { losers: usize::MAX, weights: usize::MAX };
}

/// Why one server of a request went where it went, or nowhere.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// Hosts with a candidate, before anything was asked.
    pub hosts: usize,
    /// Hosts left by the request's own lists; null when it has none.
    pub preselection: Option<FilterTrace>,
    /// What became of the request's hint; null when it has none.
    pub hint: Option<HintTrace>,
    /// What each filter did, in their order.
    pub filters: Vec<FilterTrace>,
    /// Hosts left by all filters.
    pub survivors: usize,
    /// Weights of the survivors, the best first.
    pub weights: WeightTable,
    /// How the first was found; null before a choice.
    pub draw: Option<Draw>,
    /// What of settings and host aggregates is probably not meant as it is.
    pub findings: Vec<Noted>,
    /// Further ones.
    pub more_findings: usize,
}

/// Findings that are told; the rest are counted.
const FINDINGS: usize = 20;

/// A finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Noted {
    /// What it is, with names and values.
    pub finding: Finding,
    /// The finding as a sentence.
    pub text: String,
}

impl From<Finding> for Noted {
    fn from(finding: Finding) -> Self {
        Self { text: finding.to_string(), finding }
    }
}

/// What one filter did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FilterTrace {
    /// Its name.
    pub filter: &'static str,
    /// Whether it judged, and if not, why.
    pub outcome: TraceOutcome,
    /// Hosts before.
    pub before: usize,
    /// Hosts after.
    pub after: usize,
    /// Hosts that failed, with their reasons.
    pub losers: Vec<Loser>,
    /// Further hosts that failed.
    pub more_losers: usize,
}

/// Whether a filter judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceOutcome {
    /// It did.
    Judged,
    /// It had nothing to say of the request.
    NothingToSay,
    /// It judged the first server of the same request.
    JudgedBefore,
    /// The request is a rebuild.
    Rebuild,
    /// Hosts or nodes are forced.
    Forced,
    /// No host was left.
    NobodyLeft,
}

/// A host that failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Loser {
    /// Host.
    pub host: String,
    /// Node.
    pub node: String,
    /// Why, with the numbers.
    pub reason: Reason,
    /// The reason as a sentence.
    pub text: String,
}

/// Weights of hosts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WeightTable {
    /// How raw values became weights, as `weight_normalization` names it.
    pub normalization: &'static str,
    /// Hosts, the best first.
    pub hosts: Vec<WeightRow>,
    /// Further hosts.
    pub more_hosts: usize,
    /// Values of host aggregates that were passed over.
    pub warnings: Vec<String>,
}

/// The weight of one host.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WeightRow {
    /// Host.
    pub host: String,
    /// Node.
    pub node: String,
    /// Its weight: the sum of the products.
    pub weight: Score,
    /// One part per weigher, in the order of the sum; none when the host was
    /// the only one.
    pub parts: Vec<WeightPart>,
}

/// A weigher's part of a weight.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WeightPart {
    /// The weigher.
    pub weigher: &'static str,
    /// Its raw value, clamped.
    pub raw: Score,
    /// The raw value over the survivors, 0 to 1.
    pub normalized: Score,
    /// The multiplier of this host.
    pub multiplier: Score,
    /// Where the multiplier came from.
    pub source: Source,
    /// multiplier x normalised.
    pub product: Score,
}

/// Explains an evaluation, with the weights of the hosts at these places. Ask
/// before its hosts change.
pub(crate) fn explain(
    ask: &Ask<'_>,
    evaluation: &Evaluation,
    config: &EngineConfig,
    detail: Detail,
    best: Vec<usize>,
) -> Explanation {
    let (view, offers) = (ask.view, ask.offers);
    let filters = filters(
        view,
        offers,
        &evaluation.filters,
        evaluation.preselection.hosts.len(),
        detail.losers,
    );
    let (findings, more_findings) = findings(ask, evaluation, config);
    Explanation {
        hosts: ask.hosts.len(),
        preselection: preselection(ask, evaluation, detail.losers),
        hint: evaluation.hint.clone(),
        filters,
        survivors: evaluation.weighed.hosts.len(),
        weights: weights(view, evaluation, config.normalisation(), best),
        draw: None,
        findings,
        more_findings,
    }
}

/// The first findings, and how many there are besides. Each is told once,
/// however many filters, weighers and sets of host aggregates come upon it.
fn findings(ask: &Ask<'_>, evaluation: &Evaluation, config: &EngineConfig) -> (Vec<Noted>, usize) {
    let of_filters = evaluation.filters.steps.iter().flat_map(|step| match &step.outcome {
        Outcome::Judged(judged) => judged.predicate.findings(),
        _ => Vec::new(),
    });
    let of_weighers = evaluation.plan.iter().flat_map(|plan| plan.findings(&evaluation.weighed));
    let mut findings: Vec<Finding> = Vec::new();
    for finding in of_filters.chain(of_weighers) {
        if findings.len() < FINDINGS && !findings.contains(&finding) {
            findings.push(finding);
        }
    }
    findings.extend(idle_keys(ask.view, config, ask.request.request()));
    let more = findings.len().saturating_sub(FINDINGS);
    findings.truncate(FINDINGS);
    (findings.into_iter().map(Noted::from).collect(), more)
}

fn preselection(ask: &Ask<'_>, evaluation: &Evaluation, losers: usize) -> Option<FilterTrace> {
    let left = &evaluation.preselection;
    if left.removed.is_empty() {
        return None;
    }
    let named = left.removed.iter().take(losers);
    Some(FilterTrace {
        filter: "preselection",
        outcome: TraceOutcome::Judged,
        before: ask.hosts.len(),
        after: ask.hosts.len() - left.removed.len(),
        losers: named.map(|(host, reason)| loser(ask.view, *host, reason.clone())).collect(),
        more_losers: left.removed.len().saturating_sub(losers),
    })
}

fn filters(
    view: &dyn HostView,
    offers: &Offers,
    run: &FilterRun,
    hosts: usize,
    losers: usize,
) -> Vec<FilterTrace> {
    let mut count = hosts;
    run.steps
        .iter()
        .map(|step| {
            let outcome = match &step.outcome {
                Outcome::Judged(judged) => {
                    count = judged.after;
                    return FilterTrace {
                        filter: step.filter,
                        outcome: TraceOutcome::Judged,
                        before: judged.before,
                        after: judged.after,
                        losers: named_losers(view, offers, run, judged, losers),
                        more_losers: (judged.before - judged.after).saturating_sub(losers),
                    };
                }
                Outcome::NothingToSay => TraceOutcome::NothingToSay,
                Outcome::JudgedBefore => TraceOutcome::JudgedBefore,
                Outcome::Rebuild => TraceOutcome::Rebuild,
                Outcome::Forced => TraceOutcome::Forced,
                Outcome::NobodyLeft => TraceOutcome::NobodyLeft,
            };
            FilterTrace {
                filter: step.filter,
                outcome,
                before: count,
                after: count,
                losers: Vec::new(),
                more_losers: 0,
            }
        })
        .collect()
}

/// The first hosts that a filter eliminated, judged again for their reasons.
fn named_losers(
    view: &dyn HostView,
    offers: &Offers,
    run: &FilterRun,
    judged: &Judged,
    losers: usize,
) -> Vec<Loser> {
    judged
        .eliminated
        .iter()
        .take(losers)
        .filter_map(|host| {
            let verdict = judged.predicate.judge(view, host, offers, &run.left);
            match verdict {
                Ok(Verdict::Fail(reason)) => Some(loser(view, host, reason)),
                _ => None,
            }
        })
        .collect()
}

/// The first host that filters eliminated, with the filter.
pub(crate) fn first_loser(ask: &Ask<'_>, run: &FilterRun) -> Option<(&'static str, Loser)> {
    run.steps.iter().find_map(|step| match &step.outcome {
        Outcome::Judged(judged) => {
            let losers = named_losers(ask.view, ask.offers, run, judged, 1);
            losers.into_iter().next().map(|loser| (step.filter, loser))
        }
        _ => None,
    })
}

/// A host with the reason why it fell.
pub(crate) fn loser(view: &dyn HostView, host: HostIx, reason: Reason) -> Loser {
    let facts = view.facts(host);
    Loser { host: facts.host.clone(), node: facts.node.clone(), text: reason.to_string(), reason }
}

fn weights(
    view: &dyn HostView,
    evaluation: &Evaluation,
    normalization: WeightNormalization,
    places: Vec<usize>,
) -> WeightTable {
    WeightTable {
        normalization: normalization.as_str(),
        more_hosts: evaluation.weighed.hosts.len() - places.len(),
        hosts: places.into_iter().map(|place| weight_row(view, evaluation, place)).collect(),
        warnings: evaluation.plan.as_ref().map_or_else(Vec::new, warnings),
    }
}

/// Each warning once: many sets of host aggregates have the same one in them.
fn warnings(plan: &WeighPlan) -> Vec<String> {
    let mut seen = BTreeSet::new();
    plan.warnings().filter(|warning| seen.insert(warning.clone())).collect()
}

fn weight_row(view: &dyn HostView, evaluation: &Evaluation, place: usize) -> WeightRow {
    let weighed = &evaluation.weighed;
    let facts = view.facts(weighed.hosts[place]);
    let shares = match &evaluation.plan {
        Some(plan) if weighed.has_shares() => plan.shares(view, weighed, place),
        _ => Vec::new(),
    };
    WeightRow {
        host: facts.host.clone(),
        node: facts.node.clone(),
        weight: Score(weighed.weights[place]),
        parts: shares
            .into_iter()
            .map(|share| WeightPart {
                weigher: share.weigher,
                raw: Score(share.raw),
                normalized: Score(share.normalised),
                multiplier: Score(share.multiplier),
                source: share.source,
                product: Score(share.product),
            })
            .collect(),
    }
}
