//! A job's row after its tasks have changed.

use super::detail::{Cause, Evicted, Leaving, TaskDetail};
use super::status::new_condition;
use crate::life::{Counts, JobPhase, TaskState, phase_of};
use crate::session::Condition;
use crate::spec::{JobSpec, OnTaskFailure};
use foldhash::{HashMap, HashSet};
use serde_json::Value;
use stowplan_ledger::rows::{JobRow, TaskRow};
use stowplan_ledger::{Image, Record};
use stowplan_model::{Micros, Uuid};

/// The pause before a failed task is tried again, doubled with each time.
const BACK_OFF: i64 = 10 * Micros::PER_SECOND;
/// The longest such pause.
const LONGEST_BACK_OFF: i64 = 360 * Micros::PER_SECOND;

/// Tasks as a proposal leaves them, over those of the image.
pub(super) struct Draft<'a> {
    pub image: &'a Image,
    pub tasks: HashMap<Uuid, TaskRow>,
    pub now: Micros,
    /// Jobs that fail whatever their tasks say.
    failed: HashSet<i64>,
    /// New conditions of jobs.
    conditions: HashMap<i64, Value>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(image: &'a Image, now: Micros) -> Self {
        Self {
            image,
            tasks: HashMap::default(),
            now,
            failed: HashSet::default(),
            conditions: HashMap::default(),
        }
    }

    /// A task as it stands in this draft.
    pub(super) fn task(&self, uuid: Uuid) -> Option<&TaskRow> {
        self.tasks.get(&uuid).or_else(|| self.image.batch.tasks.get(uuid).map(AsRef::as_ref))
    }

    /// Changes a task.
    pub(super) fn put(&mut self, task: TaskRow) {
        self.tasks.insert(task.uuid, TaskRow { updated: self.now, ..task });
    }

    /// The tasks of a job as they stand in this draft.
    pub(super) fn tasks_of(&self, job: i64) -> Vec<TaskRow> {
        let tasks = self.image.batch.tasks_of(job);
        tasks.map(|row| self.tasks.get(&row.uuid).unwrap_or(row).clone()).collect()
    }

    /// The states of a job's tasks.
    pub(super) fn counts(&self, job: i64) -> Counts {
        let tasks = self.image.batch.tasks_of(job);
        Counts::of(tasks.map(|row| state_of(self.tasks.get(&row.uuid).unwrap_or(row))))
    }

    /// The job's row as it follows from its tasks; none if it stays. A job
    /// that fails takes what is left of its tasks with it.
    pub(super) fn settle(&mut self, job: &JobRow) -> Option<JobRow> {
        let before = JobPhase::named(&job.phase)?;
        let min_available = min_available(job);
        let mut phase = phase_of(before, &self.counts(job.id), min_available, false);
        if self.failed.contains(&job.id) && !before.is_final() {
            phase = JobPhase::Failed;
        }
        let conditions = self.conditions.remove(&job.id);
        if phase == before && conditions.is_none() {
            return None;
        }
        if phase == JobPhase::Failed {
            self.end_tasks(job, "the job has failed");
        }
        let conditions = conditions.unwrap_or_else(|| job.conditions.clone());
        let phase = phase.as_str().to_owned();
        Some(JobRow { phase, conditions, updated: self.now, ..job.clone() })
    }

    /// Says of a job of which every task has its place what the cycle would say
    /// of it in the end: its row is written once.
    pub(super) fn say_scheduled(&mut self, job: &JobRow, cycle: i64) {
        let counts = self.counts(job.id);
        if counts.ready() == counts.all() {
            let condition = Condition::scheduled(counts.ready(), counts.all(), cycle);
            let conditions = new_condition(job, Some(&condition), self.now);
            self.conditions.extend(conditions.map(|conditions| (job.id, conditions)));
        }
    }

    /// Ends the tasks of a job that have not ended: those that hold room must
    /// release it first (rule 17).
    pub(super) fn end_tasks(&mut self, job: &JobRow, why: &str) {
        for row in self.tasks_of(job.id) {
            let state = state_of(&row);
            if state == TaskState::Pending {
                let (state, reason) = (TaskState::Cancelled, Some(why.to_owned()));
                let detail = TaskDetail::without_nomination(&row);
                self.put(TaskRow { state: state.as_str().to_owned(), reason, detail, ..row });
            } else if state.holds() {
                self.evict(row, Cause::JobEnded, Some(why.to_owned()));
            }
        }
    }

    /// Tells the tasks of a job that hold room to leave it; the job stays.
    pub(super) fn send_away(&mut self, job: i64, cause: Cause) {
        for row in self.tasks_of(job) {
            if state_of(&row).holds() {
                self.evict(row, cause, None);
            }
        }
    }

    /// Tells a task to leave its host. One that is leaving already leaves for
    /// the new cause, and its time runs on.
    pub(super) fn evict(&mut self, row: TaskRow, cause: Cause, why: Option<String>) {
        let mut detail = TaskDetail::of(&row);
        let before = detail.leaving.filter(|_| state_of(&row) == TaskState::Releasing);
        if before.is_some_and(|leaving| leaving.cause == cause) {
            return;
        }
        let leaves_to = before.and_then(|leaving| leaving.leaves_to);
        let since = before.map_or(self.now, |leaving| leaving.since);
        detail.leaving = Some(Leaving { cause, since, leaves_to });
        let reason = Some(why.unwrap_or_else(|| cause.text().to_owned()));
        let state = TaskState::Releasing.as_str().to_owned();
        self.put(TaskRow { state, reason, detail: detail.value(), ..row });
    }

    /// Tells a task to leave its host for another one.
    pub(super) fn evict_for(&mut self, row: TaskRow, heir: Uuid, loop_window: i64) {
        let uuid = row.uuid;
        self.evict(row, Cause::Evicted, None);
        if let Some(row) = self.tasks.get_mut(&uuid) {
            let mut detail = TaskDetail::of(row);
            if let Some(leaving) = &mut detail.leaving {
                leaving.leaves_to = Some(heir);
            }
            detail.evicted = Some(Evicted::once_more(detail.evicted, loop_window, self.now));
            row.detail = detail.value();
        }
    }

    /// The state that a task is in once it has left its host.
    pub(super) fn after_release(&self, row: &TaskRow) -> TaskState {
        let job = self.image.batch.jobs.by_id(row.job);
        let is_over = job.is_none_or(|job| is_final(&job.phase)) || self.failed.contains(&row.job);
        match TaskDetail::of(row).leaving.map(|leaving| leaving.cause) {
            _ if is_over => TaskState::Cancelled,
            Some(Cause::Shrunk) => TaskState::Cancelled,
            Some(Cause::RunLimit) => TaskState::Failed,
            _ => TaskState::Pending,
        }
    }

    /// A task has failed: it is tried again, alone or with its whole job, or
    /// stays failed (rule 19). Gives its new row.
    pub(super) fn fail(&mut self, row: TaskRow, may_retry: bool) -> TaskRow {
        let job = self.image.batch.jobs.by_id(row.job);
        let spec =
            job.filter(|job| !is_final(&job.phase)).and_then(|job| JobSpec::read(&job.spec).ok());
        let Some(spec) = spec else { return row };
        let failed = TaskDetail::of(&row);
        if !may_retry || failed.retries >= spec.max_retries {
            if spec.on_task_failure != OnTaskFailure::Ignore {
                self.failed.insert(row.job);
            }
            return row;
        }
        let mut detail = TaskDetail { exit_code: failed.exit_code, ..failed.anew() };
        detail.retries += 1;
        let pause = BACK_OFF << (detail.retries - 1).min(16);
        detail.not_before = Some(Micros(self.now.0 + pause.min(LONGEST_BACK_OFF)));
        if spec.on_task_failure == OnTaskFailure::RestartJob {
            self.restart(row.job, &spec, Some(row.uuid), Cause::JobRestarted);
        }
        let again = format!("tried again ({} of {})", detail.retries, spec.max_retries);
        let reason = match &row.reason {
            Some(reason) => format!("failed: {reason}; {again}"),
            None => format!("failed; {again}"),
        };
        let state = TaskState::Pending.as_str().to_owned();
        TaskRow { state, host: None, reason: Some(reason), detail: detail.value(), ..row }
    }

    /// Puts all tasks of a job back to where they wait, but one: those that
    /// hold room leave it first.
    pub(super) fn restart(&mut self, job: i64, spec: &JobSpec, except: Option<Uuid>, cause: Cause) {
        for row in self.tasks_of(job).into_iter().filter(|row| Some(row.uuid) != except) {
            let state = state_of(&row);
            let belongs = spec.role(&row.role).is_some_and(|role| row.index < role.count.into());
            if state.holds() {
                self.evict(row, cause, None);
            } else if state.is_final() && belongs {
                // Another restart of the job counts, one by its owner does not.
                let mut detail = TaskDetail::of(&row).anew();
                if cause != Cause::JobRestarted {
                    detail.retries = 0;
                }
                let detail = detail.value();
                let state = TaskState::Pending.as_str().to_owned();
                let reason = Some(cause.text().to_owned());
                self.put(TaskRow { state, host: None, reason, detail, ..row });
            }
        }
    }

    /// That what the changed tasks held and hold no more is free.
    pub(super) fn freed(&self) -> Vec<Record> {
        let mut freed: Vec<&TaskRow> =
            self.tasks.values().filter(|row| !state_of(row).holds()).collect();
        freed.sort_by_key(|row| row.id);
        let held = |row: &&TaskRow| self.image.consumers.get(row.uuid).is_some();
        freed.into_iter().filter(held).map(|row| Record::ConsumerGone(row.uuid)).collect()
    }

    /// The records of the changed tasks, in order of their ids.
    pub(super) fn records(self) -> impl Iterator<Item = Record> {
        let mut rows: Vec<TaskRow> = self.tasks.into_values().collect();
        rows.sort_by_key(|row| row.id);
        rows.into_iter().map(Record::Task)
    }
}

/// The minimum of a job. Not its whole specification: this is asked at every
/// step of a task.
pub(super) fn min_available(job: &JobRow) -> u32 {
    let min = job.spec.get("min_available").and_then(Value::as_u64);
    min.and_then(|min| u32::try_from(min).ok()).unwrap_or(0)
}

/// Whether a phase is one of jobs that have ended.
pub(super) fn is_final(phase: &str) -> bool {
    JobPhase::named(phase).is_none_or(JobPhase::is_final)
}

/// Whether a task of that state counts as having its place.
#[must_use]
pub fn has_place(state: &str) -> bool {
    matches!(TaskState::named(state), Some(TaskState::Bound | TaskState::Running))
}

/// The state of a task's row; what this version does not know is `Unknown`.
pub(super) fn state_of(row: &TaskRow) -> TaskState {
    TaskState::named(&row.state).unwrap_or(TaskState::Unknown)
}
