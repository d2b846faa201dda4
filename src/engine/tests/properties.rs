//! What must hold for any hosts and requests.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::cmp::Ordering;
use std::sync::Arc;

use common::{NOW, aggregates, instance, request, row, settings, table};
use proptest::collection::vec;
use proptest::prelude::*;
use stowplan_config::WeightNormalization;
use stowplan_engine::multiplier::order;
use stowplan_engine::offers::Mappings;
use stowplan_engine::registry::{filters, weighers};
use stowplan_engine::table::{HostNuma, PciPools};
use stowplan_engine::weigh::WeighPlan;
use stowplan_engine::{
    CheckedRequest, Claimed, EngineConfig, Figure, HostIx, HostRow, HostSet, HostTable, HostView,
    Offers, RequestCx, Survivors, Undo, Verdict, consume,
};
use stowplan_model::Uuid;
use stowplan_model::host::HostAggregate;
use stowplan_model::pytext;

/// Every filter there is.
const FILTERS: [&str; 22] = [
    "AggregateImagePropertiesIsolation",
    "AggregateInstanceExtraSpecsFilter",
    "AggregateIoOpsFilter",
    "AggregateMultiTenancyIsolation",
    "AggregateNumInstancesFilter",
    "AggregateTypeAffinityFilter",
    "AllHostsFilter",
    "ComputeCapabilitiesFilter",
    "ComputeFilter",
    "DifferentHostFilter",
    "ImagePropertiesFilter",
    "IoOpsFilter",
    "IsolatedHostsFilter",
    "JsonFilter",
    "MetricsFilter",
    "NUMATopologyFilter",
    "NumInstancesFilter",
    "PciPassthroughFilter",
    "SameHostFilter",
    "ServerGroupAffinityFilter",
    "ServerGroupAntiAffinityFilter",
    "SimpleCIDRAffinityFilter",
];

