//! Black-box tests of stowplan against the real binary.
//!
//! What the tests have in common: finding the binary ([`binary`]), running it
//! as a command ([`Cli`]) or as a server ([`Server`]), talking to that
//! ([`Client`]), and cases written down as data ([`cases`]). Everything here panics with the server's log when something is
//! not as it should be: that is how a test fails.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod binary;
pub mod cases;
mod cli;
mod client;
mod server;

pub use binary::{binary, workspace};
pub use cli::{Cli, Output};
pub use client::{Client, Reply};
pub use server::{Builder, Server};
