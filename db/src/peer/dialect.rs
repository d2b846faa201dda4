//! Where the three databases differ in what is asked of them.

use sea_orm::DbBackend as Backend;
use stowplan_model::Micros;

/// The SQL of one database.
#[derive(Clone, Copy, Debug)]
pub struct Dialect(pub Backend);

impl Dialect {
    /// A whole number, 64 bits wide whatever the column is. SQLite gives what it
    /// holds, so that a text among numbers is found.
    #[must_use]
    pub fn number(self, expression: &str) -> String {
        match self.0 {
            Backend::Postgres => format!("CAST({expression} AS BIGINT)"),
            Backend::MySql => format!("CAST({expression} AS SIGNED)"),
            _ => expression.to_owned(),
        }
    }

    /// A boolean as a number.
    #[must_use]
    pub fn flag(self, expression: &str) -> String {
        match self.0 {
            Backend::Postgres => format!("CAST(CAST({expression} AS INTEGER) AS BIGINT)"),
            _ => self.number(expression),
        }
    }

    /// A text, whatever the column's collation.
    #[must_use]
    pub fn text(self, expression: &str) -> String {
        match self.0 {
            Backend::MySql => format!("CAST({expression} AS CHAR)"),
            Backend::Postgres => format!("CAST({expression} AS TEXT)"),
            _ => expression.to_owned(),
        }
    }

    /// A double as the peer reads it. MariaDB's column is a single, of which its
    /// clients see a text of six digits.
    #[must_use]
    pub fn double(self, expression: &str) -> String {
        match self.0 {
            Backend::MySql => format!("CONCAT({expression}) + 0e0"),
            _ => expression.to_owned(),
        }
    }

    /// A text as it stands in a statement. On MariaDB a backslash would be more than a
    /// character, in some of its modes.
    #[must_use]
    pub fn quoted(self, text: &str) -> String {
        if self.0 == Backend::MySql {
            let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
            return format!("_utf8mb4 X'{hex}'");
        }
        format!("'{}'", text.replace('\'', "''").replace('\0', ""))
    }

    /// A point in time, to be compared with a column: whole seconds on SQLite, whose
    /// columns hold texts.
    #[must_use]
    pub fn moment(self, at: Micros) -> String {
        match self.0 {
            Backend::Postgres => format!("TIMESTAMP 'epoch' + {} * INTERVAL '1 microsecond'", at.0),
            Backend::MySql => format!("TIMESTAMPADD(MICROSECOND, {}, '1970-01-01 00:00:00')", at.0),
            _ => format!("strftime('%Y-%m-%d %H:%M:%S', {}, 'unixepoch')", at.seconds()),
        }
    }

    /// Microseconds since the epoch; nothing where there is no time.
    #[must_use]
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
