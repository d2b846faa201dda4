//! Which hosts a request leaves to the filters at all.

use std::collections::HashSet;

use crate::reason::Reason;
use crate::request::CheckedRequest;
use crate::set::HostSet;
use crate::table::HostIx;
use crate::view::HostView;
use stowplan_model::request::ScheduleRequest;

/// What a request's lists of hosts and its destination leave.
#[derive(Clone, Debug, PartialEq)]
pub struct Preselection {
    /// The hosts left, in the order given.
    pub hosts: Vec<HostIx>,
    /// Those left out, in the order given.
    pub removed: Vec<(HostIx, Reason)>,
    /// Hosts or nodes are forced, so no filter is asked.
    pub filters_skipped: bool,
}

/// Applies the requested destination, the hosts to ignore and the hosts and
/// nodes forced, in this order.
#[must_use]
pub fn preselect(request: &CheckedRequest, view: &dyn HostView, hosts: &[HostIx]) -> Preselection {
    let request = request.request();
    let mut rules: Vec<(Rule, Reason)> = Vec::new();
    if let Some(destination) = &request.requested_destination
        && let Some(host) = &destination.host
    {
        let node = destination.node.clone().filter(|node| !node.is_empty());
        let rule = Rule::Exactly(host.clone(), node);
        rules.push((rule, Reason::NotTheDestination));
    }
    if let Some(names) = listed(&request.ignore_hosts) {
        rules.push((Rule::NotIn(named(view, names)), Reason::Ignored));
    }
    if let Some(names) = listed(&request.force_hosts) {
        rules.push((Rule::In(named(view, names)), Reason::NotForced));
    }
    if let Some(nodes) = listed(&request.force_nodes) {
        rules.push((Rule::Nodes(nodes.iter().cloned().collect()), Reason::NotForced));
    }
    if rules.is_empty() {
        return Preselection { hosts: hosts.to_vec(), removed: Vec::new(), filters_skipped: false };
    }
    let mut left = Vec::with_capacity(hosts.len());
    let mut removed = Vec::new();
    for host in hosts {
        match rules.iter().find(|(rule, _)| !rule.keeps(view, *host)) {
            None => left.push(*host),
            Some((_, reason)) => removed.push((*host, reason.clone())),
        }
    }
    Preselection { hosts: left, removed, filters_skipped: is_forced(request) }
}

/// Whether hosts or nodes are forced and the request is no mere check.
fn is_forced(request: &ScheduleRequest) -> bool {
    let forced = listed(&request.force_hosts).is_some() || listed(&request.force_nodes).is_some();
    forced && !request.is_check()
}

/// A list that has something in it.
fn listed(list: &Option<Vec<String>>) -> Option<&[String]> {
    list.as_deref().filter(|list| !list.is_empty())
}

/// The hosts of these names in any letter case.
pub(crate) fn named(view: &dyn HostView, names: &[String]) -> HostSet {
    names.iter().flat_map(|name| view.hosts_named(&name.to_lowercase())).copied().collect()
}

enum Rule {
    /// That host, and that node if one is named.
    Exactly(String, Option<String>),
    In(HostSet),
    NotIn(HostSet),
    Nodes(HashSet<String>),
}

impl Rule {
    fn keeps(&self, view: &dyn HostView, host: HostIx) -> bool {
        match self {
            Self::Exactly(name, node) => {
                let facts = view.facts(host);
                facts.host == *name && node.as_ref().is_none_or(|node| facts.node == *node)
            }
            Self::In(set) => set.contains(host),
            Self::NotIn(set) => !set.contains(host),
            Self::Nodes(nodes) => nodes.contains(&view.facts(host).node),
        }
    }
}
