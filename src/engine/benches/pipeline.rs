//! What filters and weighers cost for one server, by the number of hosts.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::hint::black_box;
use stowplan_config::Settings;
use stowplan_engine::{
    Ask, CheckedRequest, Detail, Engine, Figure, HostIx, HostRow, HostTable, HostView, Offers,
    table::{Figures, HostFacts},
};
use stowplan_model::{Micros, Uuid, request::ScheduleRequest};

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

fn pipeline(c: &mut Criterion) {
    let engine = Engine::new(&Settings::default()).unwrap();
    let request = CheckedRequest::check(ScheduleRequest::default()).unwrap();
    let offers = Offers::default();
    for hosts in [1000, 10_000, 100_000] {
        let table = table(hosts);
        let all: Vec<HostIx> = table.live().iter().collect();
        let ask = Ask {
            view: &table,
            request: &request,
            now: NOW,
            index: 0,
            hosts: &all,
            offers: &offers,
        };
        let mut rows = c.benchmark_group("pipeline");
        rows.bench_function(BenchmarkId::new("decide", hosts), |bench| {
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            bench.iter(|| {
                let evaluation = engine.evaluate(black_box(&ask)).unwrap();
                engine.choose(&evaluation, &mut rng)
            });
        });
        let evaluation = engine.evaluate(&ask).unwrap();
        rows.bench_function(BenchmarkId::new("explain", hosts), |bench| {
            bench.iter(|| engine.explain(black_box(&ask), &evaluation, Detail::default()));
        });
        rows.finish();
    }
}

criterion_group!(benches, pipeline);
criterion_main!(benches);
