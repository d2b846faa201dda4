//! Steps can be taken back in any order, and the best host is always the one
//! that a full scan finds.

use crate::bench::{Accept, GPU, Host, OPTIONS, Tasks, add_job, cpu, only, plugins, state, tasks};
use proptest::prelude::*;
use stowplan_batch::amounts::DimIx;
use stowplan_batch::session::{JobIx, Place, Session, State, Statement, Status, TaskIx};
use stowplan_batch::world::{Pick, Source};
use stowplan_engine::{HostIx, HostView};
use stowplan_model::Micros;

const HOSTS: u32 = 70;
/// Shares of a device.
const SHARES: i64 = 1000;
/// Tasks that run when the session begins.
const RUNNING: usize = 6;

#[derive(Clone, Debug)]
enum Op {
    Allocate { job: usize, host: u32 },
    Best { job: usize },
    Pipeline { job: usize, host: u32 },
    Evict { job: usize, victim: usize },
    Spare { job: usize, victim: usize },
    Discard { job: usize },
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let job = 0..4usize;
    let op = prop_oneof![
        3 => (job.clone(), 0..HOSTS).prop_map(|(job, host)| Op::Allocate { job, host }),
        3 => job.clone().prop_map(|job| Op::Best { job }),
        1 => (job.clone(), 0..HOSTS).prop_map(|(job, host)| Op::Pipeline { job, host }),
        2 => (job.clone(), 0..RUNNING).prop_map(|(job, victim)| Op::Evict { job, victim }),
        1 => (job.clone(), 0..RUNNING).prop_map(|(job, victim)| Op::Spare { job, victim }),
        1 => job.prop_map(|job| Op::Discard { job }),
    ];
    proptest::collection::vec(op, 0..60)
}

fn cloud(sizes: &[i64]) -> (State, Vec<JobIx>) {
    let hosts: Vec<Host> = (0..HOSTS as usize)
        .map(|n| Host { gpus: (n % 4) as i64, shares: SHARES, ..cpu(sizes[n % sizes.len()]) })
        .collect();
    let mut state = state(&hosts);
    let gpu = Tasks {
        role: "gpu",
        count: 8,
        request: vec![(DimIx::CPU, 1), (GPU, SHARES * 3 / 10)],
        ..Tasks::default()
    };
    let many = Tasks { request: vec![(GPU, 2 * SHARES)], ..gpu.clone() };
    let jobs = vec![
        add_job(&mut state, "p/a", 2, &[tasks("worker", 12, 1)]),
        add_job(&mut state, "p/b", 8, &[tasks("worker", 8, 3)]),
        add_job(&mut state, "p/c", 1, &[gpu, tasks("worker", 4, 2), many]),
        add_job(&mut state, "p/d", 0, &[Tasks { role: "idle", count: 6, ..Tasks::default() }]),
    ];
    (state, jobs)
}

/// A job of which one task runs on each of a few hosts, with half of the first
/// device, where there is one.
fn running(state: &mut State) -> JobIx {
    let task = |host: usize| {
        let ix = HostIx(host as u32);
        let devices = state.world.devices(ix, GPU);
        let half = |source: &Source| (GPU, source.provider, SHARES / 2);
        let pick = devices.iter().take(1).map(half);
        let picks = pick.map(|(dim, provider, amount)| Pick { dim, provider, amount });
        let mut request = vec![(DimIx::CPU, 1)];
        request.extend((!devices.is_empty()).then_some((GPU, SHARES / 2)));
        let (status, host) = (Some(Status::Running), Some(ix));
        let picks = picks.collect();
        // Half of them run long enough to show in metrics.
        let started = ix.0.is_multiple_of(2).then_some(Micros(0));
        Tasks { status, host, picks, request, started, ..tasks("running", 1, 1) }
    };
    let tasks: Vec<Tasks> = (0..RUNNING).map(task).collect();
    let job = add_job(state, "p/e", 2, &tasks);
    for task in state[job].tasks.clone() {
        let request = state.shape_of(task).request.clone();
        let (host, picks) = (state[task].host.unwrap(), state[task].picks.clone());
        state.world.hold_again(host, &request, &picks);
    }
    job
}

