//! Quantities as Kubernetes writes them: `500m`, `1Gi`, `2`, `1.5e3`.

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Nano units in a unit: the finest step that a quantity has.
const NANOS: i128 = 1_000_000_000;

/// The largest quantity: so that every amount in quanta fits an `i64`, and
/// sums over all hosts of a large cloud too.
const MOST: i128 = (i64::MAX as i128) * NANOS;

/// An exact amount of something, 0 or more, in steps of a billionth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Quantity {
    nanos: i128,
}

/// Why a text is no quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityFault {
    /// Not a number with one of the suffixes.
    #[error(
        "{0:?} is not a quantity: expected a number with an optional suffix \
         (n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei) or exponent, such as \"500m\" or \"1Gi\""
    )]
    Form(String),
    /// Below zero.
    #[error("{0:?} is negative")]
    Negative(String),
    /// Beyond 2^63 - 1 units.
    #[error("{0:?} is too large")]
    Large(String),
}

impl Quantity {
    /// A whole number of units.
    #[must_use]
    pub const fn units(units: u32) -> Self {
        Self { nanos: units as i128 * NANOS }
    }

    /// Whether it is nothing.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.nanos == 0
    }

    /// So many times as much; nothing for a negative number. What is beyond
    /// counting is the largest there is.
    #[must_use]
    pub fn times(self, factor: i64) -> Self {
        Self { nanos: self.nanos.saturating_mul(factor.max(0).into()) }
    }

    /// How many whole quanta it holds, rounded down. A quantum of nothing
    /// counts as the smallest step there is.
    #[must_use]
    pub fn whole_quanta(self, quantum: Self) -> i64 {
        i64::try_from(self.nanos / quantum.nanos.max(1)).unwrap_or(i64::MAX)
    }

    /// So many thousandths of a unit.
    #[must_use]
    pub const fn milli(thousandths: u32) -> Self {
        Self { nanos: thousandths as i128 * (NANOS / 1_000) }
    }

    /// How many quanta hold it, rounded up. A quantum of nothing counts as the
    /// smallest step there is.
    #[must_use]
    pub fn quanta(self, quantum: Self) -> i64 {
        let quantum = quantum.nanos.max(1);
        i64::try_from((self.nanos + quantum - 1) / quantum).unwrap_or(i64::MAX)
    }
}

impl std::iter::Sum for Quantity {
    /// The sum; one that is beyond counting is the largest there is.
    fn sum<I: Iterator<Item = Self>>(quantities: I) -> Self {
        let add = |sum: i128, more: Self| sum.saturating_add(more.nanos);
        Self { nanos: quantities.fold(0, add) }
    }
}

/// The suffixes with what they multiply by, in nano units.
const SUFFIXES: [(&str, i128); 15] = [
    ("Ki", NANOS << 10),
    ("Mi", NANOS << 20),
    ("Gi", NANOS << 30),
    ("Ti", NANOS << 40),
    ("Pi", NANOS << 50),
    ("Ei", NANOS << 60),
    ("n", 1),
    ("u", 1_000),
    ("m", 1_000_000),
    ("k", NANOS * 1_000),
    ("M", NANOS * 1_000_000),
    ("G", NANOS * 1_000_000_000),
    ("T", NANOS * 1_000_000_000_000),
    ("P", NANOS * 1_000_000_000_000_000),
    ("E", NANOS * 1_000_000_000_000_000_000),
];

impl FromStr for Quantity {
    type Err = QuantityFault;

    fn from_str(text: &str) -> Result<Self, QuantityFault> {
        let form = || QuantityFault::Form(text.to_owned());
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let digits = rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        let (number, suffix) = rest.split_at(digits);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let no_digits = whole.is_empty() && fraction.is_empty();
        if no_digits || fraction.contains('.') || number.len() > 40 {
            return Err(form());
        }
        let scale = scale(suffix).ok_or_else(form)?;
        let nanos = scaled(whole, fraction, scale)
            .filter(|nanos| *nanos <= MOST)
            .ok_or_else(|| QuantityFault::Large(text.to_owned()))?;
        if negative && nanos > 0 {
            return Err(QuantityFault::Negative(text.to_owned()));
        }
        Ok(Self { nanos })
    }
}

