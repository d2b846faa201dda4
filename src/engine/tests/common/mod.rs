//! Random hosts and requests for the property tests.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;
use stowplan_config::Settings;
use stowplan_engine::table::{Figure, Figures, HostFacts};
use stowplan_engine::{CheckedRequest, HostIx, HostRow, HostTable};
use stowplan_model::host::HostAggregate;
use stowplan_model::image_props::ImageMeta;
use stowplan_model::request::{GroupRules, InstanceGroup, ScheduleRequest};
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
        })
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
    ((names, guests, cpu_info, stats), (figures(), ratios, vec(instance(), 0..4), any::<u128>()))
        .prop_map(|(((low, high), guests, cpu_info, stats), (figures, ratios, instances, uuid))| {
            HostRow {
                facts: HostFacts {
                    host: format!("{low}{high}"),
                    node: format!("n{high}"),
                    uuid: Uuid::from_u128(uuid),
                    stats: stats.as_object().cloned().unwrap_or_default(),
                    ..HostFacts::default()
                },
                figures,
                ratios,
                guests: guests.iter().map(|triple| triple.map(str::to_owned).to_vec()).collect(),
                cpu_info,
                instances: instances
                    .into_iter()
                    .map(|uuid| (uuid, [("os".to_owned(), uuid.to_string())].into()))
                    .collect(),
                ..HostRow::default()
            }
        })
}

/// Random host aggregates that may override multipliers.
pub fn aggregates() -> impl Strategy<Value = Vec<Arc<HostAggregate>>> {
    let value =
        prop_oneof![Just("2.5"), Just("-1"), Just("nan"), Just("inf"), Just("many"), Just("0"),];
    let key = prop_oneof![
        Just("ram_weight_multiplier"),
        Just("build_failure_weight_multiplier"),
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
        prop_oneof![Just("affinity"), Just("anti-affinity"), Just("soft-affinity")],
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
    ];
    let property = prop_oneof![
        Just(("hw_architecture", json!("x86_64"))),
        Just(("img_hv_type", json!("kvm"))),
        Just(("img_hv_requested_version", json!(">=6.0"))),
        Just(("hw_maxphysaddr_bits", json!(42))),
    ];
    (instance(), prop::option::of(group()), vec(spec, 0..3), vec(property, 0..4)).prop_filter_map(
        "a readable image",
        |(instance_uuid, group, specs, properties)| {
            let mut request = ScheduleRequest {
                instance_uuid,
                instance_group: group,
                ..ScheduleRequest::default()
            };
            request.flavor.extra_specs = specs.into_iter().collect();
            request.image = Some(ImageMeta {
                properties: properties
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect(),
                ..ImageMeta::default()
            });
            CheckedRequest::check(request).ok()
        },
    )
}

/// Settings under which everything there is is in use.
pub fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.filter_scheduler.weight_classes = vec!["all_weighers".to_owned()];
    settings
}
