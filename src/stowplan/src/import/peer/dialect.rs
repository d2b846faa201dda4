//! Where the three databases differ in what is asked of them.

use stowplan_db::Backend;

/// The SQL of one database.
#[derive(Clone, Copy, Debug)]
pub struct Dialect(pub Backend);

impl Dialect {
    /// A whole number, 64 bits wide whatever the column is. SQLite gives what it
    /// holds, so that a text among numbers is found.
    pub fn number(self, expression: &str) -> String {
        match self.0 {
            Backend::Postgres => format!("CAST({expression} AS BIGINT)"),
            Backend::MySql => format!("CAST({expression} AS SIGNED)"),
            _ => expression.to_owned(),
        }
    }

    /// A text, whatever the column's collation.
    pub fn text(self, expression: &str) -> String {
        match self.0 {
            Backend::MySql => format!("CAST({expression} AS CHAR)"),
            _ => expression.to_owned(),
        }
    }

    /// A double as the peer reads it. MariaDB's column is a single, of which its
    /// clients see a text of six digits.
    pub fn double(self, expression: &str) -> String {
        match self.0 {
            Backend::MySql => format!("CONCAT({expression}) + 0e0"),
            _ => expression.to_owned(),
        }
    }

    /// Microseconds since the epoch; nothing where there is no time.
    pub fn time(self, expression: &str) -> String {
        match self.0 {
            Backend::Postgres => {
                format!("CAST(EXTRACT(EPOCH FROM {expression}) * 1000000 AS BIGINT)")
            }
            Backend::MySql => {
                format!("TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', {expression})")
            }
            // A time is kept as text: YYYY-MM-DD hh:mm:ss.ffffff
            _ => format!(
                "CAST(strftime('%s', {expression}) AS INTEGER) * 1000000 + \
                 CAST(substr({expression} || '000000', 21, 6) AS INTEGER)"
            ),
        }
    }
}
