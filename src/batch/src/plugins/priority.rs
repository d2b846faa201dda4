//! `priority`: jobs and tasks of higher priority first.

use crate::session::{JobIx, Plugin, Point, State, TaskIx};
use std::cmp::Ordering;

/// Orders jobs and tasks by priority, high first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Priority;

impl Plugin for Priority {
    fn name(&self) -> &'static str {
        "priority"
    }

    fn points(&self) -> &'static [Point] {
        &[Point::JobOrder, Point::TaskOrder]
    }

    fn job_order(&self, state: &State, a: JobIx, b: JobIx) -> Ordering {
        state[b].priority.cmp(&state[a].priority)
    }

    fn task_order(&self, state: &State, a: TaskIx, b: TaskIx) -> Ordering {
        state[b].priority.cmp(&state[a].priority)
    }
}
