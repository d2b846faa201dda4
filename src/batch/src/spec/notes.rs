//! Annotations that plugins read are checked when a job is submitted, so that
//! nobody relies on one that cannot be read.

use crate::plugins::{
    COOLDOWN_TIME, NUMA_POLICY, PREEMPTABLE, REVOCABLE_ZONE, duration, is_numa_policy,
    own_strategy_fault, topology_fault,
};
use crate::session::{BUDGET_KEYS, TASK_COUNT, TaskCount};
use std::collections::BTreeMap;
use stowplan_scheduler::fields::FieldErrors;

/// Free texts by key.
type Notes = BTreeMap<String, String>;

/// What one annotation must be like.
struct Rule {
    key: &'static str,
    fits: fn(&str) -> bool,
    expected: &'static str,
}

const SWITCH: Rule = Rule {
    key: PREEMPTABLE,
    fits: |text| matches!(text, "true" | "false"),
    expected: "true or false",
};

/// Of a job.
const JOB: &[Rule] = &[
    SWITCH,
    Rule { key: BUDGET_KEYS[0], fits: is_count, expected: TASK_COUNT },
    Rule { key: BUDGET_KEYS[1], fits: is_count, expected: TASK_COUNT },
];

/// Of a role.
const ROLE: &[Rule] = &[
    SWITCH,
    Rule {
        key: NUMA_POLICY,
        fits: is_numa_policy,
        expected: "none, best-effort, restricted or single-numa-node",
    },
    Rule { key: REVOCABLE_ZONE, fits: |text| text == "*", expected: "* (every zone)" },
    Rule {
        key: COOLDOWN_TIME,
        fits: |text| duration(text).is_some_and(|time| time >= 0),
        expected: "a duration such as 10m",
    },
];

fn is_count(text: &str) -> bool {
    text.parse::<TaskCount>().is_ok()
}

fn check(errors: &mut FieldErrors, place: &str, notes: &Notes, rules: &[Rule]) {
    for rule in rules {
        if let Some(text) = notes.get(rule.key).filter(|text| !(rule.fits)(text)) {
            errors.add(format!("{place}.{}", rule.key), text, rule.expected);
        }
    }
}

/// Checks the annotations of a job with these roles.
pub(super) fn check_job(errors: &mut FieldErrors, notes: &Notes, roles: &[&str]) {
    check(errors, "annotations", notes, JOB);
    if let Some((key, expected)) = topology_fault(notes, roles) {
        let text = notes.get(key).map(String::as_str).unwrap_or_default();
        errors.add(format!("annotations.{key}"), text, expected);
    }
}

/// Checks the annotations and labels of a role.
pub(super) fn check_role(errors: &mut FieldErrors, place: &str, notes: &Notes, labels: &Notes) {
    check(errors, &format!("{place}.annotations"), notes, ROLE);
    check(errors, &format!("{place}.labels"), labels, ROLE);
    if let Some((key, expected)) = own_strategy_fault(notes) {
        let text = notes.get(key).map(String::as_str).unwrap_or_default();
        errors.add(format!("{place}.annotations.{key}"), text, expected);
    }
}
