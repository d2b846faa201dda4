//! What the image derives from the records that it is given: live figures,
//! look-ups, bounds.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use serde_json::json;
use std::collections::BTreeMap;
use stowplan_engine::{Figure, view::HostView};
use stowplan_ledger::{
    Change, Image, Record,
    rows::{
        AllocationRow, ConsumerRow, HostRow, HostSource, InventoryOwner, NameRow, Origin,
        OriginKind, ProviderRow, ServiceRow,
    },
};
use stowplan_model::{Inventory, Micros, Uuid, host::HostReport};

const TIME: Micros = Micros(1);
const CLASSES: [&str; 4] = ["VCPU", "MEMORY_MB", "DISK_GB", "CUSTOM_GPU"];

fn uuid(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn image() -> Image {
    let mut image = Image::default();
    let names = CLASSES.iter().zip(1..);
    apply(
        &mut image,
        names.map(|(name, id)| {
            Record::Class(NameRow { id, name: (*name).to_owned(), created: TIME, updated: TIME })
        }),
    );
    image
}

fn apply(image: &mut Image, records: impl IntoIterator<Item = Record>) {
    image.apply(&Change { kind: "test".to_owned(), records: records.into_iter().collect() });
}

fn provider(number: u128, name: &str, parent: Option<u128>, root: u128) -> Record {
    Record::Provider(ProviderRow {
        id: number as i64,
        uuid: uuid(number),
        name: name.to_owned(),
        generation: 0,
        parent: parent.map(uuid),
        root: uuid(root),
        created: TIME,
        updated: TIME,
    })
}

fn inventory(total: i64) -> Inventory {
    Inventory {
        total,
        reserved: 0,
        min_unit: 1,
        max_unit: i64::MAX,
        step_size: 1,
        allocation_ratio: 1.0,
    }
}

fn inventories(provider: u128, totals: &[(&str, i64)]) -> Record {
    let inventories = totals.iter().map(|(class, total)| ((*class).to_owned(), inventory(*total)));
    Record::Inventories { provider: uuid(provider), inventories: inventories.collect() }
}

fn host(number: u128, name: &str, report: HostReport, report_seq: i64) -> Record {
    Record::Host(Box::new(HostRow {
        id: number as i64,
        uuid: uuid(number),
        host: name.to_owned(),
        node: name.to_owned(),
        source: HostSource::Rest,
        inventory_owner: InventoryOwner::Report,
        report,
        report_seq,
        news: Default::default(),
        created: TIME,
        updated: TIME,
    }))
}

fn service(id: i64, number: u128, host: &str) -> ServiceRow {
    ServiceRow {
        id,
        uuid: uuid(number),
        host: host.to_owned(),
        binary: "nova-compute".to_owned(),
        zone: None,
        version: 70,
        disabled: false,
        disabled_reason: None,
        forced_down: false,
        last_seen: None,
        created: TIME,
        updated: TIME,
    }
}

/// A server of ours on a host.
fn server(number: u128, host: u128, seq: i64, held: &[(u128, &str, i64)]) -> Record {
    let allocations = held.iter().map(|(provider, class, used)| AllocationRow {
        provider: uuid(*provider),
        class: (*class).to_owned(),
        used: *used,
    });
    Record::Consumer(Box::new(ConsumerRow {
        id: number as i64,
        uuid: uuid(number),
        generation: 1,
        project: "p".to_owned(),
        user: "u".to_owned(),
        consumer_type: None,
        allocations: allocations.collect(),
        origin: Some(Origin {
            kind: OriginKind::Server,
            host: uuid(host),
            seq,
            decision: None,
            group: None,
            lease: None,
        }),
        created: TIME,
        updated: TIME,
    }))
}

fn figure(image: &Image, host: u128, figure: Figure) -> i64 {
    image.hosts.table().figure(figure, image.hosts.get(uuid(host)).unwrap().ix)
}

#[test]
fn the_disk_that_a_report_leaves_is_less_by_our_claims_whatever_it_reports() {
    let cases: [(HostReport, i64); 5] = [
        (HostReport { free_disk_gb: Some(50), ..HostReport::default() }, 40),
        (HostReport { local_gb_used: Some(60), ..HostReport::default() }, 30),
        (HostReport { disk_available_least: Some(20), ..HostReport::default() }, 10),
        // By the books: 100 less the 10 that are held.
        (HostReport { disk_available_least: Some(500), ..HostReport::default() }, 90),
        (HostReport::default(), 90),
    ];
    for (report, left_gb) in cases {
        let report = HostReport { local_gb: Some(100), ..report };
        let mut image = image();
        apply(
            &mut image,
            [
                provider(1, "h", None, 1),
                inventories(1, &[("DISK_GB", 100)]),
                host(1, "h", report.clone(), 1),
            ],
        );
        apply(&mut image, [server(9, 1, 9, &[(1, "DISK_GB", 10)])]);
        assert_eq!(figure(&image, 1, Figure::FreeDiskMb), left_gb * 1024, "{report:?}");
    }
}

/// hosts.md 4: our claims count from their commit until a report lists the
/// server or is younger; batch tasks count as long as they hold.
#[test]
fn our_claims_count_until_a_report_knows_better() {
    for (kind, seq, listed, counts) in [
        (OriginKind::Server, 6, false, true),
        (OriginKind::Server, 6, true, false),
        (OriginKind::Server, 4, false, false),
        (OriginKind::BatchTask, 6, false, true),
        (OriginKind::BatchTask, 4, false, true),
    ] {
        let mut report = HostReport {
            vcpus: Some(64),
            vcpus_used: Some(10),
            memory_mb: Some(1000),
            free_ram_mb: Some(500),
            free_disk_gb: Some(50),
            num_instances: Some(2),
            io_workload: Some(1),
            ..HostReport::default()
        };
        if listed {
            report.instances.insert(uuid(9), stowplan_model::host::InstanceReport::default());
        }
        let held = [(1, "VCPU", 4), (2, "MEMORY_MB", 100), (1, "DISK_GB", 5), (3, "VCPU", 7)];
        let mut claim = server(9, 1, seq, &held);
        if let Record::Consumer(row) = &mut claim {
            row.origin.as_mut().unwrap().kind = kind;
        }
        let mut image = image();
        let providers = [(1, "h", None, 1), (2, "numa", Some(1), 1), (3, "elsewhere", None, 3)];
        let providers =
            providers.map(|(number, name, parent, root)| provider(number, name, parent, root));
        apply(&mut image, providers);
        apply(&mut image, [host(1, "h", report, 5), claim]);
        let figures = [
            Figure::VcpusUsed,
            Figure::FreeRamMb,
            Figure::FreeDiskMb,
            Figure::NumInstances,
            Figure::NumIoOps,
        ];
        let io = i64::from(counts && kind == OriginKind::Server);
        let expected =
            if counts { [14, 400, 45 * 1024, 3, 1 + io] } else { [10, 500, 50 * 1024, 2, 1] };
        assert_eq!(figures.map(|f| figure(&image, 1, f)), expected, "{kind:?} {seq} {listed}");
        // What is released counts no more.
        apply(&mut image, [Record::ConsumerGone(uuid(9))]);
        assert_eq!(figure(&image, 1, Figure::VcpusUsed), 10);
    }
}

#[test]
fn counts_are_seen_even_where_no_usage_is_reported() {
    let mut image = image();
    let report = HostReport {
        failed_builds: Some(3),
        io_workload: Some(2),
        num_instances: Some(5),
        ..HostReport::default()
    };
    apply(&mut image, [provider(1, "h", None, 1), host(1, "h", report, 1)]);
    apply(&mut image, [server(9, 1, 9, &[])]);
    assert_eq!(figure(&image, 1, Figure::FailedBuilds), 3);
    assert_eq!(figure(&image, 1, Figure::NumIoOps), 3);
    assert_eq!(figure(&image, 1, Figure::NumInstances), 6);
}

#[test]
fn figures_beyond_all_bounds_stay_at_the_bound() {
    let (low, high) = (i64::MIN, i64::MAX);
    for extreme in [low, high] {
        let mut report = HostReport {
            memory_mb: Some(extreme),
            memory_mb_used: Some(high),
            vcpus_used: Some(extreme),
            local_gb: Some(extreme),
            free_disk_gb: Some(extreme),
            disk_available_least: Some(extreme),
            ..HostReport::default()
        };
        report.stats.insert("num_instances".to_owned(), json!(extreme));
        report.stats.insert("io_workload".to_owned(), json!(extreme));
        let mut image = image();
        apply(
            &mut image,
            [
                provider(1, "h", None, 1),
                provider(2, "other", None, 2),
                inventories(1, &[("VCPU", high), ("DISK_GB", high)]),
                host(1, "h", report, 1),
                host(2, "other", HostReport::default(), 1),
                inventories(2, &[("VCPU", high), ("DISK_GB", high), ("MEMORY_MB", low)]),
            ],
        );
        for number in [8, 9] {
            let held = [(1, "VCPU", high / 2), (1, "DISK_GB", high / 2), (2, "DISK_GB", high / 2)];
            apply(&mut image, [server(number, 1, 9, &held)]);
        }
        let expected = if extreme == high { high } else { low + 2 };
        assert_eq!(figure(&image, 1, Figure::NumInstances), expected);
    }
}

#[test]
fn a_provider_that_leaves_a_tree_takes_its_inventories_along() {
    let mut image = image();
    apply(
        &mut image,
        [
            provider(1, "a", None, 1),
            provider(2, "b", None, 2),
            provider(3, "cell", Some(1), 1),
            inventories(3, &[("VCPU", 8)]),
            host(1, "a", HostReport::default(), 1),
            host(2, "b", HostReport::default(), 1),
        ],
    );
    let totals = |image: &Image| [1, 2].map(|host| figure(image, host, Figure::VcpusTotal));
    assert_eq!(totals(&image), [8, 0]);
    apply(&mut image, [provider(3, "cell", Some(2), 2)]);
    assert_eq!(totals(&image), [0, 8]);
    apply(&mut image, [Record::ProviderGone(uuid(3))]);
    assert_eq!(totals(&image), [0, 0]);
}

#[test]
fn a_tree_that_comes_free_is_whole_whoever_is_moved_first() {
    let above = [provider(9, "above", None, 9), provider(6, "root", Some(9), 9)];
    let below = provider(2, "older than its root", Some(6), 9);
    let free = [provider(6, "root", None, 6), provider(2, "older than its root", Some(6), 6)];
    for order in [[0, 1], [1, 0]] {
        let mut image = image();
        apply(&mut image, above.iter().cloned().chain([below.clone()]));
        apply(&mut image, order.map(|place| free[place].clone()));
        let find = |number| image.providers.find(uuid(number)).unwrap();
        assert_eq!(image.providers.tree_of(find(2)), [find(2), find(6)], "{order:?}");
        assert_eq!(image.providers.tree_of(find(9)), [find(9)], "{order:?}");
    }
}

#[test]
fn a_service_is_found_by_its_host_wherever_it_goes() {
    let mut image = image();
    let disabled = |image: &Image, host: u128| figure(image, host, Figure::StateFlags);
    apply(
        &mut image,
        [
            host(1, "a", HostReport::default(), 1),
            host(2, "b", HostReport::default(), 1),
            Record::Service(ServiceRow { disabled: true, ..service(1, 11, "a") }),
            Record::Service(service(2, 12, "b")),
            Record::Service(service(3, 13, "b")),
        ],
    );
    let of = |image: &Image, host: &str| image.service_of(host).map(|row| row.id);
    assert_eq!((of(&image, "a"), of(&image, "b"), of(&image, "c")), (Some(1), Some(2), None));
    assert_eq!((disabled(&image, 1), disabled(&image, 2)), (1, 0));
    apply(&mut image, [Record::Service(ServiceRow { disabled: true, ..service(1, 11, "b") })]);
    assert_eq!((of(&image, "a"), of(&image, "b")), (None, Some(1)));
    assert_eq!((disabled(&image, 1), disabled(&image, 2)), (0, 1));
    apply(&mut image, [Record::ServiceGone(uuid(11))]);
    assert_eq!((of(&image, "a"), of(&image, "b")), (None, Some(2)));
    assert_eq!(disabled(&image, 2), 0);
}

#[test]
fn a_sign_of_life_counts_although_the_hosts_clock_ran_ahead() {
    let mut image = image();
    let ahead = ServiceRow { last_seen: Some(Micros(9_000)), ..service(1, 11, "a") };
    apply(&mut image, [host(1, "a", HostReport::default(), 1), Record::Service(ahead)]);
    assert_eq!(figure(&image, 1, Figure::AliveSince), 9_000);
    image.heard("a", Micros(500));
    assert_eq!(figure(&image, 1, Figure::AliveSince), 500);
    assert_eq!(image.service_of("a").unwrap().last_seen, Some(Micros(500)));
}

#[test]
fn names_that_change_hands_in_one_change_are_found() {
    let mut image = image();
    let plain = || HostReport::default();
    apply(
        &mut image,
        [
            provider(1, "a", None, 1),
            provider(2, "b", None, 2),
            host(1, "a", plain(), 1),
            host(2, "b", plain(), 1),
        ],
    );
    apply(
        &mut image,
        [
            provider(1, "b", None, 1),
            provider(2, "a", None, 2),
            host(1, "b", plain(), 2),
            host(2, "a", plain(), 2),
        ],
    );
    for (name, number) in [("a", 2), ("b", 1)] {
        let at = image.providers.find_name(name).unwrap();
        assert_eq!(image.providers.uuid(at), uuid(number));
        assert_eq!(image.hosts.find(name, name).unwrap().row.uuid, uuid(number));
    }
}

#[test]
fn steps_are_kept_to_and_none_is_no_fault() {
    let mut image = image();
    let steps = [(1, 1), (2, 4), (3, 0)];
    for (number, step_size) in steps {
        let stepped = Inventory { step_size, ..inventory(100) };
        let inventories = BTreeMap::from([("CUSTOM_GPU".to_owned(), stepped)]);
        apply(
            &mut image,
            [
                provider(number, &format!("p{number}"), None, number),
                Record::Inventories { provider: uuid(number), inventories },
            ],
        );
    }
    let class = image.classes.ix("CUSTOM_GPU").unwrap();
    let column = image.providers.blocks()[0].class(class).unwrap();
    let fitting = |amount| column.fitting(amount).iter().collect::<Vec<_>>();
    assert_eq!(fitting(6), [0, 2]);
    assert_eq!(fitting(8), [0, 1, 2]);
    assert_eq!(fitting(101), [0; 0]);
    assert_eq!(fitting(i64::MAX), [0; 0]);
}
