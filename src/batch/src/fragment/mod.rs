//! The engine's bid prices for a session's hosts and tasks
//! ([`stowplan_engine::fragment`]).

mod experience;
mod hosts;
mod kinds;

pub use experience::Experience;
pub use hosts::Outlook;

/// What of hosts is looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Names of the dimensions that come as devices; none: those with a domain in
    /// their name.
    pub resources: Option<Vec<String>>,
    /// What a core of a host without devices is worth, in thousandths of a device.
    pub core: f64,
}
