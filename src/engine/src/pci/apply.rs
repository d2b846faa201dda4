//! PCI requests put to the pools of a host, one after the other.

use std::fmt;

use serde::Serialize;
use stowplan_model::host_devices::{NumaCell, PciPool};

use super::needs::{
    DEV_TYPE, LIVE_MIGRATABLE, Need, NumaPolicy, PHYSICAL_FUNCTION, PciNeeds, REMOTE_MANAGED, VDPA,
    flag,
};
use crate::offers::Mappings;
use crate::table::PciPools;

/// The tag with the provider that a pool stands for.
const PROVIDER: &str = "rp_uuid";

/// Where a request ran short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Short {
    /// Devices that match one of its specs.
    Matching,
    /// Of these, devices near enough to the server's NUMA cells.
    Near,
    /// Of these, devices that are not kept for requests that name their type.
    Ordinary,
    /// Of these, devices that the candidate's providers stand for and that
    /// live migration allows.
    Usable,
    /// The provider of the candidate stands for more than one pool.
    SplitProvider,
}

/// A request that the pools of a host do not meet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shortage {
    /// Name of the request.
    pub request_id: Option<String>,
    /// Devices asked for.
    pub wanted: i64,
    /// Devices there were where they ran short.
    pub free: i64,
    /// Where.
    pub at: Short,
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wanted, free, .. } = self;
        match self.at {
            Short::Matching => write!(f, "{free} devices match a PCI request for {wanted}"),
            Short::Near => write!(
                f,
                "{free} devices are near enough to the server's NUMA cells for a PCI request for \
                 {wanted}"
            ),
            Short::Ordinary => write!(
                f,
                "{free} devices are left for a PCI request for {wanted} without those kept for \
                 requests that name them (type-PF, vdpa, remote managed)"
            ),
            Short::Usable => write!(
                f,
                "{free} devices are left for a PCI request for {wanted} by the candidate's \
                 providers and by live migration"
            ),
            Short::SplitProvider => {
                f.write_str("several PCI pools stand for one resource provider of the candidate")
            }
        }
    }
}

/// Whether the pools of a host meet all requests, by one candidate's mappings
/// and, where the NUMA cells of the server are known, near them.
///
/// # Errors
/// The first request that is not met.
pub fn supports(
    pools: &PciPools,
    needs: &PciNeeds,
    mappings: &Mappings,
    near: Option<Near<'_>>,
) -> Result<(), Shortage> {
    Left::of(pools.pools()).take_all(needs, mappings, near)
}

/// What all requests leave of the pools; those without devices are gone.
///
/// # Errors
/// The first request that is not met.
pub fn left_after(
    pools: &PciPools,
    needs: &PciNeeds,
    mappings: &Mappings,
    near: Option<Near<'_>>,
) -> Result<PciPools, Shortage> {
    let mut left = Left::of(pools.pools());
    left.take_all(needs, mappings, near)?;
    let counts = left.pools.iter().zip(&left.counts);
    let pools = counts.filter_map(|(pool, count)| {
        let count = (*count)?;
        Some(PciPool { count, ..pool.clone() })
    });
    Ok(PciPools::new(pools.collect()))
}

/// The NUMA cells that a server would have, among those of its host.
#[derive(Clone, Copy, Debug)]
pub struct Near<'a> {
    /// Numbers of the cells.
    pub cells: &'a [i64],
    /// All cells of the host.
    pub host: &'a [NumaCell],
}

impl Near<'_> {
    fn is_on(&self, pool: &PciPool) -> bool {
        pool.numa_node.is_some_and(|node| self.cells.contains(&node))
    }

    fn shares_socket(&self, pool: &PciPool) -> bool {
        let socket_of =
            |number: i64| self.host.iter().find(|cell| cell.id == number).map(NumaCell::socket);
        let socket = pool.numa_node.and_then(socket_of);
        socket.is_some() && self.cells.iter().any(|cell| socket_of(*cell) == socket)
    }
}

/// Pools with what is left in them.
struct Left<'a> {
    pools: &'a [PciPool],
    /// Devices by pool; `None` for a pool that is gone.
    counts: Vec<Option<i64>>,
}

