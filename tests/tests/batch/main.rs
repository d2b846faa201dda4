//! Batch jobs through the real service: placed beside virtual machines,
//! reported on, cancelled, and whole after the service was killed.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod beside;
mod cloud;
mod devices;
mod executor;
mod holds;
mod jobs;
mod queues;
mod storm;
mod topology;
