//! Values as text in their place, so that several statements go to the server in
//! one round trip.
//!
//! The rules of quoting hold for sessions as [`crate::connect`] sets them up:
//! PostgreSQL with `standard_conforming_strings`, MariaDB without
//! `NO_BACKSLASH_ESCAPES`.

use sea_orm::{DbBackend, Value};
use std::fmt::Write as _;

/// Why a value has no literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LiteralError {
    /// PostgreSQL holds no NUL character in text, so none of the three is
    /// given one.
    #[error("text for the database holds a NUL character")]
    Nul,
    /// Not a number, or infinite: MariaDB holds neither.
    #[error("a number for the database is not finite")]
    NotFinite,
    /// The tables have no column for such a value.
    #[error("a value's type has no column type")]
    Unsupported,
    /// A row that no text can carry to the database (MariaDB:
    /// `max_allowed_packet`).
    #[error("a row takes {bytes} bytes and the database takes {most} at once")]
    TooLong {
        /// The text with this row alone.
        bytes: usize,
        /// What the database takes.
        most: usize,
    },
}

/// Appends one value as the database reads it.
pub(crate) fn value_literal(
    text: &mut String,
    backend: DbBackend,
    value: &Value,
) -> Result<(), LiteralError> {
    match value {
        Value::Bool(Some(flag)) => text.push_str(if *flag { "TRUE" } else { "FALSE" }),
        Value::Int(Some(number)) => number_literal(text, i64::from(*number)),
        Value::BigInt(Some(number)) => number_literal(text, *number),
        Value::Unsigned(Some(number)) => number_literal(text, i64::from(*number)),
        Value::BigUnsigned(Some(number)) => {
            let number = i64::try_from(*number).map_err(|_| LiteralError::Unsupported)?;
            number_literal(text, number);
        }
        Value::Double(Some(number)) if number.is_finite() => {
            double_literal(text, backend, *number);
        }
        Value::Double(Some(_)) => return Err(LiteralError::NotFinite),
        Value::String(Some(string)) => string_literal(text, backend, string)?,
        Value::Bytes(Some(bytes)) => bytes_literal(text, backend, bytes),
        Value::Bool(None)
        | Value::Int(None)
        | Value::BigInt(None)
        | Value::Unsigned(None)
        | Value::BigUnsigned(None)
        | Value::Double(None)
        | Value::String(None)
        | Value::Bytes(None) => text.push_str("NULL"),
        _ => return Err(LiteralError::Unsupported),
    }
    Ok(())
}

fn number_literal(text: &mut String, number: i64) {
    // Writing to a String cannot fail.
    let _ = write!(text, "{number}");
}

/// The shortest text that is read back as the same number. With an exponent all
/// three read a double, not a decimal. SQLite reads the last bit wrong now and
/// then beyond some 2^200 either way, so there a number from beyond 2^60 is
/// brought near 1 and multiplied or divided again, which is exact.
fn double_literal(text: &mut String, backend: DbBackend, number: f64) {
    const FAR: f64 = (1_u64 << 60) as f64;
    let (mut near, mut down, mut up) = (number, 0, 0);
    if backend == DbBackend::Sqlite && number != 0.0 {
        while near.abs() > FAR {
            near /= FAR;
            up += 1;
        }
        while near.abs() < FAR.recip() {
            near *= FAR;
            down += 1;
        }
    }
    let _ = write!(text, "{near:e}");
    for (operator, times) in [('*', up), ('/', down)] {
        for _ in 0..times {
            let _ = write!(text, "{operator}{FAR}");
        }
    }
}

fn string_literal(text: &mut String, backend: DbBackend, string: &str) -> Result<(), LiteralError> {
    let escapes = backend == DbBackend::MySql;
    text.push('\'');
    let mut copied = 0;
    for (at, byte) in string.bytes().enumerate() {
        match byte {
            0 => return Err(LiteralError::Nul),
            b'\'' => {}
            b'\\' if escapes => {}
            _ => continue,
        }
        text.push_str(&string[copied..=at]);
        copied = at;
    }
    text.push_str(&string[copied..]);
    text.push('\'');
    Ok(())
}

fn bytes_literal(text: &mut String, backend: DbBackend, bytes: &[u8]) {
    text.push_str(if backend == DbBackend::Postgres { "'\\x" } else { "X'" });
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text.push('\'');
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn literal(backend: DbBackend, value: Value) -> Result<String, LiteralError> {
        let mut text = String::new();
        value_literal(&mut text, backend, &value).map(|()| text)
    }

    #[test]
    fn quotes_and_backslashes() {
        for (backend, expected) in [
            (DbBackend::Sqlite, r"'it''s \ ?, $1'"),
            (DbBackend::Postgres, r"'it''s \ ?, $1'"),
            (DbBackend::MySql, r"'it''s \\ ?, $1'"),
        ] {
            assert_eq!(literal(backend, r"it's \ ?, $1".into()).unwrap(), expected);
        }
    }

    #[test]
    fn what_no_database_holds_is_refused() {
        let refused = |value: Value| literal(DbBackend::Sqlite, value).unwrap_err();
        assert_eq!(refused("a\0b".into()), LiteralError::Nul);
        assert_eq!(refused(f64::NAN.into()), LiteralError::NotFinite);
        assert_eq!(refused(u64::MAX.into()), LiteralError::Unsupported);
    }
}
