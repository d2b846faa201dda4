//! Gangs: whole or not at all.

use crate::bench::{Accept, Tasks, add_job, cpu, cycle, placed, places, state, tasks};
use stowplan_batch::amounts::DimIx;
use stowplan_batch::life::JobPhase;
use stowplan_batch::session::{ConditionKind, Shape, Status};
use stowplan_engine::HostIx;

#[test]
fn a_gang_that_fits_is_one_statement() {
    let mut state = state(&[cpu(4), cpu(4)]);
    let job = add_job(&mut state, "p/gang", 4, &[tasks("worker", 4, 2)]);
    let mut commits = Accept::default();
    let closed = cycle(state, &mut commits);
    assert_eq!(places(&closed, job), 4);
    assert_eq!(commits.plans.len(), 1);
    assert_eq!(commits.plans[0].binds.len(), 4);
    let verdict = &closed.verdicts[0];
    assert_eq!(verdict.phase, JobPhase::Running);
    let condition = verdict.condition.as_ref().unwrap();
    assert_eq!(condition.kind, ConditionKind::Scheduled);
    assert_eq!(condition.message, "4 of 4 tasks have a place");
}

#[test]
fn a_gang_that_does_not_fit_gets_nothing_and_says_why() {
    let before = state(&[cpu(4), cpu(3)]);
    let mut state = before.clone();
    let job = add_job(&mut state, "p/gang", 4, &[tasks("worker", 4, 2)]);
    let mut commits = Accept::default();
    let closed = cycle(state, &mut commits);
    assert_eq!(places(&closed, job), 0);
    assert!(commits.plans.is_empty());
    assert_eq!(closed.state.world, before.world);
    let verdict = &closed.verdicts[0];
    assert_eq!(verdict.phase, JobPhase::Inqueue);
    let condition = verdict.condition.as_ref().unwrap();
    assert_eq!(
        (condition.kind, condition.reason.as_str()),
        (ConditionKind::Unschedulable, "NotEnoughResources")
    );
    assert_eq!(
        condition.message,
        "4 of the 4 tasks it needs have no place; queue default would hold 8 cpu, it may hold 7"
    );
}

#[test]
fn a_task_that_fits_nowhere_is_told_with_numbers() {
    let mut state = state(&[cpu(4), cpu(6)]);
    add_job(&mut state, "p/big", 1, &[tasks("worker", 1, 8)]);
    let closed = cycle(state, &mut Accept::default());
    assert_eq!(
        closed.verdicts[0].condition.as_ref().unwrap().message,
        "1 of the 1 tasks it needs have no place; \
         worker: 0 of 2 hosts fit: 2 lack cpu (needs 8, most left 6)"
    );
}

#[test]
fn of_two_gangs_on_room_for_one_the_first_gets_all() {
    let mut state = state(&[cpu(2), cpu(2)]);
    let b = add_job(&mut state, "p/b", 4, &[tasks("worker", 4, 1)]);
    let a = add_job(&mut state, "p/a", 4, &[tasks("worker", 4, 1)]);
    let closed = cycle(state, &mut Accept::default());
    assert_eq!((places(&closed, a), places(&closed, b)), (4, 0));
}

#[test]
fn above_its_minimum_a_job_takes_what_there_is() {
    let mut state = state(&[cpu(3), cpu(2)]);
    let job = add_job(&mut state, "p/elastic", 2, &[tasks("worker", 8, 1)]);
    let mut commits = Accept::default();
    let closed = cycle(state, &mut commits);
    assert_eq!(places(&closed, job), 5);
    let sizes: Vec<usize> = commits.plans.iter().map(|plan| plan.binds.len()).collect();
    assert_eq!(sizes, [2, 1, 1, 1]);
    let message = &closed.verdicts[0].condition.as_ref().unwrap().message;
    let why = "queue default would hold 6 cpu, it may hold 5";
    assert_eq!(*message, format!("5 of 8 tasks have a place; {why}"));
}

#[test]
fn minima_of_roles_hold_too() {
    // Room for three of role a, but b needs one that fits nowhere.
    let mut state = state(&[cpu(3)]);
    let a = Tasks { min: Some(1), ..tasks("a", 3, 1) };
    let b = Tasks { min: Some(1), ..tasks("b", 1, 9) };
    let job = add_job(&mut state, "p/roles", 2, &[a.clone(), b]);
    let closed = cycle(state.clone(), &mut Accept::default());
    assert_eq!(places(&closed, job), 0);
    // Without b's minimum two of a do.
    let mut state = crate::bench::state(&[cpu(3)]);
    let job = add_job(&mut state, "p/roles", 2, &[a, tasks("b", 1, 9)]);
    let closed = cycle(state, &mut Accept::default());
    assert_eq!(places(&closed, job), 3);
}

#[test]
fn more_tasks_needed_than_can_run_is_said_at_once() {
    let mut state = state(&[cpu(8)]);
    let failed = Tasks { status: Some(Status::Failed), ..tasks("gone", 2, 1) };
    let job = add_job(&mut state, "p/short", 3, &[tasks("worker", 2, 1), failed]);
    let closed = cycle(state, &mut Accept::default());
    assert_eq!(places(&closed, job), 0);
    let verdict = &closed.verdicts[0];
    let condition = verdict.condition.as_ref().unwrap();
    assert_eq!(condition.reason, "NotEnoughTasks");
    assert_eq!(condition.message, "2 tasks can run, the job needs 3");
    assert_eq!(verdict.phase, JobPhase::Failed);
}

#[test]
fn best_effort_tasks_count_towards_the_minimum_and_are_backfilled() {
    let mut state = state(&[cpu(1)]);
    let idle = Tasks { role: "idle", count: 2, ..Tasks::default() };
    let job = add_job(&mut state, "p/mixed", 3, &[tasks("worker", 1, 1), idle]);
    let mut commits = Accept::default();
    let closed = cycle(state, &mut commits);
    assert_eq!(places(&closed, job), 3);
    assert_eq!(commits.plans.iter().map(|plan| plan.binds.len()).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn a_gang_waits_on_hosts_that_others_leave() {
    let mut before = state(&[cpu(4)]);
    let leaving =
        Tasks { status: Some(Status::Releasing), host: Some(HostIx(0)), ..tasks("worker", 1, 3) };
    // What the leaving task holds is used; the world was told so.
    let mut shape = Shape::default();
    shape.request.set(DimIx::CPU, 3);
    shape.request.set(DimIx::PODS, 1);
    before.world.take(HostIx(0), shape.ask()).unwrap();
    add_job(&mut before, "p/leaving", 1, &[leaving]);
    let waiting = add_job(&mut before, "p/waiting", 2, &[tasks("worker", 2, 2)]);
    let later = add_job(&mut before, "p/zlater", 1, &[tasks("worker", 1, 1)]);
    let mut commits = Accept::default();
    let closed = cycle(before.clone(), &mut commits);
    // The gang's promises take what is being left, and all of what is idle.
    assert_eq!(places(&closed, waiting), 0);
    assert_eq!(places(&closed, later), 0, "the one idle processor is promised");
    assert_eq!(commits.plans, []);
    // At the end of the cycle no promise is left.
    let promised = |state: &stowplan_batch::session::State| {
        state.world.amount(stowplan_batch::world::Kind::Pipelined, DimIx::CPU, HostIx(0))
    };
    assert_eq!(promised(&closed.state), 0);
    assert_eq!(placed(&closed.state, waiting), [None, None]);
}
