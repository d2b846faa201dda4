//! Compares what came of a cycle with what was expected.

use super::outcome::Outcome;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use stowplan_engine::scenario::Difference;

/// What a cycle with actions is compared by.
type Compare = fn(&mut Differences<'_>, &Value);

/// The kinds of expectations there are.
const KINDS: &[(&str, Compare)] = &[
    ("binds", |d, expected| d.same("binds", expected, &json!(d.came.binds))),
    ("bound", |d, expected| d.set("bound", expected, d.came.binds.keys())),
    ("bind_count", |d, expected| d.same("bind_count", expected, &json!(d.came.binds.len()))),
    ("evicts", |d, expected| d.set("evicts", expected, d.came.evicts.iter())),
    ("pipelined_tasks", |d, expected| {
        d.same("pipelined_tasks", expected, &json!(d.came.pipelined));
    }),
    ("pipelined_set", |d, expected| d.set("pipelined_set", expected, d.came.pipelined.keys())),
    ("pipelined", |d, expected| d.pipelined(expected)),
    ("phases", |d, expected| d.named("phases", expected, &json!(d.came.phases))),
    ("task_status_counts", |d, expected| {
        d.named("task_status_counts", expected, &json!(d.came.task_status_counts));
    }),
    ("hints", |d, expected| d.named("hints", expected, &json!(d.came.hints))),
    ("scores", |d, expected| d.scores(expected)),
    ("score_tolerance", |_, _| {}),
    ("bind_counts_of_hyper_nodes_sorted", |d, expected| {
        d.same("bind_counts_of_hyper_nodes_sorted", expected, &json!(d.came.binds_by_domain()));
    }),
    ("enqueueable", |d, expected| d.named("enqueueable", expected, &json!(d.came.enqueueable))),
    ("job_allocated", |d, expected| d.job_allocated(expected)),
    ("predicate_ok", |d, expected| d.predicate_ok(expected)),
    ("predicate_status", |d, expected| d.predicate_status(expected)),
];

/// How far a score may be from the one expected, if nothing is said.
const TOLERANCE: f64 = 1e-9;

/// What came out differently; nothing when all is as expected. What nothing
/// here compares differs.
#[must_use]
pub fn check(expected: &Map<String, Value>, came: &Outcome) -> Vec<Difference> {
    let mut differences = Differences { came, all: Vec::new(), expected };
    for (what, value) in expected {
        match KINDS.iter().find(|(kind, _)| kind == what) {
            Some((_, compare)) => compare(&mut differences, value),
            None => differences.add(what, value.clone(), json!("nothing here compares this")),
        }
    }
    differences.all
}

struct Differences<'a> {
    came: &'a Outcome,
    expected: &'a Map<String, Value>,
    all: Vec<Difference>,
}

