//! The body of a decision: everything that explains it, within bounds.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;
use stowplan_engine::Explanation;
use stowplan_model::Uuid;

/// The most bytes that a compressed body takes.
pub(crate) const MAX_BYTES: usize = 64 * 1024;
/// Servers of which a body tells when all of them do not fit.
const FEW_SERVERS: usize = 10;

/// What explains a decision.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Body<R, Q, L> {
    /// Version of this form.
    pub version: u32,
    /// What was asked, as far as it may be kept.
    pub request: R,
    /// What was asked of the ledger.
    pub query: Q,
    /// Hosts with a candidate.
    pub candidates: usize,
    /// How often it was decided.
    pub attempts: u32,
    /// Why decisions before the last one were not committed.
    pub conflicts: Vec<String>,
    /// Why there is no valid host.
    pub reasons: Vec<String>,
    /// What each requirement of the query left, where nothing met it.
    pub losses: Vec<L>,
    /// What was passed over.
    pub warnings: Vec<String>,
    /// What became of each server.
    pub servers: Vec<InstanceRecord>,
    /// Further servers that are left out here.
    pub more_servers: usize,
}

/// What became of one server.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct InstanceRecord {
    /// The server.
    pub instance_uuid: Uuid,
    /// Its host.
    pub host: Option<String>,
    /// Its node.
    pub node: Option<String>,
    /// Hosts with nothing left for it.
    pub exhausted: Vec<String>,
    /// Filters and weights.
    pub explanation: Explanation,
}

/// The body as compressed JSON (zlib) of at most [`MAX_BYTES`]: lists are cut
/// until it fits, and what was cut is counted.
///
/// # Errors
/// When it cannot be written as JSON.
pub(crate) fn encode<R: Serialize, Q: Serialize, L: Serialize>(
    body: &mut Body<R, Q, L>,
) -> Result<Vec<u8>, std::io::Error> {
    loop {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&serde_json::to_vec(&body)?)?;
        let bytes = encoder.finish()?;
        if bytes.len() <= MAX_BYTES || !shrink(body) {
            return Ok(bytes);
        }
    }
}

/// Halves what is longest; whether there was anything to halve.
fn shrink<R, Q, L>(body: &mut Body<R, Q, L>) -> bool {
    let mut cut = false;
    for server in &mut body.servers {
        let explanation = &mut server.explanation;
        for step in explanation.preselection.iter_mut().chain(&mut explanation.filters) {
            let keep = step.losers.len() / 2;
            cut |= keep < step.losers.len();
            step.more_losers += step.losers.len() - keep;
            step.losers.truncate(keep);
        }
        let weights = &mut explanation.weights;
        let keep = weights.hosts.len() / 2;
        cut |= keep < weights.hosts.len();
        weights.more_hosts += weights.hosts.len() - keep;
        weights.hosts.truncate(keep);
        server.exhausted.truncate(FEW_SERVERS);
    }
    if !cut && body.servers.len() > 1 {
        let keep = (body.servers.len() / 2).min(FEW_SERVERS).max(1);
        cut = true;
        body.more_servers += body.servers.len() - keep;
        body.servers.truncate(keep);
    }
    cut
}
