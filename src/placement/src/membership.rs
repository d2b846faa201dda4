//! Traits and aggregates of providers.

use crate::{error::PlacementError, names::provider};
use stowplan_ledger::{
    Change, Image, Record,
    image::{names::Ix, providers::At},
};
use stowplan_model::Uuid;

/// What a provider's traits are after a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderTraits {
    /// Their names, in order of the traits' creation.
    pub traits: Vec<String>,
    /// The provider's generation.
    pub generation: i64,
}

/// Replaces the traits of a provider: `PUT .../traits`. Its generation counts
/// only if something changes.
///
/// # Errors
/// When there is no such provider or trait, or when the generation moved on.
pub fn set_traits(
    image: &Image,
    uuid: Uuid,
    generation: i64,
    names: &[String],
) -> Result<(Change, ProviderTraits), PlacementError> {
    let at = provider(image, uuid)?;
    check_generation(image, at, generation)?;
    let mut wanted = Vec::with_capacity(names.len());
    let mut unknown = Vec::new();
    for name in names {
        match image.traits.ix(name) {
            Some(ix) => wanted.push(ix),
            None => unknown.push(name.as_str()),
        }
    }
    if !unknown.is_empty() {
        return Err(PlacementError::ProviderTraitNotFound { names: unknown.join(", ") });
    }
    Ok(traits_written(image, at, "traits.put", wanted))
}

/// Takes all traits from a provider: `DELETE .../traits`.
///
/// # Errors
/// When there is no such provider.
pub fn delete_traits(image: &Image, uuid: Uuid) -> Result<(Change, ()), PlacementError> {
    let at = provider(image, uuid)?;
    let (change, _) = traits_written(image, at, "traits.delete", Vec::new());
    Ok((change, ()))
}

fn traits_written(
    image: &Image,
    at: At,
    kind: &str,
    mut wanted: Vec<Ix>,
) -> (Change, ProviderTraits) {
    wanted.sort_unstable();
    wanted.dedup();
    let traits: Vec<String> = wanted.iter().map(|ix| image.traits.name(*ix).to_owned()).collect();
    let now = image.providers.generation(at);
    if image.providers.get(at).is_some_and(|provider| *provider.traits == *wanted) {
        return (Change::nothing(), ProviderTraits { traits, generation: now });
    }
    let (provider, generation) = (image.providers.uuid(at), now + 1);
    let mut change = Change::new(kind);
    change.push(Record::Traits { provider, traits: traits.clone() });
    change.push(Record::Generation { provider, generation });
    (change, ProviderTraits { traits, generation })
}

/// Replaces the aggregates of a provider: `PUT .../aggregates`. With a
/// generation (from 1.19 on) it must be the provider's, and counts; without
/// one it stays. Gives the provider's generation.
///
/// # Errors
/// When there is no such provider, or when the generation moved on.
pub fn set_aggregates(
    image: &Image,
    uuid: Uuid,
    generation: Option<i64>,
    aggregates: &[Uuid],
) -> Result<(Change, i64), PlacementError> {
    let at = provider(image, uuid)?;
    if let Some(given) = generation {
        check_generation(image, at, given)?;
    }
    let mut aggregates = aggregates.to_vec();
    aggregates.sort_unstable();
    aggregates.dedup();
    let mut change = Change::new("aggregates.put");
    let mut now = image.providers.generation(at);
    change.push(Record::Aggregates { provider: uuid, aggregates });
    if generation.is_some() {
        now += 1;
        change.push(Record::Generation { provider: uuid, generation: now });
    }
    Ok((change, now))
}

fn check_generation(image: &Image, at: At, given: i64) -> Result<(), PlacementError> {
    let actual = image.providers.generation(at);
    if actual == given { Ok(()) } else { Err(PlacementError::ProviderGeneration { actual, given }) }
}
