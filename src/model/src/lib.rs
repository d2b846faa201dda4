//! Ids, names, quantities, request and host types of stowplan; no input or output.
//!
//! The lowest floor of the house: everything here is plain data that every
//! other crate may use. Amounts are integers in base units; times are
//! microseconds since the epoch; nothing here reads a clock.

pub mod inventory;
pub mod names;
pub mod time;

pub use inventory::Inventory;
pub use time::Micros;
pub use uuid::Uuid;
