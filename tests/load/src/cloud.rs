//! Clouds of five shapes: the requests that make them, and the queries that
//! suit them.

use crate::wire::Call;
use clap::ValueEnum;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use uuid::{Builder, Uuid};

/// What the trees of a cloud look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shape {
    Flat,
    Nested,
    Sharing,
    Hosts,
    Jobs,
}

/// Aggregates; a provider is in the first one, two or three.
const AGGREGATES: [&str; 3] = [
    "3b7f1b44-0f0e-4f6e-9d7e-6a3c57f3d101",
    "3b7f1b44-0f0e-4f6e-9d7e-6a3c57f3d102",
    "3b7f1b44-0f0e-4f6e-9d7e-6a3c57f3d103",
];
/// Traits; likewise.
const TRAITS: [&str; 3] = ["HW_CPU_X86_AVX2", "HW_CPU_X86_SSE2", "STORAGE_DISK_SSD"];
/// Every fifth root has this one.
const AVOIDED: &str = "CUSTOM_AVOIDED";
/// Computes that share one disk.
const SHARERS: usize = 100;

/// A cloud, not made yet.
#[derive(Debug)]
pub struct Cloud {
    /// Its shape.
    pub shape: Shape,
    /// Requests that make it: those of one root in order, roots in any.
    pub units: Vec<Vec<Call>>,
    /// Requests before all others.
    pub first: Vec<Call>,
    /// What is placed where servers are.
    pub flavor: Value,
    /// Every provider with what it has.
    pub providers: Vec<(Uuid, Value)>,
    /// Named candidates queries.
    pub queries: Vec<(&'static str, String)>,
    random: Random,
}

/// Draws that are the same in every run.
#[derive(Debug)]
struct Random(ChaCha8Rng);

impl Random {
    fn uuid(&mut self) -> Uuid {
        let mut bytes = [0; 16];
        self.0.fill_bytes(&mut bytes);
        Builder::from_random_bytes(bytes).into_uuid()
    }
}

impl Cloud {
    pub fn new(shape: Shape, roots: usize) -> Self {
        let trait_of = |name: &str| ("PUT", format!("/traits/{name}"), None);
        let mut cloud = Self {
            shape,
            units: Vec::new(),
            first: vec![trait_of(AVOIDED), trait_of("CUSTOM_SECOND")],
            flavor: json!({"name": "small", "vcpus": 1, "memory_mb": 512, "root_gb": 1}),
            providers: Vec::new(),
            queries: Vec::new(),
            random: Random(ChaCha8Rng::seed_from_u64(1)),
        };
        match shape {
            Shape::Flat => cloud.flat(roots),
            Shape::Nested => cloud.nested(roots),
            Shape::Sharing => cloud.sharing(roots),
            Shape::Hosts => cloud.hosts(roots),
            Shape::Jobs => {
                cloud.hosts(roots);
                cloud.queries =
                    vec![("plain", "resources=VCPU:1,MEMORY_MB:256,DISK_GB:10".to_owned())];
            }
        }
        cloud
    }

    /// The query whose candidates are claimed: there is room for many.
    pub fn claimed(&self) -> &str {
        &self.queries[0].1
    }

    fn flat(&mut self, roots: usize) {
        for number in 0..roots {
            let inventories = json!({
                "VCPU": {"total": 64, "max_unit": 16, "allocation_ratio": 4.0},
                "MEMORY_MB": {"total": 262_144, "min_unit": 128},
                "DISK_GB": {"total": 8192, "min_unit": 5},
            });
            let traits = own_traits(number);
            let mut unit = Vec::new();
            self.provider(&mut unit, None, inventories, &traits, own_aggregates(number / 3));
            self.units.push(unit);
        }
        let amounts = "resources=VCPU:1,MEMORY_MB:256,DISK_GB:10";
        self.queries = vec![
            ("plain", amounts.to_owned()),
            (
                "traits and aggregates",
                format!(
                    "{amounts}&required={},!{AVOIDED}&member_of=in:{},{}",
                    TRAITS[1], AGGREGATES[1], AGGREGATES[2]
                ),
            ),
        ];
    }

