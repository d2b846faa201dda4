//! `/os-services`: services of hosts, as operators see and change them.

use super::{
    call::{Answer, Call, bare, json, parse},
    document::ServiceBody,
    operations::{DeleteService, ListServices, UpdateService},
    path::{Id, Key},
    schemas,
    version::{Feature, Microversion},
    view::{ServiceAction, ServiceActionAnswer, ServiceAnswer, Services, ServicesAnswer},
};
use crate::{body::Body, failure::Failure, schema::flag};
use actix_web::http::StatusCode;
use serde_json::Value;
use stowplan_ledger::Image;
use stowplan_scheduler::{
    Prepared, SchedulerError,
    hosts::{BINARY, ServiceKey, ServiceStatus, ServiceUpdate},
};

/// Views of services for a call.
pub fn services<'a, O>(call: &Call<O>, image: &'a Image, prepared: &'a Prepared) -> Services<'a> {
    Services { image, prepared, now: call.now(), version: call.version }
}

/// Lists services.
#[utoipa::path(get, path = "/v2.1/os-services", tag = "compute services",
    params(
        ("host" = Option<String>, Query, description = "Those of one host."),
        ("binary" = Option<String>, Query, description = "Those of one program."),
    ),
    responses((status = 200, description = "The services.", body = ServicesAnswer)))]
pub async fn list(call: Call<ListServices>) -> Answer {
    let (image, prepared) = (call.image(), call.api().scheduler.prepared());
    let views = services(&call, &image, &prepared);
    let wanted = |name| call.query.last(name).filter(|text| !text.is_empty());
    let (host, binary) = (wanted("host"), wanted("binary"));
    let rows = image.services.iter().filter(|row| {
        host.is_none_or(|host| row.host == host) && binary.is_none_or(|binary| row.binary == binary)
    });
    json(&ServicesAnswer { services: rows.map(|row| views.view(row)).collect() })
}

/// Disables or enables a service, or declares it down. In the same step the
/// root providers of its host get or lose the trait `COMPUTE_STATUS_DISABLED`.
#[utoipa::path(put, path = "/v2.1/os-services/{id}", tag = "compute services",
    params(("id" = String, Path, description = "Its uuid; before 2.53 `enable`, `disable`, \
        `disable-log-reason` or `force-down` (from 2.11 on), and the body names host and \
        binary.")),
    request_body(content = ServiceBody,
        example = json!({"status": "disabled", "disabled_reason": "new memory"})),
    responses(
        (status = 200, description = "The service; before 2.53 what was done.",
            body = ServiceAnswer),
        (status = 400, description = "Nothing to do, a reason to enable, a service that runs no \
            servers, or fields that cannot be."),
        (status = 404, description = "There is no such service or action."),
    ))]
pub async fn update(call: Call<UpdateService>, Id(id): Id, Body(body): Body) -> Answer {
    if !call.version.has(Feature::Uuids) {
        let data = parse(&body, schemas::update_service(call.version))?;
        return act(&call, &id, &data).await;
    }
    let key = key(&id, call.version)?;
    let data = parse(&body, schemas::update_service(call.version))?;
    let update = update_of(&data)?;
    let row = call.api().scheduler.update_service(call.call(), key, update).await?;
    let (image, prepared) = (call.image(), call.api().scheduler.prepared());
    json(&ServiceAnswer { service: services(&call, &image, &prepared).view(&row) })
}

/// Deletes a service, and with a nova-compute its host: from its aggregates,
/// and its providers.
#[utoipa::path(delete, path = "/v2.1/os-services/{id}", tag = "compute services",
    params(("id" = String, Path, description = "Its uuid; before 2.53 its integer id.")),
    responses(
        (status = 204, description = "It is gone."),
        (status = 400, description = "The id is no uuid, or before 2.53 no number."),
        (status = 404, description = "There is no such service."),
        (status = 409, description = "The host has servers, or somebody holds something there."),
    ))]
pub async fn delete(call: Call<DeleteService>, Id(id): Id) -> Answer {
    let key = key(&id, call.version)?;
    call.api().scheduler.delete_service(call.call(), key).await?;
    bare(StatusCode::NO_CONTENT)
}

