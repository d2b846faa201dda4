//! What consumers hold together, by project, user and consumer type: sums that
//! are kept, so that usages cost the same however many consumers there are.

use super::{consumers::Consumer, names::Ix};
use smallvec::SmallVec;
use std::sync::Arc;

/// Project, user, consumer type.
type Owner = (Arc<str>, Arc<str>, Option<Arc<str>>);

/// What some consumers hold together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// How many consumers there are.
    pub consumers: i64,
    /// Units by class, in order of the classes' numbers; none of them is 0.
    pub units: SmallVec<[(Ix, i64); 3]>,
}

impl Usage {
    /// Adds units of a class, or takes them away. Amounts that no cloud has
    /// wrap around, so that what has come can always go again.
    pub fn add(&mut self, class: Ix, units: i64) {
        match self.units.binary_search_by_key(&class, |held| held.0) {
            Ok(place) => {
                self.units[place].1 = self.units[place].1.wrapping_add(units);
                if self.units[place].1 == 0 {
                    self.units.remove(place);
                }
            }
            Err(_) if units == 0 => {}
            Err(place) => self.units.insert(place, (class, units)),
        }
    }

    /// Adds what other consumers hold.
    pub fn join(&mut self, other: &Self) {
        self.consumers += other.consumers;
        other.units.iter().for_each(|(class, units)| self.add(*class, *units));
    }
}

/// The usage of the consumers of one project that have a user and a type in
/// common.
#[derive(Clone, Copy, Debug)]
pub struct OwnUsage<'a> {
    /// The user (external id).
    pub user: &'a str,
    /// The consumer type.
    pub consumer_type: Option<&'a str>,
    /// What they hold.
    pub usage: &'a Usage,
}

/// The usages of all owners.
#[derive(Clone, Debug, Default)]
pub(super) struct Usages(imbl::OrdMap<Owner, Usage>);

impl Usages {
    /// Those of a project, in order of users and types.
    pub fn of_project(&self, project: &str) -> impl Iterator<Item = OwnUsage<'_>> {
        let project: Arc<str> = project.into();
        let first: Owner = (project.clone(), Arc::default(), None);
        let own = self.0.range(first..).take_while(move |((of, ..), _)| *of == project);
        own.map(|((_, user, consumer_type), usage)| OwnUsage {
            user,
            consumer_type: consumer_type.as_deref(),
            usage,
        })
    }

    /// Counts a consumer that came (`sign` 1) or went (-1).
    pub fn count(&mut self, consumer: &Consumer, sign: i64) {
        let owner =
            (consumer.project.clone(), consumer.user.clone(), consumer.consumer_type.clone());
        let usage = self.0.entry(owner.clone()).or_default();
        usage.consumers += sign;
        for held in &consumer.allocations {
            usage.add(held.class, held.used.wrapping_mul(sign));
        }
        if usage.consumers == 0 {
            self.0.remove(&owner);
        }
    }

    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
