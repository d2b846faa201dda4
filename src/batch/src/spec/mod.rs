//! What users say of jobs and queues, and how it is kept.

mod check;
mod later;
mod request;
mod stored;

pub use check::{Limits, check};
pub use request::{JobRequest, RoleRequest, read_job};
pub use stored::{JobSpec, QueueSpec, RoleSpec};
