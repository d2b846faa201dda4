//! `gang`: a job's minimum is placed together or not at all.

use super::{PluginFault, Setup};
use crate::session::{
    Census, Eviction, GroupIx, Job, JobIx, Objection, Plugin, Point, State, Status, SubGroup,
    TaskIx, Vote,
};
use std::cmp::Ordering;

/// Says when a job has its minimum, in all and per role; a job that has it
/// not comes first. As victims, jobs keep their minimum, or go whole.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gang {
    victims: Victims,
}

/// What becomes of gangs as victims (rule 15b).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Victims {
    /// What is above the minimum may go; the rest goes together or not at all.
    #[default]
    Whole,
    /// The minimum stays, whatever comes (the peer's way).
    Floor,
}

impl Gang {
    /// With `[batch:gang] victims`, `whole` (the default) or `floor`.
    ///
    /// # Errors
    /// Neither of the two.
    pub fn new(setup: &Setup<'_>) -> Result<Self, PluginFault> {
        let victims = match setup.arguments.text("victims") {
            None | Some("whole") => Victims::Whole,
            Some("floor") => Victims::Floor,
            Some(_) => return Err(setup.arguments.fault("victims", "whole or floor").into()),
        };
        Ok(Self { victims })
    }

    fn let_go(self, state: &State, candidates: &[TaskIx]) -> Vec<TaskIx> {
        if self.victims == Victims::Whole {
            return candidates.to_vec();
        }
        let mut left: Vec<(JobIx, u32)> = Vec::new();
        let mut above = |task: &TaskIx| {
            let job = state[*task].job;
            let at = left.iter().position(|(known, _)| *known == job).unwrap_or_else(|| {
                left.push((job, state[job].census.ready()));
                left.len() - 1
            });
            let goes = left[at].1 > state[job].min_available;
            left[at].1 -= u32::from(goes);
            goes
        };
        candidates.iter().copied().filter(|task| above(task)).collect()
    }
}

/// Whether `count` of every role with a minimum reaches it. Minima whose sum is
/// above the job's own are not looked at.
fn roles_reach(job: &Job, count: impl Fn(&Census) -> u32) -> bool {
    job.min_available < job.role_minima()
        || job.roles.iter().all(|role| role.min.is_none_or(|min| count(&role.census) >= min))
}

/// Whether a count of a sub-group reaches its minimum.
fn group_reaches(group: &SubGroup, count: impl Fn(&Census) -> u32) -> bool {
    count(&group.census) >= group.min
}

fn ready(census: &Census) -> u32 {
    census.ready() + census.best_effort()
}

fn pipelined(census: &Census) -> u32 {
    ready(census) + census.get(Status::Pipelined)
}

fn valid(census: &Census) -> u32 {
    census.ready() + census.get(Status::Pipelined) + census.get(Status::Pending)
}

impl Plugin for Gang {
    fn name(&self) -> &'static str {
        "gang"
    }

    fn points(&self) -> &'static [Point] {
        use Point::{
            Evictable, GroupOrder, GroupPipelined, GroupReady, JobOrder, JobPipelined, JobReady,
            JobStarving, JobValid, Preemptable, Reclaimable,
        };
        &[
            JobOrder,
            JobValid,
            JobReady,
            JobPipelined,
            JobStarving,
            GroupOrder,
            GroupReady,
            GroupPipelined,
            Preemptable,
            Reclaimable,
            Evictable,
        ]
    }

    fn job_order(&self, state: &State, a: JobIx, b: JobIx) -> Ordering {
        let has_minimum = |job: JobIx| ready(&state[job].census) >= state[job].min_available;
        has_minimum(a).cmp(&has_minimum(b))
    }

    fn job_valid(&self, state: &State, job: JobIx) -> Option<Objection> {
        let job = &state[job];
        let tasks = valid(&job.census);
        if tasks < job.min_available {
            let message = format!("{tasks} tasks can run, the job needs {}", job.min_available);
            return Some(Objection { reason: "NotEnoughTasks", message });
        }
        if let Some((policy, groups)) = job.short_policy(|_| true) {
            let (name, needs) = (&policy.name, policy.min_groups);
            let message = format!("there are {groups} sub-groups {name}, the job needs {needs}");
            return Some(Objection { reason: "NotEnoughSubGroups", message });
        }
        if roles_reach(job, valid) {
            return None;
        }
        let short =
            job.roles.iter().find(|role| role.min.is_some_and(|min| valid(&role.census) < min));
        let message = short.map_or_else(String::new, |role| {
            let needs = role.min.unwrap_or_default();
            format!(
                "{} tasks of role {} can run, the job needs {needs}",
                valid(&role.census),
                role.name
            )
        });
        Some(Objection { reason: "NotEnoughTasksOfRole", message })
    }

    fn job_ready(&self, state: &State, job: JobIx) -> bool {
        let job = &state[job];
        ready(&job.census) >= job.min_available
            && roles_reach(job, ready)
            && job.groups_reach(|group| group_reaches(group, ready))
    }

    fn job_pipelined(&self, state: &State, job: JobIx) -> Vote {
        let job = &state[job];
        let has = pipelined(&job.census) >= job.min_available
            && roles_reach(job, pipelined)
            && job.groups_reach(|group| group_reaches(group, pipelined));
        if has { Vote::Permit } else { Vote::Reject }
    }

    fn group_order(&self, state: &State, job: JobIx, a: GroupIx, b: GroupIx) -> Ordering {
        let has_minimum = |group| {
            let group = state[job].group(group);
            group.is_some_and(|group| group_reaches(group, ready))
        };
        has_minimum(a).cmp(&has_minimum(b))
    }

    fn group_ready(&self, state: &State, job: JobIx, group: GroupIx) -> bool {
        state[job].group(group).is_some_and(|group| group_reaches(group, ready))
    }

    fn group_pipelined(&self, state: &State, job: JobIx, group: GroupIx) -> Vote {
        let group = state[job].group(group);
        let has = group.is_some_and(|group| group_reaches(group, pipelined));
        if has { Vote::Permit } else { Vote::Reject }
    }

    fn job_starving(&self, state: &State, job: JobIx) -> bool {
        let job = &state[job];
        job.census.ready() + job.census.get(Status::Pipelined) < job.min_available
    }

    fn preemptable(&mut self, state: &State, _: TaskIx, tasks: &[TaskIx]) -> Option<Vec<TaskIx>> {
        Some(self.let_go(state, tasks))
    }

    fn reclaimable(&mut self, state: &State, _: TaskIx, tasks: &[TaskIx]) -> Option<Vec<TaskIx>> {
        Some(self.let_go(state, tasks))
    }

    /// Whoever asks for a job as a whole knows of minima by itself.
    fn evictable(
        &mut self,
        _: &State,
        _: Eviction,
        _: JobIx,
        tasks: &[TaskIx],
    ) -> Option<Vec<TaskIx>> {
        Some(tasks.to_vec())
    }

    fn takes_whole_gangs(&self) -> bool {
        self.victims == Victims::Whole
    }
}
