//! Random hosts and requests for the property tests.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;
use stowplan_config::Settings;
use stowplan_engine::table::{Figure, Figures, HostFacts, HostNuma, Metric, PciPools};
use stowplan_engine::{CheckedRequest, HostIx, HostRow, HostTable};
use stowplan_model::host::HostAggregate;
use stowplan_model::host_devices::{MemoryPages, NumaCell, PciPool};
use stowplan_model::image_props::ImageMeta;
use stowplan_model::request::{Destination, GroupRules, InstanceGroup, ScheduleRequest};
use stowplan_model::request_devices::{PciRequest, RequestCell, RequestNuma};
use stowplan_model::{Micros, Uuid};

/// The present of every random world.
pub const NOW: Micros = Micros::from_seconds(1_000_000);

/// A few servers, so that groups and hosts meet.
pub fn instance() -> impl Strategy<Value = Uuid> {
    (1_u128..12).prop_map(Uuid::from_u128)
}

fn figures() -> impl Strategy<Value = Figures> {
    (
        (-50_i64..50, -50_i64..50, 0_i64..9, 0_i64..9, 0_i64..4),
        (0_i64..3, prop_oneof![Just(0), Just(1), Just(2), Just(4)]),
        prop_oneof![Just(i64::MIN), -400_i64..400],
        prop_oneof![Just(0), Just(5_999_999_i64), Just(6_002_000)],
    )
        .prop_map(|((ram, disk, cpus, used, io), (failed, flags), seen, version)| {
            let seen = if seen == i64::MIN { seen } else { NOW.0 - seen * Micros::PER_SECOND };
            Figures::default()
                .with(Figure::FreeRamMb, ram)
                .with(Figure::FreeDiskMb, disk)
                .with(Figure::VcpusTotal, cpus)
                .with(Figure::VcpusUsed, used)
                .with(Figure::NumIoOps, io)
                .with(Figure::FailedBuilds, failed)
                .with(Figure::StateFlags, flags)
                .with(Figure::AliveSince, seen)
                .with(Figure::HypervisorVersion, version)
                .with(Figure::NumInstances, io + failed)
        })
}

fn metrics() -> impl Strategy<Value = Option<Vec<Metric>>> {
    let metric = (prop_oneof![Just("cpu.percent"), Just("cpu.frequency")], -5_i64..5)
        .prop_map(|(name, value)| Metric { name: name.to_owned(), value });
    prop_oneof![1 => Just(None), 9 => vec(metric, 0..3).prop_map(Some)]
}

fn pools() -> impl Strategy<Value = Option<PciPools>> {
    let dev_type = prop_oneof![Just("type-PCI"), Just("type-PF"), Just("vdpa")];
    let pool =
        (0_i64..4, prop::option::of(0_i64..3), dev_type).prop_map(|(count, node, kind)| PciPool {
            vendor_id: "8086".to_owned(),
            product_id: "1520".to_owned(),
            numa_node: node,
            count,
            tags: [("dev_type".to_owned(), json!(kind))].into(),
        });
    prop::option::of(vec(pool, 0..4).prop_map(PciPools::new))
}

fn numa() -> impl Strategy<Value = Option<HostNuma>> {
    let cell = (0_i64..8, 1_usize..3, 0_i64..6, 0_usize..4, any::<bool>());
    prop::option::of(vec(cell, 1..4).prop_map(|cells| {
        let cells = (0..).zip(cells).map(|(id, (memory, threads, usage, pinned, pages))| {
            let cpus: Vec<i64> = (id * 8..id * 8 + 4).collect();
            let cores = cpus.chunks(threads).map(<[i64]>::to_vec).collect();
            let page = MemoryPages { size_kb: 1024, total: 8, used: usage, reserved: 0 };
            NumaCell {
                id,
                cpuset: cpus.clone(),
                pinned_cpus: cpus.iter().copied().take(pinned).collect(),
                pcpuset: cpus,
                siblings: cores,
                memory: 8,
                memory_usage: memory,
                cpu_usage: usage,
                mempages: if pages { vec![page] } else { Vec::new() },
                ..NumaCell::default()
            }
        });
        HostNuma { cells: cells.collect() }
    }))
}

