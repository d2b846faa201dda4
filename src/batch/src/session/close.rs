//! The end of a cycle: phases and conditions first, then everything that was
//! not committed is undone (rule 10).

use super::Session;
use super::census::Status;
use super::objects::{JobIx, ShapeIx, TaskIx};
use super::plugin::Objection;
use super::state::State;
use crate::life::{Counts, JobPhase, TaskState, phase_of};
use foldhash::{HashMap, HashMapExt};
use serde::{Deserialize, Serialize};
use stowplan_model::Uuid;

/// What a condition says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub enum ConditionKind {
    /// The job's minimum has a place.
    Scheduled,
    /// It has not.
    Unschedulable,
}

/// Why a job stands where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Condition {
    /// What it says.
    #[serde(rename = "type")]
    pub kind: ConditionKind,
    /// Always true: a condition that does not hold is not there.
    pub status: bool,
    /// A word for the cause.
    pub reason: String,
    /// The cause in words, with numbers.
    pub message: String,
    /// The ledger's sequence number that the cycle started from.
    pub cycle: i64,
}

impl Condition {
    /// That so many tasks of all have a place, and nothing is to be said of the
    /// others.
    #[must_use]
    pub fn scheduled(ready: u32, all: u32, cycle: i64) -> Self {
        Self {
            kind: ConditionKind::Scheduled,
            status: true,
            reason: "TasksReady".to_owned(),
            message: format!("{ready} of {all} tasks have a place"),
            cycle,
        }
    }
}

/// What a cycle says of one job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The job.
    pub job: Uuid,
    /// Its phase.
    pub phase: JobPhase,
    /// Its condition, if there is something to say.
    pub condition: Option<Condition>,
}

/// A session that has ended.
pub struct Closed {
    /// The state without what was not committed.
    pub state: State,
    /// What it says of each job.
    pub verdicts: Vec<Verdict>,
    /// How many tasks were bound.
    pub binds: usize,
}

/// Why hosts cannot take a shape, once per shape and cycle.
type Told = HashMap<ShapeIx, String>;

