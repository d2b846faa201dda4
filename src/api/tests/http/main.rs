//! The server as its callers meet it, over real connections.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod gate;
mod input;
mod keystone;
mod metrics;
mod native;
mod openapi;
mod placement;
mod server;
