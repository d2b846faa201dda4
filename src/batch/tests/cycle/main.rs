//! Cycles on a real ledger, beside virtual machines.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod cloud;
mod devices;
mod evictions;
mod export;
mod fates;
mod hints;
mod life;
mod limits;
mod placing;
mod plugins;
mod queues;
mod racing;
mod restart;
mod retries;
mod topology;
