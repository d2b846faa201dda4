//! Decisions as they are shown.

use std::io::Read;

use flate2::read::ZlibDecoder;
use serde::Serialize;
use serde_json::Value;
use stowplan_ledger::StoredDecision;
use stowplan_ledger::rows::DecisionRow;
use stowplan_model::{Micros, Uuid};

use super::pack;

/// A decision with its explanation.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct DecisionView {
    /// Its id.
    pub id: Uuid,
    /// The request that asked.
    pub request_id: String,
    /// The ledger's sequence number of the claim, or of the image that said no.
    pub seq: i64,
    /// Seed of its random numbers.
    pub seed: u64,
    /// What was decided about: `servers` or `job`.
    pub kind: String,
    /// `placed`, `no_valid_host`, `dry_run`, ...
    pub outcome: String,
    /// When it was made, microseconds since the epoch.
    pub created: Micros,
    /// Hosts chosen, or the short reason.
    #[schema(value_type = Object)]
    pub header: Value,
    /// Filters, weights and reasons; null while it is not written yet, or when
    /// it was not kept.
    #[schema(value_type = Option<Object>)]
    pub body: Option<Value>,
}

/// Decisions, the newest first.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct DecisionPage {
    /// The decisions, without bodies.
    pub decisions: Vec<DecisionView>,
}

impl DecisionView {
    /// A stored decision, its body unpacked.
    #[must_use]
    pub fn of(stored: StoredDecision) -> Self {
        let StoredDecision { header, body } = stored;
        let body = body.and_then(|bytes| match unpack(&bytes) {
            Ok(body) => Some(body),
            Err(error) => {
                tracing::warn!(decision = %header.id, %error, "its body cannot be read");
                None
            }
        });
        Self { body, ..Self::of_header(header) }
    }

    /// A decision without its body.
    #[must_use]
    pub fn of_header(header: DecisionRow) -> Self {
        Self {
            id: header.id,
            request_id: header.request_id,
            seq: header.seq,
            seed: header.seed,
            kind: header.kind,
            outcome: header.outcome,
            created: header.created,
            header: header.header,
            body: None,
        }
    }
}

/// The servers that the header of a decision names.
pub(crate) fn servers_of(header: &Value) -> Vec<Uuid> {
    let list = |name: &str| header[name].as_array().cloned().unwrap_or_default().into_iter();
    let named = list("hosts").map(|host| host["instance_uuid"].clone());
    let uuid = |value: Value| Uuid::parse_str(value.as_str()?).ok();
    named.chain(list("more_servers")).filter_map(uuid).collect()
}

fn unpack(bytes: &[u8]) -> std::io::Result<Value> {
    let mut json = Vec::new();
    ZlibDecoder::new(bytes).read_to_end(&mut json)?;
    let mut body = serde_json::from_slice(&json)?;
    pack::unpack(&mut body);
    Ok(body)
}
