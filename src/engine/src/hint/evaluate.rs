//! Evaluates a request under a hint.

use super::trace::{Dropped, DroppedReason, HintOutcome, HintTrace, Tried};
use super::{Hint, order};
use crate::engine::{Ask, Engine, Evaluation};
use crate::explain::{first_loser, loser};
use crate::fault::StageFault;
use crate::preselect::{Preselection, named, preselect};
use crate::reason::Reason;
use crate::set::HostSet;
use crate::table::HostIx;
use crate::view::HostView;

/// A hint, and what else decides how far it counts.
#[derive(Clone, Copy)]
pub struct Guide<'a> {
    /// The hint.
    pub hint: &'a Hint,
    /// The host that a plan for the whole job gives this one; what the hint
    /// prefers does not count then.
    pub planned: Option<HostIx>,
    /// The other hosts are wanted too, behind the preferred one: for further
    /// servers of the request, or as alternates. Without, no other host is
    /// filtered or weighed once a preferred one passed.
    pub others: bool,
    /// Whether a host still has what the servers before this one left, where
    /// that is not in [`Ask::hosts`]; without, all have.
    pub has_room: Option<&'a (dyn Fn(HostIx) -> bool + 'a)>,
}

impl<'a> Guide<'a> {
    /// Of a hint alone.
    #[must_use]
    pub const fn of(hint: &'a Hint) -> Self {
        Self { hint, planned: None, others: false, has_room: None }
    }
}

/// The step at which hosts fall of which the servers before left nothing.
const CANDIDATES: &str = "candidates";

/// A preferred host that passed, and what became of the hint.
struct Tries {
    passed: Option<(HostIx, Evaluation)>,
    outcome: HintOutcome,
    failed: Vec<Tried>,
}

impl Engine {
    /// Filters and weighs hosts for one server, under a hint if it has one.
    ///
    /// The request's own lists of hosts and the hint's `nodeNames` narrow the
    /// candidates. Each preferred host among them is then evaluated alone, and
    /// the first that passes all filters is the only one left (or the first of
    /// all, where [`Guide::others`] are wanted). If none passes, all candidates
    /// are evaluated as without a hint.
    ///
    /// # Errors
    /// A filter or weigher that cannot judge: the request fails as a whole.
    pub fn evaluate_hinted(
        &self,
        ask: &Ask<'_>,
        guide: Option<Guide<'_>>,
    ) -> Result<Evaluation, StageFault> {
        let mut left = preselect(ask.request, ask.view, ask.hosts);
        let Some(guide) = guide else { return self.evaluate_left(ask, left) };
        let required = require(&mut left, ask.view, guide.hint);
        if let Some(planned) = guide.planned {
            keep(&mut left, &HostSet::from_iter([planned]), &Reason::NotPlanned);
        }
        let mut dropped = strangers(ask.view, guide.hint);
        let Tries { passed, outcome, failed } = match guide.planned {
            Some(_) => Tries { passed: None, outcome: HintOutcome::Planned, failed: Vec::new() },
            None => self.try_preferred(ask, &left, guide, &mut dropped)?,
        };
        let trace = HintTrace::new(outcome, required, failed, dropped);
        let Some((host, alone)) = passed else {
            let mut evaluation = self.evaluate_left(ask, left)?;
            evaluation.hint = Some(trace);
            return Ok(evaluation);
        };
        let mut evaluation = if guide.others {
            self.evaluate_left(ask, left)?
        } else {
            let removed = left.removed;
            Evaluation { preselection: Preselection { removed, ..alone.preselection }, ..alone }
        };
        let facts = ask.view.facts(host);
        evaluation.hint = Some(trace.leads_to(&facts.host, &facts.node));
        evaluation.first = Some(host);
        Ok(evaluation)
    }

    /// Evaluates one preferred host after the other until one passes.
    fn try_preferred(
        &self,
        ask: &Ask<'_>,
        left: &Preselection,
        guide: Guide<'_>,
        dropped: &mut Vec<Dropped>,
    ) -> Result<Tries, StageFault> {
        let hint = guide.hint;
        let candidates: HostSet = left.hosts.iter().copied().collect();
        let named = |name: &str| ask.view.hosts_named(&name.to_lowercase());
        let is_candidate = |name: &str| named(name).iter().any(|host| candidates.contains(*host));
        let max = self.config().max_hint_nodes;
        let names = order(&hint.preferred_node_names, max, is_candidate);
        dropped.extend(names.outside.iter().map(|name| {
            let reason = match named(name) {
                [] => DroppedReason::Unknown,
                _ => DroppedReason::NoCandidate,
            };
            preferred(name, reason)
        }));
        dropped.extend(names.beyond.iter().map(|it| preferred(it, DroppedReason::BeyondLimit)));
        let mut failed = Vec::new();
        let mut tried = HostSet::default();
        // One host may have several nodes.
        for host in names.to_try.iter().flat_map(|name| named(name)).copied() {
            if !candidates.contains(host) || tried.contains(host) {
                continue;
            }
            tried.insert(host);
            if guide.has_room.is_some_and(|has_room| !has_room(host)) {
                let loser = loser(ask.view, host, Reason::NothingLeft);
                failed.push(Tried { filter: CANDIDATES, loser });
                continue;
            }
            let alone = Preselection {
                hosts: vec![host],
                removed: Vec::new(),
                filters_skipped: left.filters_skipped,
            };
            let evaluation = self.evaluate_left(ask, alone)?;
            if evaluation.filters.left.hosts.contains(host) {
                let passed = Some((host, evaluation));
                return Ok(Tries { passed, outcome: HintOutcome::Used, failed });
            }
            let loser = first_loser(ask, &evaluation.filters);
            failed.extend(loser.map(|(filter, loser)| Tried { filter, loser }));
        }
        let outcome = if hint.preferred_node_names.is_empty() {
            HintOutcome::NothingPreferred
        } else if names.to_try.is_empty() {
            HintOutcome::NothingToTry
        } else {
            HintOutcome::NonePassed
        };
        Ok(Tries { passed: None, outcome, failed })
    }
}

fn preferred(name: &str, reason: DroppedReason) -> Dropped {
    Dropped { field: "preferredNodeNames", name: name.to_owned(), reason }
}

/// The required names that no host has.
fn strangers(view: &dyn HostView, hint: &Hint) -> Vec<Dropped> {
    let names = hint.node_names.iter();
    let unknown = names.filter(|name| view.hosts_named(&name.to_lowercase()).is_empty());
    let dropped = |name: &String| Dropped {
        field: "nodeNames",
        name: name.clone(),
        reason: DroppedReason::Unknown,
    };
    unknown.map(dropped).collect()
}

/// Narrows candidates to the required names, if there are any; how many it
/// left.
fn require(left: &mut Preselection, view: &dyn HostView, hint: &Hint) -> Option<usize> {
    let names = hint.required()?;
    keep(left, &named(view, names), &Reason::NotInHint);
    Some(left.hosts.len())
}

/// Keeps the candidates of a set.
fn keep(left: &mut Preselection, set: &HostSet, reason: &Reason) {
    let (kept, gone): (Vec<HostIx>, Vec<HostIx>) =
        left.hosts.iter().partition(|host| set.contains(**host));
    left.hosts = kept;
    left.removed.extend(gone.into_iter().map(|host| (host, reason.clone())));
}
