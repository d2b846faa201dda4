//! What a query of allocation candidates costs, without HTTP and JSON: by the
//! size of the cloud, the shape of its trees and the limit.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use stowplan_ledger::{Change, Image};
use stowplan_model::{Inventory, Micros, Uuid};
use stowplan_placement::{
    PlacementError,
    candidates::{CandidateQuery, GroupPolicy, RequestGroup, Strategy, candidates, explain},
    inventories::{Reserving, set_inventories},
    membership::{set_aggregates, set_traits},
    names::seed,
    providers::{NewProvider, create_provider},
};

const NOW: Micros = Micros(1_000_000);
const LIMITS: [Option<usize>; 3] = [Some(10), Some(1000), None];
const TRAITS: [&str; 3] = ["HW_CPU_X86_VMX", "STORAGE_DISK_SSD", "HW_CPU_X86_AVX2"];

/// A cloud in the making.
struct Cloud {
    image: Image,
    count: u128,
}

impl Cloud {
    fn new() -> Self {
        let mut image = Image::default();
        image.apply(&seed(&image, NOW).0);
        Self { image, count: 0 }
    }

    fn apply<T>(&mut self, proposal: Result<(Change, T), PlacementError>) {
        self.image.apply(&proposal.expect("the proposal holds").0);
    }

    fn provider(&mut self, parent: Option<Uuid>, has: &[(&str, i64)], traits: &[&str]) -> Uuid {
        self.count += 1;
        let uuid = Uuid::from_u128(self.count);
        let new = NewProvider { uuid, name: uuid.to_string(), parent };
        self.apply(create_provider(&self.image, &new, NOW));
        let has: Vec<_> =
            has.iter().map(|(class, units)| ((*class).to_owned(), stock(*units))).collect();
        self.apply(set_inventories(&self.image, uuid, 0, &has, Reserving::UpToTotal));
        let traits: Vec<String> = traits.iter().map(|name| (*name).to_owned()).collect();
        self.apply(set_traits(&self.image, uuid, 1, &traits));
        uuid
    }

    /// Hosts of one provider each, with one to three traits and aggregates.
    fn flat(hosts: usize) -> Image {
        let mut cloud = Self::new();
        for number in 0..hosts {
            let some = 1 + number % 3;
            let has = [("VCPU", 32), ("MEMORY_MB", 8192), ("DISK_GB", 8192)];
            let uuid = cloud.provider(None, &has, &TRAITS[..some]);
            let racks: Vec<Uuid> = (1..=some as u128).map(rack).collect();
            cloud.apply(set_aggregates(&cloud.image, uuid, None, &racks));
        }
        cloud.image
    }

    /// Hosts with two NUMA nodes of two devices each.
    fn nested(hosts: usize) -> Image {
        let mut cloud = Self::new();
        for _ in 0..hosts {
            let root = cloud.provider(None, &[("DISK_GB", 8192)], &["COMPUTE_STATUS_DISABLED"]);
            for devices in [["FPGA", "VGPU"], ["FPGA", "FPGA"]] {
                let numa = [("VCPU", 32), ("MEMORY_MB", 8192)];
                let numa = cloud.provider(Some(root), &numa, &["HW_NUMA_ROOT"]);
                for class in devices {
                    cloud.provider(Some(numa), &[(class, 4)], &[]);
                }
            }
        }
        cloud.image
    }
}

fn stock(total: i64) -> Inventory {
    Inventory {
        total,
        reserved: 0,
        min_unit: 1,
        max_unit: total,
        step_size: 1,
        allocation_ratio: 1.0,
    }
}

fn rack(number: u128) -> Uuid {
    Uuid::from_u128(number << 64)
}

fn group(suffix: &str, resources: &[(&str, i64)]) -> RequestGroup {
    let resources = resources.iter().map(|(class, units)| ((*class).to_owned(), *units)).collect();
    RequestGroup { suffix: suffix.to_owned(), resources, ..RequestGroup::default() }
}

fn breadth_first(groups: Vec<RequestGroup>) -> CandidateQuery {
    CandidateQuery { strategy: Strategy::BreadthFirst, ..CandidateQuery::new(groups) }
}

/// Flat clouds are asked for a server that asks for traits and an aggregate.
fn server() -> CandidateQuery {
    let mut wanted = group("", &[("VCPU", 1), ("MEMORY_MB", 256), ("DISK_GB", 10)]);
    wanted.required = vec![vec![TRAITS[0].to_owned()]];
    wanted.forbidden = vec![TRAITS[2].to_owned()];
    wanted.member_of = vec![vec![rack(1), rack(2)]];
    breadth_first(vec![wanted])
}

/// Trees are asked for a NUMA node with a device below it.
fn device() -> CandidateQuery {
    let mut query = breadth_first(vec![
        group("", &[("DISK_GB", 10)]),
        group("_NUMA", &[("VCPU", 1), ("MEMORY_MB", 256)]),
        group("_DEVICE", &[("FPGA", 1)]),
    ]);
    query.same_subtree = vec![vec!["_NUMA".to_owned(), "_DEVICE".to_owned()]];
    query.group_policy = GroupPolicy::Isolate;
    query
}

fn search(c: &mut Criterion) {
    let shapes = [
        ("flat 1000", Cloud::flat(1000), server()),
        ("flat 10000", Cloud::flat(10_000), server()),
        ("nested 1000", Cloud::nested(1000), device()),
    ];
    let mut rows = c.benchmark_group("candidates");
    for (name, image, query) in &shapes {
        for limit in LIMITS {
            let query = CandidateQuery { limit, ..query.clone() };
            let limit = limit.map_or("no limit".to_owned(), |limit| limit.to_string());
            rows.bench_function(BenchmarkId::new(*name, limit), |bench| {
                bench.iter(|| candidates(black_box(image), &query).unwrap().count());
            });
        }
    }
    rows.finish();

    let mut rows = c.benchmark_group("explain");
    for (name, image, query) in &shapes {
        rows.bench_function(*name, |bench| {
            bench.iter(|| explain(black_box(image), query).unwrap());
        });
    }
    rows.finish();
}

criterion_group!(benches, search);
criterion_main!(benches);
