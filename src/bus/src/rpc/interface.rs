//! The methods that callers may name, and how a message finds its method: as
//! oslo.messaging's dispatcher and Python's calls do it, word for word.

use serde_json::{Map, Value};

use crate::wire::failure::Failure;
use crate::wire::message::Message;

/// A method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Where servers go.
    SelectDestinations,
    /// Host aggregates that are new or changed.
    UpdateAggregates,
    /// A host aggregate that is gone.
    DeleteAggregate,
    /// Instances that came to a host.
    UpdateInstanceInfo,
    /// An instance that left a host.
    DeleteInstanceInfo,
    /// All instances of a host.
    SyncInstanceInfo,
    /// Whether anybody is there.
    Ping,
    /// The port of a debugger: there is none.
    GetBackdoorPort,
}

/// The methods of one namespace and version.
struct Endpoint {
    namespace: Option<&'static str>,
    version: (u32, u32),
    class: &'static str,
    methods: &'static [Signature],
}

/// A method with the names of its arguments.
struct Signature {
    name: &'static str,
    method: Method,
    required: &'static [&'static str],
    optional: &'static [&'static str],
}

const fn takes(
    name: &'static str,
    method: Method,
    required: &'static [&'static str],
    optional: &'static [&'static str],
) -> Signature {
    Signature { name, method, required, optional }
}

const ENDPOINTS: [Endpoint; 2] = [
    Endpoint {
        namespace: None,
        version: (4, 5),
        class: "SchedulerManager",
        methods: &[
            takes(
                "select_destinations",
                Method::SelectDestinations,
                &[],
                &[
                    "request_spec",
                    "filter_properties",
                    "spec_obj",
                    "instance_uuids",
                    "return_objects",
                    "return_alternates",
                ],
            ),
            takes("update_aggregates", Method::UpdateAggregates, &["aggregates"], &[]),
            takes("delete_aggregate", Method::DeleteAggregate, &["aggregate"], &[]),
            takes(
                "update_instance_info",
                Method::UpdateInstanceInfo,
                &["host_name", "instance_info"],
                &[],
            ),
            takes(
                "delete_instance_info",
                Method::DeleteInstanceInfo,
                &["host_name", "instance_uuid"],
                &[],
            ),
            takes(
                "sync_instance_info",
                Method::SyncInstanceInfo,
                &["host_name", "instance_uuids"],
                &[],
            ),
        ],
    },
    Endpoint {
        namespace: Some("baseapi"),
        version: (1, 1),
        class: "BaseRPCAPI",
        methods: &[
            takes("ping", Method::Ping, &["arg"], &[]),
            takes("get_backdoor_port", Method::GetBackdoorPort, &[], &[]),
        ],
    },
];

/// The method of a message, whose arguments it takes.
///
/// # Errors
/// What oslo.messaging answers: no such method, version or namespace, or
/// arguments that the method does not take.
pub fn find(message: &Message) -> Result<Method, Failure> {
    let version = version(&message.version)?;
    let name = message.method.as_str().ok_or_else(|| {
        Failure::arguments(format!(
            "attribute name must be string, not {}",
            python_type(&message.method)
        ))
    })?;
    let endpoint = ENDPOINTS.iter().find(|endpoint| {
        endpoint.namespace == message.namespace.as_deref()
            && endpoint.version.0 == version.0
            && endpoint.version.1 >= version.1
    });
    let endpoint = endpoint.ok_or_else(|| Failure::unsupported_version(&message.version, name))?;
    let signature = endpoint.methods.iter().find(|signature| signature.name == name);
    let signature = signature.ok_or_else(|| Failure::no_such_method(name))?;
    signature.check(endpoint.class, &message.args)?;
    Ok(signature.method)
}

/// Major and minor version.
fn version(text: &str) -> Result<(u32, u32), Failure> {
    let mut parts = text.split('.');
    let mut number = || {
        let part = parts
            .next()
            .ok_or_else(|| Failure::builtin("IndexError", "list index out of range"))?;
        part.trim().parse::<u32>().map_err(|_| {
            Failure::value(format!("invalid literal for int() with base 10: '{part}'"))
        })
    };
    Ok((number()?, number()?))
}

