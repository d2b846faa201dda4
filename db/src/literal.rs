//! Statements as text with the values in place, so that several go to the
//! server in one round trip.
//!
//! The rules of quoting hold for sessions as [`crate::connect`] sets them up:
//! PostgreSQL with `standard_conforming_strings`, MariaDB without
//! `NO_BACKSLASH_ESCAPES`.

use sea_orm::{DbBackend, StatementBuilder, Value};
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
    /// The statement's text and its values do not fit each other.
    #[error("a statement has {values} values and asks for one more")]
    Placeholder {
        /// How many values the statement has.
        values: usize,
    },
}

/// The statement's text with its values as literals, without a semicolon.
///
/// # Errors
/// When a value has no literal that all three databases read alike.
pub(crate) fn render<S: StatementBuilder>(
    backend: DbBackend,
    statement: &S,
) -> Result<String, LiteralError> {
    let built = statement.build(&backend);
    let values = built.values.map_or_else(Vec::new, |values| values.0);
    let mut text = String::with_capacity(built.sql.len() + values.len() * 12);
    inject(&mut text, backend, &built.sql, &values)?;
    Ok(text)
}

/// Copies `sql`, putting values where the placeholders are. What stands in
/// quotes is copied as it is.
fn inject(
    text: &mut String,
    backend: DbBackend,
    sql: &str,
    values: &[Value],
) -> Result<(), LiteralError> {
    let bytes = sql.as_bytes();
    let missing = LiteralError::Placeholder { values: values.len() };
    let (mut copied, mut at, mut next) = (0, 0, 0);
    while at < bytes.len() {
        let (index, end) = match bytes[at] {
            quote @ (b'\'' | b'"' | b'`') => {
                at = quoted_end(backend, bytes, at, quote);
                continue;
            }
            b'?' if backend != DbBackend::Postgres => {
                next += 1;
                (next - 1, at + 1)
            }
            b'$' if backend == DbBackend::Postgres => {
                let digits = bytes[at + 1..].iter().take_while(|b| b.is_ascii_digit());
                let end = at + 1 + digits.count();
                let number = sql[at + 1..end].parse::<usize>().unwrap_or_default();
                (number.checked_sub(1).ok_or(missing)?, end)
            }
            _ => {
                at += 1;
                continue;
            }
        };
        text.push_str(&sql[copied..at]);
        value_literal(text, backend, values.get(index).ok_or(missing)?)?;
        copied = end;
        at = end;
    }
    text.push_str(&sql[copied..]);
    Ok(())
}

/// Where the quoted part that begins at `start` ends. A doubled quote counts
/// as an end and a new beginning, which comes to the same.
fn quoted_end(backend: DbBackend, bytes: &[u8], start: usize, quote: u8) -> usize {
    let escapes = quote == b'\''
        && match backend {
            DbBackend::Postgres => start > 0 && bytes[start - 1] == b'E',
            other => other == DbBackend::MySql,
        };
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if escapes => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
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
    use sea_orm::sea_query::{ExprTrait, Query};

    fn insert(value: impl Into<Value>) -> sea_orm::sea_query::InsertStatement {
        let mut insert = Query::insert();
        insert.into_table("t?").columns(["a"]);
        insert.values_panic([sea_orm::sea_query::Expr::val(value.into())]);
        insert
    }

    #[test]
    fn quotes_and_backslashes() {
        let tricky = insert(r"it's \ ?, $1");
        for (backend, expected) in [
            (DbBackend::Sqlite, r#"INSERT INTO "t?" ("a") VALUES ('it''s \ ?, $1')"#),
            (DbBackend::Postgres, r#"INSERT INTO "t?" ("a") VALUES ('it''s \ ?, $1')"#),
            (DbBackend::MySql, r"INSERT INTO `t?` (`a`) VALUES ('it''s \\ ?, $1')"),
        ] {
            assert_eq!(render(backend, &tricky).unwrap(), expected);
        }
    }

    #[test]
    fn what_no_database_holds_is_refused() {
        let refused = |value: Value| render(DbBackend::Sqlite, &insert(value)).unwrap_err();
        assert_eq!(refused("a\0b".into()), LiteralError::Nul);
        assert_eq!(refused(f64::NAN.into()), LiteralError::NotFinite);
        assert_eq!(refused(u64::MAX.into()), LiteralError::Unsupported);
    }

    #[test]
    fn numbered_placeholders_take_their_own_value() {
        let mut text = String::new();
        let values = [Value::from(7_i64), Value::from("x")];
        let sql = "SELECT $2, 'a$1', E'b\\'$1', \"c$1\", $1";
        inject(&mut text, DbBackend::Postgres, sql, &values).unwrap();
        assert_eq!(text, "SELECT 'x', 'a$1', E'b\\'$1', \"c$1\", 7");
        let short = inject(&mut text, DbBackend::Postgres, "$3", &values);
        assert_eq!(short, Err(LiteralError::Placeholder { values: 2 }));
    }

    #[test]
    fn the_same_value_in_update_and_where() {
        let update = Query::update()
            .table("t")
            .value("a", 1_i64)
            .and_where(sea_orm::sea_query::Expr::col("b").eq(2_i64))
            .to_owned();
        assert_eq!(
            render(DbBackend::MySql, &update).unwrap(),
            "UPDATE `t` SET `a` = 1 WHERE `b` = 2"
        );
    }
}
