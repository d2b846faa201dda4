//! A change in the making: only what differs from the image gets into it.

use std::collections::BTreeSet;

use stowplan_ledger::image::providers::At;
use stowplan_ledger::rows::{Inventories, NameRow, ProviderRow};
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::{Micros, Uuid};
use stowplan_placement::names::inventories;

use crate::error::SchedulerError;

/// How one provider shall be. What is none is left as it is.
pub(crate) struct Shape {
    pub uuid: Uuid,
    /// Used for a provider that is made; one that exists keeps its own.
    pub name: String,
    pub parent: Option<Uuid>,
    pub inventories: Option<Inventories>,
    pub traits: Option<BTreeSet<String>>,
    pub aggregates: Option<BTreeSet<Uuid>>,
}

/// A change in the making, against one image.
pub(crate) struct Draft<'a> {
    pub image: &'a Image,
    pub now: Micros,
    change: Change,
    next_provider: i64,
    next_class: i64,
    next_trait: i64,
    new_classes: BTreeSet<String>,
    new_traits: BTreeSet<String>,
}

impl<'a> Draft<'a> {
    pub fn new(image: &'a Image, kind: &str, now: Micros) -> Self {
        Self {
            image,
            now,
            change: Change::new(kind),
            next_provider: image.providers.next_id(),
            next_class: image.classes.next_id(),
            next_trait: image.traits.next_id(),
            new_classes: BTreeSet::new(),
            new_traits: BTreeSet::new(),
        }
    }

    pub fn push(&mut self, record: Record) {
        self.change.push(record);
    }

    pub fn finish(self) -> Change {
        self.change
    }

    /// Makes the custom classes among `names` that do not exist.
    fn ensure_classes<'n>(&mut self, names: impl Iterator<Item = &'n String>) {
        for name in names {
            if self.image.classes.ix(name).is_none() && self.new_classes.insert(name.clone()) {
                let row = named(self.next_class, name, self.now);
                self.next_class += 1;
                self.push(Record::Class(row));
            }
        }
    }

    /// Makes the custom traits among `names` that do not exist.
    fn ensure_traits<'n>(&mut self, names: impl Iterator<Item = &'n String>) {
        for name in names {
            if self.image.traits.ix(name).is_none() && self.new_traits.insert(name.clone()) {
                let row = named(self.next_trait, name, self.now);
                self.next_trait += 1;
                self.push(Record::Trait(row));
            }
        }
    }

    /// Brings a provider into shape; one that is in shape is not touched. All
    /// that changes of one provider counts one generation.
    ///
    /// # Errors
    /// When the name of a new provider is taken, or an inventory that is to go
    /// is in use.
    pub fn shape(&mut self, shape: Shape) -> Result<(), SchedulerError> {
        let at = self.image.providers.find(shape.uuid);
        let mut records = Vec::new();
        if let Some(wanted) = shape.inventories {
            self.ensure_classes(wanted.keys());
            let there = at.map(|at| inventories(self.image, at)).unwrap_or_default();
            if let Some(at) = at {
                self.check_use(at, &there, &wanted)?;
            }
            if there != wanted {
                records.push(Record::Inventories { provider: shape.uuid, inventories: wanted });
            }
        }
        if let Some(wanted) = shape.traits {
            self.ensure_traits(wanted.iter());
            if at.map(|at| traits_of(self.image, at)).unwrap_or_default() != wanted {
                let traits = wanted.into_iter().collect();
                records.push(Record::Traits { provider: shape.uuid, traits });
            }
        }
        if let Some(wanted) = shape.aggregates
            && at.map(|at| aggregates_of(self.image, at)).unwrap_or_default() != wanted
        {
            let aggregates = wanted.into_iter().collect();
            records.push(Record::Aggregates { provider: shape.uuid, aggregates });
        }
        match at {
            None => self.make(shape.uuid, &shape.name, shape.parent)?,
            Some(at) if !records.is_empty() => {
                let generation = self.image.providers.generation(at) + 1;
                records.push(Record::Generation { provider: shape.uuid, generation });
            }
            Some(_) => {}
        }
        records.into_iter().for_each(|record| self.push(record));
        Ok(())
    }

    fn make(&mut self, uuid: Uuid, name: &str, parent: Option<Uuid>) -> Result<(), SchedulerError> {
        if let Some(holder) = self.image.providers.find_name(name) {
            let holder = self.image.providers.uuid(holder);
            return Err(SchedulerError::ProviderName { name: name.to_owned(), holder });
        }
        let row = ProviderRow {
            id: self.next_provider,
            uuid,
            name: name.to_owned(),
            generation: 1,
            parent,
            root: parent.unwrap_or(uuid),
            created: self.now,
            updated: self.now,
        };
        self.next_provider += 1;
        self.push(Record::Provider(row));
        Ok(())
    }

    /// That no class in use goes.
    fn check_use(
        &self,
        at: At,
        there: &Inventories,
        wanted: &Inventories,
    ) -> Result<(), SchedulerError> {
        let gone = there.keys().filter(|class| !wanted.contains_key(*class));
        let in_use = |class: &&String| {
            let class = self.image.classes.ix(class);
            class.is_some_and(|class| self.image.providers.used(at, class) > 0)
        };
        let classes: Vec<&str> = gone.filter(in_use).map(String::as_str).collect();
        if classes.is_empty() {
            return Ok(());
        }
        let provider = self.image.providers.get(at);
        Err(SchedulerError::InventoryInUse {
            provider: provider.map_or_else(String::new, |provider| provider.name.to_string()),
            classes: classes.join(", "),
        })
    }
}

fn named(id: i64, name: &str, now: Micros) -> NameRow {
    NameRow { id, name: name.to_owned(), created: now, updated: now }
}

/// The traits of a provider.
pub(crate) fn traits_of(image: &Image, at: At) -> BTreeSet<String> {
    let provider = image.providers.get(at);
    let traits = provider.map(|provider| provider.traits.clone()).unwrap_or_default();
    traits.iter().map(|name| image.traits.name(*name).to_owned()).collect()
}

/// The aggregates of a provider.
pub(crate) fn aggregates_of(image: &Image, at: At) -> BTreeSet<Uuid> {
    let provider = image.providers.get(at);
    let aggregates = provider.map(|provider| provider.aggregates.clone()).unwrap_or_default();
    aggregates.iter().map(|ix| image.aggregates.uuid(*ix)).collect()
}
