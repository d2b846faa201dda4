//! The body of a decision: everything that explains it, within bounds.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;
use stowplan_engine::Explanation;
use stowplan_model::Uuid;

use super::pack;

/// The most bytes that a compressed body takes.
pub(crate) const MAX_BYTES: usize = 64 * 1024;
/// Servers of which a body tells when all of them do not fit.
const FEW_SERVERS: usize = 10;

/// What explains a decision.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Body<R, Q, L, U> {
    /// Version of this form.
    pub version: u32,
    /// What was asked, as far as it may be kept; null where it alone takes more
    /// room than there is: the decision cannot be made again then.
    pub request: Option<R>,
    /// What was asked of the ledger; null where there is no room for it.
    pub query: Option<Q>,
    /// Hosts with a candidate.
    pub candidates: usize,
    /// How often it was decided.
    pub attempts: u32,
    /// Why decisions before the last one were not committed.
    pub conflicts: Vec<String>,
    /// Why there is no valid host.
    pub reasons: Vec<String>,
    /// Single changes of the request, each of which would have given the first
    /// server without a host one.
    pub unlocks: Vec<U>,
    /// What each requirement of the query left, where nothing met it.
    pub losses: Vec<L>,
    /// What was passed over.
    pub warnings: Vec<String>,
    /// What became of each server.
    #[serde(serialize_with = "pack::servers")]
    pub servers: Vec<InstanceRecord>,
    /// Further servers that are left out here.
    pub more_servers: usize,
}

/// What became of one server.
#[derive(Clone, Debug, Serialize)]
pub struct InstanceRecord {
    /// The server.
    pub instance_uuid: Uuid,
    /// Its host.
    pub host: Option<String>,
    /// Its node.
    pub node: Option<String>,
    /// Hosts with nothing left for it.
    pub exhausted: Vec<String>,
    /// Further ones that are left out here.
    pub more_exhausted: usize,
    /// Filters and weights.
    pub explanation: Explanation,
}

/// The body as compressed JSON (zlib) of at most [`MAX_BYTES`]: lists are cut
/// until it fits, and what was cut is counted. What cannot be cut goes at last:
/// the query, then the request.
///
/// # Errors
/// When it cannot be written as JSON.
pub(crate) fn encode<R: Serialize, Q: Serialize, L: Serialize, U: Serialize>(
    body: &mut Body<R, Q, L, U>,
) -> Result<Vec<u8>, std::io::Error> {
    loop {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&serde_json::to_vec(&body)?)?;
        let bytes = encoder.finish()?;
        let shrinks = [shrink_servers, shrink_lists, drop_query, drop_request];
        if bytes.len() <= MAX_BYTES || !shrinks.into_iter().any(|shrink| shrink(body)) {
            return Ok(bytes);
        }
    }
}

/// Halves what is longest of the servers; whether there was anything to halve.
fn shrink_servers<R, Q, L, U>(body: &mut Body<R, Q, L, U>) -> bool {
    let mut cut = false;
    for server in &mut body.servers {
        let explanation = &mut server.explanation;
        for step in explanation.preselection.iter_mut().chain(&mut explanation.filters) {
            halve(&mut step.losers, Some(&mut step.more_losers), 0, &mut cut);
        }
        let weights = &mut explanation.weights;
        halve(&mut weights.hosts, Some(&mut weights.more_hosts), 0, &mut cut);
        halve(&mut server.exhausted, Some(&mut server.more_exhausted), 1, &mut cut);
        halve(&mut explanation.findings, Some(&mut explanation.more_findings), 0, &mut cut);
    }
    if !cut {
        let few = body.servers.len().min(FEW_SERVERS * 2);
        body.more_servers += body.servers.len() - few;
        body.servers.truncate(few);
        halve(&mut body.servers, Some(&mut body.more_servers), 1, &mut cut);
    }
    cut
}

/// Halves the lists of sentences; whether there was anything to halve.
fn shrink_lists<R, Q, L, U>(body: &mut Body<R, Q, L, U>) -> bool {
    let mut cut = false;
    halve(&mut body.conflicts, None, 1, &mut cut);
    halve(&mut body.warnings, None, 1, &mut cut);
    halve(&mut body.reasons, None, 1, &mut cut);
    halve(&mut body.losses, None, 1, &mut cut);
    halve(&mut body.unlocks, None, 1, &mut cut);
    cut
}

fn drop_query<R, Q, L, U>(body: &mut Body<R, Q, L, U>) -> bool {
    body.query.take().is_some()
}

fn drop_request<R, Q, L, U>(body: &mut Body<R, Q, L, U>) -> bool {
    body.request.take().is_some()
}

