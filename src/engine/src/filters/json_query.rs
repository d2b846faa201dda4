//! Queries of JsonFilter: an operator and its arguments in a JSON list.
//!
//! Values follow the peer's language: what counts as true, what is equal, and
//! that values of different types have no order, which fails the request.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::Value;
use stowplan_model::{pytext, pyvalue};

use crate::attributes::{Attribute, attribute};
use crate::fault::{Fault, FaultKind};
use crate::table::HostIx;
use crate::view::HostView;

/// A query, read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Query(Value);

/// What an operator does with its arguments.
#[derive(Clone, Copy, Debug)]
enum Operator {
    /// The first argument compares so with all others.
    Compare(fn(Ordering) -> bool),
    /// The first argument equals all others.
    Equals,
    /// The first argument is among the others.
    In,
    /// Each argument negated.
    Not,
    Or,
    And,
}

const OPERATORS: &[(&str, Operator)] = &[
    ("=", Operator::Equals),
    ("<", Operator::Compare(Ordering::is_lt)),
    (">", Operator::Compare(Ordering::is_gt)),
    ("<=", Operator::Compare(Ordering::is_le)),
    (">=", Operator::Compare(Ordering::is_ge)),
    ("in", Operator::In),
    ("not", Operator::Not),
    ("or", Operator::Or),
    ("and", Operator::And),
];

impl Query {
    /// Reads the text of a query.
    ///
    /// # Errors
    /// The text is not JSON.
    pub(super) fn read(text: &str) -> Result<Self, Fault> {
        serde_json::from_str(text).map(Self).map_err(|error| {
            Fault::new(FaultKind::Syntax, format!("hint query is \"{text}\": {error}"))
        })
    }

    /// Whether it holds of a host.
    ///
    /// # Errors
    /// An operator that does not exist, or values that cannot be compared.
    pub(super) fn holds(&self, view: &dyn HostView, host: HostIx) -> Result<bool, Fault> {
        Ok(match evaluate(&self.0, view, host)? {
            // The result of `not`: one true member is enough.
            Value::Array(results) => results.iter().any(pyvalue::truth),
            result => pyvalue::truth(&result),
        })
    }

    /// What the host has for each attribute that the query names.
    pub(super) fn seen(&self, view: &dyn HostView, host: HostIx) -> BTreeMap<String, String> {
        let mut seen = BTreeMap::new();
        note(&self.0, view, host, &mut seen);
        seen
    }
}

fn note(at: &Value, view: &dyn HostView, host: HostIx, seen: &mut BTreeMap<String, String>) {
    match at {
        Value::Array(items) => items.iter().for_each(|item| note(item, view, host, seen)),
        Value::String(text) if text.starts_with('$') => {
            let value = look_up(text, view, host).ok().flatten();
            let value = value.map_or_else(|| "nothing".to_owned(), |value| pytext::str(&value));
            seen.insert(text.clone(), value);
        }
        _ => {}
    }
}

fn evaluate(node: &Value, view: &dyn HostView, host: HostIx) -> Result<Value, Fault> {
    if !pyvalue::truth(node) {
        return Ok(Value::Bool(true));
    }
    let letters: Vec<Value>;
    let items = match node {
        Value::Array(items) => items.as_slice(),
        // A text is a list of its letters to the peer.
        Value::String(text) => {
            letters = text.chars().map(|c| Value::String(c.to_string())).collect();
            letters.as_slice()
        }
        Value::Object(_) => return Err(unknown(node)),
        other => {
            let kind = pyvalue::kind(other);
            let message = format!("query {other} is {kind}: expected [operator, argument, ...]");
            return Err(Fault::new(FaultKind::Type, message));
        }
    };
    let Some((name, arguments)) = items.split_first() else {
        return Ok(Value::Bool(true));
    };
    let operator = operator(name)?;
    let mut cooked = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let value = match argument {
            Value::Array(_) => Some(evaluate(argument, view, host)?),
            Value::String(text) => parse(text, view, host)?,
            literal => Some(literal.clone()),
        };
        // What is null is not there for the operator.
        cooked.extend(value.filter(|value| !value.is_null()));
    }
    apply(operator, cooked)
}

fn operator(name: &Value) -> Result<Operator, Fault> {
    match name {
        Value::Array(_) | Value::Object(_) => Err(Fault::new(
            FaultKind::Type,
            format!("operator {name} is {}: expected a text", pyvalue::kind(name)),
        )),
        Value::String(text) => OPERATORS
            .iter()
            .find(|(known, _)| known == text)
            .map(|(_, operator)| *operator)
            .ok_or_else(|| unknown(name)),
        _ => Err(unknown(name)),
    }
}

fn unknown(name: &Value) -> Fault {
    let known: Vec<&str> = OPERATORS.iter().map(|(name, _)| *name).collect();
    Fault::new(
        FaultKind::UnknownOperator,
        format!("operator {name} of the query: expected one of {}", known.join(" ")),
    )
}

fn apply(operator: Operator, arguments: Vec<Value>) -> Result<Value, Fault> {
    let result = match operator {
        Operator::Not => {
            let negated = arguments.iter().map(|value| Value::Bool(!pyvalue::truth(value)));
            return Ok(Value::Array(negated.collect()));
        }
        Operator::Or => arguments.iter().any(pyvalue::truth),
        Operator::And => arguments.iter().all(pyvalue::truth),
        Operator::Compare(_) | Operator::Equals | Operator::In => match arguments.split_first() {
            None => false,
            Some((_, [])) => false,
            Some((first, others)) => compare(operator, first, others)?,
        },
    };
    Ok(Value::Bool(result))
}

