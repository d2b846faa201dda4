//! Queues, jobs and the session with its actions and plugins.

pub mod amounts;
