//! Queues, jobs and tasks as readers see them: answered from an image alone.

mod jobs;
mod queues;

pub use jobs::{
    JobDetail, JobFilter, JobPage, JobSummary, TaskView, job, jobs, jobs_among, task, tasks,
    tasks_on,
};
pub use queues::{Limits, QueueStatus, QueueView, Standing, queue, queues};
