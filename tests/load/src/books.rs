//! What was claimed, against what the server says is in use.

use crate::{cloud::Cloud, wire::Target};
use serde_json::{Value, json};
use std::collections::HashMap;
use uuid::Uuid;

/// Consumers that are looked at one by one.
const SAMPLE: usize = 500;
/// Faults that are told.
const TOLD: usize = 10;

/// The claims that one server has accepted and not been told to delete.
#[derive(Debug)]
pub struct Books {
    project: Uuid,
    user: Uuid,
    in_use: HashMap<(Uuid, String), i64>,
    consumers: Vec<(Uuid, Value)>,
}

impl Default for Books {
    fn default() -> Self {
        let (project, user) = (Uuid::new_v4(), Uuid::new_v4());
        Self { project, user, in_use: HashMap::new(), consumers: Vec::new() }
    }
}

impl Books {
    /// The body of a claim of a candidate for a new consumer.
    pub fn claim(&self, candidate: &Value) -> String {
        json!({
            "allocations": candidate["allocations"], "mappings": candidate["mappings"],
            "project_id": self.project, "user_id": self.user,
            "consumer_generation": null, "consumer_type": "BENCH",
        })
        .to_string()
    }

    /// Notes a claim that was accepted: what it takes is in `allocations`.
    pub fn accept(&mut self, consumer: Uuid, candidate: &Value) {
        for (provider, class, amount) in shares(&candidate["allocations"]) {
            *self.in_use.entry((provider, class)).or_default() += amount;
        }
        self.consumers.push((consumer, candidate["allocations"].clone()));
    }

    /// The project and the user who claim.
    pub fn owner(&self) -> (Uuid, Uuid) {
        (self.project, self.user)
    }

    pub fn usages_path(&self) -> String {
        format!("/usages?project_id={}", self.project)
    }

    /// Where the server's books differ from these, or exceed what there is.
    pub fn faults(&self, cloud: &Cloud, target: &Target) -> Vec<String> {
        let mut connection = target.connect();
        let mut get = |path: String| connection.call(&("GET", path, None)).json();
        let mut faults = Vec::new();
        let mut fault = |text: String| {
            if faults.len() < TOLD {
                faults.push(text);
            }
        };
        for (provider, inventories) in &cloud.providers {
            let usages = get(format!("/resource_providers/{provider}/usages"));
            for (class, inventory) in inventories.as_object().expect("inventories") {
                let said = usages["usages"][class].as_i64().unwrap_or(-1);
                let ours = self.in_use.get(&(*provider, class.clone())).copied().unwrap_or(0);
                if said != ours {
                    fault(format!("{provider} {class}: {said} in use, {ours} accepted"));
                }
                if said > capacity(inventory) {
                    fault(format!("{provider} {class}: {said} in use, above its capacity"));
                }
            }
        }
        let stride = self.consumers.len().div_ceil(SAMPLE).max(1);
        for (consumer, wanted) in self.consumers.iter().step_by(stride) {
            let held = get(format!("/allocations/{consumer}"));
            let (mut held, mut wanted) = (shares(&held["allocations"]), shares(wanted));
            held.sort_unstable();
            wanted.sort_unstable();
            if held != wanted {
                fault(format!("consumer {consumer} holds {held:?}, claimed {wanted:?}"));
            }
        }
        let total = get(self.usages_path());
        let by_type = total["usages"].as_object().into_iter().flatten();
        let consumers: u64 =
            by_type.filter_map(|(_, usage)| usage["consumer_count"].as_u64()).sum();
        if consumers != self.consumers.len() as u64 {
            fault(format!("{consumers} consumers, {} accepted", self.consumers.len()));
        }
        faults
    }
}

fn shares(allocations: &Value) -> Vec<(Uuid, String, i64)> {
    let providers = allocations.as_object().into_iter().flatten();
    let shares = providers.flat_map(|(provider, held)| {
        let provider = provider.parse().expect("a uuid");
        let resources = held["resources"].as_object().into_iter().flatten();
        resources.map(move |(class, amount)| {
            (provider, class.clone(), amount.as_i64().expect("an amount"))
        })
    });
    shares.collect()
}

fn capacity(inventory: &Value) -> i64 {
    let whole =
        inventory["total"].as_i64().unwrap_or(0) - inventory["reserved"].as_i64().unwrap_or(0);
    (whole as f64 * inventory["allocation_ratio"].as_f64().unwrap_or(1.0)) as i64
}