/// One change of a table that can be taken back.
#[derive(Clone, Debug)]
enum Step {
    Figure(usize, Figure, i64),
    Came(usize, Uuid, u8),
    Went(usize, Uuid),
    Pci(usize, bool),
    Numa(usize, bool),
    Consume(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let host = 0_usize..24;
    prop_oneof![
        (host.clone(), prop::sample::select(Figure::ALL.to_vec()), any::<i64>())
            .prop_map(|(h, f, v)| Step::Figure(h, f, v)),
        (host.clone(), instance(), 0_u8..3).prop_map(|(h, i, p)| Step::Came(h, i, p)),
        (host.clone(), instance()).prop_map(|(h, i)| Step::Went(h, i)),
        (host.clone(), any::<bool>()).prop_map(|(h, some)| Step::Pci(h, some)),
        (host.clone(), any::<bool>()).prop_map(|(h, some)| Step::Numa(h, some)),
        host.prop_map(Step::Consume),
    ]
}

fn take(step: &Step, table: &mut HostTable, undo: &mut Undo, request: &mut CheckedRequest) {
    let live: Vec<HostIx> = table.live().iter().collect();
    let at = |n: usize| live[n % live.len()];
    match step {
        Step::Figure(h, figure, value) => undo.set_figure(table, at(*h), *figure, *value),
        Step::Came(h, uuid, props) => {
            let props = [("os".to_owned(), props.to_string())].into();
            undo.add_instance(table, at(*h), *uuid, props);
        }
        Step::Went(h, uuid) => undo.remove_instance(table, at(*h), *uuid),
        Step::Pci(h, some) => undo.set_pci(table, at(*h), some.then(Arc::<PciPools>::default)),
        Step::Numa(h, some) => undo.set_numa(table, at(*h), some.then(Arc::<HostNuma>::default)),
        Step::Consume(h) => {
            let config = EngineConfig::from(&settings());
            consume(table, undo, request, at(*h), &config, Claimed::PLAIN);
        }
    }
}

/// The look-ups of a table say what a scan of its hosts says.
fn look_ups_are_right(table: &HostTable) -> Result<(), TestCaseError> {
    for n in 0..16 {
        let uuid = Uuid::from_u128(n);
        let scanned: Vec<HostIx> =
            table.live().iter().filter(|host| table.instances(*host).contains(uuid)).collect();
        prop_assert_eq!(table.hosts_with(uuid), &scanned);
    }
    for name in ["aa", "ab", "ba", "bb"] {
        let is_so = |host: &HostIx| table.facts(*host).host.to_lowercase() == name;
        let scanned: Vec<HostIx> = table.live().iter().filter(is_so).collect();
        prop_assert_eq!(table.hosts_named(name), &scanned);
    }
    for host in table.live().iter() {
        let facts = table.facts(host);
        prop_assert!(table.hosts_named(&facts.host.to_lowercase()).contains(&host));
        prop_assert_eq!(table.host_of_node(facts.uuid), Some(host));
        let devices = table.pci_pools(host).map_or(0, PciPools::devices);
        prop_assert_eq!(table.pci_devices().value(host), devices);
    }
    Ok(())
}

/// One change that a ledger makes.
#[derive(Clone, Debug)]
enum Write {
    Upsert(u32, Box<HostRow>),
    Remove(u32),
    Aggregates(u32, Vec<Arc<HostAggregate>>),
}

fn write() -> impl Strategy<Value = Write> {
    let host = 0_u32..6;
    prop_oneof![
        3 => (host.clone(), row()).prop_map(|(h, row)| Write::Upsert(h * 100, Box::new(row))),
        1 => host.clone().prop_map(|h| Write::Remove(h * 100)),
        2 => (host, aggregates()).prop_map(|(h, a)| Write::Aggregates(h * 100, a)),
    ]
}

proptest! {
    #[test]
    fn undo_gives_back_the_very_table(
        mut table in table(), mut request in request(),
        before in vec(step(), 0..8), after in vec(step(), 0..40),
    ) {
        let mut undo = Undo::new();
        for step in &before {
            take(step, &mut table, &mut undo, &mut request);
        }
        let kept = table.clone();
        let mark = undo.mark();
        for step in &after {
            take(step, &mut table, &mut undo, &mut request);
        }
        look_ups_are_right(&table)?;
        undo.back_to(&mut table, mark);
        prop_assert_eq!(undo.mark(), mark);
        prop_assert!(table == kept);
        look_ups_are_right(&table)?;
    }

    #[test]
    fn a_written_clone_leaves_the_table_alone(
        table in table(), mut request in request(), steps in vec(step(), 1..20),
    ) {
        let base = table.clone();
        let mut overlay = table.clone();
        let mut undo = Undo::new();
        for step in &steps {
            take(step, &mut overlay, &mut undo, &mut request);
        }
        prop_assert!(table == base);
        look_ups_are_right(&table)?;
    }

    #[test]
    fn a_table_with_a_history_equals_a_fresh_one(writes in vec(write(), 1..40)) {
        let mut table = HostTable::new();
        let mut rows = std::collections::BTreeMap::new();
        for write in writes {
            match write {
                Write::Upsert(host, row) => {
                    table.upsert(HostIx(host), (*row).clone());
                    rows.entry(host).or_insert((HostRow::default(), Vec::new())).0 = *row;
                }
                Write::Remove(host) => {
                    table.remove(HostIx(host));
                    rows.remove(&host);
                }
                Write::Aggregates(host, set) => {
                    table.set_aggregates(HostIx(host), set.clone());
                    if let Some(row) = rows.get_mut(&host) {
                        row.1 = set;
                    }
                }
            }
        }
        let mut fresh = HostTable::new();
        for (host, (row, set)) in rows {
            fresh.upsert(HostIx(host), row);
            fresh.set_aggregates(HostIx(host), set);
        }
        prop_assert!(table == fresh);
        look_ups_are_right(&table)?;
        // Nobody uses a value that is not there.
        prop_assert_eq!(table.aggregate_sets().iter().count(), fresh.aggregate_sets().iter().count());
        prop_assert_eq!(table.guests().iter().count(), fresh.guests().iter().count());
        prop_assert_eq!(table.cpu_infos().iter().count(), fresh.cpu_infos().iter().count());
        prop_assert_eq!(table.props().iter().count(), fresh.props().iter().count());
        prop_assert!(!table.live().contains(table.free_ix()));
    }

    #[test]
    fn narrowing_is_judging_one_by_one(
        table in table(), request in request(), restricted in any::<bool>(),
        candidates in vec(prop::option::of(0_usize..3), 24),
    ) {
        let mut settings = settings();
        settings.filter_scheduler.restrict_isolated_hosts_to_isolated_images = restricted;
        let config = EngineConfig::from(&settings);
        let cx = RequestCx { request: &request, config: &config, now: NOW, view: &table };
        let mut offers = Offers::default();
        for (host, candidates) in table.live().iter().zip(candidates) {
            if let Some(candidates) = candidates {
                offers.list(host, vec![Mappings::new(); candidates]);
            }
        }
        let names: Vec<String> = FILTERS.iter().map(|name| (*name).to_owned()).collect();
        for filter in filters(&names).unwrap() {
            let Some(predicate) = filter.prepare(&cx).unwrap() else {
                continue;
            };
            let mut left = Survivors::all(table.live().clone());
            let narrowed = predicate.narrow(&table, &offers, &mut left);
            let all = Survivors::all(table.live().clone());
            let judged: Result<Vec<Verdict>, _> =
                table.live().iter().map(|host| predicate.judge(&table, host, &offers, &all)).collect();
            match (narrowed, judged) {
                (Ok(()), Ok(verdicts)) => {
                    let verdicts: Vec<_> = table.live().iter().zip(verdicts).collect();
                    let passed: HostSet = verdicts
                        .iter()
                        .filter(|(_, verdict)| verdict.passes())
                        .map(|(host, _)| *host)
                        .collect();
                    prop_assert_eq!(&left.hosts, &passed, "{}", filter.name());
                    for (host, verdict) in &verdicts {
                        match verdict {
                            Verdict::PassWith(kept) => {
                                prop_assert_eq!(left.kept(*host), Some(kept));
                                prop_assert!(!kept.candidates.is_empty());
                            }
                            Verdict::Fail(reason) => prop_assert!(!reason.to_string().is_empty()),
                            Verdict::Pass => {}
                        }
                    }
                }
                (narrowed, judged) => prop_assert_eq!(
                    narrowed.map_err(|fault| fault.kind).err(),
                    judged.map_err(|fault| fault.kind).err(),
                    "{}",
                    filter.name()
                ),
            }
        }
    }

    #[test]
    fn fused_weighing_is_the_rule_host_by_host(
        table in table(), request in request(), nova in any::<bool>(), k in 0_usize..30,
    ) {
        let mut settings = settings();
        if nova {
            settings.filter_scheduler.weight_normalization = WeightNormalization::Nova;
        }
        let config = EngineConfig::from(&settings);
        let cx = RequestCx { request: &request, config: &config, now: NOW, view: &table };
        let weighers = weighers(&settings.filter_scheduler.weight_classes).unwrap();
        let hosts: Vec<HostIx> = table.live().iter().collect();
        let plan = WeighPlan::prepare(&weighers, &cx).unwrap();
        let weighed = plan.weigh(&table, hosts.clone()).unwrap();
        let naive: Vec<f64> =
            hosts.iter().map(|host| naive(&table, &hosts, *host, &request, &config)).collect();
        let bits = |weights: &[f64]| -> Vec<Option<u64>> {
            weights.iter().map(|w| (!w.is_nan()).then_some(w.to_bits())).collect()
        };
        prop_assert_eq!(bits(&weighed.weights), bits(&naive));

        let mut sorted: Vec<usize> = (0..hosts.len()).collect();
        sorted.sort_by(|a, b| order(naive[*b], naive[*a]).then(Ordering::Equal));
        prop_assert_eq!(&weighed.ranking(), &sorted);
        sorted.truncate(k);
        prop_assert_eq!(weighed.best(k), sorted);
    }
}

/// A weigher as it is documented.
struct Rule<'a> {
    raw: Box<dyn Fn(HostIx) -> f64 + 'a>,
    /// Counted from 0 as Nova does.
    amount: bool,
    option: f64,
    key: &'static str,
    sign: f64,
}

