//! The rounds of one request after its first: of all hosts only the one that
//! the last server took has changed, so only that one is judged and weighed
//! anew. What comes of it is the same as from scratch.

mod order;
mod standing;

use crate::chain::{Judged, Outcome};
use crate::choose::Draw;
use crate::engine::{Ask, Engine, Evaluation};
use crate::explain::{Detail, Explanation, explain};
use crate::fault::StageFault;
use crate::filter::Verdict;
use crate::offers::{Offers, Survivors};
use crate::request::CheckedRequest;
use crate::set::HostSet;
use crate::table::{HostIx, PoolId};
use crate::view::HostView;
pub(crate) use order::Order;
use standing::{Descent, Standing};

/// The hosts that the first round left, in order for the round in turn.
pub(crate) struct Rounds {
    /// The first round's, kept up to date.
    evaluation: Evaluation,
    /// The set of host aggregates of each host; empty when none matters.
    sets: Vec<PoolId>,
    standing: Standing,
    /// The places asked for in this round so far, in order.
    front: Vec<u32>,
    descent: Descent,
    is_first: bool,
}

impl Rounds {
    /// Whether further servers of a request may be placed this way: where the
    /// hosts of those before decide by themselves (a server group), or luck
    /// does, or single candidates of hosts count, all hosts are judged anew.
    pub fn suit(engine: &Engine, request: &CheckedRequest, offers: &Offers) -> bool {
        let config = engine.config();
        request.request().instance_group.is_none()
            && offers.is_empty()
            && config.subset() <= 1
            && !config.scheduler.shuffle_best_same_weighed_hosts
    }

    /// From what the first round found.
    pub fn new(view: &dyn HostView, evaluation: Evaluation) -> Self {
        let weighed = &evaluation.weighed;
        let standing = Standing::new(&weighed.weights);
        let plan = evaluation.plan.as_ref();
        let sets = plan.map_or_else(Vec::new, |plan| plan.aggregate_sets(view, &weighed.hosts));
        let descent = standing.descent();
        Self { sets, standing, front: Vec::new(), descent, is_first: true, evaluation }
    }

    /// The hosts, in the order of the first round's places.
    pub fn hosts(&self) -> &[HostIx] {
        &self.evaluation.weighed.hosts
    }

    /// The host to be tried after `tried` others in this round.
    pub fn after(&mut self, tried: usize) -> Option<HostIx> {
        while self.front.len() <= tried {
            let weights = &self.evaluation.weighed.weights;
            self.front.push(self.descent.next(&self.standing, weights)?);
        }
        Some(self.hosts()[self.front[tried] as usize])
    }

    /// All hosts in the order of this round.
    pub fn into_hosts(mut self) -> Vec<HostIx> {
        let count = self.hosts().len();
        (0..count).map_while(|tried| self.after(tried)).collect()
    }

    /// Turns to the next server, after one took the host that came after
    /// `tried` others. Gives false when all hosts have to be judged from
    /// scratch.
    ///
    /// # Errors
    /// A filter or weigher that cannot judge the host.
    pub fn turn(
        &mut self,
        engine: &Engine,
        view: &dyn HostView,
        offers: &Offers,
        left: &mut Survivors,
        tried: usize,
    ) -> Result<bool, StageFault> {
        let Some(place) = self.front.get(tried).copied() else { return Ok(false) };
        if self.is_first {
            self.is_first = false;
            later(engine, &mut self.evaluation);
        }
        let evaluation = &mut self.evaluation;
        let host = evaluation.weighed.hosts[place as usize];
        left.forget(host);
        for step in &evaluation.filters.steps {
            let Outcome::Judged(judged) = &step.outcome else { continue };
            let verdict = judged.predicate.judge(view, host, offers, left);
            match verdict.map_err(StageFault::at(step.filter))? {
                Verdict::Pass => {}
                Verdict::PassWith(kept) => left.keep(host, kept),
                Verdict::Fail(_) => return Ok(false),
            }
        }
        let Some(plan) = &evaluation.plan else { return Ok(false) };
        let weighed = &mut evaluation.weighed;
        let change = plan.weigh_again(view, weighed, &self.sets, place as usize)?;
        self.standing.turn(place, &weighed.weights, change);
        self.front.clear();
        self.descent = self.standing.descent();
        Ok(true)
    }

    /// What filters and weighers said in this round.
    pub fn explain(&self, engine: &Engine, ask: &Ask<'_>, detail: Detail) -> Explanation {
        let rows = detail.weights.min(self.hosts().len());
        let mut descent = self.standing.descent();
        let weights = &self.evaluation.weighed.weights;
        let best = std::iter::from_fn(|| descent.next(&self.standing, weights)).take(rows);
        let best = best.map(|place| place as usize).collect();
        let draw = Draw { from_best: 1, place: 0, shuffled: 0 };
        let explained = explain(ask, &self.evaluation, engine.config(), detail, best);
        Explanation { draw: Some(draw), ..explained }
    }
}

/// Makes of what the filters said in the first round what they say in every
/// later one, while no host fails.
fn later(engine: &Engine, evaluation: &mut Evaluation) {
    let hosts = evaluation.weighed.hosts.len();
    let steps = &mut evaluation.filters.steps;
    for (filter, step) in engine.filters().iter().zip(steps) {
        let outcome = std::mem::replace(&mut step.outcome, Outcome::NothingToSay);
        step.outcome = match outcome {
            Outcome::Forced => Outcome::Forced,
            _ if filter.runs().once_per_request => Outcome::JudgedBefore,
            Outcome::Judged(judged) => Outcome::Judged(Judged {
                before: hosts,
                after: hosts,
                eliminated: HostSet::default(),
                ..judged
            }),
            other => other,
        };
    }
    let preselection = &mut evaluation.preselection;
    preselection.hosts.clone_from(&evaluation.weighed.hosts);
    preselection.removed.clear();
}
