//! Ids, names, quantities, request and host types of stowplan; no input or output.
//!
//! The lowest floor of the house: everything here is plain data that every
//! other crate may use. Amounts are integers in base units; times are
//! microseconds since the epoch; nothing here reads a clock.

pub mod flavor;
pub mod host;
pub mod host_devices;
pub mod image_props;
mod image_props_names;
pub mod image_props_version;
pub mod inventory;
pub mod names;
pub mod pytext;
pub mod pyvalue;
pub mod request;
pub mod request_devices;
pub mod time;

pub use inventory::Inventory;
pub use time::Micros;
pub use uuid::Uuid;
