//! The pipeline as a scheduler drives it.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use stowplan_config::Settings;
use stowplan_engine::table::{Figures, HostFacts, StateFlags};
use stowplan_engine::{
    Ask, CheckedRequest, Claimed, Detail, Engine, EngineConfig, Figure, HostIx, HostRow, HostTable,
    HostView, Offers, Undo, consume,
};
use stowplan_model::request::{InstanceGroup, ScheduleRequest};
use stowplan_model::{Micros, Uuid};

const NOW: Micros = Micros::from_seconds(1_000);

/// Hosts h0, h1, ... with these MiB of memory left, all alive.
fn table(free_ram_mb: &[i64]) -> HostTable {
    let mut table = HostTable::new();
    for (n, ram) in free_ram_mb.iter().enumerate() {
        let facts = HostFacts {
            host: format!("h{n}"),
            node: "n".to_owned(),
            uuid: Uuid::from_u128(n as u128 + 1),
            ..HostFacts::default()
        };
        let figures =
            Figures::default().with(Figure::FreeRamMb, *ram).with(Figure::AliveSince, NOW.0);
        let row = HostRow { facts, figures, ..HostRow::default() };
        table.upsert(HostIx(n as u32), row);
    }
    table
}

fn settings(weighers: &[&str]) -> Settings {
    let mut settings = Settings::default();
    settings.filter_scheduler.weight_classes =
        weighers.iter().map(|name| (*name).to_owned()).collect();
    settings
}

fn ask<'a>(
    table: &'a HostTable,
    request: &'a CheckedRequest,
    hosts: &'a [HostIx],
    offers: &'a Offers,
    index: usize,
) -> Ask<'a> {
    Ask { view: table, request, now: NOW, index, hosts, offers }
}

#[test]
fn servers_of_one_request_see_each_other() {
    let base = table(&[4096, 8192, 6144]);
    let engine = Engine::new(&settings(&["RAMWeigher"])).unwrap();
    let mut request = CheckedRequest::check(ScheduleRequest {
        instance_group: Some(InstanceGroup {
            policy: Some("anti-affinity".to_owned()),
            members: (100..104).map(Uuid::from_u128).collect(),
            ..InstanceGroup::default()
        }),
        ..ScheduleRequest::default()
    })
    .unwrap();
    let offers = Offers::default();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut overlay = base.clone();
    let mut undo = Undo::new();
    let mut hosts: Vec<HostIx> = base.live().iter().collect();
    let mut placed = Vec::new();
    for index in 0..3 {
        request.turn_to(Uuid::from_u128(100 + index as u128));
        let ask = ask(&overlay, &request, &hosts, &offers, index);
        let evaluation = engine.evaluate(&ask).unwrap();
        hosts = engine.choose(&evaluation, &mut rng).into_hosts();
        placed.push(hosts[0].0);
        let config = engine.config();
        consume(&mut overlay, &mut undo, &mut request, hosts[0], config, Claimed::PLAIN);
    }
    assert_eq!(placed, [1, 2, 0]);
    request.turn_to(Uuid::from_u128(103));
    let hosts: Vec<HostIx> = base.live().iter().collect();
    let ask = ask(&overlay, &request, &hosts, &offers, 3);
    let evaluation = engine.evaluate(&ask).unwrap();
    assert!(evaluation.weighed.hosts.is_empty());
    let explanation = engine.explain(&ask, &evaluation, Detail::default());
    let group = &explanation.filters[3];
    assert_eq!((group.before, group.after), (3, 0));
    assert_eq!(group.losers[0].text, "1 of the group's servers are here, it takes fewer than 1");
    // What was consumed stands in the overlay alone.
    assert_eq!(overlay.figure(Figure::NumInstances, HostIx(1)), 1);
    assert_eq!(base.figure(Figure::NumInstances, HostIx(1)), 0);
}

