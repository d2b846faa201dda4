//! Texts as the peer's language reads and writes them.
//!
//! Extra specs, aggregate metadata and image properties are compared as text
//! that Nova renders with Python's `str()` and parses with its `float()` and
//! `int()`; a host passes or fails by these very rules.

use serde_json::Value;

/// `float(text)`: surrounding blanks, a sign, an exponent, `inf`, `infinity`
/// and `nan` in any letter case, and one `_` between digits are accepted.
#[must_use]
pub fn float(text: &str) -> Option<f64> {
    let text = strip(text);
    let (sign, body) = match text.as_bytes().first() {
        Some(b'-') => (-1.0, &text[1..]),
        Some(b'+') => (1.0, &text[1..]),
        _ => (1.0, text),
    };
    if body.eq_ignore_ascii_case("inf") || body.eq_ignore_ascii_case("infinity") {
        return Some(sign * f64::INFINITY);
    }
    if body.eq_ignore_ascii_case("nan") {
        return Some(f64::NAN);
    }
    // Rust's own words for the same (and a second sign) must not slip through.
    if !body.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        || !body
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-' | b'_'))
    {
        return None;
    }
    let digits = without_underscores(body)?;
    digits.parse::<f64>().ok().map(|value| sign * value)
}

/// `int(text)`: blanks, a sign, and one `_` between digits are accepted.
/// Beyond 64 bits the nearest value of 64 bits stands for the number.
#[must_use]
pub fn int(text: &str) -> Option<i64> {
    let text = strip(text);
    let (negative, body) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if body.is_empty() || !body.bytes().all(|b| b.is_ascii_digit() || b == b'_') {
        return None;
    }
    let digits = without_underscores(body)?;
    let limit = if negative { i64::MIN } else { i64::MAX };
    let signed = if negative { format!("-{digits}") } else { digits };
    Some(signed.parse::<i64>().unwrap_or(limit))
}

/// Text read as a boolean: 1, t, true, on, y and yes are true in any letter
/// case, everything else is false.
#[must_use]
pub fn flag(text: &str) -> bool {
    const TRUE: [&str; 6] = ["1", "t", "true", "on", "y", "yes"];
    let text = strip(text);
    TRUE.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// `str(value)` of a JSON value.
#[must_use]
pub fn str(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => repr(other),
    }
}

/// `repr(value)` of a JSON value.
#[must_use]
pub fn repr(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() => repr_float(float),
            _ => number.to_string(),
        },
        Value::String(text) => repr_text(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(repr).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(map) => {
            let items: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{}: {}", repr_text(key), repr(value)))
                .collect();
            format!("{{{}}}", items.join(", "))
        }
    }
}

/// `repr(float)`: the shortest digits that read back, an exponent below
/// 1e-4 and from 1e16 on.
#[must_use]
pub fn repr_float(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e16).contains(&size) {
        let text = format!("{value:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, digits) = match exponent.strip_prefix('-') {
            Some(digits) => ('-', digits),
            None => ('+', exponent),
        };
        return format!("{mantissa}e{sign}{digits:0>2}");
    }
    format!("{value:?}")
}

/// `repr(str)`: single quotes unless the text has some and no double ones.
fn repr_text(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if (c as u32) < 0x20 || (0x7f..0xa1).contains(&(c as u32)) => {
                out.push_str(&format!("\\x{:02x}", c as u32));
            }
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

/// Without surrounding white space; the four separators of ASCII count too.
#[must_use]
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// White space as the peer's `split()` and `strip()` see it.
#[must_use]
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// The text without its underscores, if each stands between two digits.
fn without_underscores(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    for (at, _) in bytes.iter().enumerate().filter(|(_, b)| **b == b'_') {
        let before = at.checked_sub(1).and_then(|i| bytes.get(i));
        let after = bytes.get(at + 1);
        if !(before.is_some_and(u8::is_ascii_digit) && after.is_some_and(u8::is_ascii_digit)) {
            return None;
        }
    }
    Some(text.replace('_', ""))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use serde_json::json;

    #[test]
    fn float_follows_the_grammar() {
        for (text, value) in [
            (" 1.5 ", 1.5),
            ("1_0", 10.0),
            ("+2", 2.0),
            ("-.5e1", -5.0),
            ("1.", 1.0),
            ("\u{1f}7\n", 7.0),
            ("Infinity", f64::INFINITY),
            ("-INF", f64::NEG_INFINITY),
        ] {
            assert_eq!(float(text), Some(value), "{text:?}");
        }
        assert!(float("NaN").unwrap().is_nan());
        for text in ["", ".", "1,5", "0x10", "1__0", "_1", "1_", "1_.0", "--1", "+-1", "1 2", "e5"]
        {
            assert_eq!(float(text), None, "{text:?}");
        }
    }

    #[test]
    fn int_follows_the_grammar() {
        assert_eq!(int(" +1_000 "), Some(1000));
        assert_eq!(int("-7"), Some(-7));
        assert_eq!(int("99999999999999999999"), Some(i64::MAX));
        for text in ["", "1.0", "1__0", "0x1", "-", "1e3"] {
            assert_eq!(int(text), None, "{text:?}");
        }
    }

    #[test]
    fn str_of_values() {
        for (value, text) in [
            (json!(true), "True"),
            (json!(null), "None"),
            (json!(4.0), "4.0"),
            (json!(1e16), "1e+16"),
            (json!(1e15), "1000000000000000.0"),
            (json!(0.00001), "1e-05"),
            (json!(0.5), "0.5"),
            (json!("a"), "a"),
            (json!(["a", 1, null]), "['a', 1, None]"),
            (json!({"it's": "b\n"}), "{\"it's\": 'b\\n'}"),
        ] {
            assert_eq!(str(&value), text);
        }
    }

    #[test]
    fn flags() {
        assert!(flag(" YES "));
        assert!(flag("t"));
        assert!(!flag("enabled"));
        assert!(!flag(""));
    }
}
