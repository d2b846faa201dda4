//! Bodies with allocations, turned into claims.

use super::fields::{int_of, object, object_of, text_of};
use crate::{
    failure::Failure,
    schema::{integer, lenient_uuid},
    version::{Feature, Version},
};
use serde_json::{Map, Value};
use std::collections::{HashMap, hash_map::Entry};
use stowplan_config::Placement;
use stowplan_model::Uuid;
use stowplan_placement::claims::{ConsumerClaim, ConsumerGeneration, ProviderClaim};

/// The claim of one consumer.
///
/// # Errors
/// 400 when a provider has no uuid.
pub fn consumer_claim(
    consumer: Uuid,
    body: &Value,
    version: Version,
    options: &Placement,
) -> Result<ConsumerClaim, Failure> {
    let owner = |key, unknown: &str| text_of(body, key).unwrap_or(unknown).to_owned();
    let generation = if !version.has(Feature::ConsumerGeneration) {
        ConsumerGeneration::Unchecked
    } else {
        let given = int_of(body, "consumer_generation");
        given.map_or(ConsumerGeneration::New, ConsumerGeneration::Is)
    };
    let allocations = match body.get("allocations") {
        Some(Value::Array(list)) => listed(list)?,
        Some(Value::Object(map)) => keyed(map)?,
        _ => Vec::new(),
    };
    Ok(ConsumerClaim {
        consumer,
        generation,
        project: owner("project_id", &options.incomplete_consumer_project_id),
        user: owner("user_id", &options.incomplete_consumer_user_id),
        consumer_type: text_of(body, "consumer_type").map(str::to_owned),
        allocations,
        origin: None,
    })
}

/// The claims of many consumers, keyed by their uuids.
///
/// # Errors
/// 400 when a consumer or a provider has no uuid.
pub fn consumer_claims(
    consumers: &Map<String, Value>,
    version: Version,
    options: &Placement,
) -> Result<Vec<ConsumerClaim>, Failure> {
    let claim = |(key, body): (&String, &Value)| {
        consumer_claim(consumer_uuid(key)?, body, version, options)
    };
    consumers.iter().map(claim).collect()
}

/// The uuid of a consumer.
///
/// # Errors
/// 400 when it is none.
pub fn consumer_uuid(text: &str) -> Result<Uuid, Failure> {
    lenient_uuid(text)
        .ok_or_else(|| Failure::bad_request(format!("Malformed consumer_uuid: {text}")))
}

/// Before 1.12: a list; of a provider named twice the last entry counts.
fn listed(list: &[Value]) -> Result<Vec<ProviderClaim>, Failure> {
    let mut claims: Vec<ProviderClaim> = Vec::with_capacity(list.len());
    let mut places = HashMap::new();
    for entry in list {
        let provider = object_of(entry, "resource_provider").get("uuid");
        let claim = provider_claim(provider.and_then(Value::as_str).unwrap_or_default(), entry)?;
        match places.entry(claim.provider) {
            Entry::Occupied(place) => claims[*place.get()] = claim,
            Entry::Vacant(place) => {
                place.insert(claims.len());
                claims.push(claim);
            }
        }
    }
    Ok(claims)
}

fn keyed(map: &Map<String, Value>) -> Result<Vec<ProviderClaim>, Failure> {
    map.iter().map(|(provider, entry)| provider_claim(provider, entry)).collect()
}

fn provider_claim(provider: &str, entry: &Value) -> Result<ProviderClaim, Failure> {
    let uuid = lenient_uuid(provider).ok_or_else(|| {
        Failure::bad_request(format!(
            "Allocation for resource provider '{provider}' that does not exist."
        ))
    })?;
    let resources = object_of(entry, "resources").iter();
    let resources = resources.filter_map(|(class, units)| Some((class.clone(), integer(units)?)));
    Ok(ProviderClaim { provider: uuid, resources: resources.collect() })
}

/// The inventories of each provider of a reshape: `(provider, body)`.
///
/// # Errors
/// 400 when a provider has no uuid.
pub fn reshaped(body: &Value) -> Result<Vec<(Uuid, &Value)>, Failure> {
    let inventories = body.get("inventories").map(object).into_iter().flatten();
    inventories
        .map(|(provider, value)| {
            let uuid = lenient_uuid(provider).ok_or_else(|| {
                Failure::bad_request(format!(
                    "Resource provider {provider} in inventories not found: No resource provider \
                     with uuid {provider} found"
                ))
            })?;
            Ok((uuid, value))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use serde_json::json;

    const A: &str = "2290d4af-9e6e-400b-9d65-1ee01376f71a";

    #[test]
    fn both_forms_say_the_same() {
        let options = Placement::default();
        let resources = json!({"VCPU": 2, "DISK_GB": 1.0});
        let old = json!({"allocations": [
            {"resource_provider": {"uuid": A}, "resources": {"VCPU": 9}},
            {"resource_provider": {"uuid": A}, "resources": resources},
        ]});
        let new = json!({
            "allocations": {A: {"resources": resources}}, "project_id": "p", "user_id": "u",
            "consumer_generation": null, "consumer_type": "INSTANCE",
        });
        let old = consumer_claim(Uuid::nil(), &old, Version::MIN, &options).unwrap();
        let new = consumer_claim(Uuid::nil(), &new, Version::MAX, &options).unwrap();
        assert_eq!(old.allocations, new.allocations);
        assert_eq!(old.allocations[0].resources[1], ("DISK_GB".to_owned(), 1));
        assert_eq!(old.generation, ConsumerGeneration::Unchecked);
        assert_eq!(new.generation, ConsumerGeneration::New);
        assert_eq!(old.project, options.incomplete_consumer_project_id);
        assert_eq!((new.project.as_str(), new.consumer_type.as_deref()), ("p", Some("INSTANCE")));
    }

    #[test]
    fn what_is_no_uuid_is_said() {
        let body = json!({"allocations": {"-": {"resources": {"VCPU": 1}}}});
        let fault = consumer_claim(Uuid::nil(), &body, Version::MAX, &Placement::default());
        assert!(fault.unwrap_err().detail().contains("'-' that does not exist"));
        assert!(consumer_uuid("x").unwrap_err().detail().starts_with("Malformed consumer_uuid"));
    }
}
