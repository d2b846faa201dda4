//! Query strings: taken apart, checked, and turned into what the placement
//! crate asks for.

mod candidates;
mod parts;
mod providers;

pub use candidates::candidate_query;
pub use providers::provider_filter;

use crate::{failure::Failure, schema::Schema};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

/// A query string as pairs, in its order.
#[derive(Debug)]
pub struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    /// Takes a query string apart.
    ///
    /// # Errors
    /// 400 when it is no UTF-8.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decode(key)?, decode(value)?))
        });
        Ok(Self { pairs: pairs.collect::<Result<_, Failure>>()? })
    }

    /// Checks the query against a table of parameters.
    ///
    /// # Errors
    /// 400 naming the parameter, its value and what was expected.
    pub fn check(&self, schema: &Schema) -> Result<(), Failure> {
        let map: Map<String, Value> = self
            .pairs
            .iter()
            .map(|(key, value)| (key.clone(), Value::String(value.clone())))
            .collect();
        schema.check(&Value::Object(map)).map_err(|fault| {
            Failure::bad_request(format!("Invalid query string parameters: {fault}"))
        })
    }

    /// All pairs.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// All values of a parameter.
    pub fn all<'q>(&'q self, key: &'q str) -> impl Iterator<Item = &'q str> {
        self.pairs().filter(move |(name, _)| *name == key).map(|(_, value)| value)
    }

    /// The first value of a parameter.
    pub fn first(&self, key: &str) -> Option<&str> {
        self.pairs().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// The last value of a parameter.
    pub fn last(&self, key: &str) -> Option<&str> {
        self.pairs().filter(|(name, _)| *name == key).last().map(|(_, value)| value)
    }
}

fn decode(text: &str) -> Result<String, Failure> {
    if !text.contains(['%', '+']) {
        return Ok(text.to_owned());
    }
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8().map(|text| text.into_owned()).map_err(|_| {
        Failure::bad_request(format!("Invalid query string parameters: {text} is not UTF-8"))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[test]
    fn pairs_are_decoded() {
        let query = Query::parse("a=1&b=x+y%20z&a=%e2%98%83&&c&d=").unwrap();
        assert_eq!(query.first("a"), Some("1"));
        assert_eq!(query.last("a"), Some("\u{2603}"));
        assert_eq!(query.first("b"), Some("x y z"));
        assert_eq!((query.first("c"), query.first("d")), (Some(""), Some("")));
        assert_eq!(query.first("e"), None);
        assert!(Query::parse("a=%ff").is_err());
    }
}
