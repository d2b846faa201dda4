//! Answers of the compute API, in the form of a microversion.

mod aggregates;
mod groups;
mod hypervisors;
mod services;
mod times;
mod zones;

pub use aggregates::{AggregateAnswer, AggregatesAnswer, ComputeAggregate};
pub use groups::{ComputeServerGroup, ServerGroupAnswer, ServerGroupsAnswer};
pub use hypervisors::{
    HypervisorAnswer, HypervisorDetailAnswer, HypervisorDetailsAnswer, Hypervisors,
    HypervisorsAnswer, Link, StatisticsAnswer,
};
pub use services::{ServiceAction, ServiceActionAnswer, ServiceAnswer, Services, ServicesAnswer};
pub use zones::ZonesAnswer;

use serde::Serialize;
use stowplan_model::Uuid;
use utoipa::ToSchema;

/// How a thing is named: by a number before 2.53, by its uuid from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ThingId {
    /// The integer id.
    Number(i64),
    /// The uuid.
    Uuid(Uuid),
}
