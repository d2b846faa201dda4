//! Statements: tentative steps of one job that hold together.

use super::Session;
use super::cells::CellShare;
use super::census::Status;
use super::commits::{Bind, Evict, Nomination, Outcome, Plan, Take};
use super::objects::{JobIx, TaskIx};
use super::state::State;
use crate::world::Pick;
use stowplan_engine::hint::HintOutcome;
use stowplan_engine::{HostIx, HostView};

/// A list of tentative steps of one job.
#[derive(Debug)]
pub struct Statement {
    job: JobIx,
    steps: Vec<Step>,
}

/// One step: what was done to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// It got room on a host.
    Allocate(TaskIx),
    /// It was promised room on a host.
    Pipeline(TaskIx),
    /// It lost its room; it was in this state.
    Evict(TaskIx, Status),
}

impl Statement {
    /// An empty one.
    #[must_use]
    pub fn new(job: JobIx) -> Self {
        Self { job, steps: Vec::new() }
    }

    /// Whether nothing was done yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The tasks that lost their room, in order.
    pub fn victims(&self) -> impl Iterator<Item = TaskIx> + '_ {
        self.steps.iter().filter_map(|step| match step {
            Step::Evict(task, _) => Some(*task),
            Step::Allocate(_) | Step::Pipeline(_) => None,
        })
    }

    /// Adds the steps of another statement.
    pub fn merge(&mut self, other: Self) {
        self.steps.extend(other.steps);
    }
}

impl Session<'_> {
    /// Gives a task room on a host, tentatively; whether there was enough.
    pub fn allocate(&mut self, statement: &mut Statement, task: TaskIx, host: HostIx) -> bool {
        if !self.state.place(task, host) {
            return false;
        }
        self.tiers.allocated(&self.state, task);
        statement.steps.push(Step::Allocate(task));
        true
    }

    /// Promises a task the room that others leave on a host, tentatively.
    pub fn pipeline(&mut self, statement: &mut Statement, task: TaskIx, host: HostIx) {
        self.state.promise(task, host);
        self.tiers.allocated(&self.state, task);
        statement.steps.push(Step::Pipeline(task));
    }

    /// Takes a task off its host, tentatively.
    pub fn evict(&mut self, statement: &mut Statement, task: TaskIx) {
        statement.steps.push(Step::Evict(task, self.state[task].status));
        self.state.evict(task);
        self.tiers.deallocated(&self.state, task);
    }

    /// Lets a task stay that the statement has evicted.
    pub fn spare(&mut self, statement: &mut Statement, task: TaskIx) {
        let is_it = |step: &Step| matches!(step, Step::Evict(victim, _) if *victim == task);
        if let Some(place) = statement.steps.iter().rposition(is_it) {
            let step = statement.steps.remove(place);
            self.undo(step);
        }
    }

    /// Takes all steps back, the last first.
    pub fn discard(&mut self, statement: Statement) {
        statement.steps.into_iter().rev().for_each(|step| self.undo(step));
    }

    fn undo(&mut self, step: Step) {
        match step {
            Step::Allocate(task) | Step::Pipeline(task) => {
                self.state.unplace(task);
                self.tiers.deallocated(&self.state, task);
            }
            Step::Evict(task, status) => {
                self.state.keep_on(task, status);
                self.tiers.allocated(&self.state, task);
            }
        }
    }

    /// Takes back the promise that a task was made in this cycle: it is
    /// pending again.
    pub fn withdraw(&mut self, task: TaskIx) {
        for statement in self.kept.iter_mut().chain(self.under_way.values_mut()) {
            statement.steps.retain(|step| *step != Step::Pipeline(task));
        }
        self.undo(Step::Pipeline(task));
    }

    /// Keeps a statement uncommitted: its steps hold until the end of the
    /// cycle.
    pub fn keep(&mut self, statement: Statement) {
        if !statement.is_empty() {
            self.kept.push(statement);
        }
    }

    /// Hands a statement over to be committed. Promises in it stay promises,
    /// and hold until the end of the cycle.
    pub fn commit(&mut self, statement: Statement) {
        if statement.steps.iter().all(|step| matches!(step, Step::Pipeline(_))) {
            return self.keep(statement);
        }
        let plan = self.plan(&statement);
        self.under_way.insert(plan.statement, statement);
        self.commits.submit(plan);
    }

    fn plan(&mut self, statement: &Statement) -> Plan {
        let mut plan = Plan {
            statement: self.next_statement,
            job: self.state[statement.job].uuid,
            binds: Vec::new(),
            evicts: Vec::new(),
            nominations: Vec::new(),
        };
        self.next_statement += 1;
        for step in &statement.steps {
            match *step {
                Step::Allocate(task) => {
                    self.state.set_status(task, Status::Binding);
                    let cells = self.tiers.cells(task);
                    plan.binds.extend(bind(&self.state, task, cells));
                }
                Step::Evict(task, _) => plan.evicts.extend(evict(&self.state, task)),
                Step::Pipeline(task) => plan.nominations.extend(nomination(&self.state, task)),
            }
        }
        // Who waits for tasks that leave by themselves needs no nomination.
        if plan.evicts.is_empty() {
            plan.nominations.clear();
        }
        plan
    }

    /// Takes in what became of statements handed over; with `wait`, of all of
    /// them. What was refused is undone whole, its hosts are read anew, and
    /// its job is returned if it may be tried again in this cycle.
    pub fn settle(&mut self, wait: bool) -> Vec<JobIx> {
        let mut again = Vec::new();
        while let Some(outcome) = self.commits.outcome(wait && !self.under_way.is_empty()) {
            if let Some(job) = self.take_in(outcome)
                && !again.contains(&job)
            {
                again.push(job);
            }
        }
        again
    }

    fn take_in(&mut self, outcome: Outcome) -> Option<JobIx> {
        let statement = self.under_way.remove(&outcome.statement)?;
        let Err(refused) = outcome.result else {
            self.hold(statement);
            return None;
        };
        let mut hosts: Vec<HostIx> = Vec::new();
        for step in &statement.steps {
            let (Step::Allocate(task) | Step::Pipeline(task) | Step::Evict(task, _)) = *step;
            hosts.extend(self.state[task].host);
        }
        hosts.sort_unstable();
        hosts.dedup();
        let job = statement.job;
        self.discard(statement);
        self.state.locate(job);
        let retries = self.options.commit_retries;
        let at = self.state.job_mut(job);
        at.refusals += 1;
        at.refusal = Some(refused.reason);
        let may_retry = at.refusals <= retries;
        let news = refused.news?;
        self.state.refresh(&hosts, news.as_ref());
        self.tiers.refreshed(&self.state);
        may_retry.then_some(job)
    }
}

