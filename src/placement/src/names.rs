//! Resource classes and traits: made, renamed, deleted, and the standard ones.

use crate::error::PlacementError;
use stowplan_ledger::{
    Change, Image, Record,
    image::{
        names::{Ix, Names},
        providers::At,
    },
    rows::{ConsumerRow, Inventories, NameRow},
};
use stowplan_model::{
    Micros, Uuid,
    names::{standard_classes, standard_traits},
};

/// The trait of providers that share their inventory with all members of
/// their aggregates.
pub const SHARES_VIA_AGGREGATE: &str = "MISC_SHARES_VIA_AGGREGATE";

/// How the names of clients begin; all others are standard.
const CUSTOM: &str = "CUSTOM_";

/// Whether something had to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ensured {
    /// It was made.
    Created,
    /// It was there.
    Existed,
}

/// The standard classes and traits that the image lacks. Gives how many were
/// added; with none the change is empty.
#[must_use]
pub fn seed(image: &Image, now: Micros) -> (Change, usize) {
    let mut change = Change::new("names.seed");
    let missing = |names: &Names, name: &&str| names.ix(name).is_none();
    let classes = standard_classes().filter(|name| missing(&image.classes, name));
    for (id, name) in (image.classes.next_id()..).zip(classes) {
        change.push(Record::Class(row(id, name, now)));
    }
    let traits = standard_traits().filter(|name| missing(&image.traits, name));
    for (id, name) in (image.traits.next_id()..).zip(traits) {
        change.push(Record::Trait(row(id, name, now)));
    }
    let added = change.records.len();
    (if added == 0 { Change::nothing() } else { change }, added)
}

fn row(id: i64, name: &str, now: Micros) -> NameRow {
    NameRow { id, name: name.to_owned(), created: now, updated: now }
}

/// Creates a custom resource class: `POST /resource_classes`.
///
/// # Errors
/// [`PlacementError::ClassExists`].
pub fn create_class(
    image: &Image,
    name: &str,
    now: Micros,
) -> Result<(Change, ()), PlacementError> {
    match ensure_class(image, name, now) {
        (change, Ensured::Created) => Ok((change, ())),
        (_, Ensured::Existed) => Err(PlacementError::ClassExists { name: name.to_owned() }),
    }
}

/// Makes sure that a custom resource class exists:
/// `PUT /resource_classes/{name}` from 1.7 on.
#[must_use]
pub fn ensure_class(image: &Image, name: &str, now: Micros) -> (Change, Ensured) {
    if image.classes.ix(name).is_some() {
        return (Change::nothing(), Ensured::Existed);
    }
    let mut change = Change::new("resource_class.create");
    change.push(Record::Class(row(image.classes.next_id(), name, now)));
    (change, Ensured::Created)
}

/// Renames a custom resource class, with all inventories and allocations of
/// it: `PUT /resource_classes/{name}` before 1.7.
///
/// # Errors
/// When there is no such class, when it is a standard one, or when the new
/// name is taken by another.
pub fn rename_class(
    image: &Image,
    name: &str,
    new_name: &str,
    now: Micros,
) -> Result<(Change, ()), PlacementError> {
    let class = class(image, name)?;
    if !name.starts_with(CUSTOM) {
        return Err(PlacementError::ClassStandardRename { name: name.to_owned() });
    }
    if name == new_name {
        return Ok((Change::nothing(), ()));
    }
    if image.classes.ix(new_name).is_some() {
        return Err(PlacementError::ClassNameTaken { name: new_name.to_owned() });
    }
    // Rows name their class, so everything that names it is written anew.
    let mut change = Change::new("resource_class.rename");
    let created = image.classes.row(class).map_or(now, |row| row.created);
    change.push(Record::Class(NameRow { created, ..row(image.classes.next_id(), new_name, now) }));
    for at in users_of_class(image, class) {
        let rename = |(name_then, inventory)| {
            (if name_then == name { new_name.to_owned() } else { name_then }, inventory)
        };
        change.push(Record::Inventories {
            provider: image.providers.uuid(at),
            inventories: inventories(image, at).into_iter().map(rename).collect(),
        });
    }
    let holds = |c: &&ConsumerRow| c.allocations.iter().any(|held| held.class == name);
    let mut consumers: Vec<ConsumerRow> =
        image.consumers.iter().map(|consumer| image.consumer_row(consumer)).collect();
    consumers.retain(|consumer| holds(&consumer));
    consumers.sort_unstable_by_key(|consumer| consumer.id);
    for mut consumer in consumers {
        for held in consumer.allocations.iter_mut().filter(|held| held.class == name) {
            new_name.clone_into(&mut held.class);
        }
        change.push(Record::Consumer(Box::new(consumer)));
    }
    change.push(Record::ClassGone(name.to_owned()));
    Ok((change, ()))
}

