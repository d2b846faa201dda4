//! JSON values as the peer's language compares them.
//!
//! Queries of JsonFilter and PCI tags hold values of any type; whether two are
//! equal, which is the greater and which counts as true follows Python.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// Whether a value counts as true: null, false, 0 and what is empty do not.
#[must_use]
pub fn truth(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}

/// `a == b`: numbers by their value, booleans being 0 and 1; values of other
/// types differ.
#[must_use]
pub fn equal(a: &Value, b: &Value) -> bool {
    if let (Some(a), Some(b)) = (numeric(a), numeric(b)) {
        return order(&a, &b) == Some(Ordering::Equal);
    }
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}

/// Two values that have no order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} and {1} have no order")]
pub struct Unordered(&'static str, &'static str);

/// The order of two values: numbers and texts each among themselves, lists by
/// their first difference. `None` for a number that is none.
///
/// # Errors
/// The values are of types that have no order with each other.
pub fn compare(a: &Value, b: &Value) -> Result<Option<Ordering>, Unordered> {
    if let (Some(a), Some(b)) = (numeric(a), numeric(b)) {
        return Ok(order(&a, &b));
    }
    match (a, b) {
        (Value::String(a), Value::String(b)) => Ok(Some(a.cmp(b))),
        (Value::Array(a), Value::Array(b)) => match a.iter().zip(b).find(|(a, b)| !equal(a, b)) {
            Some((a, b)) => compare(a, b),
            None => Ok(Some(a.len().cmp(&b.len()))),
        },
        _ => Err(Unordered(kind(a), kind(b))),
    }
}

/// The type of a value, in words for messages.
#[must_use]
pub const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A value that counts as a number.
enum Numeric {
    Whole(i128),
    Float(f64),
}

fn numeric(value: &Value) -> Option<Numeric> {
    match value {
        Value::Bool(flag) => Some(Numeric::Whole(i128::from(*flag))),
        Value::Number(number) => {
            Some(whole(number).map_or_else(
                || Numeric::Float(number.as_f64().unwrap_or(f64::NAN)),
                Numeric::Whole,
            ))
        }
        _ => None,
    }
}

fn whole(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

fn order(a: &Numeric, b: &Numeric) -> Option<Ordering> {
    let float = |value: &Numeric| match value {
        Numeric::Whole(number) => *number as f64,
        Numeric::Float(number) => *number,
    };
    match (a, b) {
        (Numeric::Whole(a), Numeric::Whole(b)) => Some(a.cmp(b)),
        _ => float(a).partial_cmp(&float(b)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_empty_or_zero_is_false() {
        for value in [json!(null), json!(false), json!(0), json!(0.0), json!(""), json!([])] {
            assert!(!truth(&value), "{value}");
        }
        assert!(!truth(&json!({})));
        for value in [json!(true), json!(-1), json!("0"), json!([false]), json!({"a": 0})] {
            assert!(truth(&value), "{value}");
        }
    }

    #[test]
    fn numbers_are_equal_by_value_and_texts_are_no_numbers() {
        assert!(equal(&json!(1), &json!(1.0)));
        assert!(equal(&json!(true), &json!(1)));
        assert!(equal(&json!([1, {"a": 2}]), &json!([1.0, {"a": 2.0}])));
        assert!(!equal(&json!("1"), &json!(1)));
        assert!(!equal(&json!(null), &json!(0)));
    }

    #[test]
    fn order_is_within_a_type() {
        assert_eq!(compare(&json!(2), &json!(1.5)), Ok(Some(Ordering::Greater)));
        assert_eq!(compare(&json!("a"), &json!("b")), Ok(Some(Ordering::Less)));
        assert_eq!(compare(&json!([1, 2]), &json!([1, 2, 0])), Ok(Some(Ordering::Less)));
        assert_eq!(compare(&json!("a"), &json!(3)), Err(Unordered("a text", "a number")));
        assert!(compare(&json!({}), &json!({})).is_err());
        assert!(compare(&json!([1, "a"]), &json!([1, 2])).is_err());
    }
}
