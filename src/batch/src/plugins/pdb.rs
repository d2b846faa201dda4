//! `pdb`: jobs keep to their disruption budgets.

use super::budget::Spent;
use crate::session::{Eviction, JobIx, Plugin, Point, State, TaskIx};

/// Lets as many tasks of a job leave for others, or by shuffle, as its
/// disruption budget allows at the moment; all of a job without one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pdb;

fn within_budgets(state: &State, tasks: &[TaskIx]) -> Vec<TaskIx> {
    let mut spent = Spent::default();
    tasks.iter().copied().filter(|task| spent.takes(state, *task, None)).collect()
}

impl Plugin for Pdb {
    fn name(&self) -> &'static str {
        "pdb"
    }

    fn points(&self) -> &'static [Point] {
        &[Point::Preemptable, Point::Reclaimable, Point::VictimTasks, Point::Evictable]
    }

    fn preemptable(&mut self, state: &State, _: TaskIx, tasks: &[TaskIx]) -> Option<Vec<TaskIx>> {
        Some(within_budgets(state, tasks))
    }

    fn reclaimable(&mut self, state: &State, _: TaskIx, tasks: &[TaskIx]) -> Option<Vec<TaskIx>> {
        Some(within_budgets(state, tasks))
    }

    fn evictable(
        &mut self,
        state: &State,
        _: Eviction,
        _: JobIx,
        tasks: &[TaskIx],
    ) -> Option<Vec<TaskIx>> {
        Some(within_budgets(state, tasks))
    }

    fn lets_go(&mut self, state: &State, victims: Vec<TaskIx>) -> Vec<TaskIx> {
        within_budgets(state, &victims)
    }
}
