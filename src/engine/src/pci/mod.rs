//! PCI devices: whether the pools of a host meet a server's requests, and what
//! is left of them afterwards.

mod apply;
mod needs;

pub use apply::{Near, Short, Shortage, left_after, supports};
pub use needs::PciNeeds;
