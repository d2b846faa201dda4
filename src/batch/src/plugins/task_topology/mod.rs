//! `task-topology`: roles of a job are placed together or apart.
//!
//! The tasks of a job are sorted into buckets by which roles are to be near each
//! other and which apart; the tasks of a bucket are placed one after the other,
//! best where most of their bucket is or still fits.

mod buckets;
mod rules;
mod score;

use super::{PluginFault, Setup};
use crate::session::{Plugin, Point, SetScore, State, Status, TaskIx};
use buckets::Buckets;
use rules::Rules;
pub use rules::topology_fault;
use score::BucketScore;
use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

/// Places roles near each other or apart, as the annotations
/// `volcano.sh/task-topology-affinity`, `-anti-affinity` and `-task-order` of
/// their job say.
#[derive(Clone, Debug)]
pub struct TaskTopology {
    weight: i64,
    /// By job; none: it says nothing.
    jobs: Vec<Option<Arc<Buckets>>>,
}

impl TaskTopology {
    /// With `[batch:task-topology] task-topology.weight` (1).
    ///
    /// # Errors
    /// A weight that is no whole number of 0 or more.
    pub fn new(setup: &Setup<'_>) -> Result<Self, PluginFault> {
        let weight = setup.arguments.weight("task-topology.weight", 1)?;
        Ok(Self { weight, jobs: Vec::new() })
    }

    fn buckets(&self, state: &State, task: TaskIx) -> Option<&Arc<Buckets>> {
        self.jobs.get(state[task].job.index())?.as_ref()
    }

    fn buckets_mut(&mut self, state: &State, task: TaskIx) -> Option<&mut Buckets> {
        self.jobs.get_mut(state[task].job.index())?.as_mut().map(Arc::make_mut)
    }
}

impl Plugin for TaskTopology {
    fn name(&self) -> &'static str {
        "task-topology"
    }

    fn points(&self) -> &'static [Point] {
        &[Point::TaskOrder, Point::NodeOrder]
    }

    fn open(&mut self, state: &State) {
        self.jobs = vec![None; state.job_count()];
        for job in state.jobs() {
            let at = &state[job];
            if at.census.get(Status::Pending) == 0 {
                continue;
            }
            let roles: Vec<&str> = at.roles.iter().map(|role| role.name.as_str()).collect();
            // What cannot be read was refused at admission, or is no topology.
            if let Ok(Some(rules)) = Rules::read(&at.annotations, &roles) {
                self.jobs[job.index()] = Some(Arc::new(Buckets::new(state, job, rules)));
            }
        }
    }

    /// Tasks in buckets come first: those of the bucket in which most wait, then
    /// of the older one; in a bucket by the rank of their roles.
    fn task_order(&self, state: &State, a: TaskIx, b: TaskIx) -> Ordering {
        let (Some(left), Some(right)) = (self.buckets(state, a), self.buckets(state, b)) else {
            return Ordering::Equal;
        };
        let (x, y) = (left.bucket_of(a), right.bucket_of(b));
        if x.is_some() != y.is_some() {
            return x.is_none().cmp(&y.is_none());
        }
        let (Some(x), Some(y)) = (x, y) else { return Ordering::Equal };
        if state[a].job != state[b].job {
            return Ordering::Equal;
        }
        let rank = |task: TaskIx| Reverse(left.rules().rank(state[task].role));
        let waiting = left.waiting(y).cmp(&left.waiting(x));
        waiting.then_with(|| if x == y { rank(a).cmp(&rank(b)) } else { x.cmp(&y) })
    }

    fn task_score(&self, state: &State, task: TaskIx) -> Option<Box<dyn SetScore>> {
        let buckets = self.buckets(state, task)?;
        let bucket = buckets.bucket_of(task).filter(|_| self.weight > 0)?;
        Some(Box::new(BucketScore { buckets: buckets.clone(), bucket, task, weight: self.weight }))
    }

    fn allocated(&mut self, state: &State, task: TaskIx) {
        if let Some(buckets) = self.buckets_mut(state, task) {
            buckets.come(state, task);
        }
    }

    fn deallocated(&mut self, state: &State, task: TaskIx) {
        if let Some(buckets) = self.buckets_mut(state, task) {
            buckets.leave(state, task);
        }
    }
}
