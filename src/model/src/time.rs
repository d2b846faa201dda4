//! Points in time, as the house keeps them: microseconds since the epoch.

use serde::{Deserialize, Serialize};

/// A point in time: microseconds since 1970-01-01T00:00:00Z.
///
/// Always passed in from the outermost floor, never read from a clock by the
/// engine or a session, so that a decision can be replayed.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    utoipa::ToSchema,
)]
#[serde(transparent)]
pub struct Micros(pub i64);

impl Micros {
    /// Microseconds in a second.
    pub const PER_SECOND: i64 = 1_000_000;

    /// The point `seconds` after the epoch.
    #[must_use]
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(Self::PER_SECOND))
    }

    /// Whole seconds since the epoch, rounded down.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(Self::PER_SECOND)
    }

    /// Microseconds from `earlier` to this point; negative when it lies ahead.
    #[must_use]
    pub const fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}
