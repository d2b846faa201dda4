//! Consumers and what they hold, with the indices that the API asks by.

use super::{
    Map,
    names::Ix,
    providers::At,
    usage::{OwnUsage, Usages},
};
use crate::rows::Origin;
use smallvec::SmallVec;
use std::sync::Arc;
use stowplan_model::{Micros, Uuid};

/// One amount that a consumer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The provider.
    pub provider: At,
    /// The resource class.
    pub class: Ix,
    /// Units held.
    pub used: i64,
}

/// A consumer with all that it holds.
#[derive(Clone, Debug)]
pub struct Consumer {
    /// Durable integer id, in order of creation.
    pub id: i64,
    /// Its uuid.
    pub uuid: Uuid,
    /// Its generation.
    pub generation: i64,
    /// Project (external id).
    pub project: Arc<str>,
    /// User (external id).
    pub user: Arc<str>,
    /// Consumer type; none is shown as `unknown`.
    pub consumer_type: Option<Arc<str>>,
    /// What it holds, by the providers' order of creation and the classes'.
    pub allocations: SmallVec<[Allocation; 3]>,
    /// Who made the claim, where we made it ourselves.
    pub origin: Option<Arc<Origin>>,
    /// When it was created.
    pub created: Micros,
    /// When it was last changed.
    pub updated: Micros,
}

/// All consumers that hold something.
#[derive(Clone, Debug, Default)]
pub struct Consumers {
    by_uuid: Map<Uuid, Arc<Consumer>>,
    by_provider: imbl::OrdSet<(At, Uuid)>,
    by_host: imbl::OrdSet<(Uuid, Uuid)>,
    by_group: imbl::OrdSet<(Uuid, Uuid)>,
    /// Claims with a lease, by its end.
    leased: imbl::OrdSet<(Micros, Uuid)>,
    usages: Usages,
    /// Texts that consumers have in common, with how many places hold each.
    texts: Map<Arc<str>, u64>,
    last_id: i64,
}

impl Consumer {
    /// Until when its claim must be confirmed; none when it is, need not be, or is
    /// not as it was made.
    #[must_use]
    pub fn lease(&self) -> Option<Micros> {
        let lease = self.origin.as_ref()?.lease?;
        (lease.generation == self.generation).then_some(lease.until)
    }
}

impl Consumers {
    /// A consumer, if it holds anything.
    #[must_use]
    pub fn get(&self, uuid: Uuid) -> Option<&Arc<Consumer>> {
        self.by_uuid.get(&uuid)
    }

