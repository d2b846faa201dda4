//! Time spans: a number and a unit, seconds without one.

use std::time::Duration;

use super::{Input, Kind, OptionType, Problem};
use crate::spec::Meta;
use crate::value::number::python_float;

/// Units and their microseconds, longest first.
const UNITS: [(&str, u64); 6] = [
    ("d", 86_400_000_000),
    ("h", 3_600_000_000),
    ("m", 60_000_000),
    ("s", 1_000_000),
    ("ms", 1_000),
    ("us", 1),
];

fn parse(text: &str) -> Option<Duration> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.get(digits.len()..)?;
    let number = python_float(digits)?;
    let micros = match unit {
        "" => 1_000_000,
        _ => UNITS.iter().find(|(name, _)| *name == unit)?.1,
    };
    Duration::try_from_secs_f64(number * micros as f64 / 1e6).ok()
}

impl OptionType for Duration {
    const KIND: Kind = Kind::Duration;

    fn read(input: Input<'_>, meta: &Meta, _notes: &mut Vec<String>) -> Result<Self, Problem> {
        let text = input.scalar(Self::KIND, meta)?;
        parse(text)
            .filter(|span| !meta.minimum.is_some_and(|low| span.as_secs_f64() < low))
            .filter(|span| !meta.maximum.is_some_and(|high| span.as_secs_f64() > high))
            .ok_or_else(|| {
                let mut problem = Problem::expected(Self::KIND, meta);
                if meta.minimum.is_some() || meta.maximum.is_some() {
                    problem.expected.push_str(" seconds");
                }
                problem
            })
    }

    fn texts(&self, _meta: &Meta) -> Vec<String> {
        let micros = self.as_micros();
        let text = UNITS
            .iter()
            .find(|(_, unit)| micros > 0 && micros.is_multiple_of(u128::from(*unit)))
            .map_or_else(
                || "0s".to_owned(),
                |(name, unit)| format!("{}{name}", micros / u128::from(*unit)),
            );
        vec![text]
    }
}
