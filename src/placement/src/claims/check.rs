//! Whether the claims of one call fit, judged together.

use super::{ClaimFault, ConsumerClaim};
use crate::error::PlacementError;
use foldhash::{HashMap, HashMapExt};
use std::collections::{BTreeSet, hash_map::Entry};
use stowplan_ledger::image::{Image, consumers::Consumer, names::Ix, providers::At};

/// One amount of a claim, resolved.
pub(super) struct Wanted {
    pub provider: At,
    pub class: Ix,
    pub amount: i64,
}

/// The claims of one call with names resolved, consumer by consumer.
pub(super) struct Resolved {
    /// What each claim asks for; empty for a consumer that is to go.
    pub wanted: Vec<Vec<Wanted>>,
}

/// How an unknown class is said.
pub(super) type UnknownClass = fn(&ConsumerClaim, &str) -> PlacementError;

/// Finds the providers of all claims, then the classes.
pub(super) fn resolve(
    image: &Image,
    claims: &[ConsumerClaim],
    unknown: UnknownClass,
) -> Result<Resolved, PlacementError> {
    let mut places = Vec::with_capacity(claims.len());
    for claim in claims {
        for part in &claim.allocations {
            let at = image.providers.find(part.provider);
            let missing = || PlacementError::AllocationProvider { provider: part.provider };
            places.push(at.ok_or_else(missing)?);
        }
    }
    let mut places = places.into_iter();
    let mut wanted = Vec::with_capacity(claims.len());
    for claim in claims {
        let mut all: Vec<Wanted> = Vec::with_capacity(claim.allocations.len() * 2);
        let mut seen: HashMap<(At, Ix), usize> = HashMap::new();
        for (part, provider) in claim.allocations.iter().zip(places.by_ref()) {
            for (name, amount) in &part.resources {
                let class = image.classes.ix(name).ok_or_else(|| unknown(claim, name))?;
                match seen.entry((provider, class)) {
                    Entry::Occupied(place) => {
                        let again = &mut all[*place.get()];
                        again.amount = again.amount.saturating_add(*amount);
                    }
                    Entry::Vacant(place) => {
                        place.insert(all.len());
                        all.push(Wanted { provider, class, amount: *amount });
                    }
                }
            }
        }
        wanted.push(all);
    }
    Ok(Resolved { wanted })
}

/// What one provider has of one class while the claims are judged.
struct Account {
    /// Units in use before the call, by anybody.
    before: i64,
    /// Units that the consumers of the call give back.
    returned: i64,
    /// Units that the claims have asked for so far.
    asked: i64,
}

/// Checks inventories, unit rules and capacity of all claims together.
///
/// A provider that is over its capacity already (its inventory was cut) may
/// stay so as long as the call leaves it with no more than before.
pub(super) fn check(
    image: &Image,
    resolved: &Resolved,
    before: &[Option<&Consumer>],
) -> Result<(), PlacementError> {
    some_inventory(image, resolved)?;
    let mut accounts: HashMap<(At, Ix), Account> = HashMap::new();
    let account =
        |at, class| Account { before: image.providers.used(at, class), returned: 0, asked: 0 };
    for held in before.iter().flatten().flat_map(|consumer| &consumer.allocations) {
        let key = (held.provider, held.class);
        let entry = accounts.entry(key).or_insert_with(|| account(key.0, key.1));
        entry.returned += held.used;
    }
    for wanted in resolved.wanted.iter().flatten() {
        let (at, class) = (wanted.provider, wanted.class);
        let inventory = image.providers.inventory(at, class);
        let inventory = inventory.ok_or_else(|| no_inventory(image, &[at], &[class]))?;
        if let Some(fault) = inventory.unit_fault(wanted.amount) {
            return Err(PlacementError::Claim(ClaimFault::Units {
                class: image.classes.name(class).to_owned(),
                provider: image.providers.uuid(at),
                amount: wanted.amount,
                fault,
            }));
        }
        let entry = accounts.entry((at, class)).or_insert_with(|| account(at, class));
        entry.asked = entry.asked.saturating_add(wanted.amount);
        let used = entry.before - entry.returned;
        let after = used.saturating_add(entry.asked);
        let capacity = inventory.capacity();
        let no_worse = entry.before > 0 && after <= entry.before;
        if after > capacity && !no_worse {
            return Err(PlacementError::Claim(ClaimFault::Capacity {
                class: image.classes.name(class).to_owned(),
                provider: image.providers.uuid(at),
                wanted: entry.asked,
                used,
                capacity,
            }));
        }
    }
    Ok(())
}

/// Every provider of the call has an inventory of at least one class that the
/// call names; the peer looks at this first, and names all that have not.
fn some_inventory(image: &Image, resolved: &Resolved) -> Result<(), PlacementError> {
    let mut classes: BTreeSet<Ix> = BTreeSet::new();
    let mut providers: Vec<At> = Vec::new();
    for wanted in resolved.wanted.iter().flatten() {
        classes.insert(wanted.class);
        if providers.last() != Some(&wanted.provider) {
            providers.push(wanted.provider);
        }
    }
    let has_some = |at: &At| classes.iter().any(|c| image.providers.inventory(*at, *c).is_some());
    providers.retain(|at| !has_some(at));
    if providers.is_empty() {
        return Ok(());
    }
    providers.sort_unstable();
    providers.dedup();
    let classes: Vec<Ix> = classes.into_iter().collect();
    Err(no_inventory(image, &providers, &classes))
}

fn no_inventory(image: &Image, providers: &[At], classes: &[Ix]) -> PlacementError {
    let classes: Vec<&str> = classes.iter().map(|class| image.classes.name(*class)).collect();
    let providers: Vec<String> =
        providers.iter().map(|at| image.providers.uuid(*at).to_string()).collect();
    PlacementError::Claim(ClaimFault::NoInventory {
        classes: classes.join(", "),
        providers: providers.join(", "),
    })
}