    /// How many consumers hold something.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_uuid.len()
    }

    /// Whether nobody holds anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_uuid.is_empty()
    }

    /// All consumers, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Consumer>> {
        self.by_uuid.values()
    }

    /// The consumers that hold something of a provider, in order of uuid.
    pub fn of_provider(&self, at: At) -> impl Iterator<Item = &Arc<Consumer>> {
        let range = (at, Uuid::nil())..=(at, Uuid::max());
        self.by_provider.range(range).filter_map(|(_, uuid)| self.get(*uuid))
    }

    /// What the consumers of a project hold, by user and consumer type.
    pub fn usages_of(&self, project: &str) -> impl Iterator<Item = OwnUsage<'_>> {
        self.usages.of_project(project)
    }

    /// The consumers that we ourselves placed on a host (by the uuid of its
    /// compute node), in order of uuid.
    pub fn placed_on(&self, host: Uuid) -> impl Iterator<Item = &Arc<Consumer>> {
        let range = (host, Uuid::nil())..=(host, Uuid::max());
        self.by_host.range(range).filter_map(|(_, uuid)| self.get(*uuid))
    }

    /// The consumers that we ourselves placed as members of a server group, in order
    /// of uuid.
    pub fn placed_in(&self, group: Uuid) -> impl Iterator<Item = &Arc<Consumer>> {
        let range = (group, Uuid::nil())..=(group, Uuid::max());
        self.by_group.range(range).filter_map(|(_, uuid)| self.get(*uuid))
    }

    /// Consumers whose claims are still to be confirmed, with the end of their
    /// leases, the first to end first.
    pub fn leased(&self) -> impl Iterator<Item = (Micros, &Arc<Consumer>)> {
        self.leased.iter().filter_map(|(until, uuid)| Some((*until, self.get(*uuid)?)))
    }

    /// The id that the next new consumer takes.
    #[must_use]
    pub fn next_id(&self) -> i64 {
        self.last_id + 1
    }

    pub(super) fn last_id(&self) -> i64 {
        self.last_id
    }

    pub(super) fn raise_id(&mut self, last: i64) {
        self.last_id = self.last_id.max(last);
    }

    /// One shared copy of a text that many consumers have in common, for a
    /// consumer that is about to be put in place.
    pub(super) fn intern(&mut self, text: &str) -> Arc<str> {
        let (shared, places) = match self.texts.get_key_value(text) {
            Some((shared, places)) => (shared.clone(), *places + 1),
            None => (text.into(), 1),
        };
        self.texts.insert(shared.clone(), places);
        shared
    }

    /// A consumer no longer holds a text; it goes with the last one.
    fn forget(&mut self, text: &str) {
        match self.texts.get_mut(text) {
            Some(places) if *places > 1 => *places -= 1,
            _ => {
                self.texts.remove(text);
            }
        }
    }

    /// Puts a consumer in place of what was there, and returns that.
    pub(super) fn put(&mut self, consumer: Consumer) -> Option<Arc<Consumer>> {
        self.last_id = self.last_id.max(consumer.id);
        let before = self.by_uuid.get(&consumer.uuid).cloned();
        if let Some(before) = &before {
            self.unindex(before);
        }
        for allocation in &consumer.allocations {
            self.by_provider.insert((allocation.provider, consumer.uuid));
        }
        self.usages.count(&consumer, 1);
        if let Some(origin) = &consumer.origin {
            self.by_host.insert((origin.host, consumer.uuid));
            if let Some(group) = origin.group {
                self.by_group.insert((group, consumer.uuid));
            }
        }
        if let Some(until) = consumer.lease() {
            self.leased.insert((until, consumer.uuid));
        }
        self.by_uuid.insert(consumer.uuid, Arc::new(consumer));
        before
    }

    /// Takes a consumer out and returns it.
    pub(super) fn remove(&mut self, uuid: Uuid) -> Option<Arc<Consumer>> {
        let before = self.by_uuid.remove(&uuid)?;
        self.unindex(&before);
        Some(before)
    }

    fn unindex(&mut self, consumer: &Consumer) {
        for allocation in &consumer.allocations {
            self.by_provider.remove(&(allocation.provider, consumer.uuid));
        }
        self.usages.count(consumer, -1);
        if let Some(origin) = &consumer.origin {
            self.by_host.remove(&(origin.host, consumer.uuid));
            if let Some(group) = origin.group {
                self.by_group.remove(&(group, consumer.uuid));
            }
        }
        if let Some(until) = consumer.lease() {
            self.leased.remove(&(until, consumer.uuid));
        }
        self.forget(&consumer.project);
        self.forget(&consumer.user);
        if let Some(consumer_type) = &consumer.consumer_type {
            self.forget(consumer_type);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn consumer(consumers: &mut Consumers, number: u128, texts: [&str; 3]) -> Consumer {
        let [project, user, consumer_type] = texts.map(|text| consumers.intern(text));
        Consumer {
            id: 1,
            uuid: Uuid::from_u128(number),
            generation: 1,
            project,
            user,
            consumer_type: Some(consumer_type),
            allocations: SmallVec::new(),
            origin: None,
            created: Micros(1),
            updated: Micros(1),
        }
    }

    #[test]
    fn texts_are_shared_and_go_with_their_last_holder_as_projects_do() {
        let mut consumers = Consumers::default();
        for (number, texts) in [(1, ["p", "p", "t"]), (2, ["p", "u", "t"]), (1, ["q", "u", "t"])] {
            let consumer = consumer(&mut consumers, number, texts);
            consumers.put(consumer);
        }
        let users = consumers.iter().map(|consumer| Arc::as_ptr(&consumer.user));
        assert_eq!(users.collect::<std::collections::BTreeSet<_>>().len(), 1);
        assert_eq!(consumers.texts.len(), 4);
        for project in ["p", "q"] {
            let usages = consumers.usages_of(project);
            let said: Vec<_> =
                usages.map(|own| (own.user, own.consumer_type, own.usage.consumers)).collect();
            assert_eq!(said, [("u", Some("t"), 1)], "{project}");
        }
        consumers.remove(Uuid::from_u128(1));
        assert_eq!(consumers.texts.len(), 3);
        consumers.remove(Uuid::from_u128(2));
        assert!(consumers.texts.is_empty() && consumers.usages.is_empty());
    }
}
