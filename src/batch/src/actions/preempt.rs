//! `preempt`: evicts tasks of lower priority within a queue.

use super::evict::Hunt;
use super::room::make_room;
use super::simulate::{Simulation, simulate};
use super::{Action, Lines, starving, waiting};
use crate::plugins::{ArgumentFault, Arguments};
use crate::session::{Eviction, HostVerdict, JobIx, Session, Statement, Status, TaskIx, scores};
use stowplan_engine::HostIx;

/// For each job that has not its minimum, evicts tasks of other jobs of its
/// queue until it has; then for its other tasks, tasks of its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Preempt {
    simulation: Option<Simulation>,
}

impl Preempt {
    /// With the arguments of `[batch:preempt]`.
    ///
    /// # Errors
    /// An argument that cannot be used.
    pub fn new(arguments: &Arguments) -> Result<Self, ArgumentFault> {
        Ok(Self { simulation: Simulation::new(arguments)? })
    }
}

impl Action for Preempt {
    fn name(&self) -> &'static str {
        "preempt"
    }

    fn run(&self, session: &mut Session<'_>) {
        let mut jobs = starving(session);
        // Hosts are looked at one by one here, near to each other or not.
        jobs.retain(|job| !session.state[*job].has_topology());
        let mut lines = Lines::of(session, jobs);
        while let Some(queue) = lines.pop_queue(session) {
            let mut served = Vec::new();
            while let Some(job) = lines.pop_job(session, queue) {
                self.among_jobs(session, job);
                served.push(job);
            }
            for job in served {
                self.within_job(session, job);
            }
        }
    }
}

impl Preempt {
    /// All or nothing: the job gets its minimum, or nobody leaves.
    fn among_jobs(&self, session: &mut Session<'_>, job: JobIx) {
        let mut statement = Statement::new(job);
        let mut tasks = waiting(session, job, |_| true).into_iter();
        while session.tiers.job_starving(&session.state, job)
            && let Some(task) = tasks.next()
        {
            let wanted = |session: &Session<'_>, victim: TaskIx| {
                let state = &session.state;
                let other = state[victim].job;
                is_candidate(session, task, victim)
                    && other != job
                    && state[other].queue == state[job].queue
            };
            self.preempt(session, &mut statement, task, &wanted);
        }
        if session.is_pipelined(job) {
            session.commit(statement);
        } else {
            session.discard(statement);
        }
    }

    /// Tasks that are left, each alone, in the place of tasks of the same job.
    fn within_job(&self, session: &mut Session<'_>, job: JobIx) {
        for task in waiting(session, job, |_| true) {
            let wanted = |session: &Session<'_>, victim: TaskIx| {
                is_candidate(session, task, victim) && session.state[victim].job == job
            };
            let mut statement = Statement::new(job);
            if !self.preempt(session, &mut statement, task, &wanted) {
                return session.discard(statement);
            }
            session.commit(statement);
        }
    }

    fn preempt(
        &self,
        session: &mut Session<'_>,
        statement: &mut Statement,
        task: TaskIx,
        wanted: &dyn Fn(&Session<'_>, TaskIx) -> bool,
    ) -> bool {
        if !session.state[task].may_preempt || !may_preempt_again(session, task) {
            return false;
        }
        let hunt = Hunt { task, eviction: Eviction::Preempt, wanted };
        let hosts = session.hosts_after_evictions(task).unwrap_or_default();
        match &self.simulation {
            Some(simulation) => simulate(session, statement, &hunt, simulation, &hosts),
            None => {
                let hosts = ranked(session, task, hosts);
                make_room(session, statement, &hunt, &hosts)
            }
        }
    }
}

/// Whether others may be evicted for a task for which they were before: not
/// while the host that it was nominated for would take it, or while tasks of
/// lower priority are still leaving there.
fn may_preempt_again(session: &mut Session<'_>, task: TaskIx) -> bool {
    let Some(host) = session.state[task].nominated else { return true };
    let verdict = session.verdict_of(task, host);
    let state = &session.state;
    let leaves = |other: &TaskIx| {
        state[*other].status == Status::Releasing && state[*other].priority < state[task].priority
    };
    match verdict {
        Ok(HostVerdict::Unresolvable) => true,
        Ok(HostVerdict::Unschedulable) => !state.residents(host).iter().any(leaves),
        Ok(HostVerdict::Passes) | Err(_) => false,
    }
}

/// Hosts by their scores, the best first, the own shard before all others.
fn ranked(session: &Session<'_>, task: TaskIx, hosts: Vec<HostIx>) -> Vec<HostIx> {
    let state = &session.state;
    let scores = scores(state, &session.tiers, task, &hosts);
    let mut ranked: Vec<(HostIx, f64)> = hosts.into_iter().zip(scores).collect();
    let foreign = |host: HostIx| state.shard.as_ref().is_some_and(|s| !s.hosts.contains(host));
    ranked.sort_by(|a, b| foreign(a.0).cmp(&foreign(b.0)).then_with(|| b.1.total_cmp(&a.1)));
    ranked.into_iter().map(|(host, _)| host).collect()
}

/// Whether a task may be asked to leave for another: it has its place, lets
/// itself be evicted, and asks for something if the other does not.
fn is_candidate(session: &Session<'_>, task: TaskIx, victim: TaskIx) -> bool {
    let state = &session.state;
    let at = &state[victim];
    let more = !state.shape_of(task).is_best_effort() || state.shape_of(victim).is_best_effort();
    let has_place = matches!(at.status, Status::Bound | Status::Running);
    has_place && at.preemptable && state[at.job].listed && more
}