fn compare(operator: Operator, first: &Value, others: &[Value]) -> Result<bool, Fault> {
    match operator {
        Operator::In => Ok(others.iter().any(|other| pyvalue::equal(first, other))),
        Operator::Compare(holds) => {
            // All are compared: one that has no order fails the request even
            // behind one that decides.
            let mut all = true;
            for other in others {
                let order = pyvalue::compare(first, other).map_err(|unordered| {
                    let message = format!("query compares {first} with {other}: {unordered}");
                    Fault::new(FaultKind::Type, message)
                })?;
                all &= order.is_some_and(holds);
            }
            Ok(all)
        }
        _ => Ok(others.iter().all(|other| pyvalue::equal(first, other))),
    }
}

/// A text argument: an attribute of the host behind `$`, else itself.
fn parse(text: &str, view: &dyn HostView, host: HostIx) -> Result<Option<Value>, Fault> {
    if text.is_empty() {
        Ok(None)
    } else if text.starts_with('$') {
        look_up(text, view, host)
    } else {
        Ok(Some(Value::String(text.to_owned())))
    }
}

/// The value of `$attribute.key.key`; `None` where something on the way is
/// missing or null.
fn look_up(text: &str, view: &dyn HostView, host: HostIx) -> Result<Option<Value>, Fault> {
    let mut path = text.strip_prefix('$').unwrap_or(text).split('.');
    let name = path.next().unwrap_or_default();
    let Some(found) = attribute(view, host, name) else {
        return Ok(None);
    };
    let mut value = match found {
        Attribute::Null => return Ok(None),
        Attribute::Int(number) => Value::from(number),
        Attribute::Float(number) => Value::from(number),
        Attribute::Text(text) => Value::String(text.into_owned()),
        Attribute::Json(json) => json.into_owned(),
    };
    for key in path {
        let Value::Object(mut map) = value else {
            return Err(Fault::new(
                FaultKind::Unsupported,
                format!("query asks for {text}: {key} is looked for in {}", pyvalue::kind(&value)),
            ));
        };
        match map.remove(key) {
            None | Some(Value::Null) => return Ok(None),
            Some(next) => value = next,
        }
    }
    Ok(Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Figure, Figures, HostFacts, HostRow, HostTable};
    use serde_json::json;

    fn table() -> HostTable {
        let mut table = HostTable::new();
        let stats = json!({"a": 5, "b": {"c": "x"}, "none": null});
        let facts = HostFacts {
            host: "h".to_owned(),
            hypervisor_type: Some("QEMU".to_owned()),
            stats: stats.as_object().cloned().unwrap_or_default(),
            ..HostFacts::default()
        };
        let figures = Figures::default().with(Figure::FreeRamMb, 1024);
        table.upsert(HostIx(0), HostRow { facts, figures, ..HostRow::default() });
        table
    }

    fn holds(query: &str) -> Result<bool, FaultKind> {
        let query = Query::read(query).map_err(|fault| fault.kind)?;
        query.holds(&table(), HostIx(0)).map_err(|fault| fault.kind)
    }

    #[test]
    fn operators() {
        for (query, expected) in [
            (r#"[">=", "$free_ram_mb", 1024]"#, true),
            (r#"["<", "$free_ram_mb", 2048, 1000]"#, false),
            (r#"["=", "$free_ram_mb", 1024.0, 1024]"#, true),
            (r#"["in", "$hypervisor_type", "KVM", "QEMU"]"#, true),
            (r#"["=", "$stats.b.c", "x"]"#, true),
            (r#"["and", ["=", 1, 1], ["not", ["=", 1, 2]]]"#, true),
            (r#"["or", ["=", 1, 2], ["=", 1, 3]]"#, false),
            // One argument is no comparison, and what is null is no argument.
            (r#"["=", "$free_ram_mb"]"#, false),
            (r#"["=", "$nosuch", null]"#, false),
            (r#"["=", "", "x"]"#, false),
            ("[]", true),
            ("{}", true),
            // The list that `not` gives is true inside, whatever is in it.
            (r#"["not", ["=", 1, 1]]"#, false),
            (r#"["and", ["not", ["=", 1, 1]]]"#, true),
            (r#"["not", ["not", ["=", 1, 1]]]"#, false),
        ] {
            assert_eq!(holds(query), Ok(expected), "{query}");
        }
    }

    #[test]
    fn what_cannot_be_evaluated_fails_the_request() {
        for (query, kind) in [
            (r#"[">", "$hypervisor_type", 3]"#, FaultKind::Type),
            (r#"["<", 1, 0, "a"]"#, FaultKind::Type),
            (r#"["bogus", 1]"#, FaultKind::UnknownOperator),
            (r#"[1, 1]"#, FaultKind::UnknownOperator),
            (r#"[["="], 1]"#, FaultKind::Type),
            ("5", FaultKind::Type),
            (r#"["=", "$free_ram_mb.x", 1]"#, FaultKind::Unsupported),
            ("[", FaultKind::Syntax),
        ] {
            assert_eq!(holds(query), Err(kind), "{query}");
        }
    }

    #[test]
    fn a_reason_shows_what_the_host_has() {
        let query = Query::read(r#"["or", ["=", "$stats.a", 6], [">", "$nosuch", 1]]"#);
        let seen = query.map(|query| query.seen(&table(), HostIx(0))).unwrap_or_default();
        assert_eq!(seen["$stats.a"], "5");
        assert_eq!(seen["$nosuch"], "nothing");
    }
}
