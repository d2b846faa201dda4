//! What the rows of Nova's own databases say of the cloud: hosts and their
//! servers as the peer's scheduler reads them, and what differs between host
//! aggregates, server groups and cells there and here.
//!
//! Who reads the databases gives the rows; nothing here knows of one.

mod books;
mod node;
mod numa;
mod pci;
mod service;
mod status;

pub use books::{aggregates, cells, groups};
pub use node::{ComputeNode, Unreadable, image_property, report};
pub use service::Service;
pub use status::{Database, DatabaseState, Status};
