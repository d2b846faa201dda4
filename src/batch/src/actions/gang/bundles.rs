//! Who may leave a domain for a job, bundle by bundle.

use super::Asker;
use crate::actions::spare::Spare;
use crate::amounts::Amounts;
use crate::session::{DomainIx, Eviction, JobIx, Session, Status, TaskIx};
use foldhash::HashSet;
use std::cmp::Ordering;

/// The annotation by which a job as a whole is kept from being evicted.
const PREEMPTABLE: &str = "volcano.sh/preemptable";

/// Tasks of one job that leave together.
#[derive(Clone, Debug)]
pub(super) struct Bundle {
    job: JobIx,
    /// Whether it leaves less of the job than it needs; otherwise its tasks are
    /// those that the job can spare.
    whole: bool,
    /// The tasks, in the order in which they are evicted.
    pub(super) tasks: Vec<TaskIx>,
    /// What they hold in the domain.
    pub(super) local: Amounts,
}

/// The bundles that plugins let go, in the order in which they are taken: what
/// jobs can spare first, then whole jobs if that is `allowed`.
pub(super) fn of(
    session: &mut Session<'_>,
    asker: &Asker<'_>,
    domain: DomainIx,
    allowed: bool,
) -> Vec<Bundle> {
    let need = session.state.asked_by(asker.pending);
    let mut bundles = Vec::new();
    for tasks in candidates(session, asker, domain) {
        bundles.extend(bundles_of(session, asker, domain, tasks));
    }
    sort(session, asker, &need, &mut bundles);
    let asked: Vec<TaskIx> = bundles.iter().flat_map(|bundle| bundle.tasks.clone()).collect();
    let let_go = session.tiers.evictable(&session.state, asker.eviction, asker.job, &asked);
    let let_go: HashSet<TaskIx> = let_go.into_iter().collect();
    // A job that keeps what it could spare does not go whole (rule 15b); in the
    // peer's way it does.
    let kept = asked.iter().filter(|task| !let_go.contains(task));
    let mut kept: HashSet<JobIx> = kept.map(|task| session.state[*task].job).collect();
    if !session.tiers.takes_whole_gangs(asker.eviction) {
        kept.clear();
    }
    bundles.retain_mut(|bundle| {
        let before = bundle.tasks.len();
        bundle.tasks.retain(|task| let_go.contains(task));
        if bundle.whole {
            allowed && bundle.tasks.len() == before && !kept.contains(&bundle.job)
        } else {
            !bundle.tasks.is_empty()
        }
    });
    for bundle in &mut bundles {
        bundle.local = held_in(session, domain, &bundle.tasks);
    }
    sort(session, asker, &need, &mut bundles);
    bundles
}

/// The tasks in a domain that may be asked at all, job by job; the least
/// important first.
fn candidates(session: &Session<'_>, asker: &Asker<'_>, domain: DomainIx) -> Vec<Vec<TaskIx>> {
    let state = &session.state;
    let hosts = state.domains.get(domain).hosts.iter();
    let on_hosts = hosts.flat_map(|host| state.residents(*host)).copied();
    let mut tasks: Vec<TaskIx> =
        on_hosts.filter(|task| is_candidate(session, asker, *task)).collect();
    tasks.sort_by(|a, b| {
        let (left, right) = (&state[*a], &state[*b]);
        let by_job =
            state[left.job].name.cmp(&state[right.job].name).then(left.job.cmp(&right.job));
        by_job.then_with(|| importance(session, *a, *b))
    });
    tasks.chunk_by(|a, b| state[*a].job == state[*b].job).map(<[TaskIx]>::to_vec).collect()
}

fn importance(session: &Session<'_>, a: TaskIx, b: TaskIx) -> Ordering {
    let (left, right) = (&session.state[a], &session.state[b]);
    let by_priority = left.priority.cmp(&right.priority);
    by_priority.then_with(|| left.name.cmp(&right.name)).then_with(|| left.uuid.cmp(&right.uuid))
}

fn is_candidate(session: &Session<'_>, asker: &Asker<'_>, victim: TaskIx) -> bool {
    let state = &session.state;
    let (own, at) = (&state[asker.job], &state[victim]);
    let other = &state[at.job];
    let kept = other.annotations.get(PREEMPTABLE).is_some_and(|text| text == "false");
    let by_action = match asker.eviction {
        Eviction::Preempt => {
            matches!(at.status, Status::Bound | Status::Running)
                && at.job != asker.job
                && other.queue == own.queue
                && other.priority < own.priority
        }
        Eviction::Reclaim => {
            at.status == Status::Running
                && other.queue != own.queue
                && state[other.queue].reclaimable
        }
    };
    by_action && at.preemptable && other.listed && !kept
}