impl<'a> Left<'a> {
    fn of(pools: &'a [PciPool]) -> Self {
        Self { pools, counts: pools.iter().map(|pool| Some(pool.count)).collect() }
    }

    fn take_all(
        &mut self,
        needs: &PciNeeds,
        mappings: &Mappings,
        near: Option<Near<'_>>,
    ) -> Result<(), Shortage> {
        needs.iter().try_for_each(|need| self.take(need, mappings, near))
    }

    fn take(
        &mut self,
        need: &Need,
        mappings: &Mappings,
        near: Option<Near<'_>>,
    ) -> Result<(), Shortage> {
        let providers = Providers::of(need, mappings);
        let chosen = self.choose(need, &providers, near)?;
        if providers.0.is_empty() {
            let mut wanted = need.count;
            for place in chosen {
                let has = self.counts[place].unwrap_or(0);
                let taken = has.min(wanted);
                // A pool that is asked for all it has is gone.
                self.counts[place] = (has > wanted).then(|| has - taken);
                wanted -= taken;
                if wanted == 0 {
                    break;
                }
            }
            return Ok(());
        }
        if self.is_split() {
            return Err(self.shortage(need, &chosen, Short::SplitProvider));
        }
        for place in chosen {
            let taken = provider(&self.pools[place]).map_or(0, |name| providers.devices(name));
            let left = self.counts[place].map(|has| has - taken);
            self.counts[place] = left.filter(|left| *left != 0);
        }
        Ok(())
    }

    /// The pools that a request may take from, in the order in which it does.
    fn choose(
        &self,
        need: &Need,
        providers: &Providers,
        near: Option<Near<'_>>,
    ) -> Result<Vec<usize>, Shortage> {
        let there = (0..self.pools.len()).filter(|place| self.counts[*place].is_some());
        let mut chosen: Vec<usize> =
            there.filter(|place| need.matches(&self.pools[*place])).collect();
        self.enough(need, &chosen, Short::Matching)?;
        if let Some(near) = near.filter(|near| !near.cells.is_empty()) {
            chosen = self.near(need, chosen, near);
            self.enough(need, &chosen, Short::Near)?;
        }
        let is = |place: usize, kind: &str| text(&self.pools[place], DEV_TYPE) == Some(kind);
        chosen.retain(|place| need.takes_pf || !is(*place, PHYSICAL_FUNCTION));
        self.enough(need, &chosen, Short::Ordinary)?;
        chosen.retain(|place| need.takes_vdpa || !is(*place, VDPA));
        chosen.retain(|place| {
            need.takes_remote || !flag(self.pools[*place].tags.get(REMOTE_MANAGED))
        });
        self.enough(need, &chosen, Short::Ordinary)?;
        if !providers.0.is_empty() {
            chosen.retain(|place| {
                provider(&self.pools[*place]).is_some_and(|name| {
                    let wanted = providers.devices(name);
                    wanted > 0 && self.counts[*place].is_some_and(|has| has >= wanted)
                })
            });
        }
        if let Some(word) = need.migratable {
            chosen.retain(|place| text(&self.pools[*place], LIVE_MIGRATABLE) == Some(word));
        }
        self.enough(need, &chosen, Short::Usable)?;
        if chosen.is_empty() {
            return Err(self.shortage(need, &chosen, Short::Usable));
        }
        Ok(chosen)
    }

    /// The NUMA step: the strictest kind of nearness that the policy asks for
    /// or that has enough devices.
    fn near(&self, need: &Need, pools: Vec<usize>, near: Near<'_>) -> Vec<usize> {
        let on = |place: &usize| near.is_on(&self.pools[*place]);
        let nowhere = |place: &usize| self.pools[*place].numa_node.is_none();
        let subset = |keep: &dyn Fn(&usize) -> bool| -> Vec<usize> {
            pools.iter().copied().filter(|place| keep(place)).collect()
        };
        let affine = subset(&on);
        if need.policy == NumaPolicy::Required || self.sum(&affine) >= need.count {
            return affine;
        }
        if need.policy == NumaPolicy::Socket {
            return subset(&|place| near.shares_socket(&self.pools[*place]));
        }
        let known = |place: &usize| on(place) || nowhere(place);
        let loose = subset(&known);
        if need.policy == NumaPolicy::Legacy || self.sum(&loose) >= need.count {
            return loose;
        }
        let mut all = pools;
        all.sort_by_key(|place| !known(place));
        all
    }

