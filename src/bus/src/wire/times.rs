//! Times as OpenStack's services write them.

use stowplan_model::Micros;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use time::{PrimitiveDateTime, UtcDateTime};

/// Nanoseconds in a microsecond.
const NANOS: i128 = 1000;

/// The form of a notification.
const WRITTEN: &[BorrowedFormatItem<'static>] =
    format_description!("[year]-[month]-[day] [hour]:[minute]:[second].[subsecond digits:6]");
const WHOLE: &[BorrowedFormatItem<'static>] =
    format_description!("[year]-[month]-[day] [hour]:[minute]:[second]");
const PARTS: &[BorrowedFormatItem<'static>] =
    format_description!("[year]-[month]-[day] [hour]:[minute]:[second].[subsecond]");

/// Reads a time with `T` or a blank in the middle, with or without a fraction,
/// with `Z`, `+00:00` or no zone; without a zone it is UTC.
#[must_use]
pub fn read(text: &str) -> Option<Micros> {
    let text = text.strip_suffix('Z').or_else(|| text.strip_suffix("+00:00")).unwrap_or(text);
    let text = text.replacen('T', " ", 1);
    let form = if text.contains('.') { PARTS } else { WHOLE };
    let time = PrimitiveDateTime::parse(&text, form).ok()?;
    i64::try_from(time.assume_utc().unix_timestamp_nanos() / NANOS).ok().map(Micros)
}

/// Writes a time as notifications have it.
#[must_use]
pub fn write(time: Micros) -> String {
    let time = UtcDateTime::from_unix_timestamp_nanos(i128::from(time.0) * NANOS);
    time.ok().and_then(|time| time.format(WRITTEN).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[test]
    fn all_forms_are_read() {
        let at = Micros(1_795_998_700_113_692);
        for text in [
            "2026-11-30 00:31:40.113692",
            "2026-11-30T00:31:40.113692",
            "2026-11-30T00:31:40.113692Z",
            "2026-11-30T00:31:40.113692+00:00",
        ] {
            assert_eq!(read(text), Some(at), "{text}");
        }
        assert_eq!(read("2026-11-30T00:31:40Z"), Some(Micros(1_795_998_700_000_000)));
        assert_eq!(read("yesterday"), None);
        assert_eq!(write(at), "2026-11-30 00:31:40.113692");
    }
}
