//! `/v1/server-groups`: servers that stay together or apart.

use super::{
    caller::Caller,
    params::{Params, json},
};
use crate::{
    body::Body,
    failure::Failure,
    placement::path::{Pair, Part},
};
use actix_web::{HttpRequest, HttpResponse, http::StatusCode};
use serde::Serialize;
use std::collections::HashSet;
use stowplan_ledger::{Image, rows::ServerGroupRow};
use stowplan_model::{Micros, Uuid, request::GroupRules};
use stowplan_scheduler::groups::{self, NewGroup};
use utoipa::ToSchema;

/// A server group.
#[derive(Debug, Serialize, ToSchema)]
pub struct ServerGroup {
    /// Its uuid.
    uuid: Uuid,
    /// Its name.
    name: String,
    /// `affinity`, `anti-affinity`, `soft-affinity` or `soft-anti-affinity`.
    policy: String,
    /// Rules of its policy.
    rules: GroupRules,
    /// Its servers, in order of joining: those with allocations or on a host.
    members: Vec<Uuid>,
    /// Members that are no servers just now: in a migration, or deleted.
    idle_members: Vec<Uuid>,
    /// Project that owns it.
    project_id: String,
    /// User who made it.
    user_id: String,
    /// When it was made, microseconds since the epoch.
    created: Micros,
    /// When it was last changed.
    updated: Micros,
}

/// Server groups.
#[derive(Debug, Serialize, ToSchema)]
pub struct ServerGroupList {
    server_groups: Vec<ServerGroup>,
}

impl ServerGroup {
    fn of(image: &Image, row: &ServerGroupRow) -> Self {
        let members: Vec<Uuid> = groups::living_members(image, row).collect();
        let living: HashSet<&Uuid> = members.iter().collect();
        let idle = row.members.iter().filter(|member| !living.contains(member));
        Self {
            uuid: row.uuid,
            name: row.name.clone(),
            policy: row.policy.clone(),
            rules: GroupRules { max_server_per_host: row.max_server_per_host },
            idle_members: idle.copied().collect(),
            members,
            project_id: row.project.clone(),
            user_id: row.user.clone(),
            created: row.created,
            updated: row.updated,
        }
    }
}

/// Lists server groups, in order of creation.
#[utoipa::path(get, path = "/v1/server-groups", tag = "groups", security(("token" = [])),
    params(("project_id" = Option<String>, Query, description = "Those of one project.")),
    responses((status = 200, description = "The groups.", body = ServerGroupList)))]
pub async fn list(caller: Caller, request: HttpRequest) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:server_groups:list")?;
    let mut params = Params::of(&request)?;
    let project = params.text("project_id");
    params.finish()?;
    let image = caller.api().ledger.image();
    let rows = image.server_groups.iter();
    let shown = rows.filter(|row| project.as_ref().is_none_or(|project| row.project == *project));
    let server_groups = shown.map(|row| ServerGroup::of(&image, row)).collect();
    Ok(json(StatusCode::OK, &ServerGroupList { server_groups }))
}

/// Makes a server group.
#[utoipa::path(post, path = "/v1/server-groups", tag = "groups", security(("token" = [])),
    request_body(content = NewGroup, example = json!({
        "name": "database", "policy": "anti-affinity", "rules": {"max_server_per_host": 2},
    })),
    responses(
        (status = 201, description = "The group.", body = ServerGroup),
        (status = 400, description = "Fields that cannot be."),
    ))]
pub async fn create(caller: Caller, Body(body): Body) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:server_groups:create")?;
    let mut new: NewGroup = groups::read_new_group(&body)?;
    let token = &caller.token;
    new.project_id = new.project_id.or_else(|| token.project.clone());
    new.user_id = new.user_id.or_else(|| Some(token.user.clone()));
    let row = caller.api().scheduler.create_group(caller.call(), new).await?;
    Ok(json(StatusCode::CREATED, &ServerGroup::of(&caller.api().ledger.image(), &row)))
}

/// Shows a server group.
#[utoipa::path(get, path = "/v1/server-groups/{group}", tag = "groups", security(("token" = [])),
    params(("group" = Uuid, Path, description = "The group.")),
    responses(
        (status = 200, description = "The group.", body = ServerGroup),
        (status = 404, description = "There is no such group."),
    ))]
pub async fn show(caller: Caller, Part(key): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:server_groups:show")?;
    let image = caller.api().ledger.image();
    let row = groups::find(&image, &key)?;
    Ok(json(StatusCode::OK, &ServerGroup::of(&image, row)))
}

/// Deletes a server group. Its servers stay where they are.
#[utoipa::path(delete, path = "/v1/server-groups/{group}", tag = "groups",
    security(("token" = [])),
    params(("group" = Uuid, Path, description = "The group.")),
    responses(
        (status = 204, description = "It is gone."),
        (status = 404, description = "There is no such group."),
    ))]
pub async fn delete(caller: Caller, Part(key): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:server_groups:delete")?;
    caller.api().scheduler.delete_group(caller.call(), &key).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Takes a server out of a group, as when it was deleted. Taking out one that
/// is not in it changes nothing.
#[utoipa::path(delete, path = "/v1/server-groups/{group}/members/{server}", tag = "groups",
    security(("token" = [])),
    params(
        ("group" = Uuid, Path, description = "The group."),
        ("server" = Uuid, Path, description = "The server."),
    ),
    responses(
        (status = 200, description = "The group.", body = ServerGroup),
        (status = 404, description = "There is no such group."),
    ))]
pub async fn remove_member(
    caller: Caller,
    Pair(key, server): Pair,
) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:server_groups:remove_member")?;
    let server = Uuid::parse_str(&server)
        .map_err(|_| Failure::not_found(format!("{server} is not the uuid of a server")))?;
    let row = caller.api().scheduler.leave_group(caller.call(), &key, server).await?;
    Ok(json(StatusCode::OK, &ServerGroup::of(&caller.api().ledger.image(), &row)))
}
