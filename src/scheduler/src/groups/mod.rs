//! Server groups: which servers stay together or apart.
//!
//! The ledger keeps the members by uuid, in order of joining. A server joins
//! in the mutation that places it, and stays a member when its allocations go
//! for a while, as they do in a migration.

mod members;
mod quota;
mod write;

pub(crate) use members::lives;
pub use members::{join, leave, living_members};
pub use quota::create_group_within;
pub(crate) use write::is_policy;
pub use write::{NewGroup, Policy, create_group, delete_group, read_new_group};

use std::sync::Arc;

use stowplan_ledger::Image;
use stowplan_ledger::rows::ServerGroupRow;
use stowplan_model::Uuid;

use crate::error::SchedulerError;

/// The server group of that uuid.
///
/// # Errors
/// When there is none.
pub fn find<'a>(image: &'a Image, key: &str) -> Result<&'a Arc<ServerGroupRow>, SchedulerError> {
    let found = Uuid::parse_str(key).ok().and_then(|uuid| image.server_groups.get(uuid));
    found.ok_or_else(|| SchedulerError::GroupNotFound(key.to_owned()))
}
