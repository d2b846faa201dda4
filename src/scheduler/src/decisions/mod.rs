//! Decisions: what is recorded of each answer, and how it is read again.
//!
//! The header commits with the claim. The body is made and compressed beside
//! the answer and written afterwards, in order, several at a time; what an overloaded process
//! cannot write it drops, with a warning.

mod body;
mod log;
mod pack;
mod read;

pub use body::InstanceRecord;
pub(crate) use body::{Body, encode};
pub(crate) use log::DecisionLog;
pub(crate) use read::servers_of;
pub use read::{DecisionPage, DecisionView};
