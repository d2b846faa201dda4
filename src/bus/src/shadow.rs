//! Shadow mode: what we would have done beside what another scheduler has done.

use std::collections::VecDeque;
use std::sync::Mutex;

use serde::Serialize;
use serde_json::Value;
use stowplan_model::{Micros, Uuid};

/// Comparisons that are kept.
const KEPT: usize = 10_000;

/// A host with its node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[schema(as = ShadowSpot)]
pub struct Spot {
    /// The host.
    pub host: String,
    /// The node.
    pub node: String,
}

/// One server, decided twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[schema(as = ShadowComparison)]
pub struct Comparison {
    /// The request.
    pub request_id: String,
    /// Our decision, which explains ours.
    pub decision_id: Option<Uuid>,
    /// The server.
    pub instance_uuid: Uuid,
    /// Where we would have placed it; none where we found no host.
    pub ours: Option<Spot>,
    /// Where it holds something; none where it holds nothing.
    pub theirs: Option<Spot>,
    /// Why they differ; none where they agree.
    pub reason: Option<String>,
    /// When they were compared.
    pub at: Micros,
}

impl Comparison {
    /// Whether both came to the same.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.ours == self.theirs
    }
}

/// The comparisons of one process, the oldest of many forgotten.
#[derive(Debug, Default)]
pub struct Comparisons(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    agreed: u64,
    differed: u64,
    all: VecDeque<Comparison>,
}

/// What the comparisons come to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[schema(as = ShadowReport)]
pub struct Report {
    /// Servers that were decided alike.
    pub agreed: u64,
    /// Servers that were not.
    pub differed: u64,
    /// Those that were not, the newest first.
    pub differences: Vec<Comparison>,
}

impl Comparisons {
    /// Keeps a comparison.
    pub fn add(&self, comparison: Comparison) {
        let Ok(mut kept) = self.0.lock() else { return };
        if comparison.agrees() {
            kept.agreed += 1;
            return;
        }
        kept.differed += 1;
        if kept.all.len() == KEPT {
            kept.all.pop_back();
        }
        kept.all.push_front(comparison);
    }

    /// What they come to, with the newest differences.
    #[must_use]
    pub fn report(&self, limit: usize) -> Report {
        let Ok(kept) = self.0.lock() else { return Report::default() };
        Report {
            agreed: kept.agreed,
            differed: kept.differed,
            differences: kept.all.iter().take(limit).cloned().collect(),
        }
    }
}

/// Why a server that we would have placed on `ours` is on `theirs`, by the body of
/// our decision.
#[must_use]
pub fn reason(
    body: Option<&Value>,
    instance: Uuid,
    ours: Option<&Spot>,
    theirs: Option<&Spot>,
) -> String {
    let Some(theirs) = theirs else {
        return "the other scheduler has placed it nowhere".to_owned();
    };
    let explanation = body.and_then(|body| {
        let servers = body["servers"].as_array()?.iter();
        let id = instance.to_string();
        servers.into_iter().find(|it| it["instance_uuid"] == id.as_str())?.get("explanation")
    });
    let Some(explanation) = explanation else {
        let reasons = body.and_then(|body| body["reasons"].as_array()).into_iter().flatten();
        let reasons: Vec<&str> = reasons.filter_map(Value::as_str).collect();
        return match reasons.is_empty() {
            true => "our decision was not recorded".to_owned(),
            false => format!("no valid host for us: {}", reasons.join("; ")),
        };
    };
    eliminated(explanation, theirs).or_else(|| weighed(explanation, ours, theirs)).unwrap_or_else(
        || format!("host {} had no allocation candidate, or is not known here", theirs.host),
    )
}

fn is_it(entry: &Value, spot: &Spot) -> bool {
    entry["host"] == spot.host.as_str()
        && (entry["node"] == spot.node.as_str() || entry["node"].is_null())
}

