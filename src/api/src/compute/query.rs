//! Queries of the compute API: which parameters a call has, and from when on
//! others are refused.

use super::version::{Feature, Microversion};
use crate::{
    failure::Failure,
    query::Query,
    schema::{Pattern, Schema, TEXT, Text},
};
use serde_json::Value;
use stowplan_model::pytext;

/// A parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What its value must look like.
    pub schema: &'static Schema,
    /// What brought it; before, it is passed over like any that is not known.
    pub since: Feature,
}

/// The parameters of a call.
#[derive(Clone, Copy, Debug)]
pub struct Accepted {
    /// Those it has.
    pub known: &'static [Parameter],
    /// From when on others are refused.
    pub closed: Option<Feature>,
    /// From when on each may stand only once.
    pub once: Option<Feature>,
}

const fn parameter(name: &'static str, schema: &'static Schema, since: Feature) -> Parameter {
    Parameter { name, schema, since }
}

const COUNT: Schema = Schema::Count { min: 0 };
const HOST_NAME: Schema = Schema::Text(Text::sized(1, 255).of(Pattern::HostName));

/// Whatever is there is passed over.
pub const ANY: Accepted = Accepted { known: &[], closed: None, once: None };
/// No parameters.
pub const NONE: Accepted =
    Accepted { known: &[], closed: Some(Feature::StrictQueries), once: None };
/// Lists of server groups.
pub const GROUPS: Accepted = Accepted {
    known: &[
        parameter("all_projects", &TEXT, Feature::Always),
        parameter("limit", &COUNT, Feature::Always),
        parameter("offset", &COUNT, Feature::Always),
    ],
    closed: Some(Feature::StrictLists),
    once: None,
};
/// Lists of services.
pub const SERVICES: Accepted = Accepted {
    known: &[
        parameter("host", &TEXT, Feature::Always),
        parameter("binary", &TEXT, Feature::Always),
    ],
    closed: Some(Feature::StrictLists),
    once: None,
};
/// Lists of hypervisors.
pub const HYPERVISORS: Accepted = Accepted {
    known: &[
        parameter("limit", &COUNT, Feature::HypervisorPages),
        parameter("marker", &TEXT, Feature::HypervisorPages),
        parameter("hypervisor_hostname_pattern", &HOST_NAME, Feature::Uuids),
        parameter("with_servers", &Schema::Flag, Feature::Uuids),
    ],
    closed: Some(Feature::Uuids),
    once: Some(Feature::Uuids),
};
/// One hypervisor.
pub const HYPERVISOR: Accepted = Accepted {
    known: &[parameter("with_servers", &Schema::Flag, Feature::Uuids)],
    closed: Some(Feature::Uuids),
    once: Some(Feature::Uuids),
};

impl Accepted {
    /// Reads a query string.
    ///
    /// # Errors
    /// 400 naming the parameter, its value and what was expected.
    pub fn read(&self, text: &str, version: Microversion) -> Result<Query, Failure> {
        let query = Query::parse(text)?;
        let since = |feature: Option<Feature>| feature.is_some_and(|feature| version.has(feature));
        for key in query.keys() {
            let known =
                self.known.iter().find(|known| known.name == key && version.has(known.since));
            match known {
                Some(known) => check(&query, known, since(self.once))?,
                None if since(self.closed) => return Err(unknown(key, self, version)),
                None => {}
            }
        }
        Ok(query)
    }
}

fn check(query: &Query, parameter: &Parameter, once: bool) -> Result<(), Failure> {
    let name = parameter.name;
    if once && query.all(name).len() > 1 {
        let values: Vec<String> = query.all(name).map(quoted).collect();
        let told = format!("[{}] is too long: expected one value", values.join(", "));
        return Err(wrong(name, &values.join(", "), &told));
    }
    for value in query.all(name) {
        let checked = parameter.schema.check(&Value::from(value));
        checked.map_err(|fault| wrong(name, value, fault.message()))?;
    }
    Ok(())
}

fn wrong(name: &str, value: &str, told: &str) -> Failure {
    Failure::bad_request(format!(
        "Invalid input for query parameters {name}. Value: {value}. {told}"
    ))
}

fn unknown(name: &str, accepted: &Accepted, version: Microversion) -> Failure {
    let known = accepted.known.iter().filter(|known| version.has(known.since));
    let names: Vec<&str> = known.map(|known| known.name).collect();
    let expected = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    Failure::bad_request(format!(
        "Additional properties are not allowed ({} was unexpected). Query parameters of this \
         call: {expected}.",
        quoted(name)
    ))
}

fn quoted(text: &str) -> String {
    pytext::repr(&Value::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_by_version() {
        let at = |minor: u8| if minor == 1 { Microversion::MIN } else { Microversion::MAX };
        for (accepted, text, minor, told) in [
            (&NONE, "x=1", 1, None),
            (&NONE, "x=1", 102, Some("'x' was unexpected")),
            (&ANY, "x=1", 102, None),
            (&GROUPS, "limit=1&limit=2&all_projects", 102, None),
            (&GROUPS, "limit=-1", 1, Some("limit. Value: -1. '-1' does not match '^[0-9]*$'")),
            (&GROUPS, "offset=", 1, Some("offset. Value: . '' should be non-empty")),
            (&GROUPS, "marker=1", 102, Some("this call: all_projects, limit, offset.")),
            (&HYPERVISORS, "limit=x&with_servers=7", 1, None),
            (&HYPERVISORS, "limit=x", 102, Some("limit. Value: x.")),
            (&HYPERVISORS, "limit=1&limit=2", 102, Some("expected one value")),
            (&HYPERVISORS, "with_servers=maybe", 102, Some("'maybe' is neither true nor false")),
            (&HYPERVISORS, "hypervisor_hostname_pattern=a%20b", 102, Some("'a b' does not match")),
            (&SERVICES, "host=a&host=b&binary=", 102, None),
        ] {
            let read = accepted.read(text, at(minor));
            let said = read.as_ref().err().map(Failure::detail);
            assert_eq!(said.is_some(), told.is_some(), "{text}: {said:?}");
            assert!(said.unwrap_or_default().contains(told.unwrap_or_default()), "{said:?}");
        }
    }
}
