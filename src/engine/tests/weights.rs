//! Weights as operators meet them: overrides by host aggregate, a multiplier
//! that drowns the others, the draw among the best.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use stowplan_config::Settings;
use stowplan_engine::table::{Figures, HostFacts};
use stowplan_engine::{
    Ask, CheckedRequest, Detail, Engine, Explanation, Figure, HostIx, HostRow, HostTable, HostView,
    Offers,
};
use stowplan_model::request::ScheduleRequest;
use stowplan_model::{Micros, Uuid};

const NOW: Micros = Micros::from_seconds(1_000);

/// Hosts h0, h1, ... with these MiB of memory left.
fn table(free_ram_mb: &[i64]) -> HostTable {
    let mut table = HostTable::new();
    for (n, ram) in (0..).zip(free_ram_mb) {
        let facts = HostFacts {
            host: format!("h{n}"),
            uuid: Uuid::from_u128(u128::from(n) + 1),
            ..HostFacts::default()
        };
        let figures =
            Figures::default().with(Figure::FreeRamMb, *ram).with(Figure::AliveSince, NOW.0);
        table.upsert(HostIx(n), HostRow { facts, figures, ..HostRow::default() });
    }
    table
}

/// Puts a host into aggregates 1, 2, ... with this metadata each.
fn aggregates(table: &mut HostTable, host: u32, metadata: &[Value]) {
    let aggregates = (1..).zip(metadata).map(|(id, metadata)| {
        let aggregate = json!({"id": id, "name": format!("a{id}"), "metadata": metadata});
        Arc::new(serde_json::from_value(aggregate).unwrap())
    });
    table.set_aggregates(HostIx(host), aggregates.collect());
}

fn explain(table: &HostTable, settings: &Settings) -> Explanation {
    let engine = Engine::new(settings).unwrap();
    let request = CheckedRequest::check(ScheduleRequest::default()).unwrap();
    let (hosts, offers): (Vec<HostIx>, _) = (table.live().iter().collect(), Offers::default());
    let ask =
        Ask { view: table, request: &request, now: NOW, index: 0, hosts: &hosts, offers: &offers };
    let evaluation = engine.evaluate(&ask).unwrap();
    engine.explain(&ask, &evaluation, Detail::ALL)
}

fn order(explanation: &Explanation) -> Vec<&str> {
    explanation.weights.hosts.iter().map(|row| row.host.as_str()).collect()
}

fn findings(explanation: &Explanation) -> Vec<&str> {
    explanation.findings.iter().map(|noted| noted.text.as_str()).collect()
}

fn only(weighers: &[&str]) -> Settings {
    let mut settings = Settings::default();
    settings.filter_scheduler.weight_classes =
        weighers.iter().map(|name| (*name).to_owned()).collect();
    settings
}

#[test]
fn one_failed_build_drowns_everything_else_and_it_is_said() {
    let mut table = table(&[1024, 65_536, 2048]);
    let mut settings = Settings::default();
    assert!(findings(&explain(&table, &settings)).is_empty());

    table.set_figure(HostIx(1), Figure::FailedBuilds, 1);
    let explanation = explain(&table, &settings);
    assert_eq!(order(&explanation), ["h2", "h0", "h1"]);
    assert_eq!(
        findings(&explanation),
        ["BuildFailureWeigher (multiplier 1000000) outweighs all other weighers together (1): \
             they only decide between hosts that are equal to it"]
    );
    settings.filter_scheduler.build_failure_weight_multiplier = 0.5;
    settings.filter_scheduler.ram_weight_multiplier = 1.0;
    let explanation = explain(&table, &settings);
    assert_eq!(order(&explanation), ["h1", "h2", "h0"]);
    settings.compute.consecutive_build_service_disable_threshold = 0;
    settings.filter_scheduler.build_failure_weight_multiplier = 1_000_000.0;
    assert_eq!(order(&explain(&table, &settings)), ["h1", "h2", "h0"]);
    settings.compute.consecutive_build_service_disable_threshold = 10;
    settings.filter_scheduler.build_failure_weight_multiplier = 0.5;
    settings.filter_scheduler.ram_weight_multiplier = 0.5;
    assert!(findings(&explain(&table, &settings)).is_empty());
}

#[test]
fn the_lowest_of_several_overrides_counts() {
    let mut table = table(&[1024, 4096]);
    let low_and_high =
        [json!({"ram_weight_multiplier": "5.0"}), json!({"ram_weight_multiplier": "2.0"})];
    aggregates(&mut table, 1, &low_and_high);
    let explanation = explain(&table, &only(&["RAMWeigher"]));
    let part = &explanation.weights.hosts[0].parts[0];
    assert_eq!((part.multiplier.0, part.product.0), (2.0, 2.0));
    assert_eq!(
        serde_json::to_value(&part.source).unwrap(),
        json!({"from": "aggregate", "id": 2, "name": "a2", "key": "ram_weight_multiplier"})
    );
    assert!(explanation.weights.warnings.is_empty());
}

