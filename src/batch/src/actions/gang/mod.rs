//! `gangpreempt` and `gangreclaim`: others are evicted for a job as a whole,
//! domain by domain.

mod bundles;
mod plan;

use super::{Action, Lines, starving};
use crate::amounts::{Amounts, Missing};
use crate::plugins::{ArgumentFault, Arguments};
use crate::session::{DomainIx, Eviction, JobIx, Purpose, Replay, Session, Statement, TaskIx};
use crate::world::Kind;

/// Domains that are looked at for a job, unless something else is said.
const MAX_DOMAINS: i64 = 8;

/// For each job that has not its minimum, evicts tasks in one domain until all
/// tasks of the job that wait have room there: tasks that other jobs can spare
/// first, then whole jobs. Of the domains that are looked at it is the one that
/// the fewest tasks leave. All or nothing: otherwise nobody leaves.
#[derive(Clone, Copy, Debug)]
pub struct GangEviction {
    name: &'static str,
    eviction: Eviction,
    /// How many domains are looked at for a job (`maxDomains`).
    domains: usize,
    /// Whether jobs may be evicted as a whole (`allowWholeBundle`).
    whole: bool,
}

/// Who asks for room.
struct Asker<'a> {
    job: JobIx,
    eviction: Eviction,
    /// The tasks that wait for it.
    pending: &'a [TaskIx],
}

impl GangEviction {
    /// Within queues, tasks of jobs of lower priority; with the arguments of
    /// `[batch:gangpreempt]`.
    ///
    /// # Errors
    /// An argument that cannot be used.
    pub fn preempt(arguments: &Arguments) -> Result<Self, ArgumentFault> {
        Self::new("gangpreempt", Eviction::Preempt, arguments)
    }

    /// Across queues, as far as the job's queue has not what it deserves; with
    /// the arguments of `[batch:gangreclaim]`.
    ///
    /// # Errors
    /// An argument that cannot be used.
    pub fn reclaim(arguments: &Arguments) -> Result<Self, ArgumentFault> {
        Self::new("gangreclaim", Eviction::Reclaim, arguments)
    }

    fn new(
        name: &'static str,
        eviction: Eviction,
        arguments: &Arguments,
    ) -> Result<Self, ArgumentFault> {
        let given = arguments.number("maxDomains", MAX_DOMAINS)?;
        let domains = if given > 0 { given } else { MAX_DOMAINS };
        Ok(Self {
            name,
            eviction,
            domains: usize::try_from(domains).unwrap_or(usize::MAX),
            whole: arguments.switch("allowWholeBundle", true)?,
        })
    }

    fn serve(&self, session: &mut Session<'_>, job: JobIx) {
        let pending = plan::pending(session, job);
        let queue = session.state[job].queue;
        let reclaims = self.eviction == Eviction::Reclaim;
        // In the peer's way nobody asks whether tasks want others to leave.
        let willing = |task: &TaskIx| session.state[*task].may_preempt;
        let asked = session.tiers.takes_whole_gangs(self.eviction);
        if pending.is_empty()
            || (asked && !pending.iter().all(willing))
            || (reclaims && !session.tiers.preemptive(&session.state, queue, &pending))
        {
            return;
        }
        let asker = Asker { job, eviction: self.eviction, pending: &pending };
        let lists = session.domains_for_job(job, Purpose::Evict);
        let domains: Vec<DomainIx> = lists.into_iter().flatten().take(self.domains).collect();
        let plans = domains.into_iter().filter_map(|domain| self.plan(session, &asker, domain));
        // Where the fewest leave, the first of equals (rule 15).
        if let Some(plan) = plans.min_by_key(|plan| plan.victims.len()) {
            plan.carry_out(session, job);
        }
    }

    /// Who would have to leave a domain: bundle after bundle, until the job
    /// finds room there.
    fn plan(&self, session: &mut Session<'_>, asker: &Asker<'_>, domain: DomainIx) -> Option<Plan> {
        let bundles = bundles::of(session, asker, domain, self.whole);
        let need = session.state.asked_by(asker.pending);
        let mut room = left_in(session, domain);
        let mut victims = Vec::new();
        for bundle in bundles {
            room.add(&bundle.local);
            victims.extend(bundle.tasks);
            if need.less_equal(&room, Missing::Zero)
                && let Some(places) = plan::places(session, asker.job, domain, &victims)
            {
                return Some(Plan { victims, places });
            }
        }
        None
    }
}

/// Who leaves, and who comes where.
struct Plan {
    victims: Vec<TaskIx>,
    places: Replay,
}

impl Plan {
    fn carry_out(&self, session: &mut Session<'_>, job: JobIx) {
        let mut statement = Statement::new(job);
        self.victims.iter().for_each(|victim| session.evict(&mut statement, *victim));
        match session.replayed(job, &self.places) {
            Some(steps) => {
                statement.merge(steps);
                session.commit(statement);
            }
            None => session.discard(statement),
        }
    }
}

impl Action for GangEviction {
    fn name(&self) -> &'static str {
        self.name
    }

    fn run(&self, session: &mut Session<'_>) {
        let jobs = starving(session);
        let mut lines = Lines::of(session, jobs);
        while let Some(queue) = lines.pop_queue(session) {
            if self.eviction == Eviction::Reclaim && session.tiers.overused(&session.state, queue) {
                continue;
            }
            while let Some(job) = lines.pop_job(session, queue) {
                self.serve(session, job);
            }
        }
    }
}

/// What is idle in a domain, and what others are giving back there.
fn left_in(session: &Session<'_>, domain: DomainIx) -> Amounts {
    let world = &session.state.world;
    let mut room = Amounts::new();
    for (dim, _) in world.dims().iter() {
        let left = |host| world.idle(dim, host) + world.amount(Kind::Releasing, dim, host);
        let hosts = session.state.domains.get(domain).hosts.iter();
        room.set(dim, hosts.map(|host| left(*host)).sum());
    }
    room
}