    fn nested(&mut self, roots: usize) {
        for number in 0..roots {
            let mut unit = Vec::new();
            let traits = own_traits(number);
            let disk = json!({"DISK_GB": {"total": 20_480}});
            let aggregates = own_aggregates(number);
            let root = self.provider(&mut unit, None, disk, &traits, aggregates);
            for numa in 0..2 {
                let inventories = json!({
                    "VCPU": {"total": 64, "reserved": 2},
                    "MEMORY_MB": {"total": 131_072, "min_unit": 256, "step_size": 256},
                });
                let traits = if numa == 0 {
                    &["HW_NUMA_ROOT"][..]
                } else {
                    &["HW_NUMA_ROOT", "CUSTOM_SECOND"]
                };
                let node = self.provider(&mut unit, Some(root), inventories, traits, &[]);
                self.provider(&mut unit, Some(node), json!({"FPGA": {"total": 1}}), &[], &[]);
                let second = if numa == 0 {
                    json!({"VGPU": {"total": 8}})
                } else {
                    json!({"FPGA": {"total": 1}})
                };
                self.provider(&mut unit, Some(node), second, &[], &[]);
            }
            self.units.push(unit);
        }
        let amounts = "resources=DISK_GB:10,VCPU:1,MEMORY_MB:512";
        self.queries = vec![
            ("plain", amounts.to_owned()),
            (
                "traits and aggregates",
                format!(
                    "{amounts}&root_required={},!{AVOIDED}&member_of=in:{},{}",
                    TRAITS[0], AGGREGATES[1], AGGREGATES[2]
                ),
            ),
            (
                "groups",
                "resources_C=VCPU:1,MEMORY_MB:512&resources_F=FPGA:1&group_policy=isolate\
                 &same_subtree=_C,_F"
                    .to_owned(),
            ),
        ];
    }

    fn sharing(&mut self, roots: usize) {
        for first in (0..roots).step_by(SHARERS) {
            let shared = self.random.uuid().to_string();
            let mut unit = Vec::new();
            let disk = json!({"DISK_GB": {"total": 2_000_000, "max_unit": 8192}});
            let trait_name = ["MISC_SHARES_VIA_AGGREGATE"];
            self.provider(&mut unit, None, disk, &trait_name, &[&shared]);
            for number in first..roots.min(first + SHARERS) {
                let inventories = json!({
                    "VCPU": {"total": 64, "max_unit": 16},
                    "MEMORY_MB": {"total": 131_072, "min_unit": 128},
                });
                let mut aggregates = own_aggregates(number).to_vec();
                aggregates.push(&shared);
                self.provider(&mut unit, None, inventories, &own_traits(number), &aggregates);
            }
            self.units.push(unit);
        }
        let amounts = "resources=VCPU:1,MEMORY_MB:256,DISK_GB:10";
        self.queries = vec![
            ("plain", amounts.to_owned()),
            ("traits", format!("{amounts}&required={},!{AVOIDED}", TRAITS[1])),
        ];
    }

    /// Hosts that compute services report, for servers to be placed on.
    fn hosts(&mut self, hosts: usize) {
        for number in 0..hosts {
            let uuid = self.random.uuid();
            let (vcpus, memory_mb, local_gb) = (64, 262_144 >> (number % 3), 8192);
            let report = json!({
                "uuid": uuid, "vcpus": vcpus, "memory_mb": memory_mb, "local_gb": local_gb,
                "cpu_allocation_ratio": 4.0, "io_workload": number % 5,
            });
            let path = format!("/v1/hosts/host-{number}");
            self.units.push(vec![("PUT", path, Some(report.to_string()))]);
            let inventories = json!({
                "VCPU": {"total": vcpus, "allocation_ratio": 4.0},
                "MEMORY_MB": {"total": memory_mb},
                "DISK_GB": {"total": local_gb},
            });
            self.providers.push((uuid, inventories));
        }
    }

    fn provider(
        &mut self,
        unit: &mut Vec<Call>,
        parent: Option<Uuid>,
        inventories: Value,
        traits: &[&str],
        aggregates: &[&str],
    ) -> Uuid {
        let uuid = self.random.uuid();
        let mut body = json!({"uuid": uuid, "name": uuid});
        if let Some(parent) = parent {
            body["parent_provider_uuid"] = json!(parent);
        }
        unit.push(("POST", "/resource_providers".to_owned(), Some(body.to_string())));
        let parts = [
            ("inventories", &inventories, true),
            ("aggregates", &json!(aggregates), !aggregates.is_empty()),
            ("traits", &json!(traits), !traits.is_empty()),
        ];
        let there = parts.into_iter().filter(|(_, _, there)| *there);
        for (generation, (part, value, _)) in there.enumerate() {
            let body = json!({"resource_provider_generation": generation, part: value});
            let path = format!("/resource_providers/{uuid}/{part}");
            unit.push(("PUT", path, Some(body.to_string())));
        }
        self.providers.push((uuid, inventories));
        uuid
    }
}

fn own_traits(number: usize) -> Vec<&'static str> {
    let mut traits = TRAITS[..=number % 3].to_vec();
    if number.is_multiple_of(5) {
        traits.push(AVOIDED);
    }
    traits
}

fn own_aggregates(number: usize) -> &'static [&'static str] {
    &AGGREGATES[..=number % 3]
}
