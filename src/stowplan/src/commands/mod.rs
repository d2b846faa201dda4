//! The commands, a file each.

pub mod config;
pub mod db;
pub mod explain;
mod server;
pub mod shadow;
pub mod snapshot;