/// One random host.
pub fn row() -> impl Strategy<Value = HostRow> {
    let guests = prop_oneof![
        Just(vec![]),
        Just(vec![["x86_64", "kvm", "hvm"]]),
        Just(vec![["aarch64", "kvm", "hvm"], ["x86_64", "qemu", "hvm"]]),
    ];
    let cpu_info = prop_oneof![
        Just(None),
        Just(Some("not json".to_owned())),
        Just(Some(r#"{"vendor": "A", "cores": 4, "maxphysaddr": {"bits": 40}}"#.to_owned())),
        Just(Some(r#"{"vendor": "B", "cores": "8"}"#.to_owned())),
    ];
    let stats = prop_oneof![
        Just(json!({})),
        Just(json!({"stat": "4"})),
        Just(json!({"stat": 5, "cpu_info": {"cores": 4}})),
        Just(json!({"stat": true})),
    ];
    // Some differ in nothing but the case of their letters.
    let names = ("[aAb]", "[aB]");
    let ratios = [0.5_f64..16.0, 0.5..16.0, 0.5..16.0];
    let address = prop_oneof![
        1 => Just(None),
        5 => Just(Some("10.0.0.1".to_owned())),
        5 => Just(Some("10.0.1.1".to_owned())),
        5 => Just(Some("fd00::1".to_owned())),
    ];
    let cell = prop::option::of((1_u128..3).prop_map(Uuid::from_u128));
    (
        (names, guests, cpu_info, stats),
        (figures(), ratios, vec(instance(), 0..4), any::<u128>()),
        (address, cell, metrics(), pools(), numa()),
    )
        .prop_map(|(texts, numbers, places)| {
            let ((low, high), guests, cpu_info, stats) = texts;
            let (figures, ratios, instances, uuid) = numbers;
            let (host_ip, cell_uuid, metrics, pci_pools, numa) = places;
            HostRow {
                facts: HostFacts {
                    host: format!("{low}{high}"),
                    node: format!("n{high}"),
                    uuid: Uuid::from_u128(uuid),
                    cell_uuid,
                    host_ip,
                    metrics,
                    stats: stats.as_object().cloned().unwrap_or_default(),
                    ..HostFacts::default()
                },
                figures,
                ratios,
                guests: guests.iter().map(|triple| triple.map(str::to_owned).to_vec()).collect(),
                cpu_info,
                instances: instances
                    .into_iter()
                    .map(|uuid| {
                        let distro = if uuid.as_u128() % 2 == 0 { "arch" } else { "bsd" };
                        let props = [("os_distro", distro), ("hw_architecture", "amd64")];
                        (uuid, props.map(|(k, v)| (k.to_owned(), v.to_owned())).into())
                    })
                    .collect(),
                pci_pools,
                numa,
            }
        })
}

/// Random host aggregates that may override multipliers.
pub fn aggregates() -> impl Strategy<Value = Vec<Arc<HostAggregate>>> {
    let value = prop_oneof![
        Just("2.5"),
        Just("-1"),
        Just("nan"),
        Just("inf"),
        Just("many"),
        Just("0"),
        Just("1, m1 ,arch"),
    ];
    let key = prop_oneof![
        Just("ram_weight_multiplier"),
        Just("build_failure_weight_multiplier"),
        Just("metrics_weight_multiplier"),
        Just("pci_weight_multiplier"),
        Just("max_io_ops_per_host"),
        Just("max_instances_per_host"),
        Just("instance_type"),
        Just("filter_tenant_id_1"),
        Just("os_distro"),
        Just("colour"),
    ];
    vec((0_i64..3, key, value), 0..3).prop_map(|list| {
        list.into_iter()
            .enumerate()
            .map(|(n, (id, key, value))| {
                Arc::new(HostAggregate {
                    id: id * 10 + n as i64,
                    name: format!("aggregate {id}"),
                    uuid: None,
                    metadata: [(key.to_owned(), value.to_owned())].into(),
                })
            })
            .collect()
    })
}

/// A table of random hosts with gaps between their numbers.
pub fn table() -> impl Strategy<Value = HostTable> {
    vec((1_u32..80, row(), aggregates()), 1..24).prop_map(|rows| {
        let mut table = HostTable::new();
        let mut at = 0;
        for (gap, row, aggregates) in rows {
            at += gap;
            table.upsert(HostIx(at), row);
            table.set_aggregates(HostIx(at), aggregates);
        }
        table
    })
}

fn group() -> impl Strategy<Value = InstanceGroup> {
    (
        prop::sample::select(vec![
            "affinity",
            "anti-affinity",
            "soft-affinity",
            "soft-anti-affinity",
        ]),
        vec(instance(), 0..6),
        vec(("[aAb]", "[aB]").prop_map(|(low, high)| format!("{low}{high}")), 0..3),
        prop::option::of(0_i64..3),
    )
        .prop_map(|(policy, members, hosts, limit)| InstanceGroup {
            policy: Some(policy.to_owned()),
            members,
            hosts,
            rules: limit.map(|limit| GroupRules { max_server_per_host: Some(limit) }),
            ..InstanceGroup::default()
        })
}

/// A random request that the filters have something to say of.
pub fn request() -> impl Strategy<Value = CheckedRequest> {
    let spec = prop_oneof![
        Just(("capabilities:stat", ">= 5")),
        Just(("capabilities:stat", "== x")),
        Just(("stat", "<or> 4 <or> True")),
        Just(("capabilities:cpu_info:vendor", "A")),
        Just(("capabilities:cpu_info:cores", "<= 4")),
        Just(("hw:maxphysaddr_bits", "39")),
        Just(("vcpus_total", "= 3")),
        Just(("quota:cpu", "1")),
        Just(("colour", "<or> 0 <or> inf")),
        Just(("aggregate_instance_extra_specs:colour", "= 2")),
        Just(("hw:cpu_policy", "dedicated")),
        Just(("hw:cpu_thread_policy", "require")),
    ];
    let property = prop_oneof![
        Just(("hw_architecture", json!("x86_64"))),
        Just(("img_hv_type", json!("kvm"))),
        Just(("img_hv_requested_version", json!(">=6.0"))),
        Just(("hw_maxphysaddr_bits", json!(42))),
        Just(("os_distro", json!("arch"))),
    ];
    let hint = prop_oneof![
        Just(("query", "[\"<\", \"$free_ram_mb\", 5]".to_owned())),
        Just(("query", "[\"or\", [\">\", \"$cpu_info\", 5]]".to_owned())),
        Just(("build_near_host_ip", "10.0.0.9".to_owned())),
        instance().prop_map(|uuid| ("different_host", uuid.to_string())),
        instance().prop_map(|uuid| ("same_host", uuid.to_string())),
    ];
    let cell = prop::option::of((1_u128..3).prop_map(Uuid::from_u128));
    (
        (instance(), prop::option::of(group()), vec(spec, 0..3), vec(property, 0..4)),
        (vec(hint, 0..3), cell, devices(), topology()),
    )
        .prop_filter_map("a readable image", |(who, what)| {
            let (instance_uuid, group, specs, properties) = who;
            let (hints, cell, pci_requests, numa_topology) = what;
            let mut request = ScheduleRequest {
                instance_uuid,
                instance_group: group,
                project_id: Some("m1".to_owned()),
                scheduler_hints: hints
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), vec![value]))
                    .collect(),
                requested_destination: cell.map(|cell| Destination {
                    cell: Some(cell),
                    allow_cross_cell_move: true,
                    ..Destination::default()
                }),
                pci_requests,
                numa_topology,
                ..ScheduleRequest::default()
            };
            request.flavor.name = "m1".to_owned();
            request.flavor.extra_specs = specs.into_iter().collect();
            request.image = Some(ImageMeta {
                properties: properties
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect(),
                ..ImageMeta::default()
            });
            CheckedRequest::check(request).ok()
        })
}

fn devices() -> impl Strategy<Value = Option<Vec<PciRequest>>> {
    let policy = prop::sample::select(vec!["required", "legacy", "preferred", "socket"]);
    let request = (1_i64..4, policy, any::<bool>()).prop_map(|(count, policy, pf)| {
        let mut spec = [("vendor_id".to_owned(), json!("8086"))];
        if pf {
            spec = [("dev_type".to_owned(), json!("type-PF"))];
        }
        PciRequest {
            count,
            spec: vec![spec.into()],
            numa_policy: Some(policy.to_owned()),
            ..PciRequest::default()
        }
    });
    prop::option::of(vec(request, 0..3))
}

fn topology() -> impl Strategy<Value = Option<RequestNuma>> {
    let policy = prop::sample::select(vec![None, Some("dedicated"), Some("mixed")]);
    let threads = prop::sample::select(vec![None, Some("isolate"), Some("require")]);
    let page = prop::sample::select(vec![None, Some(-1), Some(-3), Some(1024)]);
    let cell = (0_i64..3, 1_i64..4, policy, threads, page).prop_map(
        |(shared, memory, policy, threads, pagesize)| RequestCell {
            cpuset: (0..shared).collect(),
            pcpuset: if policy.is_some() { (shared..shared + 2).collect() } else { Vec::new() },
            memory,
            pagesize,
            cpu_policy: policy.map(str::to_owned),
            cpu_thread_policy: threads.map(str::to_owned),
            ..RequestCell::default()
        },
    );
    let emulator = prop::sample::select(vec![None, Some("isolate")]);
    prop::option::of((vec(cell, 0..3), emulator).prop_map(|(mut cells, emulator)| {
        for (id, cell) in (0..).zip(&mut cells) {
            cell.id = id;
        }
        RequestNuma { cells, emulator_threads_policy: emulator.map(str::to_owned) }
    }))
}

/// Settings under which everything there is is in use.
pub fn settings() -> Settings {
    let mut settings = Settings::default();
    let scheduler = &mut settings.filter_scheduler;
    scheduler.weight_classes = vec!["all_weighers".to_owned()];
    scheduler.image_props_weight_multiplier = 0.5;
    scheduler.image_props_weight_setting = vec!["os_distro=1.5".to_owned(), "bad".to_owned()];
    scheduler.num_instances_weight_multiplier = -0.25;
    scheduler.isolated_hosts = vec!["aa".to_owned(), "bB".to_owned()];
    scheduler.max_io_ops_per_host = 2;
    scheduler.max_instances_per_host = 3;
    settings.metrics.required = false;
    settings.metrics.weight_setting = vec!["cpu.percent=-0.5".to_owned()];
    settings
}
