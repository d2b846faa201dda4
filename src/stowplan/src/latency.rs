//! How long calls took.

use serde::Serialize;
use std::time::Duration;

/// Times of many calls of one kind.
#[derive(Clone, Debug, Default)]
pub struct Latencies(Vec<u64>);

/// Their distribution, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Distribution {
    /// How many calls.
    pub count: usize,
    /// Half of them were this fast.
    pub p50_ms: f64,
    /// Nine tenths of them were.
    pub p90_ms: f64,
    /// All but one of a hundred were.
    pub p99_ms: f64,
    /// The slowest.
    pub max_ms: f64,
}

impl Latencies {
    /// Notes one call.
    pub fn note(&mut self, time: Duration) {
        self.0.push(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    }

    /// The distribution: of each share the smallest time that so many calls
    /// did not exceed.
    pub fn distribution(mut self) -> Distribution {
        self.0.sort_unstable();
        let at = |hundredths: usize| {
            let rank = (self.0.len() * hundredths).div_ceil(100).max(1);
            let micros = self.0.get(rank - 1).copied().unwrap_or_default();
            micros as f64 / 1000.0
        };
        Distribution {
            count: self.0.len(),
            p50_ms: at(50),
            p90_ms: at(90),
            p99_ms: at(99),
            max_ms: at(100),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_calls() {
        let mut latencies = Latencies::default();
        for millis in (1..=200).rev() {
            latencies.note(Duration::from_millis(millis));
        }
        let expected =
            Distribution { count: 200, p50_ms: 100.0, p90_ms: 180.0, p99_ms: 198.0, max_ms: 200.0 };
        assert_eq!(latencies.distribution(), expected);
        assert_eq!(Latencies::default().distribution(), Distribution::default());
    }
}
