//! Queues, jobs and the session with its actions and plugins.

pub mod actions;
pub mod amounts;
pub mod error;
pub mod life;
pub mod plugins;
pub mod registry;
pub mod session;
pub mod spec;
pub mod store;
pub mod world;
