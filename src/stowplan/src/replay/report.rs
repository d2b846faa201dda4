//! What came of a replay, for people and for programs.

use super::{books::Amounts, run::Tally};
use crate::out::outln;
use crate::{
    exit::Outcome,
    latency::{Distribution, Latencies},
    table::{self, latency_table},
};
use comfy_table::CellAlignment;
use serde_json::{Value, json};

/// Reasons and single cases that are shown.
const SHOWN: usize = 10;

/// Whether usages were the sum of live claims at one moment.
#[derive(Clone, Debug)]
pub struct Proof {
    /// The moment.
    pub when: &'static str,
    /// Providers that were asked.
    pub providers: usize,
    /// What differed.
    pub differences: Vec<String>,
    /// What was taken then.
    pub used: Amounts,
}

/// All that is told of a replay.
pub struct Report {
    /// Nodes of the cluster.
    pub nodes: usize,
    /// Tasks that were asked for.
    pub tasks: usize,
    /// Whether refusals were checked.
    pub verified: bool,
    /// What came of it.
    pub tally: Tally,
    /// The moments at which books and usages were compared.
    pub proofs: Vec<Proof>,
}

impl Report {
    /// Whether everything held.
    pub fn outcome(&self) -> Outcome {
        let holds = self.tally.false_refusals.is_empty()
            && self.tally.wrong.is_empty()
            && self.proofs.iter().all(|proof| proof.differences.is_empty());
        if holds { Outcome::Fine } else { Outcome::CheckFailed }
    }

    fn latencies(&self) -> [(&'static str, Distribution); 2] {
        let of = |latencies: &Latencies| latencies.clone().distribution();
        [("select_destinations", of(&self.tally.asking)), ("release", of(&self.tally.releasing))]
    }

    fn decisions_per_second(&self) -> f64 {
        (self.tally.placed + self.tally.refused) as f64 / self.tally.seconds
    }

    /// The most frequent reasons first.
    fn reasons(&self) -> Vec<(&str, usize)> {
        let mut reasons: Vec<(&str, usize)> =
            self.tally.reasons.iter().map(|(reason, count)| (reason.as_str(), *count)).collect();
        reasons.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        reasons.truncate(SHOWN);
        reasons
    }

    /// The moments at which shares are shown.
    fn moments(&self) -> Vec<(&'static str, Amounts)> {
        let peak = ("peak", self.tally.peak);
        std::iter::once(peak).chain(self.proofs.iter().map(|p| (p.when, p.used))).collect()
    }

    /// As tables.
    pub fn print(&self) {
        let tally = &self.tally;
        let mut summary = table::with_header(["", ""]);
        table::align(&mut summary, [1], CellAlignment::Right);
        let verdict = |count: usize| count.to_string();
        let unchecked = "not checked (--verify)".to_owned();
        for (what, value) in [
            ("nodes", verdict(self.nodes)),
            ("tasks asked for", verdict(self.tasks)),
            ("placed", verdict(tally.placed)),
            ("refused", verdict(tally.refused)),
            ("released", verdict(tally.released)),
            (
                "false refusals",
                if self.verified { verdict(tally.false_refusals.len()) } else { unchecked },
            ),
            ("wrong or above capacity", verdict(tally.wrong.len())),
            ("seconds", format!("{:.1}", tally.seconds)),
            ("decisions per second", format!("{:.0}", self.decisions_per_second())),
        ] {
            summary.add_row([what, &value]);
        }
        outln!("{summary}");
        outln!("{}", latency_table(&self.latencies()));
        outln!("{}", self.shares());
        if tally.refused > 0 {
            let mut reasons = table::with_header(["refused", "reason"]);
            table::align(&mut reasons, [0], CellAlignment::Right);
            for (reason, count) in self.reasons() {
                reasons.add_row([&count.to_string(), reason]);
            }
            outln!("{reasons}");
        }
        self.print_proofs();
    }

    /// Shares of all CPU, memory and GPUs that were taken.
    fn shares(&self) -> comfy_table::Table {
        let moments = self.moments();
        let total = self.tally.books.total();
        let head = ["allocated", "total"].into_iter().chain(moments.iter().map(|(when, _)| *when));
        let mut shares = table::with_header(head.collect::<Vec<_>>());
        table::align(&mut shares, 1..=1 + moments.len(), CellAlignment::Right);
        for (name, scale, of) in RESOURCES {
            let total = of(&total);
            let mut row = vec![(*name).to_owned(), (total / scale).to_string()];
            row.extend(
                moments.iter().map(|(_, used)| format!("{:.2} %", percent(of(used), total))),
            );
            shares.add_row(row);
        }
        shares
    }

    fn print_proofs(&self) {
        let mut faults = Vec::new();
        for proof in &self.proofs {
            outln!(
                "{}: {} providers asked for their usages, {} differ from the sum of live claims",
                proof.when,
                proof.providers,
                proof.differences.len()
            );
            faults.extend(proof.differences.iter().cloned());
        }
        faults.extend(self.tally.wrong.iter().cloned());
        faults.extend(self.tally.false_refusals.iter().map(|refusal| {
            let decision = refusal.decision.map(|id| id.to_string()).unwrap_or_default();
            format!(
                "task {} was refused and fits on {}: {} (decision {decision})",
                refusal.task, refusal.node, refusal.reason
            )
        }));
        for fault in faults.iter().take(SHOWN) {
            outln!("  {fault}");
        }
        if faults.len() > SHOWN {
            outln!("  and {} more", faults.len() - SHOWN);
        }
    }

    /// As one JSON object.
    pub fn json(&self) -> Value {
        let tally = &self.tally;
        let total = tally.books.total();
        let allocated = self.moments().into_iter().map(|(when, used)| {
            let shares = RESOURCES.iter().map(|(name, _, of)| {
                let key = format!("{}_percent", name.split(' ').next().unwrap_or(name));
                (key, json!(percent(of(&used), of(&total))))
            });
            (when.replace(' ', "_"), Value::Object(shares.collect()))
        });
        let latencies = self.latencies().into_iter().map(|(call, of)| (call.to_owned(), json!(of)));
        json!({
            "nodes": self.nodes,
            "tasks": self.tasks,
            "placed": tally.placed,
            "refused": tally.refused,
            "released": tally.released,
            "verified": self.verified,
            "false_refusals": tally.false_refusals.iter().map(|refusal| json!({
                "task": refusal.task, "node": refusal.node, "reason": refusal.reason,
                "decision_id": refusal.decision,
            })).collect::<Vec<_>>(),
            "wrong": tally.wrong,
            "seconds": tally.seconds,
            "decisions_per_second": self.decisions_per_second(),
            "latency": latencies.collect::<serde_json::Map<_, _>>(),
            "allocated": allocated.collect::<serde_json::Map<_, _>>(),
            "reasons": self.reasons().into_iter().map(|(reason, count)| json!({
                "reason": reason, "count": count,
            })).collect::<Vec<_>>(),
            "proofs": self.proofs.iter().map(|proof| json!({
                "when": proof.when, "providers": proof.providers,
                "differences": proof.differences,
            })).collect::<Vec<_>>(),
        })
    }
}

/// A resource with the divisor that makes whole units of its amounts.
type Resource = (&'static str, i64, fn(&Amounts) -> i64);

const RESOURCES: &[Resource] = &[
    ("cpu (cores)", 1000, |amounts| amounts.cpu_milli),
    ("memory (GiB)", 1024, |amounts| amounts.memory_mib),
    ("gpu (devices)", 1000, |amounts| amounts.gpu_milli),
];

fn percent(part: i64, whole: i64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}
