//! Numbers of an explanation.

use serde::{Serialize, Serializer};

/// A weight or a part of one. JSON has no word for the numbers that are none:
/// they are the texts `nan`, `inf` and `-inf`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score(pub f64);

impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_nan() {
            serializer.serialize_str("nan")
        } else if self.0.is_infinite() {
            serializer.serialize_str(if self.0 > 0.0 { "inf" } else { "-inf" })
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

impl From<f64> for Score {
    fn from(value: f64) -> Self {
        Self(value)
    }
}
