//! What is held for a task until all that it needs is free: device by device,
//! as the task will take it (rule 4).

use crate::spec::RoleSpec;
use crate::world::{TraitRule, TraitSet};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use stowplan_ledger::Image;
use stowplan_ledger::image::names::Ix;
use stowplan_ledger::image::providers::At;
use stowplan_model::Uuid;

/// Units of classes by provider.
pub(super) type Parts = BTreeMap<Uuid, BTreeMap<String, i64>>;

/// What a consumer holds.
pub(super) fn held(image: &Image, consumer: Uuid) -> Parts {
    let mut parts = Parts::new();
    let consumer = image.consumers.get(consumer);
    for allocation in consumer.into_iter().flat_map(|consumer| &consumer.allocations) {
        let Some(provider) = image.providers.get(allocation.provider) else { continue };
        let class = image.classes.name(allocation.class).to_owned();
        parts.entry(provider.uuid).or_default().insert(class, allocation.used);
    }
    parts
}

/// Adds what is free in a host's tree to a task's hold, up to what the task
/// needs: whether anything was added, and whether it is all by now. `leaving`
/// are those who leave the host for the task.
pub(super) fn grow(
    image: &Image,
    host: Uuid,
    leaving: &[Uuid],
    role: &RoleSpec,
    hold: &mut Parts,
) -> (bool, bool) {
    let (mut grew, mut full) = (false, true);
    let Some(root) = image.providers.find(host) else { return (false, false) };
    let tree = image.providers.tree_of(root);
    for (class, need) in &role.charged {
        let Some(ix) = image.classes.ix(class) else { return (false, false) };
        let devices: Vec<Device> = tree
            .iter()
            .filter(|at| allowed(image, **at, role, class))
            .filter_map(|at| Device::of(image, (*at, ix), leaving, hold, class))
            .collect();
        for (device, part) in shares(devices, *need) {
            let Some(device) = device else {
                full = false;
                continue;
            };
            let more = (part - device.held).min(device.free);
            if more > 0 {
                let parts = hold.entry(device.uuid).or_default();
                *parts.entry(class.clone()).or_default() += more;
                grew = true;
            }
            full &= device.held + more.max(0) >= part;
        }
    }
    (grew, full)
}

/// Whether a provider has the traits that a role asks for of a class.
fn allowed(image: &Image, at: At, role: &RoleSpec, class: &str) -> bool {
    let Some(rules) = role.required_traits.get(class) else { return true };
    let traits = image.providers.get(at).map(|provider| &provider.traits);
    let names = traits.into_iter().flat_map(|traits| traits.iter());
    let traits = TraitSet::new(names.map(|ix| image.traits.name(*ix)));
    rules.iter().all(|rule| TraitRule::read(rule).holds(&traits))
}

/// A provider that has something of a class.
struct Device {
    uuid: Uuid,
    capacity: i64,
    /// What nobody holds.
    free: i64,
    /// What the hold has of it already.
    held: i64,
    /// What those who leave for the task still have of it.
    coming: i64,
}

impl Device {
    fn of(
        image: &Image,
        (at, class): (At, Ix),
        leaving: &[Uuid],
        hold: &Parts,
        name: &str,
    ) -> Option<Self> {
        let capacity = image.providers.capacity(at, class)?;
        let uuid = image.providers.uuid(at);
        let theirs = leaving.iter().filter_map(|task| image.consumers.get(*task));
        let theirs = theirs.flat_map(|consumer| &consumer.allocations);
        let coming = theirs
            .filter(|allocation| allocation.provider == at && allocation.class == class)
            .map(|allocation| allocation.used)
            .sum();
        Some(Self {
            uuid,
            capacity,
            free: capacity - image.providers.used(at, class),
            held: hold.get(&uuid).and_then(|parts| parts.get(name)).copied().unwrap_or(0),
            coming,
        })
    }

    /// How much of a part it will come to have.
    fn promises(&self, part: i64) -> i64 {
        part.min(self.held + self.free + self.coming)
    }
}

/// Which device gives which part of an amount: one that a single device can
/// give comes from one, a larger one from whole devices and one more. Those
/// that are held already stay; of the others those where most is or becomes
/// free. No device for a part that none can give.
fn shares(mut devices: Vec<Device>, need: i64) -> Vec<(Option<Device>, i64)> {
    // A host may have shrunk under what is held there.
    let size = |device: &Device| device.capacity.max(device.held);
    let unit = devices.iter().map(size).max().unwrap_or(0).max(1);
    let (whole, rest) = if need <= unit { (0, need) } else { (need / unit, need % unit) };
    // No more parts than there are devices: what the rest would be is one part.
    let given = whole.min(i64::try_from(devices.len()).unwrap_or(i64::MAX));
    let missing = (whole - given) * unit;
    let parts = (0..given).map(|_| unit).chain((rest > 0).then_some(rest));
    let shares = parts.map(|part| {
        let suits = |device: &Device| size(device) >= part && device.held <= part;
        let best = devices
            .iter()
            .enumerate()
            .filter(|(_, device)| suits(device))
            .min_by_key(|(_, device)| (Reverse(device.held), Reverse(device.promises(part))));
        let best = best.map(|(at, _)| at);
        (best.map(|at| devices.remove(at)), part)
    });
    let mut shares: Vec<(Option<Device>, i64)> = shares.collect();
    shares.extend((missing > 0).then_some((None, missing)));
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Devices of 1000 as (free, held, coming), and what each part gets.
    fn given(devices: &[(i64, i64, i64)], need: i64) -> Vec<Option<u128>> {
        let device = |(at, (free, held, coming)): (usize, &(i64, i64, i64))| Device {
            uuid: Uuid::from_u128(at as u128),
            capacity: 1000,
            free: *free,
            held: *held,
            coming: *coming,
        };
        let devices = devices.iter().enumerate().map(device).collect();
        let shares = shares(devices, need);
        assert_eq!(shares.iter().map(|(_, part)| part).sum::<i64>(), need);
        shares.into_iter().map(|(device, _)| Some(device?.uuid.as_u128())).collect()
    }

    #[test]
    fn a_share_is_held_on_one_device() {
        assert_eq!(given(&[(500, 0, 0), (300, 0, 500)], 700), [Some(1)], "where it will fit");
        assert_eq!(given(&[(900, 0, 0), (100, 200, 0)], 700), [Some(1)], "what is held stays");
        assert_eq!(given(&[(400, 0, 0), (700, 0, 0), (900, 0, 0)], 700), [Some(1)]);
    }

    #[test]
    fn many_are_held_on_whole_devices() {
        let devices = [(0, 0, 0), (1000, 0, 0), (500, 500, 0), (0, 0, 1000)];
        assert_eq!(given(&devices, 2300), [Some(2), Some(1), Some(3)]);
        assert_eq!(given(&[(1000, 0, 0)], 2000), [Some(0), None]);
        assert_eq!(given(&[], 1), [None]);
        // Memory in bytes of a host that has lost it.
        assert_eq!(given(&[], i64::MAX / 2), [None]);
    }
}
