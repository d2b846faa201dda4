//! Who may be evicted from a host for a task, and in which order.

use super::spare::Spare;
use crate::session::{Eviction, JobIx, Session, Status, TaskIx};
use stowplan_engine::HostIx;

/// Victims that leave together or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// The tasks, in the order in which they are evicted.
    pub(super) tasks: Vec<TaskIx>,
    /// The job that goes as a whole; none for a task that its job can spare.
    pub(super) whole: Option<JobIx>,
}

/// What is looked for: room for a task, made by tasks that are wanted.
pub(super) struct Hunt<'a> {
    /// The task.
    pub(super) task: TaskIx,
    /// Within its queue or across queues.
    pub(super) eviction: Eviction,
    /// Which tasks may be asked at all.
    pub(super) wanted: &'a dyn Fn(&Session<'_>, TaskIx) -> bool,
}

impl Hunt<'_> {
    /// The tasks on a host that plugins are asked about, in victim order: the
    /// ones that a plugin keeps are those that would go last.
    pub(super) fn candidates(&self, session: &Session<'_>, host: HostIx) -> Vec<TaskIx> {
        let on_host = session.state.residents(host).iter().copied();
        let mut tasks: Vec<TaskIx> = on_host.filter(|task| (self.wanted)(session, *task)).collect();
        let job = session.state[self.task].job;
        session.tiers.sort_victims(&session.state, Some(job), &mut tasks);
        tasks
    }

    /// The candidates that plugins let go, unit by unit.
    pub(super) fn units(&self, session: &mut Session<'_>, candidates: &[TaskIx]) -> Vec<Unit> {
        if session.tiers.takes_whole_gangs(self.eviction) {
            return self.bundles(session, candidates);
        }
        let victims = self.vote(session, candidates);
        victims.into_iter().map(|task| Unit { tasks: vec![task], whole: None }).collect()
    }

    fn vote(&self, session: &mut Session<'_>, candidates: &[TaskIx]) -> Vec<TaskIx> {
        session.tiers.victims(&session.state, self.eviction, self.task, candidates)
    }

    /// Rule 15b: tasks that their jobs can spare, then whole jobs, wherever
    /// their tasks run. Plugins are asked in that order; a job that is not let
    /// go whole stays. One of which a task stays that it could spare is not
    /// whole, either: it would be left below its minimum.
    fn bundles(&self, session: &mut Session<'_>, candidates: &[TaskIx]) -> Vec<Unit> {
        let (mut units, mut jobs) = (Vec::new(), Vec::new());
        let mut spared = Spare::new();
        for &task in candidates {
            let job = session.state[task].job;
            if spared.takes(session, task) {
                units.push(Unit { tasks: vec![task], whole: None });
            } else if !jobs.contains(&job) {
                jobs.push(job);
            }
        }
        for job in jobs {
            units.extend(self.whole(session, job, &units));
        }
        let asked: Vec<TaskIx> = units.iter().flat_map(|unit| unit.tasks.clone()).collect();
        let let_go = self.vote(session, &asked);
        let kept = asked.iter().filter(|task| !let_go.contains(task));
        let kept: Vec<JobIx> = kept.map(|task| session.state[*task].job).collect();
        units.retain(|unit| match unit.whole {
            Some(job) => !kept.contains(&job),
            None => unit.tasks.iter().all(|task| let_go.contains(task)),
        });
        units
    }

    /// All of a job but what goes by itself; none if some of it has to stay.
    fn whole(&self, session: &Session<'_>, job: JobIx, units: &[Unit]) -> Option<Unit> {
        let state = &session.state;
        if job == state[self.task].job {
            return None;
        }
        let goes = |task: &TaskIx| units.iter().any(|unit| unit.tasks.contains(task));
        let placed = |task: &TaskIx| {
            let status = state[*task].status;
            (status.is_allocated() || status == Status::Pipelined) && !goes(task)
        };
        let mut tasks: Vec<TaskIx> = state[job].tasks.iter().copied().filter(placed).collect();
        if tasks.is_empty() || !tasks.iter().all(|task| (self.wanted)(session, *task)) {
            return None;
        }
        session.tiers.sort_victims(state, Some(state[self.task].job), &mut tasks);
        Some(Unit { tasks, whole: Some(job) })
    }
}
