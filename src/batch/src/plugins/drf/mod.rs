//! `drf`: those who have least of what they use most come first.

mod tree;

use super::quota::held_by_jobs;
use super::{PluginFault, Setup};
use crate::amounts::{Amounts, Missing};
use crate::session::{JobIx, Plugin, Point, QueueIx, State, TaskIx};
use std::cmp::Ordering;
use tree::Tree;

/// Shares closer than this are equal.
const CLOSE: f64 = 1e-6;

/// Orders jobs by dominant share: the largest part that what they have, got in
/// this cycle included, is of all there is. With `enableHierarchy` it orders
/// queues, too, by their places in a tree of weights.
#[derive(Clone, Debug, Default)]
pub struct Drf {
    hierarchy: bool,
    total: Amounts,
    held: Vec<Amounts>,
    shares: Vec<f64>,
    tree: Option<Tree>,
}

impl Drf {
    /// With `[batch:drf] enableHierarchy` (off).
    ///
    /// # Errors
    /// An argument that cannot be used.
    pub fn new(setup: &Setup<'_>) -> Result<Self, PluginFault> {
        Ok(Self { hierarchy: setup.hierarchy, ..Self::default() })
    }

    fn change(&mut self, state: &State, task: TaskIx, change: fn(&mut Amounts, &Amounts)) {
        let job = state[task].job;
        if let Some(held) = self.held.get_mut(job.index()) {
            change(held, &state.shape_of(task).request);
        }
        self.refresh(job);
        if let (Some(tree), Some(held)) = (&mut self.tree, self.held.get(job.index())) {
            tree.set(job, held);
            tree.settle();
        }
    }

    fn refresh(&mut self, job: JobIx) {
        if let (Some(held), Some(share)) =
            (self.held.get(job.index()), self.shares.get_mut(job.index()))
        {
            *share = held.dominant_share(&self.total);
        }
    }

    fn share(&self, job: JobIx) -> f64 {
        self.shares.get(job.index()).copied().unwrap_or_default()
    }

    fn held(&self, job: JobIx) -> Amounts {
        self.held.get(job.index()).cloned().unwrap_or_default()
    }
}

impl Plugin for Drf {
    fn name(&self) -> &'static str {
        "drf"
    }

    fn points(&self) -> &'static [Point] {
        &[Point::JobOrder, Point::QueueOrder, Point::Preemptable, Point::Reclaimable]
    }

    fn open(&mut self, state: &State) {
        self.total = state.total();
        // What tasks were promised in earlier cycles counts, too.
        self.held = held_by_jobs(state);
        self.shares = vec![0.0; self.held.len()];
        state.jobs().for_each(|job| self.refresh(job));
        self.tree = self.hierarchy.then(|| Tree::new(state, &self.total));
    }

    fn job_order(&self, _state: &State, a: JobIx, b: JobIx) -> Ordering {
        self.share(a).total_cmp(&self.share(b))
    }

    fn queue_order(&self, state: &State, a: QueueIx, b: QueueIx) -> Ordering {
        self.tree.as_ref().map_or(Ordering::Equal, |tree| tree.compare(state, a, b))
    }

    /// A task may leave for another whose job would not be ahead of what is
    /// left of its own.
    fn preemptable(
        &mut self,
        state: &State,
        preemptor: TaskIx,
        candidates: &[TaskIx],
    ) -> Option<Vec<TaskIx>> {
        let mut ahead = self.held(state[preemptor].job);
        ahead.add(&state.shape_of(preemptor).request);
        let share = ahead.dominant_share(&self.total);
        let mut left: Vec<(JobIx, Amounts)> = Vec::new();
        let mut victims = Vec::new();
        for &task in candidates {
            let job = state[task].job;
            let at = left.iter().position(|(known, _)| *known == job).unwrap_or_else(|| {
                left.push((job, self.held(job)));
                left.len() - 1
            });
            left[at].1.sub(&state.shape_of(task).request);
            let other = left[at].1.dominant_share(&self.total);
            if share < other || (share - other).abs() <= CLOSE {
                victims.push(task);
            }
        }
        Some(victims)
    }

    /// With the tree: a task may leave for another whose queue would still come
    /// before its own. Without, no opinion.
    fn reclaimable(
        &mut self,
        state: &State,
        reclaimer: TaskIx,
        candidates: &[TaskIx],
    ) -> Option<Vec<TaskIx>> {
        let mut tree = self.tree.clone()?;
        let job = state[reclaimer].job;
        let mut held = self.held(job);
        held.add(&state.shape_of(reclaimer).request);
        tree.set(job, &held);
        let own = state[job].queue;
        let mut victims = Vec::new();
        for &task in candidates {
            let other = state[task].job;
            let before = self.held(other);
            let mut without = before.clone();
            without.sub(&state.shape_of(task).request);
            tree.set(other, &without);
            tree.settle();
            if tree.compare(state, own, state[other].queue).is_lt() {
                victims.push(task);
            }
            tree.set(other, &before);
        }
        Some(victims)
    }

    fn allocated(&mut self, state: &State, task: TaskIx) {
        self.change(state, task, Amounts::add);
    }

    fn deallocated(&mut self, state: &State, task: TaskIx) {
        self.change(state, task, Amounts::sub);
    }

    fn audit(&self, state: &State) -> Option<String> {
        let fresh = held_by_jobs(state);
        let differs = |job: &JobIx| !self.held(*job).equals(&fresh[job.index()], Missing::Zero);
        let job = state.jobs().find(differs)?;
        let (was, is) = (self.held(job), &fresh[job.index()]);
        Some(format!("job {} holds {is:?} and not {was:?}", state[job].name))
    }
}
