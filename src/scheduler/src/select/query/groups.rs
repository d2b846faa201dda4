//! Request groups in the making, by suffix.

use std::collections::{BTreeMap, BTreeSet};

use stowplan_model::Uuid;
use stowplan_placement::candidates::RequestGroup;

/// One group in the making. An amount of 0 says that none of the class is
/// wanted, whatever the flavor's own amounts are.
#[derive(Clone, Debug, Default)]
pub(super) struct GroupDraft {
    resources: BTreeMap<String, i64>,
    required: BTreeSet<String>,
    forbidden: BTreeSet<String>,
}

/// All groups in the making, the one without a suffix first.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    by_suffix: BTreeMap<String, GroupDraft>,
    /// Of the group without a suffix: one of each set.
    pub member_of: Vec<Vec<Uuid>>,
    /// Of the group without a suffix.
    pub forbidden_aggregates: Vec<Uuid>,
}

impl Groups {
    /// Sets the amount of a class.
    pub fn set(&mut self, suffix: &str, class: &str, amount: i64) {
        self.group(suffix).resources.insert(class.to_owned(), amount);
    }

    /// Adds to the amount of a class.
    pub fn add(&mut self, suffix: &str, class: &str, amount: i64) {
        let have = self.group(suffix).resources.entry(class.to_owned()).or_default();
        *have = have.saturating_add(amount);
    }

    /// Requires a trait.
    pub fn require(&mut self, suffix: &str, name: &str) {
        self.group(suffix).required.insert(name.to_owned());
    }

    /// Forbids a trait.
    pub fn forbid(&mut self, suffix: &str, name: &str) {
        self.group(suffix).forbidden.insert(name.to_owned());
    }

    /// Whether any group names a class, if only to say that none is wanted.
    pub fn names(&self, class: &str) -> bool {
        self.by_suffix.values().any(|group| group.resources.contains_key(class))
    }

    /// Groups with a suffix.
    pub fn suffixed(&self) -> usize {
        self.by_suffix.keys().filter(|suffix| !suffix.is_empty()).count()
    }

    /// Traits that any group requires.
    pub fn required(&self) -> impl Iterator<Item = &String> {
        self.by_suffix.values().flat_map(|group| &group.required)
    }

    /// The groups as they are asked for; without amounts of 0, and without
    /// groups that say nothing.
    pub fn finish(self) -> Vec<RequestGroup> {
        let Self { by_suffix, member_of, forbidden_aggregates } = self;
        let mut groups: Vec<RequestGroup> = by_suffix
            .into_iter()
            .map(|(suffix, draft)| RequestGroup {
                suffix,
                resources: draft.resources.into_iter().filter(|(_, amount)| *amount > 0).collect(),
                required: draft.required.into_iter().map(|name| vec![name]).collect(),
                forbidden: draft.forbidden.into_iter().collect(),
                ..RequestGroup::default()
            })
            .filter(|group| {
                let RequestGroup { resources, required, forbidden, .. } = group;
                !(resources.is_empty() && required.is_empty() && forbidden.is_empty())
            })
            .collect();
        if !member_of.is_empty() || !forbidden_aggregates.is_empty() {
            // Where nothing is asked of the host itself, its aggregates are
            // asked of the first group all the same.
            match groups.first_mut() {
                Some(first) => {
                    first.member_of = member_of;
                    first.forbidden_aggregates = forbidden_aggregates;
                }
                None => groups.push(RequestGroup {
                    member_of,
                    forbidden_aggregates,
                    ..RequestGroup::default()
                }),
            }
        }
        groups
    }

    fn group(&mut self, suffix: &str) -> &mut GroupDraft {
        self.by_suffix.entry(suffix.to_owned()).or_default()
    }
}
