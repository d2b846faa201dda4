//! Consumers and what they hold, with the indices that the API asks by.

use super::{names::Ix, providers::At};
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
    /// What it holds, in the order in which it was claimed.
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
    by_uuid: imbl::HashMap<Uuid, Arc<Consumer>>,
    by_provider: imbl::OrdSet<(At, Uuid)>,
    by_project: imbl::OrdSet<(Arc<str>, Uuid)>,
    by_host: imbl::OrdSet<(Uuid, Uuid)>,
    texts: imbl::HashMap<Arc<str>, ()>,
    last_id: i64,
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

    /// The consumers of a project, in order of uuid.
    pub fn of_project(&self, project: &str) -> impl Iterator<Item = &Arc<Consumer>> {
        let key: Arc<str> = project.into();
        let range = (key.clone(), Uuid::nil())..=(key, Uuid::max());
        self.by_project.range(range).filter_map(|(_, uuid)| self.get(*uuid))
    }

    /// The consumers that we ourselves placed on a host (by the uuid of its
    /// compute node), in order of uuid.
    pub fn placed_on(&self, host: Uuid) -> impl Iterator<Item = &Arc<Consumer>> {
        let range = (host, Uuid::nil())..=(host, Uuid::max());
        self.by_host.range(range).filter_map(|(_, uuid)| self.get(*uuid))
    }

    /// The id that the next new consumer takes.
    #[must_use]
    pub fn next_id(&self) -> i64 {
        self.last_id + 1
    }

    /// One shared copy of a text that many consumers have in common.
    pub(super) fn intern(&mut self, text: &str) -> Arc<str> {
        if let Some((shared, ())) = self.texts.get_key_value(text) {
            return shared.clone();
        }
        let shared: Arc<str> = text.into();
        self.texts.insert(shared.clone(), ());
        shared
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
        self.by_project.insert((consumer.project.clone(), consumer.uuid));
        if let Some(origin) = &consumer.origin {
            self.by_host.insert((origin.host, consumer.uuid));
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
        self.by_project.remove(&(consumer.project.clone(), consumer.uuid));
        if let Some(origin) = &consumer.origin {
            self.by_host.remove(&(origin.host, consumer.uuid));
        }
    }
}
