//! Runs filters one after the other and keeps what each did.

use crate::fault::{Fault, StageFault};
use crate::filter::{Filter, Predicate};
use crate::offers::{Offers, Survivors};
use crate::request::RequestCx;
use crate::set::HostSet;

/// What the filters of one round did.
pub struct FilterRun {
    /// What each filter did, in their order.
    pub steps: Vec<Step>,
    /// What is left.
    pub left: Survivors,
}

impl FilterRun {
    /// The hosts that each filter eliminated.
    pub fn eliminations(&self) -> impl Iterator<Item = (&'static str, &HostSet)> {
        self.steps.iter().filter_map(|step| match &step.outcome {
            Outcome::Judged(judged) => Some((step.filter, &judged.eliminated)),
            _ => None,
        })
    }
}

/// What one filter did.
pub struct Step {
    /// Its name.
    pub filter: &'static str,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of one filter.
pub enum Outcome {
    /// It had nothing to say of this request: every host passes.
    NothingToSay,
    /// Skipped, because it judged the first server of the same request.
    JudgedBefore,
    /// Skipped, because the request is a rebuild.
    Rebuild,
    /// Skipped, because hosts or nodes are forced.
    Forced,
    /// Skipped, because no host was left.
    NobodyLeft,
    /// It judged.
    Judged(Judged),
}

/// What a filter that judged left behind.
pub struct Judged {
    /// Hosts before.
    pub before: usize,
    /// Hosts after.
    pub after: usize,
    /// The hosts that failed.
    pub eliminated: HostSet,
    /// The predicate, to be asked for reasons.
    pub predicate: Box<dyn Predicate>,
}

/// How a round of filtering is to be done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    /// Place of the server in its request; from the second on, filters that
    /// judge once per request are skipped.
    pub index: usize,
    /// Hosts or nodes are forced: no filter is asked.
    pub forced: bool,
    /// A filter that is not asked: what would pass without it?
    pub without: Option<&'static str>,
}

/// Runs filters over hosts.
///
/// # Errors
/// The first fault of a filter, with its name: the request fails as a whole.
pub fn run(
    filters: &[Box<dyn Filter>],
    cx: &RequestCx<'_>,
    round: Round,
    offers: &Offers,
    hosts: HostSet,
) -> Result<FilterRun, StageFault> {
    let rebuild = cx.request.request().is_rebuild();
    let mut left = Survivors::all(hosts);
    let mut count = left.hosts.count();
    let mut steps = Vec::with_capacity(filters.len());
    for filter in filters.iter().filter(|filter| round.without != Some(filter.name())) {
        let runs = filter.runs();
        let outcome = if round.forced {
            Outcome::Forced
        } else if round.index > 0 && runs.once_per_request {
            Outcome::JudgedBefore
        } else if rebuild && !runs.on_rebuild {
            Outcome::Rebuild
        } else if count == 0 {
            Outcome::NobodyLeft
        } else {
            judge(filter.as_ref(), cx, offers, &mut left, &mut count)
                .map_err(StageFault::at(filter.name()))?
        };
        steps.push(Step { filter: filter.name(), outcome });
    }
    Ok(FilterRun { steps, left })
}

fn judge(
    filter: &dyn Filter,
    cx: &RequestCx<'_>,
    offers: &Offers,
    left: &mut Survivors,
    count: &mut usize,
) -> Result<Outcome, Fault> {
    let Some(predicate) = filter.prepare(cx)? else {
        return Ok(Outcome::NothingToSay);
    };
    let mut eliminated = left.hosts.clone();
    predicate.narrow(cx.view, offers, left)?;
    eliminated.subtract(&left.hosts);
    let before = *count;
    *count = left.hosts.count();
    Ok(Outcome::Judged(Judged { before, after: *count, eliminated, predicate }))
}
