//! Jobs for people.

use super::super::fields::{list, text, texts};
use crate::{out::outln, table};
use comfy_table::CellAlignment;
use serde_json::Value;

/// Tasks that are shown of a job.
const SHOWN: usize = 50;

/// A job's name in its namespace.
pub fn name(job: &Value) -> String {
    texts(job, ["/namespace", "/name"]).join("/")
}

/// A job's phase with its tasks by state.
pub fn state(job: &Value) -> String {
    let [phase, counts] = texts(job, ["/phase", "/counts"]);
    format!("{phase} ({counts})")
}

/// A list of jobs.
pub fn jobs(answer: &Value) {
    let mut rows = table::with_header(["id", "job", "queue", "phase", "tasks", "why"]);
    for job in list(answer, "jobs") {
        let [id, queue, phase, tasks, why] =
            texts(job, ["/id", "/queue", "/phase", "/counts", "/conditions/0/message"]);
        rows.add_row([id, name(job), queue, phase, tasks, why]);
    }
    outln!("{rows}");
}

/// A job in full.
pub fn job(job: &Value) {
    let mut rows = table::with_header(["field", "value"]);
    rows.add_row(["job".to_owned(), name(job)]);
    for (field, at) in [
        ("id", "/id"),
        ("queue", "/queue"),
        ("phase", "/phase"),
        ("tasks", "/counts"),
        ("priority", "/spec/priority"),
        ("priority_class", "/spec/priority_class"),
        ("min_available", "/spec/min_available"),
        ("min_resources", "/spec/min_resources"),
        ("why", "/conditions/0/message"),
    ] {
        rows.add_row([field.to_owned(), job.pointer(at).map(text).unwrap_or_default()]);
    }
    outln!("{rows}");
    let tasks = list(job, "tasks");
    let mut rows = table::with_header(["task", "state", "attempt", "host", "why"]);
    table::align(&mut rows, [2], CellAlignment::Right);
    for task in tasks.iter().take(SHOWN) {
        rows.add_row(texts(task, ["/name", "/state", "/attempt", "/host", "/reason"]));
    }
    outln!("{rows}");
    if tasks.len() > SHOWN {
        outln!("and {} tasks more", tasks.len() - SHOWN);
    }
}

/// Why a job waits.
pub fn explanation(answer: &Value) {
    let [name, phase, queue] = texts(answer, ["/name", "/phase", "/queue"]);
    outln!("job {name} is {phase} in queue {queue}");
    if let Some(position) = answer["position"].as_i64() {
        outln!("position {position} of {} that wait there", text(&answer["waiting"]));
    }
    for reason in list(answer, "reasons") {
        outln!("- {}", text(&reason["text"]));
    }
    for hint in list(answer, "hints") {
        outln!("- {}", text(&hint["text"]));
        for dropped in list(hint, "dropped") {
            outln!("  {}", text(dropped));
        }
    }
}
