//! Scheduling hints: hosts that a request must or would rather have.
//!
//! The rules are Koordinator's: `nodeNames` narrow the candidates;
//! `preferredNodeNames` are tried first, one after the other and with all
//! filters, and the first that passes is the only candidate; if none does, the
//! request is scheduled as if it preferred nothing. A plan made for a whole job
//! goes before what one of its tasks prefers. Extensions are handed on as they
//! came.

mod annotations;
mod evaluate;
mod order;
mod trace;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

pub use annotations::{DEPRECATED_KEY, FromAnnotations, HintError, KEY, from_annotations};
pub use evaluate::Guide;
pub use order::{Order, order};
pub use trace::{Dropped, DroppedReason, HintOutcome, HintTrace, Tried};

/// What a request says of the hosts it must or would rather have. Keys that
/// are not listed are let pass; null is the same as empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Hint {
    /// Only hosts of these names are candidates; empty means all are.
    #[serde(deserialize_with = "or_empty")]
    pub node_names: Vec<String>,
    /// Hosts to be tried first, in this order.
    #[serde(deserialize_with = "or_empty")]
    pub preferred_node_names: Vec<String>,
    /// For whoever knows what it means; nothing here reads it.
    #[serde(deserialize_with = "or_empty")]
    pub extensions: Map<String, Value>,
}

impl Hint {
    /// The names that candidates are narrowed to; `None` when they are not.
    #[must_use]
    pub fn required(&self) -> Option<&[String]> {
        Some(self.node_names.as_slice()).filter(|names| !names.is_empty())
    }
}

fn or_empty<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Default + Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}
