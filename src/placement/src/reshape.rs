//! Moving inventories and allocations between providers in one mutation.

use crate::{
    claims::{ConsumerClaim, replace},
    error::PlacementError,
    inventories::in_use,
    names::inventories,
};
use foldhash::{HashMap, HashMapExt};
use stowplan_ledger::{
    Change, Image, Record,
    image::{names::Ix, providers::At},
    rows::Inventories,
};
use stowplan_model::{Inventory, Micros, Uuid};

/// The inventories that one provider is to have.
#[derive(Clone, Debug, PartialEq)]
pub struct ReshapedProvider {
    /// The provider.
    pub provider: Uuid,
    /// Its generation, as the caller knows it.
    pub generation: i64,
    /// All its inventories from now on.
    pub inventories: Vec<(String, Inventory)>,
}

/// Replaces inventories of providers and allocations of consumers together:
/// `POST /reshaper`. Allocations are judged by the new inventories, beside
/// those that go; what goes must be free in the end.
///
/// `limit` bounds the inventories and allocations in all
/// (`[placement] max_reshape_rows`).
///
/// # Errors
/// As putting the inventories and then posting the allocations would give.
pub fn reshape(
    image: &Image,
    providers: &[ReshapedProvider],
    claims: &[ConsumerClaim],
    limit: usize,
    now: Micros,
) -> Result<(Change, ()), PlacementError> {
    check_size(providers, claims, limit)?;
    let places = check_providers(image, providers)?;
    // First everything that is to be, beside what is to go ...
    let mut between = image.clone();
    let union = union(image, providers, &places)?;
    between.apply(&union);
    // ... then the allocations ...
    let unknown =
        |_: &ConsumerClaim, class: &str| PlacementError::ReshapeClass { class: class.to_owned() };
    let records = replace(&between, claims, unknown, now)?;
    between.apply(&Change { kind: String::new(), records: records.clone() });
    // ... and last what is to go.
    let mut change = Change::new("reshape");
    let mut generations: HashMap<Uuid, i64> = HashMap::new();
    for record in records {
        match record {
            Record::Generation { provider, generation } => {
                generations.insert(provider, generation);
            }
            record => change.push(record),
        }
    }
    for (reshaped, &at) in providers.iter().zip(&places) {
        let stays = |class: &Ix| {
            let name = image.classes.name(*class);
            reshaped.inventories.iter().any(|(stays, _)| stays == name)
        };
        if let Some(in_use) = in_use(&between, at, |class| !stays(class)) {
            return Err(PlacementError::InventorySetInUse { in_use });
        }
        change.push(Record::Inventories {
            provider: reshaped.provider,
            inventories: reshaped.inventories.iter().cloned().collect(),
        });
        generations.insert(reshaped.provider, between.providers.generation(at) + 1);
    }
    let mut generations: Vec<_> = generations.into_iter().collect();
    generations.sort_unstable();
    change.records.extend(
        generations
            .into_iter()
            .map(|(provider, generation)| Record::Generation { provider, generation }),
    );
    Ok((change, ()))
}

fn check_size(
    providers: &[ReshapedProvider],
    claims: &[ConsumerClaim],
    limit: usize,
) -> Result<(), PlacementError> {
    let inventories: usize = providers.iter().map(|provider| provider.inventories.len()).sum();
    let parts = claims.iter().flat_map(|claim| &claim.allocations);
    let allocations: usize = parts.map(|part| part.resources.len()).sum();
    let rows = inventories + allocations;
    if rows > limit { Err(PlacementError::ReshapeTooLarge { rows, limit }) } else { Ok(()) }
}

fn check_providers(
    image: &Image,
    providers: &[ReshapedProvider],
) -> Result<Vec<At>, PlacementError> {
    let place = |reshaped: &ReshapedProvider| {
        let provider = reshaped.provider;
        let at =
            image.providers.find(provider).ok_or(PlacementError::ReshapeProvider { provider })?;
        let (actual, given) = (image.providers.generation(at), reshaped.generation);
        if actual == given {
            Ok(at)
        } else {
            Err(PlacementError::ReshapeGeneration { provider, actual, given })
        }
    };
    providers.iter().map(place).collect()
}

/// What the providers have while allocations move: all that they had, with
/// the new inventories over it. Providers that are to have nothing keep
/// everything until the end.
fn union(
    image: &Image,
    providers: &[ReshapedProvider],
    places: &[At],
) -> Result<Change, PlacementError> {
    let mut change = Change::new("");
    for (reshaped, &at) in providers.iter().zip(places) {
        if reshaped.inventories.is_empty() {
            continue;
        }
        let mut all: Inventories = inventories(image, at);
        for (class, inventory) in &reshaped.inventories {
            if image.classes.ix(class).is_none() {
                return Err(PlacementError::ReshapeClass { class: class.clone() });
            }
            all.insert(class.clone(), *inventory);
        }
        let (provider, generation) = (reshaped.provider, image.providers.generation(at) + 1);
        change.push(Record::Inventories { provider, inventories: all });
        change.push(Record::Generation { provider, generation });
    }
    Ok(change)
}