impl Differences<'_> {
    fn add(&mut self, what: impl Into<String>, expected: Value, got: Value) {
        self.all.push(Difference { what: what.into(), expected, got });
    }

    fn same(&mut self, what: &str, expected: &Value, got: &Value) {
        if expected != got {
            self.add(what, expected.clone(), got.clone());
        }
    }

    /// The same things, in whatever order.
    fn set<'s>(&mut self, what: &str, expected: &Value, got: impl Iterator<Item = &'s String>) {
        let Some(mut wanted) = self.read::<Vec<String>>(what, expected) else { return };
        let mut got: Vec<String> = got.cloned().collect();
        wanted.sort();
        got.sort();
        if wanted != got {
            self.add(what, json!(wanted), json!(got));
        }
    }

    /// What is expected of single jobs.
    fn named(&mut self, what: &str, expected: &Value, got: &Value) {
        for (name, wanted) in expected.as_object().into_iter().flatten() {
            let found = got.get(name).unwrap_or(&Value::Null);
            if wanted != found {
                self.add(format!("{what} of {name}"), wanted.clone(), found.clone());
            }
        }
    }

    fn read<T: DeserializeOwned>(&mut self, what: &str, expected: &Value) -> Option<T> {
        match serde_json::from_value(expected.clone()) {
            Ok(read) => Some(read),
            Err(error) => {
                self.add(what, expected.clone(), json!(error.to_string()));
                None
            }
        }
    }

    /// At least one task of the job is promised room, each on one of the nodes.
    fn pipelined(&mut self, expected: &Value) {
        let Some(jobs) = self.read::<BTreeMap<String, BTreeSet<String>>>("pipelined", expected)
        else {
            return;
        };
        for (job, nodes) in jobs {
            let tasks = self.came.tasks.get(&job).into_iter().flatten();
            let found: BTreeMap<&String, &String> =
                tasks.filter_map(|task| Some((task, self.came.pipelined.get(task)?))).collect();
            if found.is_empty() || !found.values().all(|node| nodes.contains(*node)) {
                self.add(format!("pipelined of {job}"), json!(nodes), json!(found));
            }
        }
    }

    fn scores(&mut self, expected: &Value) {
        let tolerance = self.expected.get("score_tolerance").and_then(Value::as_f64);
        let tolerance = tolerance.unwrap_or(TOLERANCE);
        let Some(tasks) = self.read::<BTreeMap<String, BTreeMap<String, f64>>>("scores", expected)
        else {
            return;
        };
        for (task, nodes) in tasks {
            for (node, wanted) in nodes {
                let found = self.came.scores.get(&task).and_then(|nodes| nodes.get(&node));
                if found.is_none_or(|found| (found - wanted).abs() > tolerance) {
                    self.add(format!("score of {task} on {node}"), json!(wanted), json!(found));
                }
            }
        }
    }

    /// What each job holds, within one task: ties may go either way.
    fn job_allocated(&mut self, expected: &Value) {
        let Some(jobs) =
            self.read::<BTreeMap<String, BTreeMap<String, i64>>>("job_allocated", expected)
        else {
            return;
        };
        for (job, wanted) in jobs {
            let held = by_name(&self.came.job_allocated, &job);
            let slack = by_name(&self.came.slack, &job);
            let amount = |of: Option<&BTreeMap<String, i64>>, dim: &String| {
                of.and_then(|of| of.get(dim)).copied().unwrap_or_default()
            };
            let close = |(dim, wanted): (&String, &i64)| {
                (amount(held, dim) - wanted).abs() <= amount(slack, dim)
            };
            if !wanted.iter().all(close) {
                self.add(format!("job_allocated of {job}"), json!(wanted), json!(held));
            }
        }
    }

    fn predicate_ok(&mut self, expected: &Value) {
        // A list alone is meant for every task.
        let of_all = expected.as_array().map(|nodes| {
            let tasks = self.came.predicate_status.keys();
            json!(tasks.map(|task| (task, nodes)).collect::<BTreeMap<_, _>>())
        });
        let expected = of_all.as_ref().unwrap_or(expected);
        let Some(tasks) = self.read::<BTreeMap<String, BTreeSet<String>>>("predicate_ok", expected)
        else {
            return;
        };
        for (task, wanted) in tasks {
            let nodes = self.came.predicate_status.get(&task).into_iter().flatten();
            let passing = nodes.filter(|(_, status)| **status == "Success");
            let found: BTreeSet<String> = passing.map(|(node, _)| node.clone()).collect();
            if wanted != found {
                self.add(format!("predicate_ok of {task}"), json!(wanted), json!(found));
            }
        }
    }

    fn predicate_status(&mut self, expected: &Value) {
        for (task, nodes) in expected.as_object().into_iter().flatten() {
            for (node, wanted) in nodes.as_object().into_iter().flatten() {
                let nodes = self.came.predicate_status.get(task);
                let found = json!(nodes.and_then(|nodes| nodes.get(node)));
                if *wanted != found {
                    self.add(format!("{task} on {node}"), wanted.clone(), found);
                }
            }
        }
    }
}

/// An entry by the id of a job, or by its name without the namespace.
fn by_name<'a, T>(all: &'a BTreeMap<String, T>, name: &str) -> Option<&'a T> {
    let bare = |id: &str| id.rsplit_once('/').is_some_and(|(_, bare)| bare == name);
    all.get(name).or_else(|| all.iter().find(|(id, _)| bare(id)).map(|(_, entry)| entry))
}
