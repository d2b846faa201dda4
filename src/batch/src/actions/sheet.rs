//! The tasks of a job that wait, sub-group by sub-group.

use super::waiting;
use crate::session::{GroupIx, Heap, JobIx, Session, TaskIx};
use std::cmp::Ordering;
use std::collections::VecDeque;

/// Tasks with requests that wait, by sub-group. A job that has none counts as
/// one.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    job: JobIx,
    /// Sub-groups without which the job cannot have as many as it needs.
    required: Vec<GroupIx>,
    line: Heap<GroupIx>,
    tasks: Vec<VecDeque<TaskIx>>,
}

impl Sheet {
    /// All tasks of a job that wait and ask for something.
    pub(super) fn of(session: &Session<'_>, job: JobIx) -> Self {
        let state = &session.state;
        let mut tasks = vec![VecDeque::new(); state[job].groups.len().max(1)];
        for task in waiting(session, job, |task| !state.shape_of(task).is_best_effort()) {
            if let Some(list) = tasks.get_mut(state[task].group.index()) {
                list.push_back(task);
            }
        }
        let required = required(session, job);
        let mut sheet = Self { job, required, line: Heap::new(), tasks };
        for group in (0..sheet.tasks.len() as u32).map(GroupIx) {
            if !sheet.tasks[group.index()].is_empty() {
                sheet.push(session, group);
            }
        }
        sheet
    }

    /// Whether no sub-group is left.
    pub(super) fn is_empty(&self) -> bool {
        self.line.is_empty()
    }

    /// Takes the sub-group that is placed next.
    pub(super) fn pop(&mut self, session: &Session<'_>) -> Option<GroupIx> {
        let (required, job) = (&self.required, self.job);
        self.line.pop(|a, b| order(session, job, required, a, b))
    }

    /// Puts a sub-group back into the line.
    pub(super) fn push(&mut self, session: &Session<'_>, group: GroupIx) {
        let (required, job) = (&self.required, self.job);
        self.line.push(group, |a, b| order(session, job, required, a, b));
    }

    /// The tasks of a sub-group.
    pub(super) fn tasks(&self, group: GroupIx) -> &VecDeque<TaskIx> {
        &self.tasks[group.index()]
    }

    /// Puts in what is left of them.
    pub(super) fn put(&mut self, group: GroupIx, tasks: VecDeque<TaskIx>) {
        self.tasks[group.index()] = tasks;
    }
}

/// Of each policy, as many of the sub-groups that have not their minimum, in
/// their order, as are needed besides those that have it.
fn required(session: &Session<'_>, job: JobIx) -> Vec<GroupIx> {
    let (state, tiers) = (&session.state, &session.tiers);
    let at = &state[job];
    let mut lacking: Vec<u32> = at.policies.iter().map(|policy| policy.min_groups).collect();
    let (ready, mut others): (Vec<_>, Vec<_>) =
        at.group_numbers().partition(|group| tiers.group_ready(state, job, *group));
    let policy = |group: &GroupIx| at.group(*group).and_then(|group| group.policy);
    for policy in ready.iter().filter_map(policy) {
        lacking[policy] = lacking[policy].saturating_sub(1);
    }
    others.sort_by(|a, b| tiers.group_order(state, job, *a, *b));
    others.retain(|group| {
        let Some(lacking) = policy(group).and_then(|at| lacking.get_mut(at)) else { return false };
        let is_needed = *lacking > 0;
        *lacking = lacking.saturating_sub(1);
        is_needed
    });
    others
}

fn order(
    session: &Session<'_>,
    job: JobIx,
    required: &[GroupIx],
    a: GroupIx,
    b: GroupIx,
) -> Ordering {
    let needed = |group| required.contains(&group);
    needed(b).cmp(&needed(a)).then_with(|| session.tiers.group_order(&session.state, job, a, b))
}