/// Deletes a custom resource class: `DELETE /resource_classes/{name}`.
///
/// # Errors
/// When there is no such class, when it is a standard one, or when a provider
/// has an inventory of it.
pub fn delete_class(image: &Image, name: &str) -> Result<(Change, ()), PlacementError> {
    let class = class(image, name)?;
    if !name.starts_with(CUSTOM) {
        return Err(PlacementError::ClassStandardDelete { name: name.to_owned() });
    }
    if users_of_class(image, class).next().is_some() {
        return Err(PlacementError::ClassInUse { name: name.to_owned() });
    }
    let mut change = Change::new("resource_class.delete");
    change.push(Record::ClassGone(name.to_owned()));
    Ok((change, ()))
}

/// Makes sure that a custom trait exists: `PUT /traits/{name}`.
#[must_use]
pub fn ensure_trait(image: &Image, name: &str, now: Micros) -> (Change, Ensured) {
    if image.traits.ix(name).is_some() {
        return (Change::nothing(), Ensured::Existed);
    }
    let mut change = Change::new("trait.create");
    change.push(Record::Trait(row(image.traits.next_id(), name, now)));
    (change, Ensured::Created)
}

/// Deletes a custom trait: `DELETE /traits/{name}`.
///
/// # Errors
/// When there is no such trait, when it is a standard one, or when a provider
/// has it.
pub fn delete_trait(image: &Image, name: &str) -> Result<(Change, ()), PlacementError> {
    let Some(ix) = image.traits.ix(name) else {
        return Err(PlacementError::TraitNotFound { names: name.to_owned() });
    };
    if !name.starts_with(CUSTOM) {
        return Err(PlacementError::TraitStandardDelete { name: name.to_owned() });
    }
    if trait_in_use(image, ix) {
        return Err(PlacementError::TraitInUse { name: name.to_owned() });
    }
    let mut change = Change::new("trait.delete");
    change.push(Record::TraitGone(name.to_owned()));
    Ok((change, ()))
}

/// Whether any provider has a trait: the `associated` filter of `GET /traits`.
#[must_use]
pub fn trait_in_use(image: &Image, name: Ix) -> bool {
    image.providers.blocks().iter().any(|block| !block.with_trait(name).is_empty())
}

fn class(image: &Image, name: &str) -> Result<Ix, PlacementError> {
    let found = image.classes.ix(name);
    found.ok_or_else(|| PlacementError::ClassNotFound { name: name.to_owned() })
}

/// Providers with an inventory of a class, by place.
fn users_of_class(image: &Image, class: Ix) -> impl Iterator<Item = At> {
    image.providers.blocks().iter().enumerate().flat_map(move |(number, block)| {
        let present = block.class(class).map_or_else(Default::default, |column| column.present());
        present.iter().map(move |inside| At::of(number, inside))
    })
}

/// All inventories of a provider, by class name.
#[must_use]
pub fn inventories(image: &Image, at: At) -> Inventories {
    let classes = image.providers.get(at).map(|provider| provider.classes.clone());
    let classes = classes.as_deref().unwrap_or_default();
    let inventory = |class: &Ix| {
        let inventory = image.providers.inventory(at, *class)?;
        Some((image.classes.name(*class).to_owned(), *inventory))
    };
    classes.iter().filter_map(inventory).collect()
}

/// The place of a provider that must exist.
///
/// # Errors
/// [`PlacementError::ProviderNotFound`].
pub fn provider(image: &Image, uuid: Uuid) -> Result<At, PlacementError> {
    image.providers.find(uuid).ok_or(PlacementError::ProviderNotFound { uuid })
}
