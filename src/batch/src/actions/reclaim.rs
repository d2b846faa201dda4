//! `reclaim`: takes back from other queues what a queue deserves.

use super::evict::Hunt;
use super::room::make_room;
use super::{Action, Lines, starving, waiting};
use crate::session::{Eviction, JobIx, Session, Statement, Status, TaskIx};
use stowplan_engine::HostIx;

/// For each job that has not its minimum, in a queue that has not all that it
/// deserves, evicts tasks of other queues until the job has it. All or nothing:
/// otherwise nobody leaves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reclaim;

impl Action for Reclaim {
    fn name(&self) -> &'static str {
        "reclaim"
    }

    fn run(&self, session: &mut Session<'_>) {
        let mut jobs = starving(session);
        // Hosts are looked at one by one here, near to each other or not.
        jobs.retain(|job| !session.state[*job].is_bound_to_domains());
        let mut lines = Lines::of(session, jobs);
        while let Some(queue) = lines.pop_queue(session) {
            if session.tiers.overused(&session.state, queue) {
                continue;
            }
            while let Some(job) = lines.pop_job(session, queue) {
                serve(session, job);
            }
        }
    }
}

fn serve(session: &mut Session<'_>, job: JobIx) {
    let mut statement = Statement::new(job);
    let mut tasks = waiting(session, job, |_| true).into_iter();
    while session.tiers.job_starving(&session.state, job)
        && let Some(task) = tasks.next()
    {
        reclaim(session, &mut statement, task);
    }
    if session.is_pipelined(job) {
        session.commit(statement);
    } else {
        session.discard(statement);
    }
}

fn reclaim(session: &mut Session<'_>, statement: &mut Statement, task: TaskIx) {
    let queue = session.state[session.state[task].job].queue;
    if !session.state[task].may_preempt || !session.tiers.preemptive(&session.state, queue, &[task])
    {
        return;
    }
    let wanted = |session: &Session<'_>, victim: TaskIx| {
        let state = &session.state;
        let at = &state[victim];
        let other = &state[at.job];
        at.status == Status::Running
            && at.preemptable
            && other.listed
            && other.queue != queue
            && state[other.queue].reclaimable
    };
    let hunt = Hunt { task, eviction: Eviction::Reclaim, wanted: &wanted };
    let mut hosts = session.hosts_after_evictions(task).unwrap_or_default();
    if let Some(shard) = &session.state.shard {
        hosts.sort_by_key(|host: &HostIx| !shard.hosts.contains(*host));
    }
    make_room(session, statement, &hunt, &hosts);
}