/// The filter that left their host out.
fn eliminated(explanation: &Value, theirs: &Spot) -> Option<String> {
    let before = explanation.get("preselection").filter(|it| it.is_object());
    let filters = before.into_iter().chain(explanation["filters"].as_array()?);
    let mut losers = filters.flat_map(|filter| {
        let losers = filter["losers"].as_array().into_iter().flatten();
        losers.map(move |loser| (filter, loser))
    });
    let (filter, loser) = losers.find(|(_, loser)| is_it(loser, theirs))?;
    let why = loser["text"].as_str().unwrap_or("without a reason");
    Some(format!("{} left out {}: {why}", filter["filter"].as_str()?, theirs.host))
}

/// How much less their host weighed.
fn weighed(explanation: &Value, ours: Option<&Spot>, theirs: &Spot) -> Option<String> {
    let hosts = explanation.pointer("/weights/hosts")?.as_array()?;
    let find = |spot: &Spot| hosts.iter().enumerate().find(|(_, entry)| is_it(entry, spot));
    let (rank, entry) = find(theirs)?;
    let (weight, best) = (entry["weight"].as_f64()?, find(ours?)?.1);
    let mut apart: Vec<(f64, &str)> = Vec::new();
    let parts = |entry: &'_ Value| entry["parts"].as_array().cloned().unwrap_or_default();
    for (one, other) in best["parts"].as_array()?.iter().zip(parts(entry)) {
        let more = one["product"].as_f64()? - other["product"].as_f64()?;
        apart.push((more, one["weigher"].as_str()?));
    }
    apart.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    let most = apart.first().filter(|(more, _)| *more != 0.0);
    let most = most.map(|(more, name)| format!(", most by {name} ({more:+})"));
    Some(format!(
        "{} weighed {weight} for us, number {} of those shown, {} {}{}",
        theirs.host,
        rank + 1,
        ours?.host,
        best["weight"].as_f64()?,
        most.unwrap_or_default(),
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use serde_json::json;

    fn spot(name: &str) -> Spot {
        Spot { host: name.to_owned(), node: name.to_owned() }
    }

    #[test]
    fn a_difference_has_its_reason() {
        let id = Uuid::from_u128(1);
        let host = |name: &str, weight: f64, ram: f64| {
            json!({"host": name, "node": name, "weight": weight,
                "parts": [{"weigher": "CPUWeigher", "product": 1.0},
                    {"weigher": "RAMWeigher", "product": ram}]})
        };
        let body = json!({"servers": [{"instance_uuid": id, "explanation": {
            "filters": [{"filter": "ComputeFilter",
                "losers": [{"host": "c", "node": "c", "text": "its service is disabled"}]}],
            "weights": {"hosts": [host("a", 2.0, 1.0), host("b", 1.5, 0.5)]},
        }}]});
        let ours = spot("a");
        for (theirs, expected) in [
            (
                Some("b"),
                "b weighed 1.5 for us, number 2 of those shown, a 2, most by RAMWeigher (+0.5)",
            ),
            (Some("c"), "ComputeFilter left out c: its service is disabled"),
            (Some("d"), "host d had no allocation candidate, or is not known here"),
            (None, "the other scheduler has placed it nowhere"),
        ] {
            let theirs = theirs.map(spot);
            assert_eq!(reason(Some(&body), id, Some(&ours), theirs.as_ref()), expected);
        }
        let none = json!({"reasons": ["MEMORY_MB"], "servers": []});
        let got = reason(Some(&none), id, None, Some(&ours));
        assert_eq!(got, "no valid host for us: MEMORY_MB");
    }

    #[test]
    fn agreement_is_counted_and_differences_kept() {
        let comparisons = Comparisons::default();
        for (ours, theirs) in [("a", "a"), ("a", "b")] {
            comparisons.add(Comparison {
                request_id: "r".to_owned(),
                decision_id: None,
                instance_uuid: Uuid::from_u128(1),
                ours: Some(spot(ours)),
                theirs: Some(spot(theirs)),
                reason: None,
                at: Micros(1),
            });
        }
        let report = comparisons.report(10);
        assert_eq!((report.agreed, report.differed, report.differences.len()), (1, 1, 1));
    }
}
