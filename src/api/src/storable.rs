//! Texts that no database holds: those with a NUL character (U+0000).
//!
//! PostgreSQL has no place for one in a text, so none is taken in on any of
//! the databases. Raw, it is no JSON; escaped, it would be found only when the
//! ledger writes. So bodies are searched for it here, for all surfaces.

use crate::failure::Failure;
use serde_json::Value;
use stowplan_scheduler::fields::FieldErrors;

/// Checks a JSON body. One that is no JSON passes: its reader says better what
/// is wrong with it.
///
/// # Errors
/// 400 with every field whose name or value has a NUL character.
pub fn check(body: &[u8]) -> Result<(), Failure> {
    if !may_hold_nul(body) {
        return Ok(());
    }
    let Ok(value) = serde_json::from_slice::<Value>(body) else { return Ok(()) };
    let mut errors = FieldErrors::default();
    search(&mut errors, "", &value);
    let told = errors.to_string();
    errors.into_result(()).map_err(|errors| Failure::bad_request(told).with("errors", errors.all()))
}

/// Whether the escape of the character is there. Behind a backslash that is
/// itself escaped it is none: that is found out by reading.
fn may_hold_nul(body: &[u8]) -> bool {
    body.split(|byte| *byte == b'\\').skip(1).any(|rest| rest.starts_with(b"u0000"))
}

fn search(errors: &mut FieldErrors, place: &str, value: &Value) {
    match value {
        Value::String(text) => check_text(errors, place, text),
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                search(errors, &format!("{place}[{number}]"), item);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                let shown = name.replace('\0', "\\u0000");
                let place = if place.is_empty() { shown } else { format!("{place}.{shown}") };
                check_text(errors, &place, name);
                search(errors, &place, member);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn check_text(errors: &mut FieldErrors, place: &str, text: &str) {
    let place = if place.is_empty() { "body" } else { place };
    errors.require(!text.contains('\0'), place, text, "a text without NUL characters (U+0000)");
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[test]
    fn a_nul_character_is_found_wherever_it_stands() {
        for (body, told) in [
            (
                r#"{"name": "a\u0000b"}"#,
                r#"name is "a\u0000b": expected a text without NUL characters (U+0000)"#,
            ),
            (r#"{"a": [{"b": ["x", "\u0000"]}]}"#, r#"a[0].b[1] is "\u0000": expected a text"#),
            (r#"{"a": {"k\u0000": 1}}"#, r#"a.k\u0000 is "k\u0000": expected a text"#),
            (r#""\u0000""#, r#"body is "\u0000": expected a text"#),
            (r#"["\\\u0000"]"#, r#"[0] is "\\\u0000": expected a text"#),
        ] {
            let failure = check(body.as_bytes()).unwrap_err();
            assert!(failure.detail().starts_with(told), "{body}: {}", failure.detail());
        }
        let both = check(br#"{"a": "\u0000", "b": "\u0000"}"#).unwrap_err();
        assert_eq!(both.detail().matches("expected").count(), 2, "{}", both.detail());
    }

    #[test]
    fn what_only_looks_like_one_passes() {
        for body in [r#"{"name": "a\\u0000b"}"#, r#"{"name": "\u0001"}"#, "", r"no JSON \u0000"] {
            assert!(check(body.as_bytes()).is_ok(), "{body}");
        }
    }
}
