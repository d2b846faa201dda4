//! `cdp`: what has just started is left alone for a while.

use super::duration::duration;
use crate::session::{Eviction, JobIx, Plugin, Point, State, Status, TaskIx};

/// The annotation or label of a task that says for how long.
pub const COOLDOWN_TIME: &str = "volcano.sh/cooldown-time";

/// Keeps running tasks on their hosts until the time of their
/// `volcano.sh/cooldown-time` has passed since they started.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cdp;

fn is_cooling(state: &State, task: TaskIx) -> bool {
    let at = &state[task];
    let time = at.notes.get(COOLDOWN_TIME).and_then(|text| duration(text));
    let until = time.zip(at.started).map(|(time, started)| started.0.saturating_add(time));
    at.status == Status::Running && until.is_some_and(|until| until > state.now.0)
}

fn cooled(state: &State, tasks: &[TaskIx]) -> Vec<TaskIx> {
    tasks.iter().copied().filter(|task| !is_cooling(state, *task)).collect()
}

impl Plugin for Cdp {
    fn name(&self) -> &'static str {
        "cdp"
    }

    fn points(&self) -> &'static [Point] {
        &[Point::Preemptable, Point::Reclaimable, Point::VictimTasks, Point::Evictable]
    }

    fn preemptable(&mut self, state: &State, _: TaskIx, tasks: &[TaskIx]) -> Option<Vec<TaskIx>> {
        Some(cooled(state, tasks))
    }

    fn reclaimable(&mut self, state: &State, _: TaskIx, tasks: &[TaskIx]) -> Option<Vec<TaskIx>> {
        Some(cooled(state, tasks))
    }

    fn evictable(
        &mut self,
        state: &State,
        _: Eviction,
        _: JobIx,
        tasks: &[TaskIx],
    ) -> Option<Vec<TaskIx>> {
        Some(cooled(state, tasks))
    }

    fn lets_go(&mut self, state: &State, victims: Vec<TaskIx>) -> Vec<TaskIx> {
        cooled(state, &victims)
    }
}
