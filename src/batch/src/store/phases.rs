//! A job's row after its tasks have changed.

use crate::life::{Counts, JobPhase, TaskState, phase_of};
use crate::spec::JobSpec;
use foldhash::HashMap;
use stowplan_ledger::rows::{JobRow, TaskRow};
use stowplan_ledger::{Image, Record};
use stowplan_model::{Micros, Uuid};

/// Tasks as a proposal leaves them, over those of the image.
pub(super) struct Draft<'a> {
    pub image: &'a Image,
    pub tasks: HashMap<Uuid, TaskRow>,
    pub now: Micros,
}

impl<'a> Draft<'a> {
    pub(super) fn new(image: &'a Image, now: Micros) -> Self {
        Self { image, tasks: HashMap::default(), now }
    }

    /// A task as it stands in this draft.
    pub(super) fn task(&self, uuid: Uuid) -> Option<&TaskRow> {
        self.tasks.get(&uuid).or_else(|| self.image.batch.tasks.get(uuid).map(AsRef::as_ref))
    }

    /// Changes a task.
    pub(super) fn put(&mut self, task: TaskRow) {
        self.tasks.insert(task.uuid, TaskRow { updated: self.now, ..task });
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
        let min_available = JobSpec::read(&job.spec).map_or(0, |spec| spec.min_available);
        let phase = phase_of(before, &self.counts(job.id), min_available, false);
        if phase == before {
            return None;
        }
        if phase == JobPhase::Failed {
            self.end_tasks(job, "the job has failed");
        }
        Some(JobRow { phase: phase.as_str().to_owned(), updated: self.now, ..job.clone() })
    }

    /// Ends the tasks of a job that have not ended: those that hold room must
    /// release it first (rule 17).
    pub(super) fn end_tasks(&mut self, job: &JobRow, why: &str) {
        let rows: Vec<TaskRow> = self
            .image
            .batch
            .tasks_of(job.id)
            .map(|row| self.tasks.get(&row.uuid).unwrap_or(row).clone())
            .collect();
        for row in rows {
            let state = match state_of(&row) {
                TaskState::Pending => TaskState::Cancelled,
                TaskState::Bound | TaskState::Running | TaskState::Unknown => TaskState::Releasing,
                _ => continue,
            };
            let (state, reason) = (state.as_str().to_owned(), Some(why.to_owned()));
            self.put(TaskRow { state, reason, ..row });
        }
    }

    /// The records of the changed tasks, in order of their ids.
    pub(super) fn records(self) -> impl Iterator<Item = Record> {
        let mut rows: Vec<TaskRow> = self.tasks.into_values().collect();
        rows.sort_by_key(|row| row.id);
        rows.into_iter().map(Record::Task)
    }
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
