//! What a caller asks of select_destinations: the request specification of every
//! 4.x version, as the request that the scheduler decides.
//!
//! Only fields that the scheduler reads are taken over. Of cells the uuid alone is
//! read: their addresses of databases and buses go no further.

mod legacy;
mod places;
mod spec;

use serde_json::{Map, Value};
use stowplan_scheduler::select::SelectRequest;

use crate::wire::failure::Failure;
use crate::wire::fields::{Fields, Read, wrong};

/// A call of select_destinations, read.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectCall {
    /// The request.
    pub asked: SelectRequest,
    /// The answer is made of objects; otherwise of plain dictionaries, one for each
    /// server.
    pub objects: bool,
}

/// Reads the arguments of a call. `max_attempts` is that of `[scheduler]`.
///
/// # Errors
/// Fields of another kind than they have.
pub fn read(args: &Map<String, Value>, max_attempts: u32) -> Result<SelectCall, Failure> {
    let fields = Fields::of("args", args);
    let mut asked = match (fields.get("spec_obj"), fields.get("request_spec")) {
        (Some(spec), _) => spec::read(&Fields::object("spec_obj", spec, "RequestSpec")?)?,
        (None, Some(_)) => legacy::read(&fields)?,
        (None, None) => {
            return Err(wrong("spec_obj", &Value::Null, "a RequestSpec"));
        }
    };
    match fields.uuids("instance_uuids")? {
        Some(uuids) if !uuids.is_empty() => {
            asked.instance_uuids = Some(uuids);
            asked.count = None;
        }
        // Callers before 4.4 name no servers: they claim for themselves.
        _ => {
            asked.dry_run = true;
            asked.instance_uuids =
                asked.instance_uuids.filter(|_| asked.count.is_none_or(|count| count == 1));
        }
    }
    let objects = fields.flag("return_objects")?;
    if objects && fields.flag("return_alternates")? {
        asked.alternates = i64::from(max_attempts.max(1)) - 1;
    }
    Ok(SelectCall { asked, objects })
}

/// A list that is empty where it is null.
fn listed(fields: &Fields<'_>, name: &str) -> Read<Vec<String>> {
    fields.texts(name).map(Option::unwrap_or_default)
}

#[cfg(test)]
mod tests;