/// Places that tasks had, to be given to them once more.
#[derive(Clone, Debug, Default)]
pub struct Replay(Vec<Given>);

/// The place that a task had.
#[derive(Clone, Copy, Debug)]
struct Given {
    task: TaskIx,
    host: HostIx,
    /// Whether it had room there, or a promise of it.
    now: bool,
    /// What had become of its hint: later dry runs tell of other places.
    hint: Option<HintOutcome>,
}

impl Session<'_> {
    /// The places in a statement.
    #[must_use]
    pub fn recorded(&self, statement: &Statement) -> Replay {
        let given = |step: &Step| {
            let (task, now) = match *step {
                Step::Allocate(task) => (task, true),
                Step::Pipeline(task) => (task, false),
                Step::Evict(..) => return None,
            };
            let at = &self.state[task];
            Some(Given { task, host: at.host?, now, hint: at.hint })
        };
        Replay(statement.steps.iter().filter_map(given).collect())
    }

    /// Gives tasks of a job the same places; none when one is not free any
    /// more.
    pub fn replayed(&mut self, job: JobIx, replay: &Replay) -> Option<Statement> {
        let mut statement = Statement::new(job);
        for &Given { task, host, now, hint } in &replay.0 {
            self.state.note_hint(task, hint);
            if !now {
                self.pipeline(&mut statement, task, host);
            } else if !self.allocate(&mut statement, task, host) {
                self.discard(statement);
                return None;
            }
        }
        Some(statement)
    }

    /// A statement is committed: what got room is bound, promises are kept.
    fn hold(&mut self, mut statement: Statement) {
        for step in &statement.steps {
            if let Step::Allocate(task) = *step {
                self.binds += 1;
                self.state.set_status(task, Status::Bound);
            }
        }
        statement.steps.retain(|step| matches!(step, Step::Pipeline(_)));
        self.keep(statement);
    }
}

fn bind(state: &State, task: TaskIx, cells: Vec<CellShare>) -> Option<Bind> {
    let at = &state[task];
    let host = state.world.facts(at.host?).uuid;
    let take = |pick: &Pick| {
        let class = state.world.dims().class(pick.dim)?.to_owned();
        Some(Take { provider: pick.provider, class, amount: pick.amount })
    };
    let takes = at.picks.iter().filter_map(take).collect();
    Some(Bind { task: at.uuid, attempt: at.attempt, host, takes, cells, hint: at.hint })
}

fn evict(state: &State, task: TaskIx) -> Option<Evict> {
    let at = &state[task];
    let host = state.world.facts(at.host?).uuid;
    Some(Evict { task: at.uuid, attempt: at.attempt, host })
}

fn nomination(state: &State, task: TaskIx) -> Option<Nomination> {
    let at = &state[task];
    let host = state.world.facts(at.host?).uuid;
    Some(Nomination { task: at.uuid, attempt: at.attempt, host })
}
