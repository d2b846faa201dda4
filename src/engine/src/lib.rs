//! Filters, weighers, selection and explanation: pure functions over host columns.

pub mod config;
pub mod fault;
pub mod filter;
pub mod multiplier;
pub mod offers;
pub mod reason;
pub mod request;
pub mod set;
pub mod table;
pub mod view;
pub mod weigher;

pub use set::HostSet;
pub use table::{Figure, HostIx, HostTable};
pub use view::HostView;
