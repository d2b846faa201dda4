//! PCI pools as the peer keeps them: a versioned list, or in its older form flat
//! objects.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use stowplan_model::host_devices::PciPool;

use super::node::{Unreadable, json};
use super::numa::Object;

#[derive(Deserialize)]
struct Pools {
    objects: Vec<Object<Pool>>,
}

#[derive(Deserialize)]
struct Pool {
    vendor_id: String,
    product_id: String,
    #[serde(default)]
    numa_node: Option<i64>,
    count: i64,
    #[serde(default)]
    tags: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Kept {
    Versioned(Object<Pools>),
    List(Vec<PciPool>),
    One(PciPool),
}

/// The pools of a node.
pub(super) fn pools(text: Option<&str>) -> Result<Vec<PciPool>, Unreadable> {
    let kept: Option<Kept> = json("pci_stats", text, "a PciDevicePoolList of version 1")?;
    Ok(match kept {
        None => Vec::new(),
        Some(Kept::List(pools)) => pools,
        Some(Kept::One(pool)) => vec![pool],
        Some(Kept::Versioned(list)) => {
            list.data.objects.into_iter().map(|pool| pool.data.into()).collect()
        }
    })
}

impl From<Pool> for PciPool {
    fn from(pool: Pool) -> Self {
        let Pool { vendor_id, product_id, numa_node, count, tags } = pool;
        Self { vendor_id, product_id, numa_node, count, tags }
    }
}