/// The tasks that a job can spare, and the rest of it.
fn bundles_of(
    session: &Session<'_>,
    asker: &Asker<'_>,
    domain: DomainIx,
    tasks: Vec<TaskIx>,
) -> Vec<Bundle> {
    let Some(job) = tasks.first().map(|task| session.state[*task].job) else { return Vec::new() };
    let wholes = session.tiers.takes_whole_gangs(asker.eviction);
    let mut spare = Spare::new();
    // In the peer's way, a job that has not its minimum has nothing to lose.
    let broken = !wholes && spare.of_job(session, job) < 0;
    let (spared, rest): (Vec<TaskIx>, Vec<TaskIx>) =
        tasks.into_iter().partition(|task| broken || spare.takes(session, *task));
    let rest = if wholes { everywhere(session, asker, job, &spared, &rest) } else { Some(rest) };
    let bundle = |tasks: Vec<TaskIx>, whole| {
        let local = held_in(session, domain, &tasks);
        Bundle { job, whole, tasks, local }
    };
    let safe = (!spared.is_empty()).then(|| bundle(spared, false));
    let whole = rest.filter(|rest| !rest.is_empty()).map(|rest| bundle(rest, true));
    safe.into_iter().chain(whole).collect()
}

/// All of a job but what it can spare, wherever it runs (rule 15b); none when
/// some of it has to stay, or nothing of it is wanted.
fn everywhere(
    session: &Session<'_>,
    asker: &Asker<'_>,
    job: JobIx,
    spared: &[TaskIx],
    wanted: &[TaskIx],
) -> Option<Vec<TaskIx>> {
    let state = &session.state;
    let placed = |task: &&TaskIx| {
        let status = state[**task].status;
        (status.is_allocated() || status == Status::Pipelined) && !spared.contains(task)
    };
    let mut tasks: Vec<TaskIx> = state[job].tasks.iter().filter(placed).copied().collect();
    let all_go = tasks.iter().all(|task| is_candidate(session, asker, *task));
    tasks.sort_by(|a, b| importance(session, *a, *b));
    (all_go && !wanted.is_empty()).then_some(tasks)
}

fn held_in(session: &Session<'_>, domain: DomainIx, tasks: &[TaskIx]) -> Amounts {
    let state = &session.state;
    let inside = |task: &&TaskIx| {
        state[**task].host.is_some_and(|host| state.domains.contains(domain, host))
    };
    state.asked_by(tasks.iter().filter(inside))
}

/// What can be spared first. Then, within a queue the job that is served last;
/// between queues by queue, then what gains most for what it costs; then by
/// name.
fn sort(session: &Session<'_>, asker: &Asker<'_>, need: &Amounts, bundles: &mut Vec<Bundle>) {
    let (state, tiers) = (&session.state, &session.tiers);
    let gain =
        |bundle: &Bundle| if bundle.whole { gain(session, bundle, need) } else { f64::INFINITY };
    let mut keyed: Vec<(f64, Bundle)> =
        std::mem::take(bundles).into_iter().map(|bundle| (gain(&bundle), bundle)).collect();
    keyed.sort_by(|(left_gain, left), (right_gain, right)| {
        let (left_queue, right_queue) = (state[left.job].queue, state[right.job].queue);
        let by_action = match asker.eviction {
            Eviction::Preempt if left.job != right.job => {
                tiers.job_order(state, right.job, left.job)
            }
            Eviction::Reclaim if left_queue != right_queue => {
                let own = state[asker.job].queue;
                tiers.victim_queue_order(state, left_queue, right_queue, own)
            }
            Eviction::Preempt | Eviction::Reclaim => Ordering::Equal,
        };
        left.whole
            .cmp(&right.whole)
            .then(by_action)
            .then_with(|| right_gain.total_cmp(left_gain))
            .then_with(|| state[left.job].name.cmp(&state[right.job].name))
            .then_with(|| left.job.cmp(&right.job))
    });
    bundles.extend(keyed.into_iter().map(|(_, bundle)| bundle));
}

/// How much of what is needed a bundle gives, for all that its job would lose.
fn gain(session: &Session<'_>, bundle: &Bundle, need: &Amounts) -> f64 {
    let all = session.state.asked_by(&session.state[bundle.job].tasks);
    let share = |amount: i64, need: i64| amount as f64 / need as f64;
    let local: f64 =
        need.positive().map(|(dim, need)| share(bundle.local.get(dim).min(need), need)).sum();
    let cost: f64 = need.positive().map(|(dim, need)| share(all.get(dim), need)).sum();
    if cost == 0.0 { f64::INFINITY } else { local / cost }
}
