//! Room that is held for a task is nobody else's until the task has it, or is
//! told why not.

use serde_json::Value;
use std::collections::BTreeMap;
use stowplan_tests::Client;
use uuid::Uuid;

/// Looks at holds again and again: none ever gets smaller.
#[derive(Default)]
pub struct Watch {
    /// By task and the time of its nomination: what was held for it last.
    held: BTreeMap<(Uuid, i64), i64>,
    /// How many holds have been seen.
    pub seen: usize,
}

impl Watch {
    /// Looks once. While nobody serves there is nothing to see.
    pub fn look(&mut self, client: &Client) {
        let get = |path: &str| {
            let reply = client.try_send("GET", path, None).ok()?;
            (reply.status == 200).then(|| reply.json())
        };
        for phase in ["Pending", "Inqueue", "Running"] {
            let jobs = get(&format!("/v1/jobs?phase={phase}"));
            for job in jobs.iter().flat_map(|page| page["jobs"].as_array().unwrap()) {
                let path = format!("/v1/jobs/{}/tasks", job["id"].as_str().unwrap());
                let waits = job["counts"]["Pending"].as_i64().is_some();
                let Some(tasks) = waits.then(|| get(&path)).flatten() else { continue };
                for task in tasks["tasks"].as_array().unwrap() {
                    if !task["nominated_host"].is_null() {
                        self.look_at(&get, task);
                    }
                }
            }
        }
    }

    fn look_at(&mut self, get: &impl Fn(&str) -> Option<Value>, task: &Value) {
        let id: Uuid = task["id"].as_str().unwrap().parse().unwrap();
        let hold = Uuid::new_v5(&id, b"hold");
        let Some(held) = get(&format!("/allocations/{hold}")) else { return };
        let parts = held["allocations"].as_object().unwrap().values();
        let sum = parts.filter_map(|part| part["resources"]["VCPU"].as_i64()).sum();
        // Only where it was nominated all the time did this belong together.
        let path = format!("/v1/jobs/{}/tasks", task["job"].as_str().unwrap());
        let after = get(&path).unwrap_or_default();
        let mut after = after["tasks"].as_array().into_iter().flatten();
        if !after.any(|other| other == task) {
            return;
        }
        let known = self.held.entry((id, task["updated"].as_i64().unwrap())).or_default();
        assert!(*known <= sum, "{known} VCPU were held for {task:#}, {sum} are");
        *known = sum;
        self.seen += usize::from(sum > 0);
    }
}
