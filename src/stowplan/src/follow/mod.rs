//! The Nova follower: hosts, services, servers, host aggregates and server groups
//! out of Nova's own databases (`[nova]`), which are read again and again and never
//! written.
//!
//! A task reads the API database and knows from it which cells there are; each cell
//! has a task of its own, so that one that does not answer holds up no other. What a
//! reading has found is compared with the ledger, which is told what differs: so
//! nothing hangs on what was told before. What could not be told is read again.

mod books;
mod cell;
mod cells;
mod follower;
mod schema;
mod servers;
mod source;
mod tables;
mod tell;
mod template;

pub use cells::{NO_FILE, has_file};
pub use follower::Follower;
