//! What users say of jobs and queues, and how it is kept.

mod budget;
mod check;
mod later;
pub(crate) mod least;
mod names;
mod notes;
mod queue;
mod request;
mod stored;
mod topology;

pub use budget::DisruptionBudget;
pub use check::{Limits, check};
pub(crate) use names::check_name;
pub(crate) use queue::check_resources;
pub use queue::{
    Guarantee, GuaranteePolicy, Percentage, QueueRequest, QueueSpec, Resources, check_queue,
    check_queue_name, named_limits, read_queue, units,
};
pub use request::{JobRequest, RoleRequest, read_job};
pub use stored::{JobSpec, OnTaskFailure, PreemptionPolicy, RoleSpec};
pub(crate) use topology::check_sizes;
pub use topology::{NetworkTopology, SubGroups, TopologyMode};
