//! `conformance`: what must not be interrupted is never a victim.

use crate::session::{Eviction, JobIx, Plugin, Point, State, TaskIx};

/// Keeps protected tasks on their hosts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Conformance;

fn unprotected(state: &State, candidates: &[TaskIx]) -> Vec<TaskIx> {
    candidates.iter().copied().filter(|task| !state[*task].protected).collect()
}

impl Plugin for Conformance {
    fn name(&self) -> &'static str {
        "conformance"
    }

    fn points(&self) -> &'static [Point] {
        &[Point::Preemptable, Point::Reclaimable, Point::VictimTasks, Point::Evictable]
    }

    fn preemptable(&mut self, state: &State, _: TaskIx, tasks: &[TaskIx]) -> Option<Vec<TaskIx>> {
        Some(unprotected(state, tasks))
    }

    fn reclaimable(&mut self, state: &State, _: TaskIx, tasks: &[TaskIx]) -> Option<Vec<TaskIx>> {
        Some(unprotected(state, tasks))
    }

    fn lets_go(&mut self, state: &State, victims: Vec<TaskIx>) -> Vec<TaskIx> {
        unprotected(state, &victims)
    }

    fn evictable(
        &mut self,
        state: &State,
        _: Eviction,
        _: JobIx,
        tasks: &[TaskIx],
    ) -> Option<Vec<TaskIx>> {
        Some(unprotected(state, tasks))
    }
}
