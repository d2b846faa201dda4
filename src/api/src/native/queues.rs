//! `/v1/queues`: where jobs wait.

use super::{
    caller::Caller,
    params::{Params, json},
};
use crate::{
    app::resource,
    body::Body,
    failure::{Code, Failure},
    placement::path::Part,
};
use actix_web::{
    HttpRequest, HttpResponse,
    http::{Method, StatusCode, header},
    web::{self, ServiceConfig},
};
use serde::Serialize;
use stowplan_batch::{
    BatchError,
    explain::{self, QueueExplanation},
    spec::{self, QueueRequest},
    store::{self, QueueState},
    views::{self, QueueView},
};
use utoipa::{OpenApi, ToSchema};

#[derive(OpenApi)]
#[openapi(
    paths(list, create, show, update, delete, open, close, drain, explain),
    tags((name = "queues", description = "Queues of batch jobs."))
)]
struct Document;

/// The descriptions of these calls.
pub fn openapi() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

/// Adds these calls.
pub fn routes(config: &mut ServiceConfig) {
    config
        .service(resource(
            "/queues",
            [(Method::GET, web::to(list)), (Method::POST, web::to(create))],
        ))
        // Before the queue itself, whose pattern would take the verb for a
        // part of the name.
        .service(resource("/queues/{queue}/explain", [(Method::GET, web::to(explain))]))
        .service(resource("/queues/{queue}:open", [(Method::POST, web::to(open))]))
        .service(resource("/queues/{queue}:close", [(Method::POST, web::to(close))]))
        .service(resource("/queues/{queue}:drain", [(Method::POST, web::to(drain))]))
        .service(resource(
            "/queues/{queue}",
            [
                (Method::GET, web::to(show)),
                (Method::PATCH, web::to(update)),
                (Method::DELETE, web::to(delete)),
            ],
        ));
}

/// Queues.
#[derive(Debug, Serialize, ToSchema)]
pub struct QueueList {
    queues: Vec<QueueView>,
}

/// Lists queues, in order of their names. `root` and `default` always exist.
#[utoipa::path(get, path = "/v1/queues", tag = "queues", security(("token" = [])),
    responses((status = 200, description = "All queues.", body = QueueList)))]
pub async fn list(caller: Caller, request: HttpRequest) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:queues:list")?;
    Params::of(&request)?.finish()?;
    let (image, dims) = (caller.api().ledger.image(), caller.dims()?);
    let queues = caller.beside(move || views::queues(&image, &dims)).await?;
    Ok(json(StatusCode::OK, &QueueList { queues }))
}

/// Makes a queue, open at once.
///
/// Quantities are those of Kubernetes. Refused are a guarantee above what the
/// queue deserves or is capable of, a share above its capability, children who
/// are promised more than their parent, a capability above that of a queue
/// above, guarantees above what the hosts have, and a parent with jobs of its
/// own. Fields of the model that this version does not act on are refused.
#[utoipa::path(post, path = "/v1/queues", tag = "queues", security(("token" = [])),
    request_body(content = QueueRequest, example = json!({
        "name": "gold", "parent": "root", "priority": 10,
        "capability": {"cpu": "40"}, "deserved": {"cpu": "20", "memory": "64Gi"},
        "guarantee": {"resource": {"cpu": "8"}},
    })),
    responses(
        (status = 201, description = "The queue; Location is its address.", body = QueueView),
        (status = 400, description = "Fields that cannot be, all of them named."),
        (status = 409, description = "The name is taken."),
    ))]
pub async fn create(
    caller: Caller,
    request: HttpRequest,
    Body(body): Body,
) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:queues:create")?;
    Params::of(&request)?.finish()?;
    let asked = spec::read_queue(&body)?;
    let name = spec::check_queue_name(&asked).map_err(BatchError::from)?.to_owned();
    let (dims, now) = (caller.dims()?, caller.now());
    caller.write(move |image| store::create_queue(image, &asked, &dims, now)).await?;
    let mut response = shown(&caller, StatusCode::CREATED, &name)?;
    if let Ok(location) = header::HeaderValue::from_str(&format!("/v1/queues/{name}")) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

/// Shows a queue: what it and the queues below it hold, what it may hold, and
/// their jobs by phase.
#[utoipa::path(get, path = "/v1/queues/{queue}", tag = "queues", security(("token" = [])),
    params(("queue" = String, Path, description = "Its name.")),
    responses(
        (status = 200, description = "The queue; ETag is its generation.", body = QueueView),
        (status = 404, description = "There is no such queue."),
    ))]
pub async fn show(caller: Caller, Part(name): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:queues:show")?;
    shown(&caller, StatusCode::OK, &name)
}

/// Changes a queue. Fields that are not given stay; resources that are given
/// take the place of all that were there. With `If-Match` it is changed only
/// at that generation.
#[utoipa::path(patch, path = "/v1/queues/{queue}", tag = "queues", security(("token" = [])),
    params(
        ("queue" = String, Path, description = "Its name."),
        ("If-Match" = Option<String>, Header, description = "The generation that is known."),
    ),
    request_body(content = QueueRequest, example = json!({"deserved": {"cpu": "10"}})),
    responses(
        (status = 200, description = "The queue.", body = QueueView),
        (status = 400, description = "Fields that cannot be, all of them named."),
        (status = 404, description = "There is no such queue."),
        (status = 412, description = "It is of another generation."),
    ))]