    fn enough(&self, need: &Need, chosen: &[usize], at: Short) -> Result<(), Shortage> {
        if self.sum(chosen) >= need.count { Ok(()) } else { Err(self.shortage(need, chosen, at)) }
    }

    fn shortage(&self, need: &Need, chosen: &[usize], at: Short) -> Shortage {
        Shortage {
            request_id: need.request_id.clone(),
            wanted: need.count,
            free: self.sum(chosen),
            at,
        }
    }

    fn sum(&self, places: &[usize]) -> i64 {
        let counts = places.iter().filter_map(|place| self.counts[*place]);
        counts.fold(0, i64::saturating_add)
    }

    /// Whether two pools stand for one provider: devices cannot be told apart
    /// by providers then.
    fn is_split(&self) -> bool {
        let there = || (0..self.pools.len()).filter(|place| self.counts[*place].is_some());
        there().any(|a| {
            self.pools[a].tags.get(PROVIDER).is_some_and(|name| {
                there().any(|b| b > a && self.pools[b].tags.get(PROVIDER) == Some(name))
            })
        })
    }
}

/// The providers that a candidate gives to a request, one for each device;
/// none when any device will do.
struct Providers(Vec<String>);

impl Providers {
    fn of(need: &Need, mappings: &Mappings) -> Self {
        if mappings.is_empty() {
            return Self(need.providers.clone());
        }
        let Some(request) = &need.request_id else {
            return Self(Vec::new());
        };
        let groups = mappings.iter().filter(|(group, _)| group.starts_with(request));
        let first = groups.filter_map(|(_, providers)| providers.first());
        Self(first.map(ToString::to_string).collect())
    }

    /// Devices asked of one provider.
    fn devices(&self, provider: &str) -> i64 {
        self.0.iter().filter(|name| *name == provider).count() as i64
    }
}

fn text<'a>(pool: &'a PciPool, tag: &str) -> Option<&'a str> {
    pool.tags.get(tag).and_then(serde_json::Value::as_str)
}