impl Session<'_> {
    /// Ends the cycle: what it says of each job. `cycle` is its number in
    /// conditions.
    #[must_use]
    pub fn close(mut self, cycle: i64) -> Closed {
        self.settle(true);
        let jobs: Vec<JobIx> = self.state.jobs().collect();
        let mut told = Told::new();
        let verdicts = jobs.into_iter().map(|job| self.verdict(job, cycle, &mut told)).collect();
        for statement in std::mem::take(&mut self.kept) {
            self.discard(statement);
        }
        self.tiers.close(&self.state);
        debug_assert_eq!(self.state.audit(), None);
        debug_assert_eq!(self.tiers.audit(&self.state), None);
        Closed { state: self.state, verdicts, binds: self.binds }
    }

    fn verdict(&self, job: JobIx, cycle: i64, told: &mut Told) -> Verdict {
        let at = &self.state[job];
        let objection = self.tiers.job_objection(&self.state, job);
        let stuck = objection.or_else(|| self.not_admitted(job)).or_else(|| self.stuck(job, told));
        let condition = match stuck {
            Some(Objection { reason, message }) => Some(Condition {
                kind: ConditionKind::Unschedulable,
                status: true,
                reason: reason.to_owned(),
                message,
                cycle,
            }),
            None => self.scheduled(job, cycle, told),
        };
        let starved = condition.as_ref().is_some_and(|c| c.kind == ConditionKind::Unschedulable);
        let counts =
            durable(&at.tasks.iter().map(|task| self.state[*task].status).collect::<Vec<_>>());
        Verdict {
            job: at.uuid,
            phase: phase_of(at.phase, &counts, at.min_available, starved),
            condition,
        }
    }

    /// The phase that the peer would give a job now: statements that are under
    /// way count for nothing yet, and no job fails.
    #[must_use]
    pub fn peer_phase(&self, job: JobIx) -> JobPhase {
        use Status::{Bound, Failed, Releasing, Running, Succeeded};
        let at = &self.state[job];
        let placed = |task: &&TaskIx| {
            let task = &self.state[**task];
            matches!(task.status, Bound | Running | Succeeded | Failed)
                || (task.status == Releasing && task.host.is_some())
        };
        let scheduled = at.tasks.iter().filter(placed).count() as u32;
        let ended = at.census.get(Succeeded) + at.census.get(Failed);
        if at.census.get(Running) > 0 && self.is_stuck(job) {
            JobPhase::Unknown
        } else if scheduled >= at.min_available {
            if ended == scheduled { JobPhase::Completed } else { JobPhase::Running }
        } else if at.phase == JobPhase::Inqueue {
            JobPhase::Inqueue
        } else {
            JobPhase::Pending
        }
    }

    /// Whether a job has not its minimum, and is not only on its way out.
    fn is_stuck(&self, job: JobIx) -> bool {
        let at = &self.state[job];
        !self.is_ready(job) && at.census.all() > 0 && !at.census.is_leaving(at.min_available)
    }

    /// The objection to a job that no plugin may admit yet.
    fn not_admitted(&self, job: JobIx) -> Option<Objection> {
        let at = &self.state[job];
        if at.phase != JobPhase::Pending || !self.options.enqueues || at.min_resources.is_none() {
            return None;
        }
        let text = |(plugin, why): (&str, Option<String>)| match why {
            Some(why) => format!("{plugin}: {why}"),
            None => plugin.to_owned(),
        };
        let reasons: Vec<String> = self.tiers.rejecting(&self.state, job).map(text).collect();
        (!reasons.is_empty()).then(|| Objection {
            reason: "NotAdmitted",
            message: format!("it is not admitted yet by {}", reasons.join("; ")),
        })
    }

    /// The objection to a job that has not its minimum although it was tried.
    fn stuck(&self, job: JobIx, told: &mut Told) -> Option<Objection> {
        if !self.is_stuck(job) {
            return None;
        }
        let at = &self.state[job];
        let lacking = at.min_available.saturating_sub(at.census.ready());
        let mut message =
            format!("{lacking} of the {} tasks it needs have no place", at.min_available);
        if let Some(refusal) = &at.refusal {
            message = format!("{message}; the last attempt was refused: {refusal}");
        }
        let why = self.why(job, told);
        Some(Objection {
            reason: "NotEnoughResources",
            message: if why.is_empty() { message } else { format!("{message}; {why}") },
        })
    }

    fn scheduled(&self, job: JobIx, cycle: i64, told: &mut Told) -> Option<Condition> {
        let at = &self.state[job];
        let (ready, all) = (at.census.ready(), at.census.all());
        if ready == 0 || at.census.is_leaving(at.min_available) {
            return None;
        }
        let mut condition = Condition::scheduled(ready, all, cycle);
        let why = self.why(job, told);
        if !why.is_empty() {
            condition.message = format!("{}; {why}", condition.message);
        }
        Some(condition)
    }

    /// For each role that found no host: why, once per shape.
    fn why(&self, job: JobIx, told: &mut Told) -> String {
        let at = &self.state[job];
        let mut seen = Vec::new();
        let mut parts = Vec::new();
        for task in &at.tasks {
            let task = &self.state[*task];
            let failed = task.status == Status::Pending && at.failed_roles.contains(&task.role);
            if !failed || seen.contains(&(task.role, task.shape)) {
                continue;
            }
            seen.push((task.role, task.shape));
            let role = at.roles.get(task.role as usize).map_or("", |role| role.name.as_str());
            let why = told
                .entry(task.shape)
                .or_insert_with(|| self.explain(task.shape).unwrap_or_else(|fault| fault.message));
            parts.push(format!("{role}: {why}"));
        }
        parts.extend(at.held_back.clone());
        if at.phase == JobPhase::Pending && self.options.enqueues {
            let queue = &self.state[at.queue].name;
            parts.push(format!("it is not admitted to queue {queue} yet"));
        }
        parts.join("; ")
    }
}

/// States as the ledger will have them once what is not committed is undone.
fn durable(states: &[Status]) -> Counts {
    Counts::of(states.iter().map(|status| match status {
        Status::Pending | Status::Allocated | Status::Pipelined | Status::Binding => {
            TaskState::Pending
        }
        Status::Bound => TaskState::Bound,
        Status::Running => TaskState::Running,
        Status::Releasing => TaskState::Releasing,
        Status::Succeeded => TaskState::Succeeded,
        Status::Failed => TaskState::Failed,
        Status::Unknown => TaskState::Unknown,
    }))
}
