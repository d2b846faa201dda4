//! Metadata of host aggregates that looks like an option and has no effect.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use stowplan_model::host::HostAggregate;
use stowplan_model::request::ScheduleRequest;

use crate::config::EngineConfig;
use crate::finding::{Finding, NoEffect};
use crate::registry;
use crate::view::HostView;

/// Options that single filters read from host aggregates.
const READ_BY_FILTERS: &[(&str, &str)] = &[
    ("max_io_ops_per_host", "AggregateIoOpsFilter"),
    ("max_instances_per_host", "AggregateNumInstancesFilter"),
];

const ENABLED_FILTERS: &str = "filter_scheduler.enabled_filters";
const WEIGHT_CLASSES: &str = "filter_scheduler.weight_classes";

/// The filter by which a flavor asks for metadata of any name.
const BY_EXTRA_SPECS: &str = "AggregateInstanceExtraSpecsFilter";
const SCOPE: &str = "aggregate_instance_extra_specs:";

/// The weigher whose option at 0 switches it off whatever aggregates say.
const SWITCHED_BY_OPTION: &str = "ImagePropertiesWeigher";

/// Sections whose options an operator may take for metadata keys.
const SECTIONS: &[&str] = &["filter_scheduler", "scheduler"];

const RATIO: &str = "the ratio in force is that of the resource provider's inventory; set it \
                     there or on the compute service";
const RESERVED: &str = "set the amount reserved in the resource provider's inventory or on the \
                        compute service";
const OPTION_ONLY: &str = "the option is read from the configuration alone";

/// Options of compute services that older schedulers read from host
/// aggregates, or that look as if.
const OF_COMPUTE_SERVICES: &[(&str, &str)] = &[
    ("cpu_allocation_ratio", RATIO),
    ("ram_allocation_ratio", RATIO),
    ("disk_allocation_ratio", RATIO),
    ("initial_cpu_allocation_ratio", RATIO),
    ("initial_ram_allocation_ratio", RATIO),
    ("initial_disk_allocation_ratio", RATIO),
    ("reserved_host_cpus", RESERVED),
    ("reserved_host_memory_mb", RESERVED),
    ("reserved_host_disk_mb", RESERVED),
];

/// Keys that are nearly those of an override.
const OTHER_KEYS: &[(&str, &str)] = &[("weight_multiplier", "metrics_weight_multiplier")];

/// One finding for each key of host aggregates in use that looks like an
/// option and changes nothing for this request, by aggregate and key.
pub(crate) fn idle_keys(
    view: &dyn HostView,
    config: &EngineConfig,
    request: &ScheduleRequest,
) -> Vec<Finding> {
    let mut seen: BTreeSet<i64> = BTreeSet::new();
    let mut findings: Vec<(i64, Finding)> = Vec::new();
    for (_, set) in view.aggregate_sets().iter() {
        for aggregate in set.iter().filter(|aggregate| seen.insert(aggregate.id)) {
            let found = of_aggregate(aggregate, config, request);
            findings.extend(found.map(|finding| (aggregate.id, finding)));
        }
    }
    findings.sort_by_key(|(id, _)| *id);
    findings.into_iter().map(|(_, finding)| finding).collect()
}

fn of_aggregate<'a>(
    aggregate: &'a HostAggregate,
    config: &'a EngineConfig,
    request: &'a ScheduleRequest,
) -> impl Iterator<Item = Finding> + 'a {
    aggregate.metadata.iter().filter_map(|(key, value)| {
        let why = why_idle(key, config)?;
        (!is_asked_for(key, config, request)).then(|| Finding::KeyWithoutEffect {
            id: aggregate.id,
            name: aggregate.name.clone(),
            key: key.clone(),
            value: value.clone(),
            why,
        })
    })
}

/// Why a key that looks like an option has no effect; `None` when it has one
/// or does not look like an option.
fn why_idle(key: &str, config: &EngineConfig) -> Option<NoEffect> {
    let scheduler = &config.scheduler;
    let find = |table: &'static [(&'static str, &'static str)]| {
        table.iter().find(|(name, _)| *name == key).map(|(_, meant)| *meant)
    };
    if let Some(reader) = find(READ_BY_FILTERS) {
        let in_use = scheduler.enabled_filters.iter().any(|name| name == reader);
        return (!in_use).then_some(NoEffect::NotInUse { reader, option: ENABLED_FILTERS });
    }
    // Most keys are none of all these: no more is done for them.
    if key.ends_with("_weight_multiplier")
        && let Some((reader, rule)) = registry::reader_of(key, config)
    {
        let in_use = registry::names_weigher(&scheduler.weight_classes, reader);
        return if !in_use {
            Some(NoEffect::NotInUse { reader, option: WEIGHT_CLASSES })
        } else if reader == SWITCHED_BY_OPTION && rule.configured == 0.0 {
            Some(NoEffect::SwitchedOff { reader, option: rule.option })
        } else {
            None
        };
    }
    if let Some(instead) = find(OF_COMPUTE_SERVICES) {
        return Some(NoEffect::NoOverride { instead });
    }
    if let Some(meant) = find(OTHER_KEYS) {
        return Some(NoEffect::OtherKey { key: meant });
    }
    is_option(key).then_some(NoEffect::NoOverride { instead: OPTION_ONLY })
}

fn is_option(key: &str) -> bool {
    static NAMES: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
        let options = stowplan_config::options();
        options.filter(|o| SECTIONS.contains(&o.section)).map(|option| option.name).collect()
    });
    NAMES.contains(key)
}

/// Whether the request's flavor asks for metadata of that name.
fn is_asked_for(key: &str, config: &EngineConfig, request: &ScheduleRequest) -> bool {
    config.scheduler.enabled_filters.iter().any(|name| name == BY_EXTRA_SPECS)
        && request
            .flavor
            .extra_specs
            .iter()
            .any(|(spec, _)| spec.strip_prefix(SCOPE).unwrap_or(spec) == key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stowplan_config::Settings;

    fn config() -> EngineConfig {
        EngineConfig::from(&Settings::default())
    }

    fn why(key: &str, config: &EngineConfig) -> Option<String> {
        why_idle(key, config).map(|why| why.to_string())
    }

    #[test]
    fn keys_that_nothing_reads_are_told() {
        let config = config();
        assert!(why("cpu_allocation_ratio", &config).is_some_and(|text| text.contains("ratio")));
        assert_eq!(
            why("max_io_ops_per_host", &config).as_deref(),
            Some("AggregateIoOpsFilter is not in filter_scheduler.enabled_filters")
        );
        assert_eq!(
            why("image_props_weight_multiplier", &config).as_deref(),
            Some(
                "ImagePropertiesWeigher is switched off by \
                 filter_scheduler.image_props_weight_multiplier = 0"
            )
        );
        assert_eq!(
            why("weight_multiplier", &config).as_deref(),
            Some("the key that is read is metrics_weight_multiplier")
        );
        assert!(why("host_subset_size", &config).is_some());
    }

    #[test]
    fn keys_that_are_read_or_no_options_are_not() {
        let mut config = config();
        for key in
            ["ram_weight_multiplier", "metrics_weight_multiplier", "ssd", "availability_zone"]
        {
            assert_eq!(why(key, &config), None, "{key}");
        }
        config.scheduler.enabled_filters.push("AggregateIoOpsFilter".to_owned());
        assert_eq!(why("max_io_ops_per_host", &config), None);
        config.scheduler.weight_classes = vec!["CPUWeigher".to_owned()];
        assert!(why("ram_weight_multiplier", &config).is_some());
    }
}