/// What a body asks for (from 2.53 on).
fn update_of(data: &Value) -> Result<ServiceUpdate, Failure> {
    let reason = data.get("disabled_reason").and_then(Value::as_str);
    let status = match data.get("status").and_then(Value::as_str) {
        Some("enabled") if reason.is_some() => {
            return Err(Failure::bad_request(format!(
                "Invalid input for field/attribute disabled_reason. Value: {}. expected none with \
                 status 'enabled'",
                reason.unwrap_or_default()
            )));
        }
        Some("enabled") => Some(ServiceStatus::Enabled),
        Some(_) => Some(ServiceStatus::Disabled(reason.map(str::to_owned))),
        None => None,
    };
    let update = ServiceUpdate { status, forced_down: data.get("forced_down").and_then(flag) };
    if update == ServiceUpdate::default() {
        return Err(Failure::bad_request(format!(
            "No updates were requested: the body is {data}: expected status or forced_down"
        )));
    }
    Ok(update)
}

/// What can be done to a service (before 2.53).
#[derive(Clone, Copy)]
enum Act {
    Enable,
    Disable,
    DisableWithReason,
    ForceDown,
}

/// The actions, and what brought each.
const ACTIONS: [(&str, Act, Feature); 4] = [
    ("enable", Act::Enable, Feature::Always),
    ("disable", Act::Disable, Feature::Always),
    ("disable-log-reason", Act::DisableWithReason, Feature::Always),
    ("force-down", Act::ForceDown, Feature::ForcedDown),
];

/// Does an action that the path names to the service that the body names.
async fn act(call: &Call<UpdateService>, name: &str, data: &Value) -> Answer {
    let known = ACTIONS.iter().find(|(known, _, since)| *known == name && call.version.has(*since));
    let (_, act, _) = known.ok_or_else(|| {
        let spoken = ACTIONS.iter().filter(|(_, _, since)| call.version.has(*since));
        let names: Vec<&str> = spoken.map(|(name, ..)| *name).collect();
        Failure::not_found(format!("Unknown action {name}: expected {}", names.join(", ")))
    })?;
    let text = |key: &str| data.get(key).and_then(Value::as_str).map(str::to_owned);
    let (host, binary) = (text("host").unwrap_or_default(), text("binary").unwrap_or_default());
    let mut done = ServiceAction { host, binary, ..ServiceAction::default() };
    let mut update = ServiceUpdate::default();
    match act {
        Act::Enable => {
            done.status = Some("enabled");
            update.status = Some(ServiceStatus::Enabled);
        }
        Act::Disable => {
            done.status = Some("disabled");
            update.status = Some(ServiceStatus::Disabled(None));
        }
        Act::DisableWithReason => {
            done.status = Some("disabled");
            done.disabled_reason =
                Some(text("disabled_reason").ok_or_else(|| missing("disabled_reason"))?);
            update.status = Some(ServiceStatus::Disabled(done.disabled_reason.clone()));
        }
        Act::ForceDown => {
            let down = data.get("forced_down").and_then(flag);
            done.forced_down = Some(down.ok_or_else(|| missing("forced_down"))?);
            update.forced_down = done.forced_down;
        }
    }
    let key = ServiceKey::On { host: done.host.clone(), binary: done.binary.clone() };
    if done.binary != BINARY {
        let ServiceAction { host, binary, .. } = done;
        return Err(SchedulerError::ServiceKind { host, binary }.into());
    }
    call.api().scheduler.update_service(call.call(), key, update).await?;
    json(&ServiceActionAnswer { service: done })
}

fn missing(field: &str) -> Failure {
    Failure::bad_request(format!(
        "Invalid input for field/attribute {field}. Value: none. Missing {field} field: this \
         action needs it"
    ))
}

fn key(id: &str, version: Microversion) -> Result<ServiceKey, Failure> {
    match Key::read(id, version).map_err(Failure::bad_request)? {
        Key::Uuid(uuid) => Ok(ServiceKey::Uuid(uuid)),
        Key::Number(Some(number)) => Ok(ServiceKey::Id(number)),
        Key::Number(None) => Err(SchedulerError::ServiceNotFound(id.to_owned()).into()),
    }
}
