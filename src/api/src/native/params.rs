//! Query parameters of `/v1`: every one that is wrong is named.

use crate::{failure::Failure, query::Query};
use actix_web::HttpRequest;
use serde::Serialize;
use std::collections::BTreeMap;
use stowplan_model::Uuid;
use stowplan_scheduler::{SchedulerError, fields::FieldErrors};

/// The query parameters of a call, taken out one by one.
pub struct Params {
    given: BTreeMap<String, String>,
    errors: FieldErrors,
}

impl Params {
    /// Reads the query of a request.
    ///
    /// # Errors
    /// 400 when it cannot be decoded.
    pub fn of(request: &HttpRequest) -> Result<Self, Failure> {
        let query = Query::parse(request.query_string())?;
        let mut errors = FieldErrors::default();
        let mut given = BTreeMap::new();
        for key in query.keys() {
            let mut values = query.all(key);
            given.extend(values.next().map(|value| (key.to_owned(), value.to_owned())));
            for value in values {
                errors.add(key, value, "each parameter once");
            }
        }
        Ok(Self { given, errors })
    }

    /// A text.
    pub fn text(&mut self, name: &str) -> Option<String> {
        self.given.remove(name)
    }

    /// A uuid.
    pub fn uuid(&mut self, name: &str) -> Option<Uuid> {
        self.parsed(name, "a uuid", |text| Uuid::parse_str(text).ok())
    }

    /// A whole number.
    pub fn number(&mut self, name: &str) -> Option<i64> {
        self.parsed(name, "a whole number", |text| text.parse().ok())
    }

    /// `true` or `false`; false when it is not given.
    pub fn flag(&mut self, name: &str) -> bool {
        self.parsed(name, "true or false", |text| text.parse().ok()).unwrap_or(false)
    }

    /// One of some words.
    pub fn word<T: Copy>(&mut self, name: &str, words: &[(&str, T)]) -> Option<T> {
        let expected: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let find = |text: &str| words.iter().find(|(word, _)| *word == text).map(|(_, it)| *it);
        self.parsed(name, &expected.join(" or "), find)
    }

    /// Items in a page: `limit`, no more than `[api] max_limit`, which is also
    /// taken when it is not given.
    pub fn limit(&mut self, most: u32) -> usize {
        let limit = self.parsed("limit", "a whole number of at least 1", |text| {
            text.parse().ok().filter(|limit| *limit >= 1)
        });
        limit.unwrap_or(usize::MAX).min(most as usize)
    }

    /// Notes that a parameter cannot be here.
    pub fn refuse(&mut self, name: &str, value: &str, expected: &str) {
        self.errors.add(name, value, expected);
    }

    /// That nothing was wrong, and nothing is left.
    ///
    /// # Errors
    /// 400 with every parameter that is unknown or cannot be read.
    pub fn finish(mut self) -> Result<(), Failure> {
        for (name, value) in std::mem::take(&mut self.given) {
            self.errors.add(name, &value, "no parameter of this name");
        }
        Ok(self.errors.into_result(()).map_err(SchedulerError::from)?)
    }

    fn parsed<T>(
        &mut self,
        name: &str,
        expected: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.given.remove(name)?;
        let value = parse(&text);
        if value.is_none() {
            self.errors.add(name, text.as_str(), expected);
        }
        value
    }
}

/// An answer with a JSON body.
pub fn json(status: actix_web::http::StatusCode, body: &impl Serialize) -> actix_web::HttpResponse {
    actix_web::HttpResponse::build(status).json(body)
}
