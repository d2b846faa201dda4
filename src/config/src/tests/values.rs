//! Values of each type: what is taken, what is refused, and how it is shown.

use std::time::Duration;

use super::{load, warnings};
use crate::{ResourceMapping, Settings, python_float};

/// What `[section] option = text` gives, as a file would say it; `!` and what
/// was expected if it is refused.
fn read(section: &str, option: &str, text: &str) -> String {
    match load(&format!("[{section}]\n{option} = {text}\n")) {
        Ok(loaded) => {
            let spec = crate::options()
                .find(|spec| spec.section == section && spec.name == option)
                .unwrap();
            (spec.texts)(&loaded.settings, &spec.meta).join(" | ")
        }
        Err(errors) => format!("!{}", errors.0.first().unwrap().problem),
    }
}

#[test]
fn values_are_read_by_type() {
    let cases = [
        ("DEFAULT", "debug", "Yes", "true"),
        ("DEFAULT", "debug", "ON", "true"),
        ("DEFAULT", "debug", "0", "false"),
        ("DEFAULT", "debug", "", "!expected a boolean (true, yes, on, 1 or false, no, off, 0)"),
        ("DEFAULT", "debug", "t", "!expected a boolean (true, yes, on, 1 or false, no, off, 0)"),
        ("scheduler", "max_attempts", "1_0", "10"),
        ("scheduler", "max_attempts", "+5", "5"),
        ("scheduler", "max_attempts", "0", "!expected an integer of at least 1"),
        ("scheduler", "max_attempts", "2.0", "!expected an integer of at least 1"),
        ("scheduler", "max_attempts", "0x10", "!expected an integer of at least 1"),
        ("scheduler", "max_attempts", "1__0", "!expected an integer of at least 1"),
        ("scheduler", "max_attempts", "5000000000", "!expected an integer from 1 to 4294967295"),
        ("scheduler", "max_placement_results", "", ""),
        ("scheduler", "max_placement_results", "7", "7"),
        ("api", "bind_port", "65536", "!expected an integer from 0 to 65535"),
        ("api", "workers", "513", "!expected an integer from 1 to 512"),
        ("ledger", "linger_us", "10001", "!expected an integer of at most 10000"),
        ("filter_scheduler", "ram_weight_multiplier", "-1", "-1.0"),
        ("filter_scheduler", "ram_weight_multiplier", "1_0.5e1", "105.0"),
        ("filter_scheduler", "ram_weight_multiplier", "Infinity", "!expected a finite number"),
        ("filter_scheduler", "ram_weight_multiplier", "1,5", "!expected a number"),
        ("filter_scheduler", "pci_weight_multiplier", "-0.1", "!expected a number of at least 0"),
        ("filter_scheduler", "isolated_hosts", " a, b ,c,", "a,b,c"),
        ("filter_scheduler", "isolated_hosts", "a,\n  b", "a,b"),
        ("filter_scheduler", "isolated_hosts", "", ""),
        ("filter_scheduler", "weight_normalization", "nova", "nova"),
        ("filter_scheduler", "weight_normalization", "Nova", "!expected one of min_max, nova"),
        ("filter_scheduler", "image_properties_default_architecture", "x86_64", "x86_64"),
        ("batch", "schedule_period", "250ms", "250ms"),
        ("batch", "schedule_period", "90", "90s"),
        ("batch", "schedule_period", "0.5", "500ms"),
        ("decisions", "max_age", "48h", "2d"),
        ("batch", "resource_map", "cpu:VCPU:500m,gpu:PGPU:1", "cpu:VCPU:500m,gpu:PGPU:1"),
        (
            "batch",
            "resource_map",
            "cpu:VCPU",
            "!expected items such as cpu:VCPU:1000m (dimension, resource class, quantum)",
        ),
        (
            "batch",
            "resource_map",
            "cpu:A:1,cpu:B:1",
            "!expected each dimension once (cpu is given twice)",
        ),
        ("batch", "tiers", "", "!expected plugin names between commas, one line per tier"),
        ("api", "auth_strategy", "keystone", "keystone"),
        ("api", "auth_strategy", "none", "!expected one of noauth2, keystone"),
    ];
    for (section, option, text, expected) in cases {
        assert_eq!(read(section, option, text), expected, "[{section}] {option} = {text}");
    }
    let span = read("batch", "schedule_period", "1ms");
    assert!(span.ends_with("of at least 0.01 seconds"), "{span}");
}