/// All weighers in the order of their sum.
fn rules<'a>(
    table: &'a HostTable,
    request: &'a CheckedRequest,
    config: &'a EngineConfig,
) -> Vec<Rule<'a>> {
    let figure =
        |figure: Figure| Box::new(move |host: HostIx| table.figure(figure, host) as f64) as Box<_>;
    let members = |policy: &'static str, sign: f64| {
        let group = request.request().instance_group.as_ref();
        let group = group.filter(|group| group.policy.as_deref() == Some(policy));
        Box::new(move |host: HostIx| {
            let here = table.instances(host).as_slice().iter();
            let here = here.filter(|(uuid, _)| group.is_some_and(|g| g.members.contains(uuid)));
            sign * here.count() as f64
        }) as Box<_>
    };
    let cpus = |host: HostIx| {
        table.figure(Figure::VcpusTotal, host) as f64
            * table.ratio(stowplan_engine::table::Ratio::Cpu, host)
            - table.figure(Figure::VcpusUsed, host) as f64
    };
    let home = request.request().requested_destination.as_ref().and_then(|d| d.cell);
    let cell = move |host: HostIx| match home {
        None => 0.0,
        Some(home) if table.facts(host).cell_uuid == Some(home) => 1.0,
        Some(_) => -1.0,
    };
    // The one property that the settings weigh.
    let distro = request.image().and_then(|image| image.text("os_distro"));
    let images = move |host: HostIx| {
        let here = table.instances(host).as_slice().iter();
        let props = here.filter_map(|(_, id)| table.instance_props(*id)?.get("os_distro"));
        1.5 * props.filter(|value| Some(value.as_str()) == distro).count() as f64
    };
    let metrics = move |host: HostIx| {
        let metrics = table.facts(host).metrics.as_deref().unwrap_or_default();
        match metrics.iter().rev().find(|metric| metric.name == "cpu.percent") {
            Some(metric) => 0.0 + metric.value as f64 * -0.5,
            None => {
                let own = multiplier(table, host, "metrics_weight_multiplier", 1.0);
                if -0.5 * own != 0.0 { -10_000.0 } else { 0.0 }
            }
        }
    };
    let devices = |host: HostIx| {
        let pools = table.pci_pools(host).map_or(&[][..], PciPools::pools);
        100.0 - pools.iter().map(|pool| pool.count).sum::<i64>().min(99) as f64
    };
    let scheduler = &config.scheduler;
    let rule = |raw, amount, option, key, sign| Rule { raw, amount, option, key, sign };
    vec![
        rule(
            members("soft-affinity", 1.0),
            false,
            scheduler.soft_affinity_weight_multiplier,
            "soft_affinity_weight_multiplier",
            1.0,
        ),
        rule(
            members("soft-anti-affinity", -1.0),
            false,
            scheduler.soft_anti_affinity_weight_multiplier,
            "soft_anti_affinity_weight_multiplier",
            1.0,
        ),
        rule(
            figure(Figure::FailedBuilds),
            false,
            scheduler.build_failure_weight_multiplier,
            "build_failure_weight_multiplier",
            -1.0,
        ),
        rule(Box::new(cpus), true, scheduler.cpu_weight_multiplier, "cpu_weight_multiplier", 1.0),
        rule(
            Box::new(cell),
            false,
            scheduler.cross_cell_move_weight_multiplier,
            "cross_cell_move_weight_multiplier",
            1.0,
        ),
        rule(
            figure(Figure::FreeDiskMb),
            true,
            scheduler.disk_weight_multiplier,
            "disk_weight_multiplier",
            1.0,
        ),
        rule(
            figure(Figure::HypervisorVersion),
            false,
            scheduler.hypervisor_version_weight_multiplier,
            "hypervisor_version_weight_multiplier",
            1.0,
        ),
        rule(
            Box::new(images),
            false,
            scheduler.image_props_weight_multiplier,
            "image_props_weight_multiplier",
            1.0,
        ),
        rule(
            figure(Figure::NumIoOps),
            true,
            scheduler.io_ops_weight_multiplier,
            "io_ops_weight_multiplier",
            1.0,
        ),
        rule(
            Box::new(metrics),
            false,
            config.metrics.weight_multiplier,
            "metrics_weight_multiplier",
            1.0,
        ),
        rule(
            figure(Figure::NumInstances),
            false,
            scheduler.num_instances_weight_multiplier,
            "num_instances_weight_multiplier",
            1.0,
        ),
        rule(
            Box::new(devices),
            false,
            scheduler.pci_weight_multiplier,
            "pci_weight_multiplier",
            1.0,
        ),
        rule(
            figure(Figure::FreeRamMb),
            true,
            scheduler.ram_weight_multiplier,
            "ram_weight_multiplier",
            1.0,
        ),
    ]
}

