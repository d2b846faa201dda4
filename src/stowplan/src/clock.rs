//! The one place where the wall clock is read.

use std::time::{SystemTime, UNIX_EPOCH};
use stowplan_model::Micros;

/// Now.
pub fn now() -> Micros {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
