//! Allocation candidates of hosts, as far as filters look at them.

use std::collections::BTreeMap;

use foldhash::fast::RandomState;
use stowplan_model::Uuid;

use crate::set::HostSet;
use crate::table::HostIx;

/// What one allocation candidate of a host maps: the providers chosen for each
/// request group, by its suffix.
pub type Mappings = BTreeMap<String, Vec<Uuid>>;

/// The allocation candidates of hosts, in the order Placement gave them.
///
/// A host that is not listed has one candidate with empty mappings, so a
/// caller whose request has neither PCI devices nor a NUMA topology lists none.
#[derive(Clone, Debug, Default)]
pub struct Offers(std::collections::HashMap<HostIx, Vec<Mappings>, RandomState>);

impl Offers {
    /// Lists the candidates of a host; an empty list means that it has none.
    pub fn list(&mut self, host: HostIx, candidates: Vec<Mappings>) {
        self.0.insert(host, candidates);
    }

    /// Whether no host is listed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The candidates listed for a host.
    #[must_use]
    pub fn of(&self, host: HostIx) -> Option<&[Mappings]> {
        self.0.get(&host).map(Vec::as_slice)
    }

    /// The candidates of a host that still stand, with their numbers.
    pub fn standing<'a>(
        &'a self,
        left: &'a Survivors,
        host: HostIx,
    ) -> impl Iterator<Item = (u32, &'a Mappings)> {
        static ONE: [Mappings; 1] = [Mappings::new()];
        let kept = left.kept(host).map(|kept| kept.candidates.as_slice());
        let all = self.of(host).unwrap_or(&ONE);
        let stands = move |number: &u32| kept.is_none_or(|kept| kept.contains(number));
        (0..).zip(all).filter(move |(number, _)| stands(number))
    }
}

/// What the filters have left so far: hosts, and candidates of hosts.
#[derive(Clone, Debug, Default)]
pub struct Survivors {
    /// Hosts that passed so far.
    pub hosts: HostSet,
    kept: std::collections::HashMap<HostIx, Kept, RandomState>,
}

/// What a filter leaves of a host that passes, beyond its passing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Numbers of the candidates that still stand, ascending.
    pub candidates: Vec<u32>,
    /// Whether NUMA limits (ratios and networks) apply to the claim.
    pub numa_limits: bool,
}

impl Survivors {
    /// All of `hosts`, with all their candidates.
    #[must_use]
    pub fn all(hosts: HostSet) -> Self {
        Self { hosts, kept: std::collections::HashMap::default() }
    }

    /// What was kept of a host's candidates; `None` while all stand.
    #[must_use]
    pub fn kept(&self, host: HostIx) -> Option<&Kept> {
        self.kept.get(&host)
    }

    /// What was kept of a host besides candidates.
    pub(crate) fn kept_or_all(&self, host: HostIx) -> Kept {
        self.kept(host).cloned().unwrap_or_default()
    }

    /// Makes all candidates of a host stand again.
    pub(crate) fn forget(&mut self, host: HostIx) {
        self.kept.remove(&host);
    }

    /// Keeps only some candidates of a host.
    pub fn keep(&mut self, host: HostIx, kept: Kept) {
        self.kept.insert(host, kept);
    }
}