/// What Python calls the type of a JSON value.
fn python_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "'NoneType'",
        Value::Bool(_) => "'bool'",
        Value::Number(number) if number.is_f64() => "'float'",
        Value::Number(_) => "'int'",
        Value::String(_) => "'str'",
        Value::Array(_) => "'list'",
        Value::Object(_) => "'dict'",
    }
}

impl Signature {
    fn check(&self, class: &str, args: &Map<String, Value>) -> Result<(), Failure> {
        let is_known = |name: &str| self.required.contains(&name) || self.optional.contains(&name);
        let method = format!("{class}.{}()", self.name);
        if let Some(stranger) = args.keys().find(|name| !is_known(name)) {
            return Err(Failure::arguments(format!(
                "{method} got an unexpected keyword argument '{stranger}'"
            )));
        }
        let missing: Vec<String> = self
            .required
            .iter()
            .filter(|name| !args.contains_key(**name))
            .map(|name| format!("'{name}'"))
            .collect();
        let listed = match missing.as_slice() {
            [] => return Ok(()),
            [one] => one.clone(),
            [one, other] => format!("{one} and {other}"),
            [others @ .., last] => format!("{}, and {last}", others.join(", ")),
        };
        let (count, plural) = (missing.len(), if missing.len() == 1 { "" } else { "s" });
        Err(Failure::arguments(format!(
            "{method} missing {count} required positional argument{plural}: {listed}"
        )))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use serde_json::json;

    fn ask(fields: Value) -> Result<Method, String> {
        let Value::Object(fields) = fields else { panic!() };
        find(&Message::read(fields))
            .map_err(|failure| format!("{}: {}", failure.class, failure.message))
    }

    #[test]
    fn a_message_finds_its_method_or_gets_the_dispatchers_answer() {
        use Method as M;
        let no_version = "UnsupportedVersion: Endpoint does not support RPC version";
        for (message, expected) in [
            (json!({"method": "ping", "namespace": "baseapi", "args": {"arg": 1}}), Ok(M::Ping)),
            (
                json!({"method": "get_backdoor_port", "namespace": "baseapi", "version": "1.1"}),
                Ok(M::GetBackdoorPort),
            ),
            (json!({"method": "select_destinations", "version": "4.0"}), Ok(M::SelectDestinations)),
            (
                json!({"method": "no_such_method", "version": "4.5"}),
                Err("NoSuchMethod: Endpoint does not support RPC method no_such_method".to_owned()),
            ),
            (
                json!({"method": "_x", "version": "4.5"}),
                Err("NoSuchMethod: Endpoint does not support RPC method _x".to_owned()),
            ),
            (
                json!({"method": "select_destinations"}),
                Err(format!("{no_version} 1.0. Attempted method: select_destinations")),
            ),
            (
                json!({"method": "no_such", "version": "4.6"}),
                Err(format!("{no_version} 4.6. Attempted method: no_such")),
            ),
            (
                json!({"method": "ping", "namespace": "other"}),
                Err(format!("{no_version} 1.0. Attempted method: ping")),
            ),
            (
                json!({"method": "sync_instance_info", "version": "4.2"}),
                Err("TypeError: SchedulerManager.sync_instance_info() missing 2 required \
                     positional arguments: 'host_name' and 'instance_uuids'"
                    .to_owned()),
            ),
            (
                json!({"method": "ping", "namespace": "baseapi", "args": {"arg": 1, "b": 2}}),
                Err("TypeError: BaseRPCAPI.ping() got an unexpected keyword argument 'b'"
                    .to_owned()),
            ),
            (
                json!({"version": "4.5"}),
                Err("TypeError: attribute name must be string, not 'NoneType'".to_owned()),
            ),
            (
                json!({"method": "ping", "version": "x.1"}),
                Err("ValueError: invalid literal for int() with base 10: 'x'".to_owned()),
            ),
            (
                json!({"method": "ping", "version": "4"}),
                Err("IndexError: list index out of range".to_owned()),
            ),
        ] {
            assert_eq!(ask(message.clone()), expected, "{message}");
        }
    }
}
