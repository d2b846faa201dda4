//! Statements: tentative steps of one job that hold together.

use super::commits::{Bind, Outcome, Plan, Take};
use super::objects::{JobIx, Status, TaskIx};
use super::{Session, state::State};
use crate::world::Pick;
use stowplan_engine::{HostIx, HostView};

/// A list of tentative steps of one job.
#[derive(Debug)]
pub struct Statement {
    job: JobIx,
    steps: Vec<TaskIx>,
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
}

impl Session<'_> {
    /// Gives a task room on a host, tentatively; whether there was enough.
    pub fn allocate(&mut self, statement: &mut Statement, task: TaskIx, host: HostIx) -> bool {
        if !self.state.place(task, host) {
            return false;
        }
        self.tiers.allocated(&self.state, task);
        statement.steps.push(task);
        true
    }

    /// Promises a task the room that others leave on a host, tentatively.
    pub fn pipeline(&mut self, statement: &mut Statement, task: TaskIx, host: HostIx) {
        self.state.promise(task, host);
        self.tiers.allocated(&self.state, task);
        statement.steps.push(task);
    }

    /// Takes all steps back, the last first.
    pub fn discard(&mut self, statement: Statement) {
        for task in statement.steps.into_iter().rev() {
            self.state.unplace(task);
            self.tiers.deallocated(&self.state, task);
        }
    }

    /// Keeps a statement uncommitted: its promises hold until the end of the
    /// cycle.
    pub fn keep(&mut self, statement: Statement) {
        if !statement.is_empty() {
            self.kept.push(statement);
        }
    }

    /// Hands a statement over to be committed. Promises in it stay promises,
    /// and hold until the end of the cycle.
    pub fn commit(&mut self, statement: Statement) {
        let is_promise = |task: &TaskIx| self.state[*task].status == Status::Pipelined;
        let (promised, placed): (Vec<_>, Vec<_>) =
            statement.steps.into_iter().partition(is_promise);
        self.keep(Statement { job: statement.job, steps: promised });
        if placed.is_empty() {
            return;
        }
        for task in &placed {
            self.state.set_status(*task, Status::Binding);
        }
        let number = self.next_statement;
        self.next_statement += 1;
        let binds = placed.iter().filter_map(|task| bind(&self.state, *task)).collect();
        let job = self.state[statement.job].uuid;
        self.commits.submit(Plan { statement: number, job, binds });
        self.under_way.insert(number, Statement { job: statement.job, steps: placed });
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
            self.binds += statement.steps.len();
            for task in statement.steps {
                self.state.set_status(task, Status::Bound);
            }
            return None;
        };
        let hosts = statement.steps.iter().filter_map(|task| self.state[*task].host);
        let mut hosts: Vec<HostIx> = hosts.collect();
        hosts.sort_unstable();
        hosts.dedup();
        let job = statement.job;
        self.discard(statement);
        let retries = self.options.commit_retries;
        let at = self.state.job_mut(job);
        at.refusals += 1;
        at.refusal = Some(refused.reason);
        let may_retry = at.refusals <= retries;
        let news = refused.news?;
        self.state.refresh(&hosts, news.as_ref());
        may_retry.then_some(job)
    }
}

fn bind(state: &State, task: TaskIx) -> Option<Bind> {
    let at = &state[task];
    let host = state.world.facts(at.host?).uuid;
    let take = |pick: &Pick| {
        let class = state.world.dims().class(pick.dim)?.to_owned();
        Some(Take { provider: pick.provider, class, amount: pick.amount })
    };
    let takes = at.picks.iter().filter_map(take).collect();
    Some(Bind { task: at.uuid, attempt: at.attempt, host, takes })
}
