//! `extender`: somebody else has a say, over HTTP.
//!
//! Every question is a POST of JSON to `extender.urlPrefix` and a verb. What
//! takes it there comes from outside of this crate.

mod config;
mod link;
mod wire;

use super::{PluginFault, Setup};
use crate::session::{
    HostVerdict, JobIx, NodePredicate, Plugin, Point, QueueIx, SetScore, ShapeIx, State, Status,
    TaskIx, Vote,
};
use crate::world::World;
use config::{Extension, Verb};
pub use link::{ExtenderCall, ExtenderLink, Outside};
use serde_json::{Value, json};
use std::sync::Arc;
use stowplan_engine::fault::Fault;
use stowplan_engine::{HostIx, HostSet, HostView};
use wire::{
    OverusedAnswer, PredicateAnswer, PrioritizeAnswer, ReadyAnswer, UNSCHEDULABLE, VictimsAnswer,
    VoteAnswer,
};

/// Asks an extender at the points for which `[batch:extender]` names a verb.
/// When it does not answer it has no opinion if it is ignorable, and else says
/// no.
pub struct Extender {
    extension: Arc<Extension>,
}

impl Extender {
    /// With the arguments of `[batch:extender]`, the peer's names.
    ///
    /// # Errors
    /// No address, or an argument that is not of its kind.
    pub fn new(setup: &Setup<'_>) -> Result<Self, PluginFault> {
        let extension = Extension::new(&setup.arguments, &setup.outside)?;
        Ok(Self { extension: Arc::new(extension) })
    }

    /// The victims that it names; none where it has no opinion.
    fn victims(
        &self,
        verb: Verb,
        state: &State,
        evictor: TaskIx,
        candidates: &[TaskIx],
    ) -> Option<Vec<TaskIx>> {
        if !self.extension.is_interested(state, state.shape_of(evictor)) {
            return None;
        }
        let evictees = || candidates.iter().map(|task| wire::task(state, *task)).collect();
        let body = || {
            let evictees: Vec<Value> = evictees();
            json!({"evictor": wire::task(state, evictor), "evictees": evictees})
        };
        match self.extension.ask::<VictimsAnswer>(verb, body)? {
            Err(_) if self.extension.ignorable => None,
            Err(_) => Some(Vec::new()),
            Ok(answer) if answer.status == 0 => None,
            Ok(answer) if answer.status < 0 => Some(Vec::new()),
            Ok(answer) => {
                let named = answer.victims.unwrap_or_default();
                let is_named = |task: &TaskIx| {
                    let uid = state[*task].uuid.to_string();
                    named.iter().any(|victim| victim.uid == uid)
                };
                Some(candidates.iter().copied().filter(is_named).collect())
            }
        }
    }
}

impl Plugin for Extender {
    fn name(&self) -> &'static str {
        "extender"
    }

    fn points(&self) -> &'static [Point] {
        use Point::{JobEnqueued, JobReady, NodeOrder, Overused, Predicate, Preemptable};
        &[Predicate, NodeOrder, Preemptable, Point::Reclaimable, Overused, JobEnqueued, JobReady]
    }

    fn open(&mut self, state: &State) {
        self.extension.tell(Verb::Open, || wire::cluster(state));
    }

    fn close(&mut self, _: &State) {
        self.extension.tell(Verb::Close, || json!({}));
    }

    fn predicates(
        &self,
        state: &State,
        shape: ShapeIx,
    ) -> Result<Vec<Box<dyn NodePredicate>>, Fault> {
        let concerned = self.extension.asks(Verb::Predicate)
            && self.extension.is_interested(state, &state[shape]);
        let task = concerned.then(|| example(state, shape)).flatten();
        let check = |task| {
            let extension = self.extension.clone();
            Box::new(Check { extension, task }) as Box<dyn NodePredicate>
        };
        Ok(task.map(check).into_iter().collect())
    }

    fn task_score(&self, state: &State, task: TaskIx) -> Option<Box<dyn SetScore>> {
        let concerned = self.extension.asks(Verb::Prioritize)
            && self.extension.is_interested(state, state.shape_of(task));
        let score = || Box::new(Priorities { extension: self.extension.clone(), task });
        concerned.then(|| score() as Box<dyn SetScore>)
    }

    fn preemptable(
        &mut self,
        state: &State,
        preemptor: TaskIx,
        candidates: &[TaskIx],
    ) -> Option<Vec<TaskIx>> {
        self.victims(Verb::Preemptable, state, preemptor, candidates)
    }

    fn reclaimable(
        &mut self,
        state: &State,
        reclaimer: TaskIx,
        candidates: &[TaskIx],
    ) -> Option<Vec<TaskIx>> {
        self.victims(Verb::Reclaimable, state, reclaimer, candidates)
    }

    fn overused(&self, state: &State, queue: QueueIx) -> bool {
        let body = || json!({"queue": wire::queue(state, queue)});
        match self.extension.ask::<OverusedAnswer>(Verb::Overused, body) {
            None => false,
            Some(Ok(answer)) => answer.overused,
            Some(Err(_)) => !self.extension.ignorable,
        }
    }

    fn job_enqueueable(&self, state: &State, job: JobIx) -> Vote {
        let body = || json!({"job": wire::job(state, job)});
        match self.extension.ask::<VoteAnswer>(Verb::Enqueueable, body) {
            None => Vote::Abstain,
            Some(Ok(answer)) => answer.vote(),
            Some(Err(_)) if self.extension.ignorable => Vote::Abstain,
            Some(Err(_)) => Vote::Reject,
        }
    }

    fn job_enqueued(&mut self, state: &State, job: JobIx) {
        self.extension.tell(Verb::Enqueued, || json!({"job": wire::job(state, job)}));
    }

    fn job_ready(&self, state: &State, job: JobIx) -> bool {
        let body = || json!({"job": wire::job(state, job)});
        match self.extension.ask::<ReadyAnswer>(Verb::Ready, body) {
            None => true,
            Some(Ok(answer)) => answer.status,
            Some(Err(_)) => self.extension.ignorable,
        }
    }

    fn allocated(&mut self, state: &State, task: TaskIx) {
        if self.extension.is_interested(state, state.shape_of(task)) {
            self.extension.tell(Verb::Allocate, || json!({"task": wire::task(state, task)}));
        }
    }

    fn deallocated(&mut self, state: &State, task: TaskIx) {
        if self.extension.is_interested(state, state.shape_of(task)) {
            self.extension.tell(Verb::Deallocate, || json!({"task": wire::task(state, task)}));
        }
    }
}

