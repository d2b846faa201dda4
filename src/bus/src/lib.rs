//! The message bus of stowplan: RabbitMQ as oslo.messaging speaks it.
//!
//! `wire` and `rpc` know forms alone: no connection, no clock, no ledger. `link`
//! holds connections; `serve` joins the two with the scheduler.

pub mod link;
pub mod notify;
pub mod rpc;
pub mod scenario;
pub mod serve;
pub mod shadow;
pub mod wire;

pub use shadow::{Comparisons, Report};

pub use serve::{Bus, Clock, Counter, Link, Parts, Status};
