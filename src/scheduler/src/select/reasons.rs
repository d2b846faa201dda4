//! Why there is no valid host, in sentences.

use stowplan_engine::explain::{FilterTrace, TraceOutcome};
use stowplan_ledger::Image;
use stowplan_model::request::ScheduleRequest;
use stowplan_placement::candidates::CandidateQuery;

use super::decide::ServerTrace;
use super::query::Queries;

/// Reasons that an answer carries.
const SHOWN: usize = 3;

/// Why there is no valid host.
#[derive(Clone, Debug, Default)]
pub(super) struct Reasons {
    /// Sentences, the most telling first.
    pub sentences: Vec<String>,
}

impl Reasons {
    /// The first few sentences.
    pub fn shown(&self) -> Vec<String> {
        self.sentences.iter().take(SHOWN).cloned().collect()
    }
}

/// The request is bound to hosts that do not exist.
pub(super) fn no_such_host(request: &ScheduleRequest) -> Reasons {
    let destination = request.requested_destination.as_ref();
    let host = destination.and_then(|d| d.host.clone());
    let node = destination.and_then(|d| d.node.clone());
    let first = |names: &Option<Vec<String>>| names.as_ref().and_then(|names| names.first().cloned());
    let host = host.or_else(|| first(&request.force_hosts)).unwrap_or_default();
    let node = node.or_else(|| first(&request.force_nodes)).unwrap_or_default();
    let sentence = format!("No such host - host: {host} node: {node} ");
    Reasons { sentences: vec![sentence] }
}

/// No host has what the request asks the ledger for.
pub(super) fn no_candidates(
    _image: &Image,
    queries: &Queries,
    _request: &ScheduleRequest,
) -> Reasons {
    let sentences = queries.queries.iter().map(|query| {
        format!("no host has room and traits for {}", wanted(query))
    });
    Reasons { sentences: sentences.collect() }
}

/// What a query asks for, in words.
fn wanted(query: &CandidateQuery) -> String {
    let parts = query.groups.iter().map(|group| {
        let amounts = group.resources.iter().map(|(class, amount)| format!("{class} {amount}"));
        let traits = group.required.iter().map(|any| any.join(" or "));
        let parts: Vec<String> = amounts.chain(traits).collect();
        let of = if group.suffix.is_empty() { String::new() } else { format!(" ({})", group.suffix) };
        format!("{}{of}", parts.join(", "))
    });
    parts.collect::<Vec<_>>().join("; ")
}

/// The last of these servers has no host.
pub(super) fn of_servers(servers: &[ServerTrace]) -> Reasons {
    let mut sentences = Vec::new();
    let Some(last) = servers.last() else { return Reasons::default() };
    if servers.len() > 1 {
        sentences.push(format!(
            "there are hosts for {} of the servers, none for the next",
            servers.len() - 1
        ));
    }
    let explanation = &last.explanation;
    let steps = explanation.preselection.iter().chain(&explanation.filters);
    let mut steps: Vec<&FilterTrace> = steps
        .filter(|step| step.outcome == TraceOutcome::Judged && step.after < step.before)
        .collect();
    steps.sort_by_key(|step| std::cmp::Reverse(step.before - step.after));
    sentences.extend(steps.into_iter().map(eliminated));
    if !last.exhausted.is_empty() {
        sentences.push(format!(
            "nothing is left for it of {} hosts that passed, such as {}",
            last.exhausted.len(),
            last.exhausted[0]
        ));
    }
    Reasons { sentences }
}

/// What a filter did, with one host as the example.
fn eliminated(step: &FilterTrace) -> String {
    let count = step.before - step.after;
    let example = step.losers.first().map(|loser| format!(", such as {}: {}", loser.host, loser.text));
    format!("{} left out {count} of {} hosts{}", step.filter, step.before, example.unwrap_or_default())
}