fn provider(pool: &PciPool) -> Option<&str> {
    text(pool, PROVIDER)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use serde_json::{Value, json};
    use stowplan_model::Uuid;

    fn pools(value: Value) -> PciPools {
        PciPools::new(serde_json::from_value(value).unwrap())
    }

    fn needs(value: Value) -> PciNeeds {
        let requests: Vec<_> = serde_json::from_value(value).unwrap();
        PciNeeds::read(&requests).unwrap()
    }

    fn cells() -> Vec<NumaCell> {
        let cell = |id, socket| NumaCell { id, socket: Some(socket), ..NumaCell::default() };
        vec![cell(0, 0), cell(1, 0), cell(2, 1)]
    }

    fn counts(pools: &PciPools) -> Vec<(Option<i64>, i64)> {
        pools.pools().iter().map(|pool| (pool.numa_node, pool.count)).collect()
    }

    #[test]
    fn devices_are_taken_pool_by_pool() {
        let pools = pools(json!([
            {"vendor_id": "8086", "product_id": "1520", "numa_node": 0, "count": 2},
            {"vendor_id": "8086", "product_id": "1520", "numa_node": 1, "count": 4},
        ]));
        let needs = needs(json!([{"count": 3, "spec": [{"vendor_id": "8086"}]}]));
        let left = left_after(&pools, &needs, &Mappings::new(), None).unwrap();
        assert_eq!(counts(&left), [(Some(1), 3)]);
        let short = left_after(&left, &needs, &Mappings::new(), None)
            .and_then(|left| left_after(&left, &needs, &Mappings::new(), None))
            .unwrap_err();
        assert_eq!((short.wanted, short.free, short.at), (3, 0, Short::Matching));
    }

    #[test]
    fn numa_policies() {
        let pools = pools(json!([
            {"vendor_id": "a", "product_id": "b", "numa_node": 0, "count": 1},
            {"vendor_id": "a", "product_id": "b", "numa_node": 1, "count": 2},
            {"vendor_id": "a", "product_id": "b", "numa_node": null, "count": 1},
            {"vendor_id": "a", "product_id": "b", "numa_node": 2, "count": 4},
        ]));
        let host = cells();
        let near = Near { cells: &[0], host: &host };
        let left = |policy: &str, count: i64| {
            let needs = needs(
                json!([{"count": count, "spec": [{"product_id": "B"}], "numa_policy": policy}]),
            );
            left_after(&pools, &needs, &Mappings::new(), Some(near)).map(|left| counts(&left)).ok()
        };
        assert_eq!(left("required", 2), None);
        assert_eq!(left("legacy", 2), Some(vec![(Some(1), 2), (Some(2), 4)]));
        assert_eq!(left("legacy", 3), None);
        assert_eq!(left("socket", 3), Some(vec![(None, 1), (Some(2), 4)]));
        assert_eq!(left("socket", 4), None);
        // The pools near come first, the others in their order.
        assert_eq!(left("preferred", 4), Some(vec![(Some(2), 4)]));
    }

    #[test]
    fn special_devices_are_kept_for_those_who_name_them() {
        let pools = pools(json!([
            {"vendor_id": "a", "product_id": "b", "count": 1, "dev_type": "type-PF"},
            {"vendor_id": "a", "product_id": "b", "count": 1, "dev_type": "vdpa"},
            {"vendor_id": "a", "product_id": "b", "count": 1, "remote_managed": "Yes"},
        ]));
        let met = |spec: Value| {
            let needs = needs(json!([{"count": 1, "spec": [spec]}]));
            supports(&pools, &needs, &Mappings::new(), None)
        };
        assert_eq!(met(json!({"vendor_id": "a"})).unwrap_err().at, Short::Ordinary);
        assert!(met(json!({"vendor_id": "a", "dev_type": "type-PF"})).is_ok());
        assert!(met(json!({"vendor_id": "a", "dev_type": "vdpa"})).is_ok());
        assert!(met(json!({"remote_managed": "yes"})).is_ok());
        let short = met(json!({"dev_type": "type-PF", "live_migratable": "true"})).unwrap_err();
        assert_eq!(short.at, Short::Matching);
    }

    #[test]
    fn a_mapped_request_takes_from_its_providers() {
        let (one, two) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let pools = pools(json!([
            {"vendor_id": "a", "product_id": "b", "count": 2, "rp_uuid": one.to_string()},
            {"vendor_id": "a", "product_id": "b", "count": 2, "rp_uuid": two.to_string()},
        ]));
        let needs = needs(json!([{"request_id": "r", "count": 2, "spec": [{"vendor_id": "a"}]}]));
        let mapped = |places: &[(&str, Uuid)]| -> Mappings {
            places.iter().map(|(group, uuid)| ((*group).to_owned(), vec![*uuid])).collect()
        };
        let both = mapped(&[("r-0", two), ("r-1", two), ("other", one)]);
        let left = left_after(&pools, &needs, &both, None).unwrap();
        assert_eq!(counts(&left), [(None, 2)]);
        assert_eq!(left.pools()[0].tags["rp_uuid"], json!(one.to_string()));
        let unknown = mapped(&[("r-0", Uuid::from_u128(3))]);
        assert_eq!(supports(&pools, &needs, &unknown, None).unwrap_err().free, 0);
        // A mapping of other groups alone leaves the choice free.
        assert!(supports(&pools, &needs, &mapped(&[("x", one)]), None).is_ok());
    }

    #[test]
    fn a_policy_that_does_not_exist_is_named() {
        let requests: Vec<_> =
            serde_json::from_value(json!([{"count": 1, "numa_policy": "close"}])).unwrap();
        assert_eq!(
            PciNeeds::read(&requests).unwrap_err().to_string(),
            "numa_policy of a PCI request is \"close\": expected one of required, legacy, \
             preferred, socket"
        );
    }
}