#[test]
fn the_explanation_has_numbers_and_where_they_come_from() {
    let mut table = table(&[1024, 3072, 2048]);
    table.set_figure(HostIx(2), Figure::StateFlags, StateFlags::FORCED_DOWN);
    let aggregate = json!({"id": 7, "name": "fast", "metadata": {"ram_weight_multiplier": "2"}});
    let aggregate = serde_json::from_value(aggregate).unwrap();
    table.set_aggregates(HostIx(0), vec![std::sync::Arc::new(aggregate)]);
    let engine = Engine::new(&settings(&["RAMWeigher"])).unwrap();
    let request = CheckedRequest::check(ScheduleRequest::default()).unwrap();
    let hosts: Vec<HostIx> = table.live().iter().collect();
    let offers = Offers::default();
    let ask = ask(&table, &request, &hosts, &offers, 0);
    let evaluation = engine.evaluate(&ask).unwrap();
    let detail = Detail { losers: 100, weights: 1 };
    let explanation = serde_json::to_value(engine.explain(&ask, &evaluation, detail)).unwrap();
    assert_eq!(
        explanation["filters"][0],
        json!({
            "filter": "ComputeFilter", "outcome": "judged", "before": 3, "after": 2,
            "losers": [{
                "host": "h2", "node": "n",
                "reason": {"kind": "service_forced_down"},
                "text": "its service was declared down",
            }],
            "more_losers": 0,
        })
    );
    assert_eq!(explanation["filters"][1]["outcome"], "nothing_to_say");
    assert_eq!(
        explanation["weights"],
        json!({
            "normalization": "min_max",
            "hosts": [{
                "host": "h1", "node": "n", "weight": 1.0,
                "parts": [{
                    "weigher": "RAMWeigher", "raw": 3072.0, "normalized": 1.0,
                    "multiplier": 1.0,
                    "source": {
                        "from": "option", "option": "filter_scheduler.ram_weight_multiplier",
                    },
                    "product": 1.0,
                }],
            }],
            "more_hosts": 1,
            "warnings": [],
        })
    );
    let all = engine.explain(&ask, &evaluation, Detail::ALL);
    let source = serde_json::to_value(&all.weights.hosts[1].parts[0].source).unwrap();
    assert_eq!(
        source,
        json!({"from": "aggregate", "id": 7, "name": "fast", "key": "ram_weight_multiplier"})
    );
}

#[test]
fn the_choice_is_drawn_from_the_best() {
    let table = table(&[1024, 4096, 4096, 2048, 4096]);
    let hosts: Vec<HostIx> = table.live().iter().collect();
    let request = CheckedRequest::check(ScheduleRequest::default()).unwrap();
    let offers = Offers::default();
    let first = |settings: &Settings, seed: u64| {
        let engine = Engine::new(settings).unwrap();
        let ask = ask(&table, &request, &hosts, &offers, 0);
        let evaluation = engine.evaluate(&ask).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let chosen = engine.choose(&evaluation, &mut rng);
        let draw = chosen.draw;
        let numbers: Vec<u32> = chosen.into_hosts().iter().map(|host| host.0).collect();
        (numbers, draw)
    };
    // Equal weights keep the order given.
    let mut settings = settings(&["RAMWeigher"]);
    assert_eq!(first(&settings, 1).0, [1, 2, 4, 3, 0]);

    settings.filter_scheduler.host_subset_size = 2;
    let drawn: std::collections::BTreeSet<u32> = (0..40)
        .map(|seed| {
            let (numbers, draw) = first(&settings, seed);
            assert_eq!(draw.from_best, 2);
            assert_eq!(numbers[2..], [4, 3, 0], "the rest keep their order");
            numbers[0]
        })
        .collect();
    assert_eq!(drawn, [1, 2].into());
    assert_eq!(first(&settings, 9), first(&settings, 9));

    settings.filter_scheduler.host_subset_size = 9;
    let drawn: std::collections::BTreeSet<u32> = (0..80)
        .map(|seed| {
            let (numbers, draw) = first(&settings, seed);
            assert_eq!((draw.from_best, numbers[0]), (5, [1, 2, 4, 3, 0][draw.place]));
            let rest = [1, 2, 4, 3, 0].into_iter().filter(|n| *n != numbers[0]);
            assert_eq!(numbers[1..], rest.collect::<Vec<_>>(), "the rest keep their order");
            numbers[0]
        })
        .collect();
    assert_eq!(drawn, [0, 1, 2, 3, 4].into());

    settings.filter_scheduler.host_subset_size = 1;
    settings.filter_scheduler.shuffle_best_same_weighed_hosts = true;
    let shuffled: std::collections::BTreeSet<u32> = (0..40)
        .map(|seed| {
            let (numbers, draw) = first(&settings, seed);
            assert_eq!(draw.shuffled, 3);
            assert_eq!(numbers[3..], [3, 0]);
            numbers[0]
        })
        .collect();
    assert_eq!(shuffled, [1, 2, 4].into());
}

#[test]
fn what_cannot_be_judged_fails_the_request() {
    let table = table(&[1024, 1024]);
    let engine = Engine::new(&Settings::default()).unwrap();
    let mut request = ScheduleRequest::default();
    request.flavor.extra_specs = [("free_ram_mb", ">= lots")].into_iter().collect();
    let request = CheckedRequest::check(request).unwrap();
    let hosts: Vec<HostIx> = table.live().iter().collect();
    let offers = Offers::default();
    let fault = engine.evaluate(&ask(&table, &request, &hosts, &offers, 0)).err().unwrap();
    assert_eq!(
        fault.to_string(),
        "ComputeCapabilitiesFilter: free_ram_mb: \">= lots\" compares numbers and \"lots\" is none"
    );
}

