//! What filters and weighers cost for one server, by the number of hosts.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::hint::black_box;
use std::sync::Arc;
use stowplan_config::Settings;
use stowplan_engine::{
    Ask, CheckedRequest, Detail, Engine, Figure, HostIx, HostRow, HostTable, HostView, Kept,
    Offers, StageFault,
    offers::Mappings,
    sequence::{Sequence, Start, Supply},
    table::{Figures, HostFacts, InstanceProps},
};
use stowplan_model::{
    Micros, Uuid,
    host::HostAggregate,
    request::{InstanceGroup, ScheduleRequest},
};

const NOW: Micros = Micros::from_seconds(1_000);

/// Hosts that differ in what is left of them.
fn table(hosts: u32) -> HostTable {
    let mut table = HostTable::new();
    for n in 0..hosts {
        let facts = HostFacts {
            host: format!("host-{n}"),
            node: format!("node-{n}"),
            uuid: Uuid::from_u128(u128::from(n) + 1),
            ..HostFacts::default()
        };
        let n = i64::from(n);
        let figures = Figures::default()
            .with(Figure::AliveSince, NOW.0)
            .with(Figure::TotalUsableRamMb, 262_144)
            .with(Figure::FreeRamMb, 4096 + n * 7919 % 258_048)
            .with(Figure::FreeDiskMb, 10_240 + n * 104_729 % 1_000_000)
            .with(Figure::VcpusTotal, 64)
            .with(Figure::VcpusUsed, n * 31 % 64)
            .with(Figure::NumInstances, n % 40)
            .with(Figure::NumIoOps, n % 9);
        let row = HostRow { facts, figures, ratios: [16.0, 1.5, 1.0], ..HostRow::default() };
        table.upsert(HostIx(n as u32), row);
    }
    table
}

/// Puts the hosts into 40 sets of host aggregates, some of which override
/// multipliers.
fn override_multipliers(table: &mut HostTable) {
    const KEYS: [&str; 6] = [
        "ram_weight_multiplier",
        "cpu_weight_multiplier",
        "disk_weight_multiplier",
        "io_ops_weight_multiplier",
        "pci_weight_multiplier",
        "num_instances_weight_multiplier",
    ];
    let aggregates: Vec<Arc<HostAggregate>> = (0..40)
        .map(|id: i64| {
            let key = KEYS[id as usize % KEYS.len()];
            Arc::new(HostAggregate {
                id,
                name: format!("aggregate-{id}"),
                uuid: None,
                metadata: [(key.to_owned(), format!("{}", id % 5)), ("ssd".into(), "true".into())]
                    .into(),
            })
        })
        .collect();
    let hosts: Vec<HostIx> = table.live().iter().collect();
    for host in hosts {
        let at = host.index() % aggregates.len();
        table.set_aggregates(host, vec![aggregates[at].clone()]);
    }
}

/// A server of a group, of which ten others are on hosts already.
fn member(policy: &str, table: &mut HostTable) -> CheckedRequest {
    let members: Vec<Uuid> = (1..=11).map(Uuid::from_u128).collect();
    for (place, member) in members.iter().skip(1).enumerate() {
        table.add_instance(HostIx(place as u32 * 7), *member, InstanceProps::default());
    }
    let request = ScheduleRequest {
        instance_uuid: members[0],
        instance_group: Some(InstanceGroup {
            policy: Some(policy.to_owned()),
            hosts: (0..10).map(|place| format!("host-{}", place * 7)).collect(),
            members,
            ..InstanceGroup::default()
        }),
        ..ScheduleRequest::default()
    };
    CheckedRequest::check(request).unwrap()
}

/// One kind of hosts and request.
fn measure(c: &mut Criterion, name: &str, table: &HostTable, request: &CheckedRequest) {
    let engine = Engine::new(&Settings::default()).unwrap();
    let offers = Offers::default();
    let all: Vec<HostIx> = table.live().iter().collect();
    let hosts = all.len();
    let ask = Ask { view: table, request, now: NOW, index: 0, hosts: &all, offers: &offers };
    let mut rows = c.benchmark_group(name);
    rows.bench_function(BenchmarkId::new("decide", hosts), |bench| {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        bench.iter(|| {
            let evaluation = engine.evaluate(black_box(&ask)).unwrap();
            engine.choose(&evaluation, &mut rng).after(0)
        });
    });
    let evaluation = engine.evaluate(&ask).unwrap();
    rows.bench_function(BenchmarkId::new("explain", hosts), |bench| {
        bench.iter(|| engine.explain(black_box(&ask), &evaluation, Detail::default()));
    });
    rows.finish();
}

/// Hosts that have something for every server.
struct Plenty;

impl Supply for Plenty {
    type Claim = ();
    type Offer = HostIx;
    type Error = StageFault;

    fn claim(
        &mut self,
        _: &HostTable,
        _: HostIx,
        _: Uuid,
        _: Option<&Kept>,
    ) -> Result<Option<()>, StageFault> {
        Ok(Some(()))
    }

    fn mappings(_: &()) -> Mappings {
        Mappings::new()
    }

    fn offer(
        &mut self,
        _: &HostTable,
        host: HostIx,
        _: Option<&Kept>,
    ) -> Result<Option<HostIx>, StageFault> {
        Ok(Some(host))
    }
}

/// A hundred servers of one request, each on what those before it left, with
/// two alternates each; explanations as a decision keeps them.
fn many(c: &mut Criterion, table: &HostTable) {
    const SERVERS: usize = 100;
    let engine = Engine::new(&Settings::default()).unwrap();
    let offers = Offers::default();
    let hosts: Vec<HostIx> = table.live().iter().collect();
    let mut request = ScheduleRequest::default();
    request.flavor.memory_mb = 2048;
    request.flavor.vcpus = 2;
    request.flavor.root_gb = 20;
    let request = CheckedRequest::check(request).unwrap();
    let mut rows = c.benchmark_group("servers of one request");
    rows.bench_function(BenchmarkId::new(SERVERS.to_string(), hosts.len()), |bench| {
        bench.iter(|| {
            let start = Start {
                table,
                now: NOW,
                hosts: &hosts,
                offers: &offers,
                seed: 1,
                servers: SERVERS,
                alternates: 2,
                hint: None,
            };
            let mut sequence = Sequence::new(&engine, request.clone(), start);
            let detail = Detail { losers: 3, weights: 3 };
            let mut placed = Vec::with_capacity(SERVERS);
            for index in 0..SERVERS {
                let instance = Uuid::from_u128(index as u128);
                let turn = sequence.place(index, instance, detail, &mut Plenty).unwrap();
                placed.push(turn.placed.unwrap().0);
            }
            sequence.alternates(&placed, 2, &mut Plenty).unwrap()
        });
    });
    rows.finish();
}

fn pipeline(c: &mut Criterion) {
    let plain = CheckedRequest::check(ScheduleRequest::default()).unwrap();
    for hosts in [1000, 10_000, 100_000] {
        let mut table = table(hosts);
        measure(c, "pipeline", &table, &plain);
        many(c, &table);
        for policy in ["affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity"] {
            let mut table = table.clone();
            let request = member(policy, &mut table);
            measure(c, policy, &table, &request);
        }
        override_multipliers(&mut table);
        measure(c, "overrides", &table, &plain);
    }
}

criterion_group!(benches, pipeline);
criterion_main!(benches);
