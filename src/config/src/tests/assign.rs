//! Setting single options, and resetting them.

use serde_json::json;

use crate::{Settings, WeightNormalization, options};

#[test]
fn an_option_is_set_by_its_name() {
    let mut settings = Settings::default();
    settings.set("filter_scheduler.weight_normalization", "nova").unwrap();
    settings.set("service_down_time", "600").unwrap();
    settings.set("DEFAULT.debug", "on").unwrap();
    settings.set("batch:gang.victims", "floor").unwrap();
    assert_eq!(settings.filter_scheduler.weight_normalization, WeightNormalization::Nova);
    assert_eq!(settings.default.service_down_time, 600);
    assert!(settings.default.debug);
    assert_eq!(settings.batch_plugins["gang"]["victims"], "floor");
}

#[test]
fn json_values_are_taken_by_type() {
    let mut settings = Settings::default();
    let values = [
        ("scheduler.max_attempts", json!(5)),
        ("scheduler.limit_tenants_to_placement_aggregate", json!(true)),
        ("scheduler.max_placement_results", json!(50)),
        ("filter_scheduler.ram_weight_multiplier", json!(-1.0)),
        ("filter_scheduler.isolated_hosts", json!(["h000", "a,b"])),
        ("filter_scheduler.image_properties_default_architecture", json!("x86_64")),
        ("metrics.weight_setting", json!([" cpu.percent = 1", "bad"])),
        ("metrics.required", json!(false)),
        ("batch.tiers", json!([["gang"], ["drf", "binpack"]])),
        ("batch.actions", json!(["allocate"])),
    ];
    for (key, value) in &values {
        settings.set_json(key, value).unwrap();
    }
    assert_eq!(settings.scheduler.max_attempts, 5);
    assert_eq!(settings.scheduler.max_placement_results, Some(50));
    assert_eq!(settings.filter_scheduler.ram_weight_multiplier, -1.0);
    assert_eq!(settings.filter_scheduler.isolated_hosts, ["h000", "a,b"]);
    assert_eq!(settings.metrics.weight_setting, [" cpu.percent = 1", "bad"]);
    assert_eq!(settings.batch.tiers, [vec!["gang"], vec!["drf", "binpack"]]);
    for (key, _) in &values {
        settings.set_json(key, &json!(null)).unwrap();
    }
    assert_eq!(settings, Settings::default());
}

#[test]
fn every_option_takes_back_what_it_shows() {
    for spec in options() {
        let mut settings = Settings::default();
        settings.set_json(&format!("{}.{}", spec.section, spec.name), &json!(null)).unwrap();
        assert_eq!(settings, Settings::default(), "[{}] {}", spec.section, spec.name);
    }
}

#[test]
fn a_wrong_name_or_value_is_told() {
    let mut settings = Settings::default();
    for (key, value, expected) in [
        (
            "scheduler.max_attempt",
            json!(1),
            "scheduler.max_attempt: there is no such option, did you mean max_attempts?",
        ),
        (
            "host_subset_size",
            json!(1),
            "host_subset_size: there is no such option, did you mean [filter_scheduler] \
             host_subset_size?",
        ),
        (
            "scheduler.max_attempts",
            json!("x"),
            "scheduler.max_attempts = \"x\": expected an integer of at least 1",
        ),
        (
            "scheduler.max_attempts",
            json!([1]),
            "scheduler.max_attempts = \"1\": expected an integer of at least 1",
        ),
        (
            "scheduler.max_attempts",
            json!({"a": 1}),
            "scheduler.max_attempts = {\"a\":1}: expected a boolean, a number, a text, a list of \
             these, or null",
        ),
        ("placement_database.connection", json!("oracle://u:secret@h/d"), "oracle://u:***@h/d"),
    ] {
        let error = settings.set_json(key, &value).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(settings, Settings::default());
}
