//! Numbers in the grammar of Python, which files written for the peers follow:
//! blanks around, a sign, single `_` between digits, and for fractions
//! exponents, `inf` and `nan`.

use super::{Input, Kind, OptionType, Problem};
use crate::spec::Meta;

/// Drops each `_` that stands between two digits; `None` if one stands elsewhere.
fn without_underscores(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    for (at, byte) in bytes.iter().enumerate() {
        if *byte == b'_' && !(digit(at.checked_sub(1)) && digit(at.checked_add(1))) {
            return None;
        }
    }
    Some(text.replace('_', ""))
}

/// An integer as Python's `int()` reads it in base ten.
pub(crate) fn python_int(text: &str) -> Option<i128> {
    without_underscores(text.trim())?.parse().ok()
}

/// A float as Python's `float()` reads it: hexadecimal, the empty text and
/// decimal commas are refused, `inf`, `infinity` and `nan` are read in any case.
pub fn python_float(text: &str) -> Option<f64> {
    without_underscores(text.trim())?.parse().ok()
}

macro_rules! integers {
    ($($type:ty),+) => {$(
        impl OptionType for $type {
            const KIND: Kind = Kind::Integer;

            fn read(
                input: Input<'_>,
                meta: &Meta,
                notes: &mut Vec<String>,
            ) -> Result<Self, Problem> {
                let text = input.scalar(Self::KIND, meta)?;
                let mut value = python_int(text)
                    .ok_or_else(|| Problem::expected(Self::KIND, meta))?;
                if let Some(floor) = meta.floor && value < i128::from(floor) {
                    notes.push(format!("{value} is below {floor} and is read as {floor}"));
                    value = i128::from(floor);
                }
                if !in_range(value as f64, meta) {
                    return Err(Problem::expected(Self::KIND, meta));
                }
                Self::try_from(value).map_err(|_| {
                    let (low, high) = (
                        meta.minimum.map_or(i128::from(<$type>::MIN), |low| low as i128),
                        meta.maximum.map_or(i128::from(<$type>::MAX), |high| high as i128),
                    );
                    Problem::new(format!("an integer from {low} to {high}"))
                })
            }

            fn texts(&self, _meta: &Meta) -> Vec<String> {
                vec![self.to_string()]
            }
        }
    )+};
}

integers!(i64, u16, u32, u64);

impl OptionType for f64 {
    const KIND: Kind = Kind::Float;

    fn read(input: Input<'_>, meta: &Meta, _notes: &mut Vec<String>) -> Result<Self, Problem> {
        let text = input.scalar(Self::KIND, meta)?;
        match python_float(text) {
            // With either, scores have no order: the peer takes them.
            Some(value) if !value.is_finite() => Err(Problem::new("a finite number")),
            Some(value) if in_range(value, meta) => Ok(value),
            _ => Err(Problem::expected(Self::KIND, meta)),
        }
    }

    fn texts(&self, _meta: &Meta) -> Vec<String> {
        vec![format!("{self:?}")]
    }
}

/// Whether bounds hold.
fn in_range(value: f64, meta: &Meta) -> bool {
    !meta.minimum.is_some_and(|low| value < low) && !meta.maximum.is_some_and(|high| value > high)
}
