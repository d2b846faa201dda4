//! Facts that other services tell: in any order, and more than once, they come to
//! the same.

use std::collections::BTreeMap;

use proptest::prelude::*;
use stowplan_engine::HostView;
use stowplan_ledger::Image;
use stowplan_ledger::rows::HostSource;
use stowplan_model::host::{HostReport, MetricReport};
use stowplan_model::{Micros, Uuid};
use stowplan_scheduler::facts::{AggregateFact, Fact, GroupFact, Place, Said, ServiceFact, learn};
use stowplan_scheduler::hosts::{ReportHost, report_host};

use crate::cloud::NOW;

const HOSTS: [&str; 2] = ["a", "b"];

fn id(number: u8) -> Uuid {
    Uuid::from_u128(u128::from(number) + 1)
}

fn place(host: u8) -> Place {
    Place { host: HOSTS[usize::from(host)].to_owned(), node: None }
}

/// Two hosts with nothing on them.
fn cloud() -> Image {
    let mut image = Image::default();
    image.apply(&stowplan_placement::names::seed(&image, NOW).0);
    for host in HOSTS {
        let report = ReportHost {
            host: host.to_owned(),
            node: None,
            source: HostSource::Rest,
            report: HostReport::default(),
            take_over: false,
            as_of: None,
            default_max_tasks: 110,
        };
        let (change, _) = report_host(&image, &report, NOW).unwrap();
        image.apply(&change);
    }
    image
}

fn fact() -> impl Strategy<Value = Fact> {
    let (host, few) = (0..2u8, 0..3u8);
    let name = |host: u8| HOSTS[usize::from(host)].to_owned();
    let uuids = |bits: u8| (0..3).filter(|bit| bits >> bit & 1 == 1).map(id).collect::<Vec<_>>();
    prop_oneof![
        (host.clone(), 0..9u8).prop_map(|(host, value)| Fact::Metrics {
            place: place(host),
            host_ip: Some(value.to_string()),
            metrics: vec![MetricReport { name: "cpu".to_owned(), value: f64::from(value) }],
        }),
        (host.clone(), any::<bool>()).prop_map(move |(host, disabled)| {
            let binary = "nova-compute".to_owned();
            Fact::Service(ServiceFact { host: name(host), binary, disabled, ..Default::default() })
        }),
        (any::<bool>(), any::<bool>()).prop_map(move |(with_a, gone)| match gone {
            true => Fact::AggregateGone { uuid: Some(id(9)), external_id: Some(7) },
            false => Fact::Aggregate(AggregateFact {
                external_id: Some(7),
                uuid: Some(id(9)),
                name: "ssd".to_owned(),
                hosts: vec![name(u8::from(with_a))],
                metadata: BTreeMap::new(),
            }),
        }),
        (0..8u8).prop_map(move |bits| Fact::Group(GroupFact {
            uuid: id(8),
            policy: "affinity".to_owned(),
            members: uuids(bits),
            ..GroupFact::default()
        })),
        Just(Fact::GroupGone(id(8))),
        (host.clone(), 0..8u8).prop_map(move |(host, bits)| Fact::Instances {
            host: name(host),
            instances: uuids(bits)
        }),
        (few.clone(), host.clone(), any::<bool>()).prop_map(|(vm, host, busy)| {
            Fact::Instance { instance: id(vm), place: place(host), busy }
        }),
        (few.clone(), host.clone())
            .prop_map(move |(vm, host)| Fact::Left { instance: id(vm), host: name(host) }),
        (few.clone(), host, any::<bool>()).prop_map(|(vm, host, failed)| Fact::Built {
            place: place(host),
            instance: id(vm),
            failed,
        }),
        few.prop_map(|vm| Fact::Idle(id(vm))),
    ]
}

/// The state after these words, in this order.
fn state(words: &[Said]) -> BTreeMap<String, String> {
    let mut image = cloud();
    for said in words {
        let (change, _) = learn(&image, said, NOW).unwrap();
        image.apply(&change);
    }
    let mut state = BTreeMap::new();
    for host in image.hosts.iter() {
        let name = &host.row.host;
        let report = &host.row.report;
        let on_host: Vec<Uuid> =
            image.hosts.table().instances(host.ix).as_slice().iter().map(|(id, _)| *id).collect();
        let disabled = image.service_of(name).map(|service| service.disabled);
        state.insert(format!("{name} instances"), format!("{on_host:?}"));
        state.insert(format!("{name} metrics"), format!("{:?}", report.metrics));
        state.insert(format!("{name} failed"), format!("{:?}", report.failed_builds.unwrap_or(0)));
        state.insert(format!("{name} io"), format!("{:?}", report.io_workload.unwrap_or(0)));
        state.insert(format!("{name} disabled"), format!("{disabled:?}"));
    }
    for row in image.host_aggregates.iter() {
        state.insert("aggregate".to_owned(), format!("{} {:?}", row.name, row.hosts));
    }
    for row in image.server_groups.iter() {
        let mut members = row.members.clone();
        members.sort();
        state.insert("group".to_owned(), format!("{members:?}"));
    }
    state
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn order_and_number_of_words_do_not_matter(
        facts in prop::collection::vec(fact(), 1..8),
        shuffled in any::<prop::sample::Index>(),
        seed in any::<u64>(),
    ) {
        let words: Vec<Said> = facts
            .into_iter()
            .zip(1..)
            .map(|(fact, second)| Said { fact, at: Micros(NOW.0 + second * 1_000_000) })
            .collect();
        let mut others = words.clone();
        others.push(words[shuffled.index(words.len())].clone());
        let mut rest = seed;
        for place in (1..others.len()).rev() {
            let with = usize::try_from(rest % (place as u64 + 1)).unwrap();
            rest = rest.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1) >> 3;
            others.swap(place, with);
        }
        prop_assert_eq!(state(&words), state(&others), "{:?}", others);
    }
}