#[test]
fn an_override_that_is_no_number_leaves_the_option_and_warns_once() {
    let mut table = table(&[1024, 4096, 2048]);
    let bad = [json!({"ram_weight_multiplier": "2.0"}), json!({"ram_weight_multiplier": "abc"})];
    aggregates(&mut table, 1, &bad);
    aggregates(&mut table, 2, &[json!({}), bad[1].clone()]);
    let mut settings = only(&["RAMWeigher"]);
    settings.filter_scheduler.ram_weight_multiplier = 3.0;
    let explanation = explain(&table, &settings);
    let multipliers: Vec<f64> =
        explanation.weights.hosts.iter().map(|row| row.parts[0].multiplier.0).collect();
    assert_eq!(multipliers, [3.0, 3.0, 3.0]);
    assert_eq!(
        explanation.weights.warnings,
        ["host aggregate 2 (a2) sets ram_weight_multiplier to \"abc\", which is no number: its \
             hosts take filter_scheduler.ram_weight_multiplier"]
    );
}

#[test]
fn metadata_without_effect_is_told_once_for_each_aggregate() {
    let mut table = table(&[1024, 4096]);
    let metadata = [
        json!({"cpu_allocation_ratio": "16", "max_io_ops_per_host": "many"}),
        json!({"cpu_weight_multiplier": "2", "ssd": "true"}),
    ];
    aggregates(&mut table, 0, &metadata);
    aggregates(&mut table, 1, &metadata[..1]);
    let mut settings = only(&["RAMWeigher"]);
    let explanation = explain(&table, &settings);
    assert_eq!(
        findings(&explanation),
        [
            "host aggregate 1 (a1) sets cpu_allocation_ratio to \"16\", which has no effect: the \
             ratio in force is that of the resource provider's inventory; set it there or on the \
             compute service",
            "host aggregate 1 (a1) sets max_io_ops_per_host to \"many\", which has no effect: \
             AggregateIoOpsFilter is not in filter_scheduler.enabled_filters",
            "host aggregate 2 (a2) sets cpu_weight_multiplier to \"2\", which has no effect: \
             CPUWeigher is not in filter_scheduler.weight_classes",
        ]
    );
    // Where the filter is in use it tells of the value that it cannot read.
    settings.filter_scheduler.enabled_filters = vec!["AggregateIoOpsFilter".to_owned()];
    let explanation = explain(&table, &settings);
    assert_eq!(
        findings(&explanation)[0],
        "host aggregate 1 (a1) sets max_io_ops_per_host to \"many\", which is no whole number: its \
         hosts take filter_scheduler.max_io_ops_per_host"
    );
    assert!(findings(&explanation).iter().all(|text| !text.contains("AggregateIoOpsFilter")));
}

/// How often each host comes first in 4,000 draws, most memory first.
fn draws(subset: u32) -> Vec<usize> {
    let table = table(&[5, 4, 3, 2, 1]);
    let mut settings = only(&["RAMWeigher"]);
    settings.filter_scheduler.host_subset_size = subset;
    let engine = Engine::new(&settings).unwrap();
    let request = CheckedRequest::check(ScheduleRequest::default()).unwrap();
    let (hosts, offers): (Vec<HostIx>, _) = (table.live().iter().collect(), Offers::default());
    let ask =
        Ask { view: &table, request: &request, now: NOW, index: 0, hosts: &hosts, offers: &offers };
    let evaluation = engine.evaluate(&ask).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut counts = vec![0; hosts.len()];
    for _ in 0..4000 {
        let mut chosen = engine.choose(&evaluation, &mut rng);
        counts[chosen.after(0).unwrap().index()] += 1;
    }
    counts
}

#[test]
fn the_subset_is_drawn_evenly() {
    for subset in [0, 1] {
        assert_eq!(draws(subset), [4000, 0, 0, 0, 0], "{subset}");
    }
    // Five standard deviations around the mean.
    let even = |counts: &[usize]| {
        let mean = 4000.0 / counts.len() as f64;
        let spread = 5.0 * (mean * (1.0 - 1.0 / counts.len() as f64)).sqrt();
        counts.iter().all(|count| (*count as f64 - mean).abs() < spread)
    };
    let two = draws(2);
    assert!(even(&two[..2]) && two[2..] == [0, 0, 0], "{two:?}");
    let all = draws(9);
    assert!(even(&all), "{all:?}");
}
