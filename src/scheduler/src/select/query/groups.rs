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
    place: Place,
}

/// Where the providers of a group must be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// Aggregates: in one of each set.
    pub member_of: Vec<Vec<Uuid>>,
    /// Aggregates that they must not be in.
    pub forbidden_aggregates: Vec<Uuid>,
    /// A provider in whose tree they must be.
    pub in_tree: Option<Uuid>,
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

    /// Says where the provider of a group with a suffix must be.
    pub fn put(&mut self, suffix: &str, place: Place) {
        self.group(suffix).place = place;
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
                member_of: draft.place.member_of,
                forbidden_aggregates: draft.place.forbidden_aggregates,
                in_tree: draft.place.in_tree,
            })
            .filter(says_something)
            .collect();
        if !member_of.is_empty() || !forbidden_aggregates.is_empty() {
            // Where nothing is asked of the host itself, its aggregates are
            // asked of the first group all the same.
            match groups.first_mut() {
                Some(first) => {
                    first.member_of.extend(member_of);
                    first.forbidden_aggregates.extend(forbidden_aggregates);
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

/// Whether a group asks for anything.
fn says_something(group: &RequestGroup) -> bool {
    let nothing = RequestGroup { suffix: group.suffix.clone(), ..RequestGroup::default() };
    *group != nothing
}
