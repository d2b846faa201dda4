//! What the batch layer refuses.

use stowplan_model::Uuid;
use stowplan_scheduler::fields::FieldErrors;
use thiserror::Error;

/// A refusal, with the words that callers see.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BatchError {
    /// Fields of a request that cannot be.
    #[error("{0}")]
    Fields(#[from] FieldErrors),
    /// No such queue, where one is looked at.
    #[error("there is no queue {0:?}")]
    NoQueue(String),
    /// No such queue, where a job names one.
    #[error("queue is {0:?}: expected the name of a queue that exists")]
    UnknownQueue(String),
    /// The queue is not open, or not one for jobs.
    #[error("queue {queue:?} takes no jobs: {why}")]
    QueueTakesNoJobs {
        /// The queue.
        queue: String,
        /// Why.
        why: String,
    },
    /// The name is taken.
    #[error("namespace {namespace:?} has a job {name:?} already ({job})")]
    NameTaken {
        /// The namespace.
        namespace: String,
        /// The name.
        name: String,
        /// Who has it.
        job: Uuid,
    },
    /// No such job.
    #[error("there is no job {0}")]
    NoJob(String),
    /// The job has ended.
    #[error("job {job} is {phase}: it cannot be cancelled any more")]
    Ended {
        /// The job.
        job: Uuid,
        /// Its phase.
        phase: String,
    },
    /// The job cannot be forgotten yet.
    #[error("job {job} is {phase}{more}: cancel it first, and wait for its tasks to be released")]
    NotEnded {
        /// The job.
        job: Uuid,
        /// Its phase.
        phase: String,
        /// What else keeps it.
        more: String,
    },
}
