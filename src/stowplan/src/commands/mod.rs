//! The commands, a file each.

pub mod config;
pub mod db;
pub mod explain;
mod fields;
pub mod job;
pub mod queue;
mod server;
pub mod shadow;
pub mod snapshot;
