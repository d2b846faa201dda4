//! Requests and the queries for candidates that they become, as Nova's scheduler
//! recorded them.

use std::path::PathBuf;

use stowplan_config::Settings;
use stowplan_engine::scenario::parse_with;
use stowplan_scheduler::scenario::{QueryScenario, check_query};

#[test]
fn recorded_queries() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/golden/nova/placement_query.json");
    let text = std::fs::read_to_string(file).unwrap();
    let read = serde_json::from_value::<QueryScenario>;
    let scenarios = parse_with(&text, read).unwrap();
    assert_eq!(scenarios.len(), 120);
    for scenario in &scenarios {
        let result = scenario.evaluate(&Settings::default(), &[]);
        let expected = scenario.expect.as_ref().expect("an expectation");
        assert_eq!(check_query(expected, &result), [], "{}", scenario.id);
    }
}