pub async fn update(
    caller: Caller,
    Part(name): Part,
    request: HttpRequest,
    Body(body): Body,
) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:queues:update")?;
    Params::of(&request)?.finish()?;
    let generation = if_match(&request)?;
    let asked = spec::read_queue(&body)?;
    let (dims, now, key) = (caller.dims()?, caller.now(), name.clone());
    caller
        .write(move |image| store::update_queue(image, &key, &asked, generation, &dims, now))
        .await?;
    shown(&caller, StatusCode::OK, &name)
}

/// Deletes a queue that has neither queues nor jobs.
#[utoipa::path(delete, path = "/v1/queues/{queue}", tag = "queues", security(("token" = [])),
    params(("queue" = String, Path, description = "Its name.")),
    responses(
        (status = 204, description = "It is gone."),
        (status = 404, description = "There is no such queue."),
        (status = 409, description = "What hangs on it, by name."),
    ))]
pub async fn delete(caller: Caller, Part(name): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:queues:delete")?;
    caller.write(move |image| store::delete_queue(image, &name)).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Opens a queue: it takes jobs, and their tasks are placed.
#[utoipa::path(post, path = "/v1/queues/{queue}:open", tag = "queues", security(("token" = [])),
    params(("queue" = String, Path, description = "Its name.")),
    responses(
        (status = 200, description = "The queue.", body = QueueView),
        (status = 404, description = "There is no such queue."),
    ))]
pub async fn open(caller: Caller, Part(name): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:queues:open")?;
    set(caller, name, QueueState::Open).await
}

/// Closes a queue with all below it: they take no jobs any more, and no
/// further task is placed; what runs may end.
#[utoipa::path(post, path = "/v1/queues/{queue}:close", tag = "queues", security(("token" = [])),
    params(("queue" = String, Path, description = "Its name.")),
    responses(
        (status = 200, description = "The queue.", body = QueueView),
        (status = 404, description = "There is no such queue."),
    ))]
pub async fn close(caller: Caller, Part(name): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:queues:close")?;
    set(caller, name, QueueState::Closed).await
}

/// Closes a queue and has its tasks leave their hosts; their jobs wait until
/// it is opened again.
#[utoipa::path(post, path = "/v1/queues/{queue}:drain", tag = "queues", security(("token" = [])),
    params(("queue" = String, Path, description = "Its name.")),
    responses(
        (status = 200, description = "The queue.", body = QueueView),
        (status = 404, description = "There is no such queue."),
    ))]
pub async fn drain(caller: Caller, Part(name): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:queues:drain")?;
    set(caller, name, QueueState::Drained).await
}

/// Says what the limits of a queue leave, and of each of its jobs that wait
/// its position and why it waits.
#[utoipa::path(get, path = "/v1/queues/{queue}/explain", tag = "queues",
    security(("token" = [])),
    params(("queue" = String, Path, description = "Its name.")),
    responses(
        (status = 200, description = "Why its jobs wait.", body = QueueExplanation),
        (status = 404, description = "There is no such queue."),
    ))]
pub async fn explain(caller: Caller, Part(name): Part) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:queues:explain")?;
    let (image, settings) = (caller.api().ledger.image(), caller.api().settings.load_full());
    let (now, key) = (caller.now(), name.clone());
    let found = caller.beside(move || explain::queue(&image, &settings, &key, now)).await?;
    let found = found.map_err(|fault| Failure::new(Code::Unavailable, fault.to_string()))?;
    Ok(json(StatusCode::OK, &found.ok_or(BatchError::NoQueue(name))?))
}

async fn set(caller: Caller, name: String, state: QueueState) -> Result<HttpResponse, Failure> {
    let (now, key) = (caller.now(), name.clone());
    caller.write(move |image| store::set_queue_state(image, &key, state, now)).await?;
    shown(&caller, StatusCode::OK, &name)
}

fn shown(caller: &Caller, status: StatusCode, name: &str) -> Result<HttpResponse, Failure> {
    let queue = views::queue(&caller.api().ledger.image(), &caller.dims()?, name);
    let queue = queue.ok_or_else(|| BatchError::NoQueue(name.to_owned()))?;
    let tag = header::HeaderValue::from_str(&format!("\"{}\"", queue.generation));
    let mut response = json(status, &queue);
    if let Ok(tag) = tag {
        response.headers_mut().insert(header::ETAG, tag);
    }
    Ok(response)
}

/// The generation of `If-Match`; `*` is any.
fn if_match(request: &HttpRequest) -> Result<Option<i64>, Failure> {
    let Some(value) = request.headers().get(header::IF_MATCH) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    if text == "*" {
        return Ok(None);
    }
    text.trim_matches('"').parse().map(Some).map_err(|_| {
        let detail = format!("If-Match is {text:?}: expected a generation, such as \"3\"");
        Failure::new(Code::BadRequest, detail)
    })
}