/// No device has more in use than it has, nor more promised than will be free.
fn devices_hold(state: &State) -> Result<(), TestCaseError> {
    for &host in state.world.order() {
        for device in state.world.devices(host, GPU) {
            let later = device.capacity - device.used + device.releasing - device.promised;
            prop_assert!((0..=device.capacity).contains(&device.used), "{device:?}");
            prop_assert!((0..=device.used).contains(&device.releasing), "{device:?}");
            prop_assert!(device.promised >= 0 && later <= device.capacity, "{device:?}");
            let here = state.residents(host).iter().filter(|task| {
                !matches!(state[**task].status, Status::Pipelined | Status::Pending)
            });
            let taken = here.flat_map(|task| &state[*task].picks);
            let taken = taken.filter(|pick| pick.provider == device.provider);
            prop_assert_eq!(taken.map(|pick| pick.amount).sum::<i64>(), device.used);
        }
    }
    Ok(())
}

fn pending(state: &State, job: JobIx) -> Option<TaskIx> {
    state[job].tasks.iter().copied().find(|task| state[*task].status == Status::Pending)
}

/// The host that a scan over all of them finds.
fn scan(session: &Session<'_>, task: TaskIx) -> Option<HostIx> {
    let state = &session.state;
    let shape = state.shape_of(task);
    let mut best: Option<(f64, HostIx)> = None;
    for &host in state.world.order() {
        let fits =
            state.world.fits_idle(host, shape.ask()) && state.world.fits_future(host, shape.ask());
        if !state.world.live().contains(host) || !fits {
            continue;
        }
        let scores = session.tiers.scores().map(|score| score.score(&state.world, host, shape));
        let score: f64 = scores.sum();
        if best.is_none_or(|(highest, _)| score > highest) {
            best = Some((score, host));
        }
    }
    best.map(|(_, host)| host)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_undone_was_never_there(
        sizes in proptest::collection::vec(1i64..6, 1..5),
        ops in ops(),
        loads in any::<bool>(),
    ) {
        let (mut state, jobs) = cloud(&sizes);
        let victims = running(&mut state);
        let before = state.clone();
        let mut commits = Accept::default();
        let tiers = if loads { only(&["priority", "gang", "predicates", "usage"]) } else { plugins() };
        let mut session = Session::open(state, tiers, OPTIONS, &mut commits);
        let mut open: Vec<Statement> = jobs.iter().map(|job| Statement::new(*job)).collect();
        for op in ops {
            match op {
                Op::Allocate { job, host } => {
                    if let Some(task) = pending(&session.state, jobs[job]) {
                        session.allocate(&mut open[job], task, HostIx(host));
                    }
                }
                Op::Best { job } => {
                    if let Some(task) = pending(&session.state, jobs[job]) {
                        let best = match session.best_host(task).unwrap() {
                            Some(Place::Now(host)) => Some(host),
                            Some(Place::Later(_)) | None => None,
                        };
                        prop_assert_eq!(best, scan(&session, task));
                        if let Some(host) = best {
                            prop_assert!(session.allocate(&mut open[job], task, host));
                        }
                    }
                }
                Op::Pipeline { job, host } => {
                    if let Some(task) = pending(&session.state, jobs[job]) {
                        session.pipeline(&mut open[job], task, HostIx(host));
                    }
                }
                Op::Evict { job, victim } => {
                    let task = session.state[victims].tasks[victim];
                    if session.state[task].status == Status::Running {
                        session.evict(&mut open[job], task);
                    }
                }
                Op::Spare { job, victim } => {
                    let task = session.state[victims].tasks[victim];
                    session.spare(&mut open[job], task);
                }
                Op::Discard { job } => {
                    let gone = std::mem::replace(&mut open[job], Statement::new(jobs[job]));
                    session.discard(gone);
                }
            }
            prop_assert_eq!(session.state.audit(), None);
            prop_assert_eq!(session.tiers.audit(&session.state), None);
            devices_hold(&session.state)?;
            for &host in session.state.world.order() {
                prop_assert!(
                    session.state.world.idle(DimIx::CPU, host)
                        >= before.world.idle(DimIx::CPU, host).min(0)
                );
            }
        }
        for statement in open {
            session.discard(statement);
        }
        for task in &before[victims].tasks {
            prop_assert_eq!(session.state[*task].status, Status::Running);
        }
        prop_assert_eq!(&session.state.world, &before.world);
        for task in jobs.iter().flat_map(|job| &before[*job].tasks) {
            prop_assert_eq!(session.state[*task].status, Status::Pending);
            prop_assert_eq!(session.state[*task].host, None);
        }
    }
}
