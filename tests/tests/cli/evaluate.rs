//! `stowplan evaluate`.

use super::{folder, golden, stowplan};
use serde_json::{Value, json};

const AS_NOVA: &str = "filter_scheduler.weight_normalization=nova";

const CASE: &str = r#"{
    "id": "two of three", "filters": ["ComputeFilter"], "weighers": ["RAMWeigher"],
    "hosts": [
        {"host": "a", "node": "a1", "free_ram_mb": 1000},
        {"host": "b", "node": "b1", "free_ram_mb": 3000},
        {"host": "c", "node": "c1", "free_ram_mb": 2000, "service": {"disabled": true}}
    ],
    "expect": {"filtered": ["a/a1", "b/b1"], "eliminated_by": {"c/c1": "ComputeFilter"},
        "weighed": [{"host": "b/b1", "weight": 1.0}, {"host": "a/a1", "weight": 0.0}]}
}"#;

#[test]
fn recorded_decisions_pass() {
    let file = golden("weigher_cpu.json");
    let folder = folder(&[]);
    let arguments = ["evaluate", "--check", "--set", AS_NOVA, file.to_str().unwrap()];
    let output = stowplan(&folder, &arguments);
    assert_eq!(output.code, 0, "{}", output.stdout);
    let summary = output.stdout.lines().last().unwrap();
    assert!(summary.ends_with(" passed, 0 failed") && !summary.starts_with("0 "), "{summary}");
}

#[test]
fn recorded_cases_of_hints_pass() {
    let cases = stowplan_tests::workspace().join("tests/golden/koordinator");
    let files = ["args", "parse", "preferred", "required", "schedule", "try"]
        .map(|form| cases.join(format!("hint_{form}.json")));
    let folder = folder(&[]);
    let mut arguments = vec!["evaluate", "--check"];
    arguments.extend(files.iter().map(|file| file.to_str().unwrap()));
    let output = stowplan(&folder, &arguments);
    assert_eq!((output.code, output.stdout.as_str()), (0, "28 passed, 0 failed\n"));
}

#[test]
fn a_scenario_of_a_request_may_have_a_hint() {
    let mut case: Value = serde_json::from_str(CASE).unwrap();
    case["hint"] = json!({"preferredNodeNames": ["c", "gone", "a"]});
    case["expect"] = json!({"filtered": ["a/a1"], "eliminated_by": {}, "hint": "used"});
    let folder = folder(&[("hint.json", &case.to_string())]);
    let output = stowplan(&folder, &["evaluate", "--check", "hint.json"]);
    assert_eq!((output.code, output.stdout.as_str()), (0, "1 passed, 0 failed\n"));
    let output = stowplan(&folder, &["evaluate", "hint.json"]);
    for told in ["hint: the hint's preferred host passed", "  c: ", "\"gone\" in the hint's"] {
        assert!(output.stdout.contains(told), "{told}: {}", output.stdout);
    }
}

