//! Queues, jobs and tasks as readers see them: answered from an image alone.

mod devices;
mod jobs;
mod queues;

pub use devices::{HeldDevice, held_devices};
pub use jobs::{
    JobDetail, JobFilter, JobPage, JobSummary, TaskView, job, jobs, jobs_among, task, tasks,
    tasks_on,
};
pub use queues::{Limits, QueueCondition, QueueStatus, QueueView, Standing, queue, queues};
