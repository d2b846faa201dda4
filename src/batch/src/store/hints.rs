//! What hints of jobs say of the hosts of an image.

use crate::spec::JobSpec;
use std::collections::BTreeMap;
use stowplan_engine::hint::{Dropped, DroppedReason, from_annotations};
use stowplan_engine::{HostIx, HostSet, HostView};
use stowplan_ledger::Image;

/// Unknown names of hosts that are told.
const TOLD: usize = 20;

/// The hosts that tasks of a job may go to by its hints: worked out once for
/// each role that is asked about.
pub(super) struct Allowed<'a> {
    image: &'a Image,
    spec: &'a JobSpec,
    hosts: BTreeMap<&'a str, Option<HostSet>>,
}

impl<'a> Allowed<'a> {
    /// By the hints of a specification.
    pub(super) const fn by(image: &'a Image, spec: &'a JobSpec) -> Self {
        Self { image, spec, hosts: BTreeMap::new() }
    }

    /// Whether tasks of a role may go to a host.
    pub(super) fn lets(&mut self, role: &str, host: HostIx) -> bool {
        let Some(role) = self.spec.role(role) else { return true };
        let hosts = self.hosts.entry(&role.role).or_insert_with(|| {
            let hint = self.spec.hint_of(role).filter(|hint| !hint.node_names.is_empty())?;
            let named = hint.node_names.iter().flat_map(|name| hosts_named(self.image, name));
            Some(named.copied().collect())
        });
        hosts.as_ref().is_none_or(|hosts| hosts.contains(host))
    }
}

/// What whoever wrote the hints of a job should know: that they came in an old
/// form, and that they name hosts that do not exist.
#[must_use]
pub fn hint_warnings(image: &Image, spec: &JobSpec) -> Vec<String> {
    let annotations =
        std::iter::once(&spec.annotations).chain(spec.tasks.iter().map(|role| &role.annotations));
    let old = annotations.filter_map(|texts| from_annotations(texts).ok()??.warning());
    let mut warnings: Vec<String> = old.take(1).collect();
    let roles = spec.tasks.iter().filter_map(|role| role.hint.as_ref());
    let mut unknown: Vec<String> = Vec::new();
    for hint in spec.hint.iter().chain(roles) {
        let lists =
            [("nodeNames", &hint.node_names), ("preferredNodeNames", &hint.preferred_node_names)];
        for (field, names) in lists {
            let strangers = names.iter().filter(|name| !is_known(image, name));
            let reason = DroppedReason::Unknown;
            let dropped = strangers.map(|name| Dropped { field, name: name.clone(), reason });
            unknown.extend(dropped.map(|dropped| dropped.to_string()));
        }
    }
    let more = unknown.len().saturating_sub(TOLD);
    warnings.extend(unknown.into_iter().take(TOLD));
    if more > 0 {
        warnings.push(format!("{more} further names of hints are passed over"));
    }
    warnings
}

fn is_known(image: &Image, name: &str) -> bool {
    !hosts_named(image, name).is_empty()
}

fn hosts_named<'a>(image: &'a Image, name: &str) -> &'a [HostIx] {
    image.hosts.table().hosts_named(&name.to_lowercase())
}