#[test]
fn what_is_no_scenario_is_named_with_its_place() {
    for (text, told) in [
        ("[]", "bad.json: not a scenario or a list of scenarios: the list is empty"),
        (r#"{"hosts": []}"#, "bad.json: scenario 1 (without id): missing field `id`"),
        (r#"[{"id": "a", "hosts": [3]}]"#, "bad.json: scenario 1 (a): hosts[0]: invalid type"),
    ] {
        let folder = folder(&[("bad.json", text)]);
        let output = stowplan(&folder, &["evaluate", "bad.json"]);
        assert_eq!(output.code, 2, "{text}: {}", output.stdout);
        assert!(output.stderr.contains(told), "{text}: {}", output.stderr);
    }
}

#[test]
fn what_differs_is_shown_expected_beside_got() {
    let wrong = CASE.replace(r#""weight": 1.0"#, r#""weight": 0.5"#);
    let folder = folder(&[("right.json", CASE), ("wrong.json", &wrong)]);
    let output = stowplan(&folder, &["evaluate", "--check", "right.json", "wrong.json"]);
    assert_eq!(output.code, 1);
    let expected = "FAIL wrong.json: two of three\n  weight of b/b1\n    expected 0.5\n    got      \
                    1.0\n1 passed, 1 failed\n";
    assert_eq!(output.stdout, expected);
    // An override changes what comes of it.
    let set = "filter_scheduler.ram_weight_multiplier=0.5";
    let output = stowplan(&folder, &["evaluate", "--check", "--set", set, "wrong.json"]);
    assert_eq!((output.code, output.stdout.as_str()), (0, "1 passed, 0 failed\n"));
}

#[test]
fn without_a_check_everything_is_shown() {
    let folder = folder(&[("case.json", CASE)]);
    let output = stowplan(&folder, &["evaluate", "case.json"]);
    assert_eq!(output.code, 0);
    for text in ["two of three", "c/c1", "ComputeFilter", "RAMWeigher", "3000"] {
        assert!(output.stdout.contains(text), "{text}: {}", output.stdout);
    }
    let output = stowplan(&folder, &["evaluate", "--format", "json", "case.json"]);
    let shown: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(shown[0]["outcome"]["filtered"], serde_json::json!(["a/a1", "b/b1"]));
}

#[test]
fn a_case_that_expects_nothing_does_not_pass() {
    let silent = CASE.replace("\"expect\"", "\"expects\"");
    let folder = folder(&[("silent.json", &silent)]);
    let output = stowplan(&folder, &["evaluate", "--check", "silent.json"]);
    assert_eq!(output.code, 1);
    assert!(output.stdout.ends_with("0 passed, 1 failed\n"), "{}", output.stdout);
}

#[test]
fn files_that_hold_no_scenario_are_named() {
    let folder = folder(&[("no.json", "{\"id\": 1}")]);
    for (file, said) in [("no.json", "no.json"), ("gone.json", "cannot read gone.json")] {
        let output = stowplan(&folder, &["evaluate", file]);
        assert_eq!(output.code, 2);
        assert!(output.stderr.contains(said), "{}", output.stderr);
    }
    let output = stowplan(&folder, &["evaluate", "--set", "no.such=1", "no.json"]);
    assert_eq!(output.code, 2);
}

#[test]
fn a_compute_nodes_record_is_shown_before_and_after_a_server() {
    let case = r#"{"id": "record", "compute_node": {"free_disk_gb": 2, "vcpus_used": 3},
        "request": {"flavor": {"vcpus": 4}},
        "expect": {"state": {"free_disk_mb": 2048}, "after_consume": {"vcpus_used": 7}}}"#;
    let folder = folder(&[("record.json", case), ("empty.json", r#"{"id": "nothing"}"#)]);
    let output = stowplan(&folder, &["evaluate", "record.json"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let row = output.stdout.lines().find(|line| line.contains("vcpus_used")).unwrap();
    assert!(row.contains('3') && row.contains('7'), "{row}");
    assert_eq!(stowplan(&folder, &["evaluate", "--check", "record.json"]).code, 0);
    let output = stowplan(&folder, &["evaluate", "empty.json"]);
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains("expected hosts, or a compute_node"), "{}", output.stderr);
}

#[test]
fn what_has_no_effect_is_told_beside_the_weights() {
    let case = r#"{"id": "ratio", "hosts": [
        {"host": "a", "node": "a1", "free_ram_mb": 1, "aggregates": [
            {"id": 1, "name": "old", "metadata": {"cpu_allocation_ratio": "16"}}]},
        {"host": "b", "node": "b1", "free_ram_mb": 2, "failed_builds": 1}
    ]}"#;
    let folder = folder(&[("ratio.json", case)]);
    let output = stowplan(&folder, &["evaluate", "ratio.json"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    for told in [
        "warning: host aggregate 1 (old) sets cpu_allocation_ratio to \"16\", which has no effect",
        "warning: BuildFailureWeigher (multiplier 1000000) outweighs all other weighers together",
    ] {
        assert!(output.stdout.contains(told), "{}", output.stdout);
    }
}
