//! Recorded decisions of Nova's own filters and weighers, and cases of
//! Koordinator's scheduling hints, evaluated here.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::PathBuf;

use stowplan_config::Settings;
use stowplan_engine::scenario::hints::{HintScenario, check_hint};
use stowplan_engine::scenario::{
    SelectScenario, check, check_destinations, evaluate, parse, parse_with,
};

fn as_nova_computes() -> [(String, String); 1] {
    [("filter_scheduler.weight_normalization".to_owned(), "nova".to_owned())]
}

/// Evaluates every case of a file as Nova computes it.
fn passes(file: &str, cases: usize) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/nova");
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    let scenarios = parse(&text).unwrap();
    assert_eq!(scenarios.len(), cases, "cases in {file}");
    let overrides = as_nova_computes();
    let mut failed = Vec::new();
    for scenario in &scenarios {
        let result = evaluate(scenario, &Settings::default(), &overrides);
        let expected = scenario.expect.as_ref().expect("an expectation");
        for difference in check(expected, &result) {
            failed.push(format!("{}: {difference:?}", scenario.id));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

macro_rules! golden {
    ($($name:ident: $cases:literal,)+) => {
        $(
            #[test]
            fn $name() {
                passes(concat!(stringify!($name), ".json"), $cases);
            }
        )+
    };
}

golden! {
    filter_aggregate_image_properties_isolation: 28,
    filter_aggregate_instance_extra_specs: 48,
    filter_aggregate_io_ops: 24,
    filter_aggregate_multitenancy_isolation: 24,
    filter_aggregate_num_instances: 24,
    filter_aggregate_type_affinity: 20,
    filter_all_hosts: 4,
    filter_compute: 24,
    filter_compute_capabilities: 92,
    filter_different_host: 20,
    filter_image_properties: 48,
    filter_io_ops: 16,
    filter_isolated_hosts: 28,
    filter_json: 40,
    filter_metrics: 24,
    filter_num_instances: 16,
    filter_numa_topology: 60,
    filter_pci_passthrough: 64,
    filter_same_host: 20,
    filter_server_group_affinity: 24,
    filter_server_group_anti_affinity: 28,
    filter_simple_cidr_affinity: 24,
    host_state: 20,
    mixed_large: 9,
    mixed_small: 24,
    preselection: 40,
    rebuild_and_index: 24,
    weigher_build_failure: 32,
    weigher_cpu: 32,
    weigher_cross_cell: 32,
    weigher_disk: 32,
    weigher_hypervisor_version: 32,
    weigher_image_props: 48,
    weigher_io_ops: 32,
    weigher_metrics: 48,
    weigher_num_instances: 32,
    weigher_pci: 32,
    weigher_ram: 32,
    weigher_soft_affinity: 32,
    weigher_soft_anti_affinity: 32,
}

#[test]
fn select() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/nova");
    let text = std::fs::read_to_string(folder.join("select.json")).unwrap();
    let scenarios = parse_with(&text, SelectScenario::read).unwrap();
    assert_eq!(scenarios.len(), 60);
    for scenario in &scenarios {
        let result = scenario.evaluate(&Settings::default(), &as_nova_computes());
        let expected = scenario.expect.as_ref().expect("an expectation");
        assert_eq!(check_destinations(expected, &result), [], "{}", scenario.common.id);
    }
}

/// Evaluates every case of scheduling hints; how many there are.
fn hints(file: &str) -> usize {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/koordinator");
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    let scenarios = parse_with(&text, |item| {
        assert!(HintScenario::is_one(&item), "{item}");
        serde_json::from_value::<HintScenario>(item)
    });
    let scenarios = scenarios.unwrap();
    let mut failed = Vec::new();
    for scenario in &scenarios {
        let result = scenario.evaluate(&Settings::default(), &[]);
        let differences = check_hint(scenario.expect.as_ref().unwrap(), &result);
        failed.extend(differences.iter().map(|it| format!("{}: {it:?}", scenario.id)));
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    scenarios.len()
}

#[test]
fn scheduling_hints() {
    let files = ["args", "parse", "preferred", "required", "schedule", "try"];
    let cases = files.map(|form| hints(&format!("hint_{form}.json")));
    assert_eq!(cases, [3, 8, 7, 2, 4, 4]);
}

/// The documented rule: vCPUs 5, 5, 10, 10, 15, 20, 20, 15, 10, 5.
#[test]
fn min_max_is_the_documented_rule() {
    let vcpus = [5, 5, 10, 10, 15, 20, 20, 15, 10, 5];
    let hosts: Vec<String> = vcpus
        .iter()
        .enumerate()
        .map(|(n, vcpus)| format!(r#"{{"host": "h{n}", "node": "n", "vcpus_total": {vcpus}}}"#))
        .collect();
    let text = format!(
        r#"{{"id": "vcpus", "filters": [], "weighers": ["CPUWeigher"], "hosts": [{}]}}"#,
        hosts.join(",")
    );
    let scenario = &parse(&text).unwrap()[0];
    let weights = |normalization: &str| {
        let overrides =
            [("filter_scheduler.weight_normalization".to_owned(), normalization.to_owned())];
        let outcome = evaluate(scenario, &Settings::default(), &overrides).unwrap();
        let mut rows = outcome.into_selection().unwrap().explanation.weights.hosts;
        rows.sort_by(|a, b| a.host.cmp(&b.host));
        let weights: Vec<f64> = rows.iter().map(|row| row.weight.0).collect();
        weights
    };
    let third = 1.0 / 3.0;
    let two_thirds = 2.0 / 3.0;
    assert_eq!(
        weights("min_max"),
        [0.0, 0.0, third, third, two_thirds, 1.0, 1.0, two_thirds, third, 0.0]
    );
    assert_eq!(weights("nova"), [0.25, 0.25, 0.5, 0.5, 0.75, 1.0, 1.0, 0.75, 0.5, 0.25]);
}
