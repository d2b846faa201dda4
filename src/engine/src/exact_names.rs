//! Names of hosts that are compared as they are.

use crate::set::HostSet;
use crate::table::HostIx;
use crate::view::HostView;

/// Names of hosts, each once, in order.
pub(crate) struct ExactNames(Vec<String>);

impl ExactNames {
    pub fn new(names: &[String]) -> Self {
        let mut names = names.to_vec();
        names.sort_unstable();
        names.dedup();
        Self(names)
    }

    /// Whether a host bears one of them.
    pub fn has(&self, view: &dyn HostView, host: HostIx) -> bool {
        self.0.binary_search(&view.facts(host).host).is_ok()
    }

    /// The hosts that bear one of them.
    pub fn hosts(&self, view: &dyn HostView) -> HostSet {
        let named = self.0.iter().flat_map(|name| view.hosts_named(&name.to_lowercase()));
        named.copied().filter(|host| self.has(view, *host)).collect()
    }

    /// The first few of them.
    pub fn first(&self, count: usize) -> Vec<String> {
        self.0.iter().take(count).cloned().collect()
    }
}
