//! Resource providers: created, renamed, moved between trees, deleted.

use crate::{
    error::{PlacementError, TreeFault},
    names::provider,
};
use stowplan_ledger::{Change, Image, Record, image::providers::At, rows::ProviderRow};
use stowplan_model::{Micros, Uuid};

/// A provider that is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewProvider {
    /// Its uuid; the caller makes one where the client gave none.
    pub uuid: Uuid,
    /// Its name.
    pub name: String,
    /// The provider above it (from 1.14 on).
    pub parent: Option<Uuid>,
}

/// What is to change of a provider's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderUpdate {
    /// Its name from now on.
    pub name: String,
    /// Its parent from now on: none keeps it, `Some(None)` makes it a root.
    pub parent: Option<Option<Uuid>>,
    /// Whether a provider that has a parent may get another or lose it (1.37).
    pub reparenting: bool,
}

/// Creates a provider: `POST /resource_providers`. Gives its row.
///
/// # Errors
/// When the name is empty, the parent does not exist, or the uuid or name is
/// taken.
pub fn create_provider(
    image: &Image,
    new: &NewProvider,
    now: Micros,
) -> Result<(Change, ProviderRow), PlacementError> {
    let refuse =
        |fault| PlacementError::ProviderCreate { name: new.name.clone(), uuid: new.uuid, fault };
    if new.name.is_empty() {
        return Err(refuse(TreeFault::NoName));
    }
    let root = match new.parent {
        None => new.uuid,
        Some(parent) if parent == new.uuid => return Err(refuse(TreeFault::OwnParent)),
        Some(parent) => {
            let parent = image.providers.find(parent).ok_or_else(|| refuse(TreeFault::NoParent))?;
            root_uuid(image, parent)
        }
    };
    let mut taken = Vec::new();
    if image.providers.find(new.uuid).is_some() {
        taken.push(format!("uuid: {}", new.uuid));
    }
    if image.providers.find_name(&new.name).is_some() {
        taken.push(format!("name: {}", new.name));
    }
    if !taken.is_empty() {
        return Err(PlacementError::ProviderExists { duplicate: taken.join(", ") });
    }
    let row = ProviderRow {
        id: image.providers.next_id(),
        uuid: new.uuid,
        name: new.name.clone(),
        generation: 0,
        parent: new.parent,
        root,
        created: now,
        updated: now,
    };
    let mut change = Change::new("provider.create");
    change.push(Record::Provider(row.clone()));
    Ok((change, row))
}

/// Renames a provider or moves it: `PUT /resource_providers/{uuid}`. Its
/// generation stays. Gives its row.
///
/// # Errors
/// When there is no such provider or parent, when the name is taken, or when
/// it may not stand there.
pub fn update_provider(
    image: &Image,
    uuid: Uuid,
    update: &ProviderUpdate,
    now: Micros,
) -> Result<(Change, ProviderRow), PlacementError> {
    let at = provider(image, uuid)?;
    let Some(before) = image.provider_row(at) else {
        return Err(PlacementError::ProviderNotFound { uuid });
    };
    let mut row = before.clone();
    row.name.clone_from(&update.name);
    if let Some(parent) = update.parent {
        row.root = new_root(image, &before, parent, update.reparenting)
            .map_err(|fault| PlacementError::ProviderUpdate { uuid, fault })?;
        row.parent = parent;
    }
    if image.providers.find_name(&row.name).is_some_and(|other| other != at) {
        return Err(PlacementError::ProviderExists { duplicate: row.name });
    }
    if row == before {
        return Ok((Change::nothing(), row));
    }
    row.updated = now;
    let mut change = Change::new("provider.update");
    change.push(Record::Provider(row.clone()));
    if row.root != before.root {
        let below = subtree(image, at).into_iter().skip(1);
        for mut moved in below.filter_map(|at| image.provider_row(at)) {
            moved.root = row.root;
            moved.updated = now;
            change.push(Record::Provider(moved));
        }
    }
    Ok((change, row))
}

/// The root of a provider under its new parent.
fn new_root(
    image: &Image,
    before: &ProviderRow,
    parent: Option<Uuid>,
    reparenting: bool,
) -> Result<Uuid, TreeFault> {
    let Some(parent) = parent else {
        return match before.parent {
            Some(_) if !reparenting => Err(TreeFault::Unparenting),
            _ => Ok(before.uuid),
        };
    };
    let above = image.providers.find(parent).ok_or(TreeFault::NoParent)?;
    if before.parent.is_some_and(|now| now != parent) && !reparenting {
        return Err(TreeFault::Reparenting);
    }
    let up = |at: &At| image.providers.get(*at).and_then(|provider| provider.parent);
    let mut path = std::iter::successors(Some(above), up);
    if path.any(|at| image.providers.uuid(at) == before.uuid) {
        return Err(TreeFault::Loop);
    }
    Ok(root_uuid(image, above))
}

/// Deletes a provider with its inventories, traits and aggregates:
/// `DELETE /resource_providers/{uuid}`.
///
/// # Errors
/// When there is no such provider, or it has children or allocations.
pub fn delete_provider(image: &Image, uuid: Uuid) -> Result<(Change, ()), PlacementError> {
    let at = image.providers.find(uuid);
    let at = at.ok_or(PlacementError::ProviderNotFoundForDelete { uuid })?;
    if subtree(image, at).len() > 1 {
        return Err(PlacementError::ProviderHasChildren { uuid });
    }
    if image.consumers.of_provider(at).next().is_some() {
        return Err(PlacementError::ProviderInUse { uuid });
    }
    let mut change = Change::new("provider.delete");
    change.push(Record::ProviderGone(uuid));
    Ok((change, ()))
}

/// A provider and all below it; parents before their children.
#[must_use]
pub fn subtree(image: &Image, at: At) -> Vec<At> {
    let tree = image.providers.tree_of(at);
    let parent = |at: &At| image.providers.get(*at).and_then(|provider| provider.parent);
    let mut found = vec![at];
    let mut next = 0;
    while let Some(&above) = found.get(next) {
        found.extend(tree.iter().filter(|&below| parent(below) == Some(above)));
        next += 1;
    }
    found
}

fn root_uuid(image: &Image, at: At) -> Uuid {
    image.providers.get(at).map_or(Uuid::nil(), |provider| image.providers.uuid(provider.root))
}
