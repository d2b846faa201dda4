//! The ledger's clock, for the journal alone.

use std::time::{SystemTime, UNIX_EPOCH};
use stowplan_model::Micros;

/// Now.
pub(crate) fn now() -> Micros {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Micros(since.map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(i64::MAX)))
}
