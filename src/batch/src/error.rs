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
    /// The name of a queue is taken.
    #[error("there is a queue {0:?} already")]
    QueueExists(String),
    /// A queue that cannot go.
    #[error("queue {queue:?} cannot be deleted: {why}")]
    QueueInUse {
        /// The queue.
        queue: String,
        /// Why.
        why: String,
    },
    /// Somebody else has changed the queue since it was read.
    #[error("queue {queue:?} is at generation {generation}, not {expected}: read it again")]
    QueueMoved {
        /// The queue.
        queue: String,
        /// The generation that the caller knows.
        expected: i64,
        /// The generation that it has.
        generation: i64,
    },
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
    /// The job is not where it would have to be.
    #[error("job {job} is {phase}: {why}")]
    WrongPhase {
        /// The job.
        job: Uuid,
        /// Its phase.
        phase: String,
        /// What it cannot do there.
        why: &'static str,
    },
    /// No such object.
    #[error("there is no {kind} {name:?}")]
    NoObject {
        /// What kind of object.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// Another submission bore the same key.
    #[error("Idempotency-Key {0:?} was used for another job before")]
    KeyUsed(String),
    /// The host may still run what it was given.
    #[error(
        "host {0} is up: fencing it would let its tasks run twice; declare it down \
         (forced_down) first, or say force=true"
    )]
    HostUp(String),
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
