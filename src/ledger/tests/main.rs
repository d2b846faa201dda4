//! The ledger's tests, as one program.

mod beside;
mod common;
mod contract;
mod fence;
mod filling;
mod hold;
mod image;
mod writer;
