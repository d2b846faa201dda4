//! Fields of the model of jobs that have no function in this version: they are
//! refused, so that nobody relies on them.

use crate::error::BatchError;
use serde_json::Value;
use stowplan_scheduler::fields::FieldErrors;

/// Of a queue.
const QUEUE: &[&str] = &["strategy"];

/// Of a role.
const ROLE: &[&str] = &["affinity", "topology_spread", "ports"];

const EXPECTED: &str = "no such field: this version does not act on it yet";

/// Refuses bodies with such fields. What is no job at all is for others to say.
///
/// # Errors
/// All of them.
pub(super) fn check(body: &[u8]) -> Result<(), BatchError> {
    let Ok(Value::Object(job)) = serde_json::from_slice(body) else { return Ok(()) };
    let mut errors = FieldErrors::default();
    let tasks = job.get("tasks").and_then(Value::as_array);
    for (place, role) in tasks.into_iter().flatten().enumerate() {
        for field in ROLE {
            if let Some(value) = role.get(field) {
                errors.add(format!("tasks[{place}].{field}"), value, EXPECTED);
            }
        }
    }
    Ok(errors.into_result(())?)
}

/// Refuses queues with such fields.
///
/// # Errors
/// All of them.
pub(super) fn check_queue(body: &[u8]) -> Result<(), BatchError> {
    let Ok(Value::Object(queue)) = serde_json::from_slice(body) else { return Ok(()) };
    let mut errors = FieldErrors::default();
    for field in QUEUE {
        if let Some(value) = queue.get(*field) {
            errors.add(*field, value, EXPECTED);
        }
    }
    Ok(errors.into_result(())?)
}