#[test]
fn a_placed_server_takes_the_flavors_amounts() {
    let mut table = table(&[4096]);
    let host = HostIx(0);
    table.set_figure(host, Figure::FreeDiskMb, 100 * 1024);
    table.set_figure(host, Figure::VcpusUsed, 3);
    let mut request = ScheduleRequest {
        instance_uuid: Uuid::from_u128(7),
        instance_group: Some(InstanceGroup {
            policy: Some("soft-affinity".to_owned()),
            hosts: vec!["h0".to_owned()],
            ..InstanceGroup::default()
        }),
        is_bfv: true,
        ..ScheduleRequest::default()
    };
    request.flavor.vcpus = 2;
    request.flavor.memory_mb = 512;
    (request.flavor.root_gb, request.flavor.ephemeral_gb, request.flavor.swap) = (10, 5, 999);
    let mut request = CheckedRequest::check(request).unwrap();
    let mut undo = Undo::new();
    let config = EngineConfig::from(&Settings::default());
    consume(&mut table, &mut undo, &mut request, host, &config, Claimed::PLAIN);
    for (figure, value) in [
        (Figure::FreeRamMb, 3584),
        (Figure::FreeDiskMb, 85 * 1024),
        (Figure::VcpusUsed, 5),
        (Figure::NumInstances, 1),
        (Figure::NumIoOps, 1),
    ] {
        assert_eq!(table.figure(figure, host), value, "{figure:?}");
    }
    // Whatever the policy, and every time anew.
    let group = request.request().instance_group.as_ref().unwrap();
    assert_eq!(group.hosts, ["h0", "h0"]);
    assert!(group.members.is_empty());
    assert!(table.instances(host).contains(Uuid::from_u128(7)));
}

#[test]
fn later_servers_are_asked_only_what_may_have_changed() {
    let mut table = table(&[1024, 2048]);
    table.set_figure(HostIx(0), Figure::StateFlags, StateFlags::DISABLED);
    let engine = Engine::new(&Settings::default()).unwrap();
    let request = CheckedRequest::check(ScheduleRequest {
        instance_uuid: Uuid::from_u128(2),
        instance_group: Some(InstanceGroup {
            policy: Some("anti-affinity".to_owned()),
            members: vec![Uuid::from_u128(1), Uuid::from_u128(2)],
            ..InstanceGroup::default()
        }),
        ..ScheduleRequest::default()
    })
    .unwrap();
    table.add_instance(HostIx(1), Uuid::from_u128(1), Default::default());
    let hosts: Vec<HostIx> = table.live().iter().collect();
    let offers = Offers::default();
    let passed = |index: usize| {
        let evaluation = engine.evaluate(&ask(&table, &request, &hosts, &offers, index)).unwrap();
        evaluation.weighed.hosts.to_vec()
    };
    assert_eq!(passed(0), []);
    assert_eq!(passed(1), [HostIx(0)]);
}

#[test]
fn a_host_on_the_bus_may_be_silent_until_its_next_list_is_due() {
    let seen = |seconds: i64| NOW.0 - seconds * Micros::PER_SECOND;
    let mut table = table(&[1024; 4]);
    let cases = [(0, 61), (StateFlags::BUS_ONLY, 61), (StateFlags::BUS_ONLY, 301), (0, 60)];
    for (n, (flags, silent)) in (0..).zip(cases) {
        table.set_figure(HostIx(n), Figure::StateFlags, flags);
        table.set_figure(HostIx(n), Figure::AliveSince, seen(silent));
    }
    let engine = Engine::new(&Settings::default()).unwrap();
    let request = CheckedRequest::check(ScheduleRequest::default()).unwrap();
    let hosts: Vec<HostIx> = table.live().iter().collect();
    let offers = Offers::default();
    let ask = ask(&table, &request, &hosts, &offers, 0);
    let evaluation = engine.evaluate(&ask).unwrap();
    assert_eq!(*evaluation.weighed.hosts, [HostIx(1), HostIx(3)]);
    let explanation = engine.explain(&ask, &evaluation, Detail::default());
    let texts: Vec<_> = explanation.filters[0].losers.iter().map(|l| l.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "its service was last heard of 61 s ago, 60 s is the limit",
            "its service was last heard of 301 s ago, 300 s is the limit",
        ]
    );
}
