//! What providers have: inventories put, posted and deleted.

use crate::{
    error::{InventoryInUse, InventoryOperation, PlacementError},
    names::{inventories, provider},
};
use stowplan_ledger::{
    Change, Image, Record,
    image::{names::Ix, providers::At},
    rows::Inventories,
};
use stowplan_model::{Inventory, Uuid};

/// Whether an inventory may reserve all that it has (from 1.26 on).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserving {
    /// Something must be left to allocate.
    LessThanTotal,
    /// Nothing need be left.
    UpToTotal,
}

impl Reserving {
    fn check(
        self,
        operation: InventoryOperation,
        provider: Uuid,
        class: &str,
        inventory: &Inventory,
    ) -> Result<(), PlacementError> {
        let lowest = match self {
            Self::LessThanTotal => 1,
            Self::UpToTotal => 0,
        };
        if inventory.capacity() >= lowest {
            return Ok(());
        }
        Err(PlacementError::InventoryCapacity {
            operation,
            provider,
            class: class.to_owned(),
            total_allowed: self == Self::UpToTotal,
        })
    }
}

/// Replaces all inventories of a provider: `PUT .../inventories`. A capacity
/// below what is in use is allowed, as with the peer. Gives the provider's new
/// generation.
///
/// # Errors
/// When there is no such provider or class, when the generation moved on, when
/// an inventory leaves nothing to allocate, or when one that goes is in use.
pub fn set_inventories(
    image: &Image,
    uuid: Uuid,
    generation: i64,
    wanted: &[(String, Inventory)],
    reserving: Reserving,
) -> Result<(Change, i64), PlacementError> {
    let at = at_generation(image, uuid, generation)?;
    for (class, inventory) in wanted {
        reserving.check(InventoryOperation::Update, uuid, class, inventory)?;
    }
    let mut classes = Vec::with_capacity(wanted.len());
    for (class, _) in wanted {
        let unknown = || PlacementError::InventorySetClass { provider: uuid, class: class.clone() };
        classes.push(image.classes.ix(class).ok_or_else(unknown)?);
    }
    let gone = |class: &Ix| !classes.contains(class);
    if let Some(in_use) = in_use(image, at, gone) {
        return Err(PlacementError::InventorySetInUse { in_use });
    }
    Ok(written(image, at, "inventories.put", wanted.iter().cloned().collect()))
}

/// Replaces one inventory that is there: `PUT .../inventories/{class}`. Gives
/// the provider's new generation.
///
/// # Errors
/// When there is no such provider, class or inventory, when the generation
/// moved on, or when the inventory leaves nothing to allocate.
pub fn set_inventory(
    image: &Image,
    uuid: Uuid,
    generation: i64,
    class: &str,
    inventory: Inventory,
    reserving: Reserving,
) -> Result<(Change, i64), PlacementError> {
    let at = at_generation(image, uuid, generation)?;
    reserving.check(InventoryOperation::Update, uuid, class, &inventory)?;
    if image.classes.ix(class).is_none() {
        return Err(PlacementError::ClassNotFound { name: class.to_owned() });
    }
    let mut all = inventories(image, at);
    let Some(there) = all.get_mut(class) else {
        return Err(PlacementError::InventoryMissing { provider: uuid, class: class.to_owned() });
    };
    *there = inventory;
    Ok(written(image, at, "inventory.put", all))
}

/// Adds an inventory: `POST .../inventories`. Gives the provider's new
/// generation.
///
/// # Errors
/// When there is no such provider or class, when the inventory leaves nothing
/// to allocate, or when there is one of that class.
pub fn add_inventory(
    image: &Image,
    uuid: Uuid,
    class: &str,
    inventory: Inventory,
    reserving: Reserving,
) -> Result<(Change, i64), PlacementError> {
    let at = provider(image, uuid)?;
    reserving.check(InventoryOperation::Create, uuid, class, &inventory)?;
    if image.classes.ix(class).is_none() {
        return Err(PlacementError::InventoryCreateClass {
            provider: uuid,
            class: class.to_owned(),
        });
    }
    let mut all = inventories(image, at);
    if all.insert(class.to_owned(), inventory).is_some() {
        return Err(PlacementError::InventoryExists { provider: uuid, class: class.to_owned() });
    }
    Ok(written(image, at, "inventory.post", all))
}

/// Deletes one inventory: `DELETE .../inventories/{class}`.
///
/// # Errors
/// When there is no such provider, class or inventory, or when it is in use.
pub fn delete_inventory(
    image: &Image,
    uuid: Uuid,
    class: &str,
) -> Result<(Change, ()), PlacementError> {
    let at = provider(image, uuid)?;
    let missing =
        |reason: String| PlacementError::InventoryDeleteMissing { class: class.to_owned(), reason };
    let Some(ix) = image.classes.ix(class) else {
        return Err(missing(format!("No such resource class {class}.")));
    };
    if let Some(in_use) = in_use(image, at, |gone| *gone == ix) {
        return Err(PlacementError::InventoryDeleteInUse { class: class.to_owned(), in_use });
    }
    let mut all = inventories(image, at);
    if all.remove(class).is_none() {
        return Err(missing(format!("No inventory of class {class} found for delete")));
    }
    let (change, _) = written(image, at, "inventory.delete", all);
    Ok((change, ()))
}

/// Deletes all inventories of a provider: `DELETE .../inventories` (1.5).
///
/// # Errors
/// When there is no such provider, or when one is in use.
pub fn delete_inventories(image: &Image, uuid: Uuid) -> Result<(Change, ()), PlacementError> {
    let at = provider(image, uuid)?;
    if let Some(in_use) = in_use(image, at, |_| true) {
        return Err(PlacementError::InventoryDeleteAllInUse { in_use });
    }
    let (change, _) = written(image, at, "inventories.delete", Inventories::new());
    Ok((change, ()))
}

/// The classes among a provider's inventories that are to go and are in use.
pub(crate) fn in_use(image: &Image, at: At, gone: impl Fn(&Ix) -> bool) -> Option<InventoryInUse> {
    let provider = image.providers.get(at)?;
    let used = |class: &&Ix| gone(class) && image.providers.used(at, **class) > 0;
    let names: Vec<&str> =
        provider.classes.iter().filter(used).map(|class| image.classes.name(*class)).collect();
    (!names.is_empty())
        .then(|| InventoryInUse { classes: names.join(", "), provider: provider.uuid })
}

fn at_generation(image: &Image, uuid: Uuid, given: i64) -> Result<At, PlacementError> {
    let at = provider(image, uuid)?;
    let actual = image.providers.generation(at);
    if actual == given {
        Ok(at)
    } else {
        Err(PlacementError::InventoryGeneration { actual, given })
    }
}

fn written(image: &Image, at: At, kind: &str, inventories: Inventories) -> (Change, i64) {
    let provider = image.providers.uuid(at);
    let generation = image.providers.generation(at) + 1;
    let mut change = Change::new(kind);
    change.push(Record::Inventories { provider, inventories });
    change.push(Record::Generation { provider, generation });
    (change, generation)
}
