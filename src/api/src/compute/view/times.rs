//! Points in time as the compute API writes them.

use stowplan_model::Micros;
use time::OffsetDateTime;

/// `YYYY-MM-DDTHH:MM:SS.ffffff`, in UTC and without saying so.
pub fn written(at: Micros) -> String {
    let nanos = i128::from(at.0) * 1000;
    let at = OffsetDateTime::from_unix_timestamp_nanos(nanos).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}",
        at.year(),
        u8::from(at.month()),
        at.day(),
        at.hour(),
        at.minute(),
        at.second(),
        at.microsecond()
    )
}

/// When a thing was changed after it was made; nothing if it never was.
pub fn changed(created: Micros, updated: Micros) -> Option<String> {
    (updated != created).then(|| written(updated))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_without_a_zone() {
        for (at, text) in [
            (Micros(0), "1970-01-01T00:00:00.000000"),
            (Micros(1_767_225_600_000_001), "2026-01-01T00:00:00.000001"),
            (Micros(-1), "1969-12-31T23:59:59.999999"),
            (Micros(i64::MAX), "1970-01-01T00:00:00.000000"),
        ] {
            assert_eq!(written(at), text);
        }
        assert_eq!(changed(Micros(1), Micros(1)), None);
    }
}
