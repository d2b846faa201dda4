//! The order of hosts between the servers of one request.

use super::Rounds;
use crate::choose::Chosen;
use crate::table::HostIx;

/// Hosts in order, as far as it was worked out.
pub(crate) enum Order {
    /// As given.
    Given(Vec<HostIx>),
    /// By one round of weights.
    Chosen(Chosen),
    /// By round after round.
    Kept(Box<Rounds>),
}

impl Order {
    /// The host to be tried after `tried` others.
    pub fn after(&mut self, tried: usize) -> Option<HostIx> {
        match self {
            Self::Given(hosts) => hosts.get(tried).copied(),
            Self::Chosen(chosen) => chosen.after(tried),
            Self::Kept(rounds) => rounds.after(tried),
        }
    }

    /// All of them.
    pub fn into_hosts(self) -> Vec<HostIx> {
        match self {
            Self::Given(hosts) => hosts,
            Self::Chosen(chosen) => chosen.into_hosts(),
            Self::Kept(rounds) => rounds.into_hosts(),
        }
    }
}
