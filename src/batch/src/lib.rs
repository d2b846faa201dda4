//! Queues, jobs and the session with its actions and plugins.
//!
//! A cycle reads an image of the ledger into a [`session::State`] (hosts in
//! columns, jobs, tasks), lets actions place tasks on it in statements that
//! plugins have a say in, and hands each statement over as one mutation: a gang
//! is placed whole or not at all. Sessions know no clock, no randomness and no
//! database; the [`driver`] has them. Users' side is in [`spec`], and every
//! mutation is a proposal in [`store`].

pub mod actions;
pub mod amounts;
pub mod driver;
pub mod error;
pub mod events;
pub mod explain;
pub mod fragment;
pub mod life;
pub mod plugins;
pub mod registry;
pub mod scenario;
pub mod session;
pub mod spec;
pub mod store;
pub mod views;
pub mod world;

pub use driver::{CycleFigures, prepare, run};
pub use error::BatchError;