/// The weight of one host by the documented rule, without any short cut.
fn naive(
    table: &HostTable,
    hosts: &[HostIx],
    host: HostIx,
    request: &CheckedRequest,
    config: &EngineConfig,
) -> f64 {
    if hosts.len() < 2 {
        return 0.0;
    }
    let from_zero = config.normalisation() == WeightNormalization::Nova;
    let mut weight = 0.0;
    for rule in rules(table, request, config) {
        let clamped = |host: HostIx| {
            let value = (rule.raw)(host);
            if rule.amount && from_zero && value < 0.0 { 0.0 } else { value }
        };
        let all: Vec<f64> = hosts.iter().map(|host| clamped(*host)).collect();
        let high = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let low = if rule.amount && from_zero {
            0.0
        } else {
            all.iter().copied().fold(f64::INFINITY, f64::min)
        };
        let normalised = if low == high { 0.0 } else { (clamped(host) - low) / (high - low) };
        weight += rule.sign * multiplier(table, host, rule.key, rule.option) * normalised;
    }
    weight
}

/// The lowest override of a host's aggregates, unless one is no number.
fn multiplier(table: &HostTable, host: HostIx, key: &str, option: f64) -> f64 {
    let set = table.aggregates_of(host).unwrap();
    let values: Option<Vec<f64>> = set.values(key).map(|(_, text)| pytext::float(text)).collect();
    values.and_then(|values| values.into_iter().min_by(|a, b| order(*a, *b))).unwrap_or(option)
}