/// Halves a list, down to `least`, and counts what goes.
fn halve<T>(list: &mut Vec<T>, more: Option<&mut usize>, least: usize, cut: &mut bool) {
    let keep = (list.len() / 2).max(least);
    if keep < list.len() {
        *cut = true;
        if let Some(more) = more {
            *more += list.len() - keep;
        }
        list.truncate(keep);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use flate2::read::ZlibDecoder;
    use std::io::Read;
    use stowplan_engine::Reason;
    use stowplan_engine::explain::{FilterTrace, Loser, TraceOutcome, WeightTable};

    fn loser(number: u128) -> Loser {
        // Digits that do not compress.
        let host = Uuid::new_v5(&Uuid::nil(), &number.to_be_bytes()).to_string();
        let reason = Reason::CapabilityMissing { spec: host.clone() };
        Loser { node: host.clone(), text: reason.to_string(), reason, host }
    }

    fn server(number: u128, losers: u128) -> InstanceRecord {
        let losers: Vec<Loser> = (0..losers).map(|n| loser(number << 32 | n)).collect();
        let step = FilterTrace {
            filter: "ComputeFilter",
            outcome: TraceOutcome::Judged,
            before: losers.len(),
            after: 0,
            losers,
            more_losers: 0,
        };
        InstanceRecord {
            instance_uuid: Uuid::from_u128(number),
            host: None,
            node: None,
            exhausted: Vec::new(),
            more_exhausted: 0,
            explanation: Explanation {
                hosts: 0,
                preselection: None,
                hint: None,
                filters: vec![step],
                survivors: 0,
                weights: WeightTable {
                    normalization: "min_max",
                    hosts: Vec::new(),
                    more_hosts: 0,
                    warnings: Vec::new(),
                },
                draw: None,
                findings: Vec::new(),
                more_findings: 0,
            },
        }
    }

    fn body(servers: u128, losers: u128) -> Body<String, (), (), ()> {
        Body {
            version: 1,
            request: Some(String::new()),
            query: Some(()),
            candidates: 0,
            attempts: 1,
            conflicts: Vec::new(),
            reasons: Vec::new(),
            unlocks: Vec::new(),
            losses: Vec::new(),
            warnings: Vec::new(),
            servers: (0..servers).map(|number| server(number, losers)).collect(),
            more_servers: 0,
        }
    }

    fn unpacked(bytes: &[u8]) -> serde_json::Value {
        let mut text = String::new();
        ZlibDecoder::new(bytes).read_to_string(&mut text).unwrap();
        let mut body = serde_json::from_str(&text).unwrap();
        pack::unpack(&mut body);
        body
    }

    #[test]
    fn a_body_that_fits_is_whole() {
        let bytes = encode(&mut body(2, 3)).unwrap();
        let read = unpacked(&bytes);
        assert_eq!(
            read["servers"][1]["explanation"]["filters"][0]["losers"][2]["host"],
            loser(1 << 32 | 2).host
        );
    }

    #[test]
    fn a_body_that_does_not_fit_is_cut_and_counts_what_was_cut() {
        let bytes = encode(&mut body(1, 4000)).unwrap();
        assert!(bytes.len() <= MAX_BYTES);
        let read = unpacked(&bytes);
        let step = &read["servers"][0]["explanation"]["filters"][0];
        let named = step["losers"].as_array().unwrap().len();
        assert!(named > 100);
        assert_eq!(named + usize::try_from(step["more_losers"].as_u64().unwrap()).unwrap(), 4000);
        let bytes = encode(&mut body(20_000, 0)).unwrap();
        assert!(bytes.len() <= MAX_BYTES);
        let read = unpacked(&bytes);
        let named = read["servers"].as_array().unwrap().len();
        assert_eq!(u64::try_from(named).unwrap() + read["more_servers"].as_u64().unwrap(), 20_000);
    }

    #[test]
    fn what_cannot_be_cut_goes_at_last() {
        let noise = |count: u128| -> Vec<String> { (0..count).map(|n| loser(n).host).collect() };
        let mut sentences = Body { conflicts: noise(9000), ..body(1, 0) };
        sentences.warnings = noise(9000);
        let bytes = encode(&mut sentences).unwrap();
        assert!(bytes.len() <= MAX_BYTES);
        assert_eq!(unpacked(&bytes)["request"], "");
        let bytes =
            encode(&mut Body { request: Some(noise(9000).concat()), ..body(1, 0) }).unwrap();
        assert!(bytes.len() <= MAX_BYTES);
        assert_eq!(unpacked(&bytes)["request"], serde_json::Value::Null);
    }
}