/// What a suffix or exponent multiplies by: a factor in nano units, and a
/// power of ten.
fn scale(suffix: &str) -> Option<(i128, i32)> {
    if suffix.is_empty() {
        return Some((NANOS, 0));
    }
    if let Some((_, factor)) = SUFFIXES.iter().find(|(name, _)| *name == suffix) {
        return Some((*factor, 0));
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?;
    let exponent: i32 = exponent.parse().ok()?;
    (-40..=40).contains(&exponent).then_some((NANOS, exponent))
}

/// `whole.fraction` times the scale, rounded up to a whole nano unit; none
/// when that is beyond counting.
fn scaled(whole: &str, fraction: &str, (factor, exponent): (i128, i32)) -> Option<i128> {
    let digits = format!("{whole}{fraction}");
    let mut mantissa: i128 = digits.parse().ok()?;
    let mut power = exponent - i32::try_from(fraction.len()).ok()?;
    while power < 0 && mantissa != 0 && mantissa % 10 == 0 {
        mantissa /= 10;
        power += 1;
    }
    let product = mantissa.checked_mul(factor)?;
    if power >= 0 {
        return product.checked_mul(10_i128.checked_pow(power.unsigned_abs())?);
    }
    match 10_i128.checked_pow(power.unsigned_abs()) {
        Some(divisor) => Some(product / divisor + i128::from(product % divisor != 0)),
        None => Some(i128::from(product != 0)),
    }
}

impl fmt::Display for Quantity {
    /// Whole units plainly, whole thousandths as `m`, else the nano units.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MILLI: i128 = NANOS / 1_000;
        if self.nanos % NANOS == 0 {
            write!(f, "{}", self.nanos / NANOS)
        } else if self.nanos % MILLI == 0 {
            write!(f, "{}m", self.nanos / MILLI)
        } else {
            write!(f, "{}n", self.nanos)
        }
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    /// From a text, or from a JSON number.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Quantity;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a quantity such as \"500m\", \"1Gi\" or 2")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Quantity, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Quantity, E> {
                self.visit_str(&number.to_string())
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Quantity, E> {
                self.visit_str(&number.to_string())
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Quantity, E> {
                self.visit_str(&number.to_string())
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn quantity(text: &str) -> Quantity {
        text.parse().unwrap()
    }

    #[test]
    fn suffixes_and_exponents() {
        for (text, quantum, quanta) in [
            ("500m", "1m", 500),
            ("500m", "1000m", 1),
            ("1500m", "1000m", 2),
            ("2", "1m", 2000),
            ("1Gi", "1Mi", 1024),
            ("1G", "1Mi", 954),
            ("1.5Gi", "1Mi", 1536),
            ("0.1", "1m", 100),
            ("1e3", "1", 1000),
            ("2.5E-1", "1m", 250),
            ("100n", "1m", 1),
            (".5", "1", 1),
            ("5.", "1", 5),
            ("+7", "1", 7),
            ("0", "1Mi", 0),
            ("-0", "1", 0),
            ("7Ei", "1Ei", 7),
            ("0.0000000001", "1n", 1),
        ] {
            assert_eq!(quantity(text).quanta(quantity(quantum)), quanta, "{text} in {quantum}");
        }
    }

    #[test]
    fn what_is_no_quantity() {
        for text in ["", "m", "1.2.3", "1x", "1mi", "1 Gi", "--1", "1e", "1e99", "½", "Gi1"] {
            let fault = text.parse::<Quantity>().unwrap_err();
            assert_eq!(fault, QuantityFault::Form(text.to_owned()), "{text}");
        }
        for text in ["8Ei", "1e30", "99999999999999999999"] {
            assert_eq!(text.parse::<Quantity>(), Err(QuantityFault::Large(text.to_owned())));
        }
        assert_eq!("-1m".parse::<Quantity>(), Err(QuantityFault::Negative("-1m".to_owned())));
    }

    #[test]
    fn json_numbers_and_texts() {
        let read = |json: &str| serde_json::from_str::<Quantity>(json).unwrap();
        assert_eq!(read("2"), quantity("2"));
        assert_eq!(read("0.25"), quantity("250m"));
        assert_eq!(read("\"1Ki\""), quantity("1024"));
        assert!(serde_json::from_str::<Quantity>("-3").is_err());
        assert!(serde_json::from_str::<Quantity>("true").is_err());
        for text in ["2", "250m", "1n", "1024"] {
            assert_eq!(quantity(text).to_string(), text);
        }
    }
}
