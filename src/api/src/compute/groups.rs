//! `/os-server-groups`: servers that stay together or apart.

use super::{
    call::{Answer, Call, bare, json, parse},
    document::ServerGroupBody,
    operations::{CreateGroup, DeleteGroup, ListGroups, ShowGroup},
    path::Id,
    schemas,
    version::{Feature, Microversion},
    view::{ComputeServerGroup, ServerGroupAnswer, ServerGroupsAnswer},
};
use crate::{body::Body, failure::Failure, policy::Target, query::Query, schema::count};
use actix_web::http::StatusCode;
use serde_json::Value;
use stowplan_model::request::GroupRules;
use stowplan_scheduler::{
    SchedulerError,
    fields::FieldErrors,
    groups::{self, NewGroup, Policy},
};

/// The rule that says who is an administrator.
const ADMIN: &str = "context_is_admin";
const ALL_PROJECTS: &str = "os_compute_api:os-server-groups:index:all_projects";

/// Lists the server groups of the caller's project; of all projects for an
/// administrator who asks for them.
#[utoipa::path(get, path = "/v2.1/os-server-groups", tag = "compute server groups",
    params(
        ("all_projects" = Option<String>, Query, description = "Those of all projects, with \
            whatever value; for administrators, others get their own."),
        ("limit" = Option<i64>, Query, description = "Groups in the page; 0 is no limit."),
        ("offset" = Option<i64>, Query, description = "Groups to pass over."),
    ),
    responses((status = 200, description = "The groups.", body = ServerGroupsAnswer)))]
pub async fn list(call: Call<ListGroups>) -> Answer {
    let all = call.query.first("all_projects").is_some() && call.may(ADMIN, Target(&[])).is_ok();
    if all {
        call.may(ALL_PROJECTS, Target(&call.token.own()))?;
    }
    let most = call.api().settings.load().api.max_limit as usize;
    let limit = number(&call.query, "limit").filter(|limit| *limit > 0);
    let offset = number(&call.query, "offset").unwrap_or(0);
    let own = call.token.project.clone().unwrap_or_default();
    let image = call.image();
    let rows = image.server_groups.iter().filter(|row| all || row.project == own);
    let page = rows.skip(offset).take(limit.unwrap_or(most).min(most));
    let server_groups = page.map(|row| ComputeServerGroup::of(&image, row, call.version)).collect();
    json(&ServerGroupsAnswer { server_groups })
}

/// Makes a server group for the caller's project, which has a quota of them.
#[utoipa::path(post, path = "/v2.1/os-server-groups", tag = "compute server groups",
    request_body(content = ServerGroupBody,
        description = "Before 2.64 with a list `policies` of one in place of `policy` and `rules`.",
        example = json!({"server_group": {
            "name": "database", "policy": "anti-affinity", "rules": {"max_server_per_host": 2},
        }})),
    responses(
        (status = 200, description = "The group.", body = ServerGroupAnswer),
        (status = 400, description = "Fields that cannot be."),
        (status = 403, description = "The project has as many groups as it may."),
        (status = 409, description = "A compute service is too old for the rules."),
    ))]
pub async fn create(call: Call<CreateGroup>, Body(body): Body) -> Answer {
    let data = parse(&body, schemas::create_group(call.version))?;
    let mut new = new_group(&data["server_group"], call.version)?;
    new.project_id.clone_from(&call.token.project);
    new.user_id = Some(call.token.user.clone());
    let row = call.api().scheduler.create_group_within(call.call(), new).await?;
    let server_group = ComputeServerGroup::of(&call.image(), &row, call.version);
    json(&ServerGroupAnswer { server_group })
}

/// Shows a server group.
#[utoipa::path(get, path = "/v2.1/os-server-groups/{id}", tag = "compute server groups",
    params(("id" = Uuid, Path, description = "The group.")),
    responses(
        (status = 200, description = "The group.", body = ServerGroupAnswer),
        (status = 403, description = "It is another project's."),
        (status = 404, description = "There is no such group."),
    ))]
pub async fn show(call: Call<ShowGroup>, Id(id): Id) -> Answer {
    let image = call.image();
    let row = groups::find(&image, &id)?;
    call.may_of(&row.project)?;
    let server_group = ComputeServerGroup::of(&image, row, call.version);
    json(&ServerGroupAnswer { server_group })
}

/// Deletes a server group. Its servers stay where they are.
#[utoipa::path(delete, path = "/v2.1/os-server-groups/{id}", tag = "compute server groups",
    params(("id" = Uuid, Path, description = "The group.")),
    responses(
        (status = 204, description = "It is gone."),
        (status = 403, description = "It is another project's."),
        (status = 404, description = "There is no such group."),
    ))]
pub async fn delete(call: Call<DeleteGroup>, Id(id): Id) -> Answer {
    call.may_of(&groups::find(&call.image(), &id)?.project)?;
    call.api().scheduler.delete_group(call.call(), &id).await?;
    bare(StatusCode::NO_CONTENT)
}

/// The group of a body that has been checked.
fn new_group(wanted: &Value, version: Microversion) -> Result<NewGroup, Failure> {
    let policy =
        if version.has(Feature::GroupPolicy) { &wanted["policy"] } else { &wanted["policies"][0] };
    let policy: Option<Policy> = serde_json::from_value(policy.clone()).ok();
    let rules = wanted.get("rules");
    // Rules that are empty are none, whatever the policy.
    let limit = rules.and_then(|rules| rules.get("max_server_per_host")).and_then(count);
    if limit.is_some() && policy != Some(Policy::AntiAffinity) {
        let mut errors = FieldErrors::default();
        errors.add("server_group.rules", &rules, "no rules: only anti-affinity has them");
        return Err(SchedulerError::from(errors).into());
    }
    Ok(NewGroup {
        name: wanted["name"].as_str().unwrap_or_default().to_owned(),
        policy,
        rules: limit.map(|limit| GroupRules { max_server_per_host: Some(limit) }),
        ..NewGroup::default()
    })
}

/// A number that has been checked: the last one given. Beyond all bounds, the
/// largest.
fn number(query: &Query, name: &str) -> Option<usize> {
    query.last(name).map(|text| text.parse().unwrap_or(usize::MAX))
}