#[test]
fn options_take_finite_numbers_only() {
    let expected = "expected a finite number";
    for text in ["nan", "inf", "-Infinity", "1e999"] {
        let read = read("metrics", "weight_multiplier", text);
        assert!(read.ends_with(expected), "{text}: {read}");
    }
    for (item, holds) in
        [("a=1", true), ("a=b=1", false), ("=1", false), ("a", false), ("a=", false)]
    {
        let read = read("metrics", "weight_setting", &format!("x=1.5, {item}"));
        assert_eq!(!read.contains("expected items such as name=1.5"), holds, "{item}: {read}");
    }
}

#[test]
fn floats_follow_python() {
    for (text, value) in [
        ("1_0", Some(10.0)),
        (" 1.5 ", Some(1.5)),
        ("1e3", Some(1000.0)),
        (".5", Some(0.5)),
        ("5.", Some(5.0)),
        ("-inf", Some(f64::NEG_INFINITY)),
        ("INFINITY", Some(f64::INFINITY)),
        ("", None),
        ("0x1", None),
        ("1,5", None),
        ("1__0", None),
        ("_1", None),
        ("1_", None),
        ("1_.5", None),
        ("one", None),
    ] {
        assert_eq!(python_float(text), value, "{text:?}");
    }
    assert!(python_float("NaN").unwrap().is_nan());
}

#[test]
fn class_paths_are_read_by_their_last_part() {
    let loaded = load(
        "[filter_scheduler]\n\
         available_filters = nova.scheduler.filters.all_filters\n\
         available_filters = site.filters.MyFilter\n\
         enabled_filters = ComputeFilter, nova.scheduler.filters.ram_filter.RamFilter\n\
         weight_classes = nova.scheduler.weights.all_weighers\n",
    )
    .unwrap();
    let section = loaded.settings.filter_scheduler;
    assert_eq!(section.available_filters, ["all_filters", "MyFilter"]);
    assert_eq!(section.enabled_filters, ["ComputeFilter", "RamFilter"]);
    assert_eq!(section.weight_classes, ["all_weighers"]);
}

#[test]
fn a_subset_of_no_host_is_one_of_one() {
    let loaded = load("[filter_scheduler]\nhost_subset_size = -3\n").unwrap();
    assert_eq!(loaded.settings.filter_scheduler.host_subset_size, 1);
    assert_eq!(
        warnings(&loaded),
        ["s.conf:2: [filter_scheduler] host_subset_size: -3 is below 1 and is read as 1"]
    );
}

#[test]
fn a_tier_stands_on_a_line_of_its_own() {
    let loaded = load("[batch]\ntiers = priority, gang\ntiers = drf,predicates\n").unwrap();
    assert_eq!(loaded.settings.batch.tiers, [vec!["priority", "gang"], vec!["drf", "predicates"]]);
}

#[test]
fn defaults_are_those_of_the_documents() {
    let settings = Settings::default();
    assert_eq!(settings.scheduler.max_attempts, 3);
    assert_eq!(settings.default.service_down_time, 60);
    assert_eq!(settings.placement.max_allocation_candidates, -1);
    assert_eq!(settings.ledger.batch_max_mutations, 512);
    assert_eq!(settings.decisions.max_age, Duration::from_secs(7 * 86_400));
    assert_eq!(
        settings.batch.resource_map.first(),
        Some(&ResourceMapping::new("cpu", "VCPU", "1000m"))
    );
    assert_eq!(load("").unwrap().settings, settings);
}
