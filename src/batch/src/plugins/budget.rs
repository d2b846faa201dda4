//! What plugins that keep to disruption budgets have in common.

use crate::session::{Job, JobIx, State, Status, TaskIx};
use std::collections::BTreeMap;

/// How many tasks of each job may still leave.
#[derive(Clone, Debug, Default)]
pub(super) struct Spent {
    left: BTreeMap<JobIx, Option<u32>>,
}

impl Spent {
    /// Takes a task if its job's budget allows it. Where there is no budget,
    /// `otherwise` many may leave; none: all.
    pub(super) fn takes(&mut self, state: &State, task: TaskIx, otherwise: Option<u32>) -> bool {
        let job = state[task].job;
        let left = self.left.entry(job).or_insert_with(|| allowed(&state[job]).or(otherwise));
        match left {
            None => true,
            Some(0) => false,
            Some(count) => {
                *count -= 1;
                true
            }
        }
    }
}

/// How many tasks of a job may leave as things stand; none without a budget.
fn allowed(job: &Job) -> Option<u32> {
    let ended = job.census.get(Status::Succeeded) + job.census.get(Status::Failed);
    Some(job.budget?.allows(job.census.all(), job.census.get(Status::Running), ended))
}

/// Whether a job is marked as one that others may interrupt.
pub(super) fn marked_preemptable(job: &Job) -> bool {
    job.annotations.get(super::PREEMPTABLE).is_some_and(|text| text == "true")
}
