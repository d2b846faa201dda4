//! Which of a host's candidates filters look at, where there are very many.
//!
//! Sixteen devices of which eight are wanted can be chosen in half a thousand
//! million ways. Walked in order, the first of them all begin with the same
//! devices, and those may be the ones that filters refuse: on the wrong NUMA node,
//! or of the wrong vendor. So the walk begins anew with each device, with those
//! that are like it next.

use std::collections::HashMap;

use stowplan_engine::HostView;
use stowplan_engine::table::{HostIx, HostTable};
use stowplan_ledger::Image;
use stowplan_ledger::image::providers::At;
use stowplan_model::host_devices::PciPool;
use stowplan_placement::candidates::{Candidate, Search};

/// Candidates in Placement's order that filters look at. Where there are no more,
/// they look at all.
pub(super) const FIRST: usize = 100;
/// Candidates besides, over all devices that one begins with.
const SPREAD: usize = 100;
/// Devices that one begins with.
const STARTS: usize = 50;
/// The tag of a pool that names its resource provider.
const PROVIDER: &str = "rp_uuid";

/// A host's candidates for filters to look at, and whether there are more.
pub(super) fn sample(
    image: &Image,
    host: HostIx,
    root: At,
    search: &mut Search<'_>,
) -> (Vec<Candidate>, bool) {
    let mut found: Vec<Candidate> = search.of_root(root).take(FIRST + 1).collect();
    if found.len() <= FIRST {
        return (found, false);
    }
    found.truncate(FIRST);
    let devices = Devices::of(image, image.hosts.table(), host, root);
    let starts = devices.starts();
    let each = (SPREAD / starts.len().max(1)).max(1);
    for start in starts {
        found.extend(search.of_root_by(root, |at| devices.rank(start, at)).take(each));
    }
    (found, true)
}

/// The providers below a host's root, with what filters know of them.
struct Devices<'a> {
    /// In order of creation; none where no PCI pool stands for a provider.
    pools: Vec<Option<&'a PciPool>>,
    places: HashMap<At, usize>,
}

impl<'a> Devices<'a> {
    fn of(image: &Image, table: &'a HostTable, host: HostIx, root: At) -> Self {
        let pools = table.pci_pools(host).map_or(&[][..], |pools| pools.pools());
        let by_provider: HashMap<&str, &PciPool> = pools
            .iter()
            .filter_map(|pool| Some((pool.tags.get(PROVIDER)?.as_str()?, pool)))
            .collect();
        let below = image.providers.tree_of(root).iter().copied().filter(|at| *at != root);
        let places: HashMap<At, usize> = below.clone().zip(0..).collect();
        let pool_of = |at| by_provider.get(image.providers.uuid(at).to_string().as_str()).copied();
        Self { pools: below.map(pool_of).collect(), places }
    }

    /// Devices that a walk begins with: all, or some all over.
    fn starts(&self) -> Vec<usize> {
        let step = self.pools.len().div_ceil(STARTS).max(1);
        (0..self.pools.len()).step_by(step).collect()
    }

    /// How near a provider is to the one that a walk begins with: first those on
    /// its NUMA node, of these first those like it, and then in order from there
    /// on, round about.
    fn rank(&self, start: usize, at: At) -> (bool, bool, usize) {
        let Some(&place) = self.places.get(&at) else { return (false, false, 0) };
        let node = |place: usize| self.pools[place].map(|pool| pool.numa_node);
        let count = self.pools.len();
        (
            node(place) != node(start),
            !are_alike(self.pools[place], self.pools[start]),
            (place + count - start) % count,
        )
    }
}

/// Whether filters can tell two pools apart by their providers alone.
fn are_alike(one: Option<&PciPool>, other: Option<&PciPool>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return one.is_none() && other.is_none() };
    fn tags(pool: &PciPool) -> impl Iterator<Item = (&String, &serde_json::Value)> {
        pool.tags.iter().filter(|(name, _)| *name != PROVIDER)
    }
    one.vendor_id == other.vendor_id
        && one.product_id == other.product_id
        && tags(one).eq(tags(other))
}
