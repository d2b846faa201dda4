//! Durations as texts: `90s`, `1h30m`, `500ms`.

/// The units, with their microseconds.
const UNITS: [(&str, f64); 6] =
    [("ms", 1e3), ("us", 1.0), ("h", 3.6e9), ("m", 6e7), ("s", 1e6), ("µs", 1.0)];

/// The microseconds of a duration; none when the text is none. It may be
/// negative, and has a unit behind every number.
#[must_use]
pub fn duration(text: &str) -> Option<i64> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut micros = 0.0;
    loop {
        let digits = rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        let (number, behind) = rest.split_at(digits);
        let number: f64 = number.parse().ok()?;
        let (unit, size) = UNITS.iter().find(|(unit, _)| behind.starts_with(unit))?;
        micros += number * size;
        rest = behind.strip_prefix(unit)?;
        if rest.is_empty() {
            return Some((sign * micros) as i64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, micros) in [
            ("3m", Some(180_000_000)),
            ("1h30m", Some(5_400_000_000)),
            ("500ms", Some(500_000)),
            ("1.5s", Some(1_500_000)),
            ("-2s", Some(-2_000_000)),
            ("0", Some(0)),
            ("3", None),
            ("m", None),
            ("", None),
            ("3 m", None),
        ] {
            assert_eq!(duration(text), micros, "{text:?}");
        }
    }
}
