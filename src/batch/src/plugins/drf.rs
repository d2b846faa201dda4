//! `drf`: the job with the smaller dominant share first.

use crate::amounts::Amounts;
use crate::session::{JobIx, Plugin, Point, State, TaskIx};
use std::cmp::Ordering;

/// Orders jobs by dominant share: the largest part that what they have, got in
/// this cycle included, is of all there is.
#[derive(Clone, Debug, Default)]
pub struct Drf {
    total: Amounts,
    held: Vec<Amounts>,
    shares: Vec<f64>,
}

impl Drf {
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
}

impl Plugin for Drf {
    fn name(&self) -> &'static str {
        "drf"
    }

    fn points(&self) -> &'static [Point] {
        &[Point::JobOrder]
    }

    fn open(&mut self, state: &State) {
        self.total = state.world.total();
        self.held = state.jobs().map(|job| state[job].allocated.clone()).collect();
        self.shares = vec![0.0; self.held.len()];
        state.jobs().for_each(|job| self.refresh(job));
    }

    fn job_order(&self, _state: &State, a: JobIx, b: JobIx) -> Ordering {
        self.share(a).total_cmp(&self.share(b))
    }

    fn allocated(&mut self, state: &State, task: TaskIx) {
        let job = state[task].job;
        if let Some(held) = self.held.get_mut(job.index()) {
            held.add(&state.shape_of(task).request);
        }
        self.refresh(job);
    }

    fn deallocated(&mut self, state: &State, task: TaskIx) {
        let job = state[task].job;
        if let Some(held) = self.held.get_mut(job.index()) {
            held.sub(&state.shape_of(task).request);
        }
        self.refresh(job);
    }
}
