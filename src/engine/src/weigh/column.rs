//! The raw values of one weigher.

use crate::range::range;
use crate::weigher::Bounds;

/// Raw values of one weigher with the ends of their range.
#[derive(Clone, Debug)]
pub(super) struct RawColumn {
    /// By the place of the host; empty when all have `constant`.
    pub raw: Vec<f64>,
    pub low: f64,
    pub high: f64,
    pub constant: Option<f64>,
    /// How many hosts are at either end, once somebody counted them.
    ends: Option<Ends>,
}

/// How many hosts are at the ends of a range.
#[derive(Clone, Copy, Debug)]
struct Ends {
    low: usize,
    high: usize,
}

impl RawColumn {
    /// Clamped raw values.
    pub fn new(raw: Vec<f64>, bounds: &Bounds) -> Self {
        let (low, high) = ends(&raw, bounds);
        Self { raw, low, high, constant: None, ends: None }
    }

    /// The same value for all hosts.
    pub const fn constant(value: f64) -> Self {
        Self { raw: Vec::new(), low: value, high: value, constant: Some(value), ends: None }
    }

    pub fn value(&self, place: usize) -> f64 {
        self.constant.unwrap_or_else(|| self.raw[place])
    }

    /// Whether all hosts are equal to this weigher.
    pub fn is_flat(&self) -> bool {
        self.low == self.high
    }

    pub fn normalise(&self, raw: f64) -> f64 {
        if self.is_flat() { 0.0 } else { (raw - self.low) / (self.high - self.low) }
    }

    /// Gives the host at `place` another clamped value. Says whether an end of
    /// the range moved.
    pub fn set(&mut self, place: usize, value: f64, bounds: &Bounds) -> bool {
        let before = self.raw[place];
        if before.to_bits() == value.to_bits() {
            return false;
        }
        let (low, high) = (self.low, self.high);
        let at = self.ends.get_or_insert_with(|| Ends::count(&self.raw, low, high));
        self.raw[place] = value;
        // An end is as it was while some host is still there and none beyond.
        let mut stands = ![before, value, low, high].iter().any(|value| value.is_nan());
        at.low = at.low + usize::from(value == low) - usize::from(before == low && at.low > 0);
        at.high = at.high + usize::from(value == high) - usize::from(before == high && at.high > 0);
        stands &= bounds.lowest.is_some() || (value >= low && at.low > 0);
        stands &= bounds.highest.is_some() || (value <= high && at.high > 0);
        if stands {
            return false;
        }
        (self.low, self.high) = ends(&self.raw, bounds);
        self.ends = None;
        (self.low.to_bits(), self.high.to_bits()) != (low.to_bits(), high.to_bits())
    }
}

impl Ends {
    fn count(raw: &[f64], low: f64, high: f64) -> Self {
        let count = |end: f64| raw.iter().filter(|value| **value == end).count();
        Self { low: count(low), high: count(high) }
    }
}

fn ends(raw: &[f64], bounds: &Bounds) -> (f64, f64) {
    let (low, high) = range(raw);
    (bounds.lowest.unwrap_or(low), bounds.highest.unwrap_or(high))
}
