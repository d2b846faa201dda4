//! The PCI requests of a server, read once.

use std::collections::BTreeMap;

use serde_json::Value;
use stowplan_model::host_devices::PciPool;
use stowplan_model::request_devices::PciRequest;
use stowplan_model::{pytext, pyvalue};

use crate::fault::Fault;

/// Keys of a spec that say nothing about pools.
const IGNORED: [&str; 3] = ["resource_class", "traits", PROVIDERS];
/// The key of a spec with the providers that an earlier allocation gave.
const PROVIDERS: &str = "rp_uuids";

/// Device types that only a request which names them gets.
pub(super) const PHYSICAL_FUNCTION: &str = "type-PF";
pub(super) const VDPA: &str = "vdpa";

pub(super) const DEV_TYPE: &str = "dev_type";
pub(super) const REMOTE_MANAGED: &str = "remote_managed";
pub(super) const LIVE_MIGRATABLE: &str = "live_migratable";

/// All PCI requests of a server.
#[derive(Clone, Debug, Default)]
pub struct PciNeeds(Vec<Need>);

/// One PCI request.
#[derive(Clone, Debug)]
pub(super) struct Need {
    /// Name of the request, by which mappings refer to it.
    pub request_id: Option<String>,
    /// Devices.
    pub count: i64,
    /// Alternatives; a pool must carry all pairs of one of them.
    pub specs: Vec<BTreeMap<String, Value>>,
    pub policy: NumaPolicy,
    /// Takes physical functions.
    pub takes_pf: bool,
    /// Takes VDPA devices.
    pub takes_vdpa: bool,
    /// Takes devices that are managed remotely.
    pub takes_remote: bool,
    /// What the pools must say of live migration, if anything.
    pub migratable: Option<&'static str>,
    /// Providers, one for each device, for candidates without mappings; empty
    /// when any will do.
    pub providers: Vec<String>,
}

/// How near to the server's NUMA cells devices must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumaPolicy {
    /// On one of the cells.
    Required,
    /// The same, or on no known cell.
    Legacy,
    /// Anywhere, on the cells first.
    Preferred,
    /// On the sockets of the cells.
    Socket,
}

const POLICIES: &[(&str, NumaPolicy)] = &[
    ("required", NumaPolicy::Required),
    ("legacy", NumaPolicy::Legacy),
    ("preferred", NumaPolicy::Preferred),
    ("socket", NumaPolicy::Socket),
];

impl PciNeeds {
    /// Reads the requests of a server.
    ///
    /// # Errors
    /// A NUMA policy that does not exist.
    pub fn read(requests: &[PciRequest]) -> Result<Self, Fault> {
        requests.iter().map(Need::read).collect::<Result<_, _>>().map(Self)
    }

    /// Whether no device is asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Need> {
        self.0.iter()
    }
}

impl Need {
    fn read(request: &PciRequest) -> Result<Self, Fault> {
        let specs = &request.spec;
        let text = |spec: &BTreeMap<String, Value>, key: &str| {
            spec.get(key).and_then(Value::as_str).map(str::to_owned)
        };
        let asks_for = |device: &str| specs.iter().any(|s| text(s, DEV_TYPE) == some(device));
        let all_say = |word: &str| specs.iter().all(|s| text(s, LIVE_MIGRATABLE) == some(word));
        let providers = specs.first().and_then(|spec| text(spec, PROVIDERS)).unwrap_or_default();
        Ok(Self {
            request_id: request.request_id.clone(),
            count: request.count,
            policy: policy(request.numa_policy.as_deref())?,
            takes_pf: asks_for(PHYSICAL_FUNCTION),
            takes_vdpa: asks_for(VDPA),
            takes_remote: specs.iter().any(|spec| flag(spec.get(REMOTE_MANAGED))),
            migratable: ["true", "false"].into_iter().find(|word| all_say(word)),
            providers: match providers.as_str() {
                "" => Vec::new(),
                list => list.split(',').map(str::to_owned).collect(),
            },
            specs: specs.iter().map(relevant).collect(),
        })
    }

    /// Whether a pool carries all pairs of one of the alternatives.
    pub(super) fn matches(&self, pool: &PciPool) -> bool {
        self.specs.iter().any(|spec| spec.iter().all(|(key, value)| carries(pool, key, value)))
    }
}

fn some(word: &str) -> Option<String> {
    Some(word.to_owned())
}

fn policy(text: Option<&str>) -> Result<NumaPolicy, Fault> {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Ok(NumaPolicy::Legacy);
    };
    POLICIES.iter().find(|(name, _)| *name == text).map(|(_, policy)| *policy).ok_or_else(|| {
        let known: Vec<&str> = POLICIES.iter().map(|(name, _)| *name).collect();
        Fault::value(format!(
            "numa_policy of a PCI request is \"{text}\": expected one of {}",
            known.join(", ")
        ))
    })
}

fn relevant(spec: &BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    let pairs = spec.iter().filter(|(key, _)| !IGNORED.contains(&key.as_str()));
    pairs.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Text read as a boolean; what is absent is false.
pub(super) fn flag(value: Option<&Value>) -> bool {
    value.is_some_and(|value| pytext::flag(&pytext::str(value)))
}

/// Whether a pool carries that pair: texts in any letter case, of a list every
/// member.
fn carries(pool: &PciPool, key: &str, wanted: &Value) -> bool {
    let text = |text: &str| Value::String(text.to_owned());
    let has = match key {
        "vendor_id" => text(&pool.vendor_id),
        "product_id" => text(&pool.product_id),
        "numa_node" => pool.numa_node.map_or(Value::Null, Value::from),
        "count" => Value::from(pool.count),
        tag => pool.tags.get(tag).cloned().unwrap_or_default(),
    };
    match (wanted, &has) {
        (Value::Array(wanted), Value::Array(has)) => {
            wanted.iter().all(|item| has.iter().any(|other| pyvalue::equal(item, other)))
        }
        (Value::String(wanted), Value::String(has)) => wanted.to_lowercase() == has.to_lowercase(),
        _ => pyvalue::equal(wanted, &has),
    }
}
