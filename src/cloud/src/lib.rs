//! The cloud's other services, as their client: Keystone, which says whose a
//! token is, and Neutron, which says what is special of networks and ports.
//!
//! A [`Session`] is one account of the service with Keystone: it gets itself a
//! token, keeps it while it is good, and finds endpoints in the catalogue. A
//! [`Doorkeeper`] asks about the tokens of callers and remembers the answers.

mod account;
mod catalog;
mod connect;
mod doorkeeper;
mod error;
mod neutron;
mod person;
mod session;

pub use account::{Account, AccountFault};
pub use doorkeeper::{Doorkeeper, Party, Shown};
pub use error::CloudError;
pub use neutron::{Neutron, Port};
pub use person::{Person, Reach};
pub use session::Session;

/// The clock: now, in microseconds since the epoch.
pub type Clock = std::sync::Arc<dyn Fn() -> stowplan_model::Micros + Send + Sync>;
