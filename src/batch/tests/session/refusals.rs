//! Statements that are refused at commit.

use crate::bench::{OPTIONS, add_job, cpu, cycle, only, places, sources, state, tasks};
use std::collections::{BTreeMap, VecDeque};
use stowplan_batch::actions::actions;
use stowplan_batch::amounts::{DimIx, Dims};
use stowplan_batch::session::{Commits, DomainInput, Domains, Outcome, Plan, Refused, Session};
use stowplan_batch::world::{HostState, News, Source, Sources};
use stowplan_engine::HostIx;
use stowplan_engine::table::{Figure, Figures};
use stowplan_model::Uuid;

/// News by which every host has so many processors, and others hold some.
struct Shrunk {
    cpus: i64,
    taken: i64,
}

impl News for Shrunk {
    fn host(&self, uuid: Uuid, _dims: &Dims) -> Option<HostState> {
        let place = usize::try_from(uuid.as_u128() - 1000).ok()?;
        let figures = Figures::default().with(Figure::AliveSince, crate::bench::NOW.0);
        let made = sources(&cpu(self.cpus), place);
        let mut now = Sources::default();
        for source in [DimIx::CPU, DimIx::MEMORY, DimIx::PODS].iter().flat_map(|dim| made.of(*dim))
        {
            let used = if source.dim == DimIx::CPU { self.taken } else { 0 };
            now.push(Source { used, ..source.clone() });
        }
        Some(HostState { sources: now, figures })
    }

    fn counts(&self, _task: Uuid) -> bool {
        false
    }
}

/// Refuses the first few statements.
struct Refuse {
    left: usize,
    cpus: i64,
    taken: i64,
    submitted: usize,
    outcomes: VecDeque<Outcome>,
}

impl Refuse {
    fn new(left: usize, cpus: i64) -> Self {
        Self { left, cpus, taken: 0, submitted: 0, outcomes: VecDeque::new() }
    }
}

impl Commits for Refuse {
    fn submit(&mut self, plan: Plan) {
        self.submitted += 1;
        let result = if self.left == 0 {
            Ok(())
        } else {
            self.left -= 1;
            Err(Refused {
                reason: "somebody was faster".to_owned(),
                news: Some(Box::new(Shrunk { cpus: self.cpus, taken: self.taken })),
            })
        };
        self.outcomes.push_back(Outcome { statement: plan.statement, result });
    }

    fn outcome(&mut self, _wait: bool) -> Option<Outcome> {
        self.outcomes.pop_front()
    }
}

#[test]
fn a_refused_gang_is_tried_again_on_fresh_hosts() {
    let mut state = state(&[cpu(4), cpu(4)]);
    let job = add_job(&mut state, "p/gang", 4, &[tasks("worker", 4, 1)]);
    let mut commits = Refuse::new(1, 2);
    let closed = cycle(state, &mut commits);
    assert_eq!(commits.submitted, 2);
    assert_eq!(places(&closed, job), 4);
}

#[test]
fn when_the_news_leave_no_room_nothing_is_placed() {
    let mut state = state(&[cpu(4)]);
    let job = add_job(&mut state, "p/gang", 4, &[tasks("worker", 4, 1)]);
    let mut commits = Refuse::new(1, 3);
    let closed = cycle(state, &mut commits);
    assert_eq!((commits.submitted, places(&closed, job)), (1, 0));
    let message = &closed.verdicts[0].condition.as_ref().unwrap().message;
    assert!(message.contains("the last attempt was refused: somebody was faster"), "{message}");
}

#[test]
fn retries_end() {
    let mut state = state(&[cpu(4)]);
    let job = add_job(&mut state, "p/gang", 4, &[tasks("worker", 4, 1)]);
    let mut commits = Refuse::new(100, 4);
    let closed = cycle(state, &mut commits);
    assert_eq!(commits.submitted, 1 + 3);
    assert_eq!(places(&closed, job), 0);
    assert_eq!(closed.state.audit(), None);
}

#[test]
fn other_jobs_on_the_same_hosts_keep_their_places() {
    let mut state = state(&[cpu(4)]);
    let a = add_job(&mut state, "p/a", 2, &[tasks("worker", 2, 1)]);
    let b = add_job(&mut state, "p/b", 2, &[tasks("worker", 2, 1)]);
    // Only a's first statement is refused; b's is under way on the same host.
    let mut commits = Refuse::new(1, 3);
    let closed = cycle(state, &mut commits);
    assert_eq!((places(&closed, a), places(&closed, b)), (0, 2));
    let used = closed.state.world.idle(DimIx::CPU, HostIx(0));
    assert_eq!(used, 1, "what b holds is held on the fresh host too");
}

#[test]
fn what_domains_have_in_use_follows_fresh_hosts() {
    let mut state = state(&[cpu(4)]);
    let rack = DomainInput {
        name: "r".to_owned(),
        tier: 1,
        hosts: vec![HostIx(0)],
        ..DomainInput::default()
    };
    state.domains = Domains::new(&state.world, vec![rack]);
    let job = add_job(&mut state, "p/gang", 4, &[tasks("worker", 4, 1)]);
    // Others were faster: all is taken, so that no step follows.
    let mut commits = Refuse { taken: 4, ..Refuse::new(1, 4) };
    let tiers = only(&["gang", "predicates", "network-topology-aware"]);
    let mut session = Session::open(state, tiers, OPTIONS, &mut commits);
    for action in actions(["allocate"], &BTreeMap::new()).unwrap() {
        action.run(&mut session);
    }
    assert_eq!(session.state[job].refusals, 1);
    assert_eq!(session.tiers.audit(&session.state), None);
}
