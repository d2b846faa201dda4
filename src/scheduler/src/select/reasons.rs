//! Why there is no valid host, in sentences.

use serde::Serialize;
use stowplan_engine::explain::{FilterTrace, TraceOutcome};
use stowplan_ledger::Image;
use stowplan_model::Uuid;
use stowplan_model::request::ScheduleRequest;
use stowplan_placement::candidates::{CandidateQuery, Requirement, RequirementLoss, explain};

use super::decide::{Means, Refused, ServerTrace, Stage};
use super::hint;
use super::unlock::{Unlock, enough, unlocks};

/// Reasons that an answer carries.
const SHOWN: usize = 3;

/// Why there is no valid host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reasons {
    /// Sentences, the most telling first.
    pub sentences: Vec<String>,
    /// Single changes, each of which would have given the first server without a
    /// host one.
    pub unlocks: Vec<Unlock>,
    /// What each requirement of the query left, where nothing met it.
    pub losses: Vec<LossRecord>,
}

/// What one requirement of a query left, as it is recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct LossRecord {
    /// The requirement, in words.
    requirement: String,
    /// Root providers before it.
    before: usize,
    /// Root providers after it.
    after: usize,
    /// For an amount: how near it came.
    nearest: Option<NearestRecord>,
}

/// How near an amount came to fitting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct NearestRecord {
    wanted: i64,
    largest_free: i64,
    provider: Uuid,
    provider_name: String,
}

impl LossRecord {
    fn of(image: &Image, loss: &RequirementLoss) -> Self {
        Self {
            requirement: loss.requirement.to_string(),
            before: loss.before,
            after: loss.after,
            nearest: loss.nearest.map(|nearest| NearestRecord {
                wanted: nearest.wanted,
                largest_free: nearest.largest_free,
                provider: nearest.provider,
                provider_name: provider_name(image, nearest.provider),
            }),
        }
    }
}

impl Reasons {
    /// The first few sentences.
    pub fn shown(&self) -> Vec<String> {
        self.sentences.iter().take(SHOWN).cloned().collect()
    }
}

/// Why a decision found no host, and what would have given it one. Looks at
/// every provider, more than once, so ask beside the ledger's writer.
pub(crate) fn why(refused: &Refused, means: Means<'_>) -> Reasons {
    let mut reasons = match refused.stage {
        Stage::NoSuchHost => no_such_host(&means.order.request),
        Stage::Candidates => {
            let queries = refused.trace.queries.as_ref();
            no_candidates(&refused.scene.image, queries.map_or(&[], |queries| &queries.queries))
        }
        Stage::Hosts => of_servers(&refused.trace.servers),
    };
    reasons.unlocks = unlocks(refused, means);
    let servers = means.order.instances.len();
    // The peer's words on hosts that do not exist are all there is to say.
    if refused.stage != Stage::NoSuchHost
        && let Some(sentence) = enough(&reasons.unlocks, refused, servers)
    {
        // After the first reason, so that it is among those that are shown.
        reasons.sentences.insert(reasons.sentences.len().min(1), sentence);
    }
    reasons
}

/// The request is bound to hosts that do not exist.
fn no_such_host(request: &ScheduleRequest) -> Reasons {
    let destination = request.requested_destination.as_ref();
    let host = destination.and_then(|d| d.host.clone());
    let node = destination.and_then(|d| d.node.clone());
    let first =
        |names: &Option<Vec<String>>| names.as_ref().and_then(|names| names.first().cloned());
    let host = host.or_else(|| first(&request.force_hosts)).unwrap_or_default();
    let node = node.or_else(|| first(&request.force_nodes)).unwrap_or_default();
    let sentence = format!("No such host - host: {host} node: {node} ");
    Reasons { sentences: vec![sentence], ..Reasons::default() }
}

/// No host has what the request asks the ledger for: the requirement that
/// left none first, then those that cost the most.
fn no_candidates(image: &Image, queries: &[CandidateQuery]) -> Reasons {
    let mut reasons = Reasons::default();
    for query in queries {
        let losses = match explain(image, query) {
            Ok(losses) => losses,
            Err(error) => {
                reasons.sentences.push(error.to_string());
                continue;
            }
        };
        let mut costly: Vec<&RequirementLoss> =
            losses.iter().filter(|loss| loss.after < loss.before).collect();
        costly.sort_by_key(|loss| (loss.after > 0, std::cmp::Reverse(loss.before - loss.after)));
        reasons.sentences.extend(costly.into_iter().map(|loss| missed(image, loss)));
        if losses.first().is_none_or(|loss| loss.before == 0) {
            reasons.sentences.push("there are no hosts".to_owned());
        }
        reasons.losses.extend(losses.iter().map(|loss| LossRecord::of(image, loss)));
    }
    reasons
}

/// What one requirement cost, in words.
fn missed(image: &Image, loss: &RequirementLoss) -> String {
    let of = format!("{} of {} providers of hosts", loss.before - loss.after, loss.before);
    let what = &loss.requirement;
    match (&loss.requirement, &loss.nearest) {
        (Requirement::Resource { class, .. }, Some(nearest)) if loss.after == 0 => format!(
            "{what}: none of {} has it, the most that can be taken is {} {class} at {}",
            loss.before,
            nearest.largest_free,
            provider_name(image, nearest.provider)
        ),
        (Requirement::Resource { class, .. }, None) if loss.after == 0 => {
            format!("{what}: none of {} has any {class}", loss.before)
        }
        _ => format!("{what}: {of} do not meet it"),
    }
}

fn provider_name(image: &Image, uuid: Uuid) -> String {
    let provider = image.providers.find(uuid).and_then(|at| image.providers.get(at));
    provider.map_or_else(|| uuid.to_string(), |provider| provider.name.to_string())
}

/// The last of these servers has no host.
fn of_servers(servers: &[ServerTrace]) -> Reasons {
    let mut sentences = Vec::new();
    let Some(last) = servers.last() else { return Reasons::default() };
    if servers.len() > 1 {
        sentences.push(format!(
            "there are hosts for {} of the servers, none for the next",
            servers.len() - 1
        ));
    }
    let explanation = &last.explanation;
    sentences.extend(hint::dropped(explanation).take(1));
    let steps = explanation.preselection.iter().chain(&explanation.filters);
    let mut steps: Vec<&FilterTrace> = steps
        .filter(|step| step.outcome == TraceOutcome::Judged && step.after < step.before)
        .collect();
    steps.sort_by_key(|step| std::cmp::Reverse(step.before - step.after));
    sentences.extend(steps.into_iter().map(eliminated));
    if !last.exhausted.is_empty() {
        sentences.push(format!(
            "nothing is left for it of {} hosts that passed, such as {}",
            last.exhausted.len() + last.more_exhausted,
            last.exhausted[0]
        ));
    }
    Reasons { sentences, ..Reasons::default() }
}

/// What a filter did, with one host as the example.
fn eliminated(step: &FilterTrace) -> String {
    let count = step.before - step.after;
    let example =
        step.losers.first().map(|loser| format!(", such as {}: {}", loser.host, loser.text));
    format!(
        "{} left out {count} of {} hosts{}",
        step.filter,
        step.before,
        example.unwrap_or_default()
    )
}
