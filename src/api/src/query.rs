//! Query strings, taken apart.

use crate::{failure::Failure, schema::Schema};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

/// A query string as pairs, in its order.
#[derive(Debug)]
pub struct Query {
    pairs: Vec<(String, String)>,
    /// Places of the pairs, those of one key together: a query of thousands of
    /// parameters costs no more than its length.
    by_key: Vec<usize>,
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
        let pairs: Vec<(String, String)> = pairs.collect::<Result<_, Failure>>()?;
        let mut by_key: Vec<usize> = (0..pairs.len()).collect();
        by_key.sort_by(|one, other| pairs[*one].0.cmp(&pairs[*other].0));
        Ok(Self { pairs, by_key })
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

    /// The parameters, each once, in the order of their first values.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let runs = self.by_key.chunk_by(|one, other| self.pairs[*one].0 == self.pairs[*other].0);
        let mut firsts: Vec<usize> = runs.filter_map(|run| run.first().copied()).collect();
        firsts.sort_unstable();
        firsts.into_iter().map(|place| self.pairs[place].0.as_str())
    }

    /// All values of a parameter, in their order.
    pub fn all(&self, key: &str) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        let start = self.by_key.partition_point(|place| self.pairs[*place].0.as_str() < key);
        let length = self.by_key[start..].partition_point(|place| self.pairs[*place].0 == key);
        self.by_key[start..start + length].iter().map(|place| self.pairs[*place].1.as_str())
    }

    /// The first value of a parameter.
    pub fn first(&self, key: &str) -> Option<&str> {
        self.all(key).next()
    }

    /// The last value of a parameter.
    pub fn last(&self, key: &str) -> Option<&str> {
        self.all(key).next_back()
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
        assert_eq!(query.keys().collect::<Vec<_>>(), ["a", "b", "c", "d"]);
        assert_eq!(query.all("a").collect::<Vec<_>>(), ["1", "\u{2603}"]);
        assert!(Query::parse("a=%ff").is_err());
    }
}
