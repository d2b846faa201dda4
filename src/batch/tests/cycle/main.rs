//! Cycles on a real ledger, beside virtual machines.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod cloud;
mod life;
mod placing;
mod racing;
mod restart;