/// A task of a shape, one that waits if there is one.
fn example(state: &State, shape: ShapeIx) -> Option<TaskIx> {
    let tasks = state.jobs().flat_map(|job| state[job].tasks.iter().copied());
    let of_shape = tasks.filter(|task| state[*task].shape == shape);
    of_shape.min_by_key(|task| (state[*task].status != Status::Pending, *task))
}

/// What the extender says of hosts for a task of the shape.
struct Check {
    extension: Arc<Extension>,
    task: TaskIx,
}

impl Check {
    fn fails(&self, state: &State, host: HostIx) -> Option<(HostVerdict, String)> {
        let body = || {
            let (task, node) = (wire::task(state, self.task), wire::node(&state.world, host));
            json!({"task": task, "node": node})
        };
        match self.extension.ask::<PredicateAnswer>(Verb::Predicate, body)? {
            Err(_) if self.extension.ignorable => None,
            Err(_) => {
                let why = "cannot be judged: the extender does not answer";
                Some((HostVerdict::Unresolvable, why.to_owned()))
            }
            Ok(answer) if answer.status.is_empty() => None,
            Ok(answer) => {
                let verdict = match answer.code {
                    UNSCHEDULABLE => HostVerdict::Unschedulable,
                    _ => HostVerdict::Unresolvable,
                };
                Some((verdict, format!("are refused by the extender: {}", answer.status)))
            }
        }
    }
}

impl NodePredicate for Check {
    fn narrow(&self, _: &World, _: &mut HostSet) -> Result<(), Fault> {
        Ok(())
    }

    fn judge(&self, state: &State, host: HostIx) -> Result<HostVerdict, Fault> {
        Ok(self.fails(state, host).map_or(HostVerdict::Passes, |(verdict, _)| verdict))
    }

    fn objection(&self, state: &State, host: HostIx) -> Result<Option<String>, Fault> {
        Ok(self.fails(state, host).map(|(_, why)| why))
    }
}

/// The scores that the extender gives hosts for a task.
struct Priorities {
    extension: Arc<Extension>,
    task: TaskIx,
}

impl SetScore for Priorities {
    fn add(&self, state: &State, hosts: &[HostIx], scores: &mut [f64]) {
        let body = || {
            let nodes: Vec<Value> =
                hosts.iter().map(|host| wire::node(&state.world, *host)).collect();
            json!({"task": wire::task(state, self.task), "nodes": nodes})
        };
        let answer = self.extension.ask::<PrioritizeAnswer>(Verb::Prioritize, body);
        let Some(Ok(PrioritizeAnswer { node_score, error_message })) = answer else { return };
        if !error_message.is_empty() {
            tracing::warn!(why = error_message, "an extender gave no scores");
            return;
        }
        let given = node_score.unwrap_or_default();
        for (score, host) in scores.iter_mut().zip(hosts) {
            *score += given.get(&state.world.facts(*host).node).copied().unwrap_or_default();
        }
    }
}
