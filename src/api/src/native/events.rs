//! `/v1/events`: what happens to tasks, jobs and queues, in order.

use super::{
    caller::Caller,
    params::{Params, json},
};
use crate::{
    app::resource,
    failure::{Code, Failure},
    placement::path::Part,
};
use actix_web::{
    HttpRequest, HttpResponse,
    http::{Method, StatusCode},
    web::{self, ServiceConfig},
};
use serde::Serialize;
use std::time::Duration;
use stowplan_batch::{
    BatchError,
    events::{self, Event, EventFilter},
};
use stowplan_model::Uuid;
use stowplan_scheduler::{SchedulerError, fields::FieldErrors};
use tokio::time::{Instant, timeout_at};
use utoipa::{OpenApi, ToSchema};

/// Changes that are read from the journal at a time.
const PIECE: u64 = 500;
/// The longest time that a call waits for events.
const MAX_WAIT: i64 = 60;

#[derive(OpenApi)]
#[openapi(
    paths(list, of_job),
    tags((name = "events", description = "What happens, in order."))
)]
struct Document;

/// The descriptions of these calls.
pub fn openapi() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

/// Adds these calls.
pub fn routes(config: &mut ServiceConfig) {
    config
        .service(resource("/events", [(Method::GET, web::to(list))]))
        .service(resource("/jobs/{job}/events", [(Method::GET, web::to(of_job))]));
}

/// Events in the order in which they happened.
#[derive(Debug, Serialize, ToSchema)]
pub struct EventList {
    events: Vec<Event>,
    /// `since` of the call that goes on from here.
    next: i64,
}

/// Lists what happened after a point, oldest first.
///
/// Kinds are `task.pending`, `task.bound`, `task.running`, `task.evict` (it has
/// to be stopped), `task.succeeded`, `task.failed`, `task.unknown`,
/// `task.cancelled`, `job.` with a phase, `job.gone`, and `queue.create`,
/// `queue.update`, `queue.delete`. An event may come again: its task, attempt
/// and kind say whether it is known. What a single change brought about is not
/// divided: a page may be longer than `limit`.
#[utoipa::path(get, path = "/v1/events", tag = "events", security(("token" = [])),
    params(
        ("since" = Option<i64>, Query, description = "The `next` of the call before, or `seq` \
            of a host's tasks; without it nothing is listed, and `next` is now."),
        ("kinds" = Option<String>, Query, description = "Kinds, or what they begin with \
            (`task`), separated by commas."),
        ("host" = Option<String>, Query, description = "Tasks on one host."),
        ("job" = Option<Uuid>, Query, description = "Of one job."),
        ("limit" = Option<i64>, Query, description = "Events in the page."),
        ("wait" = Option<i64>, Query, description = "Seconds to wait for an event, at most 60."),
    ),
    responses(
        (status = 200, description = "Events.", body = EventList),
        (status = 410, description = "What was asked for is forgotten. `restart` is the point \
            to go on from, after the state of things has been read anew."),
    ))]
pub async fn list(caller: Caller, request: HttpRequest) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:events:list")?;
    let mut params = Params::of(&request)?;
    let job = params.uuid("job");
    answer(caller, params, job).await
}

/// Lists what happened to a job and its tasks, oldest first; without `since`
/// from the oldest change that is kept.
#[utoipa::path(get, path = "/v1/jobs/{job}/events", tag = "events", security(("token" = [])),
    params(
        ("job" = Uuid, Path, description = "The job."),
        ("since" = Option<i64>, Query, description = "The `next` of the call before."),
        ("kinds" = Option<String>, Query, description = "As of all events."),
        ("host" = Option<String>, Query, description = "Tasks on one host."),
        ("limit" = Option<i64>, Query, description = "Events in the page."),
        ("wait" = Option<i64>, Query, description = "Seconds to wait for an event, at most 60."),
    ),
    responses(
        (status = 200, description = "Events.", body = EventList),
        (status = 404, description = "There is no such job."),
    ))]
pub async fn of_job(
    caller: Caller,
    Part(key): Part,
    request: HttpRequest,
) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:events:list")?;
    let image = caller.api().ledger.image();
    let job = Uuid::parse_str(&key).ok().filter(|job| image.batch.jobs.get(*job).is_some());
    let job = job.ok_or(BatchError::NoJob(key))?;
    answer(caller, Params::of(&request)?, Some(job)).await
}

async fn answer(
    caller: Caller,
    mut params: Params,
    job: Option<Uuid>,
) -> Result<HttpResponse, Failure> {
    let since = params.number("since");
    let wait = params.number("wait").unwrap_or(0);
    let kinds = params.text("kinds");
    let host = params.text("host");
    let limit = params.limit(caller.api().settings.load().api.max_limit);
    params.finish()?;
    let mut errors = FieldErrors::default();
    errors.require((0..=MAX_WAIT).contains(&wait), "wait", &wait, format!("0 to {MAX_WAIT}"));
    errors.require(since.is_none_or(|seq| seq >= 0), "since", &since, "0 or more");
    let kinds: Vec<String> = kinds.iter().flat_map(|list| list.split(',')).map(into).collect();
    for kind in &kinds {
        let known = events::kinds().any(|known| events::is_of(known, kind));
        let expected = "kinds such as task.bound, or task, job or queue for all of them";
        errors.require(known, "kinds", kind, expected);
    }
    errors.into_result(()).map_err(SchedulerError::from)?;
    let filter = EventFilter { kinds, host, job };
    let Some(since) = since.or(job.map(|_| 0)) else {
        let next = caller.api().ledger.image().seq();
        return Ok(json(StatusCode::OK, &EventList { events: Vec::new(), next }));
    };
    let until = Instant::now() + Duration::from_secs(wait.unsigned_abs());
    let found = follow(&caller, since, &filter, limit, until, job.is_some()).await?;
    Ok(json(StatusCode::OK, &found))
}

fn into(text: &str) -> String {
    text.trim().to_owned()
}

/// Reads on until there is an event, or it is time to answer. With `gaps`,
/// what is forgotten is passed over.
async fn follow(
    caller: &Caller,
    since: i64,
    filter: &EventFilter,
    limit: usize,
    until: Instant,
    gaps: bool,
) -> Result<EventList, Failure> {
    let ledger = &caller.api().ledger;
    let mut watch = ledger.watch();
    let mut found = EventList { events: Vec::new(), next: since };
    loop {
        let head = *watch.borrow_and_update();
        let entries = ledger.journal(found.next, PIECE).await?;
        let first = entries.first().map_or(head, |entry| entry.seq - 1);
        let is_known = found.next <= head && first <= found.next;
        if !(is_known || gaps && found.next <= head) {
            let detail = format!("what came after {} is forgotten", found.next);
            return Err(Failure::new(Code::Gone, detail).with("restart", ledger.image().seq()));
        }
        let image = ledger.image();
        for entry in &entries {
            found.events.extend(events::of(entry, &image, filter));
            found.next = entry.seq;
            if found.events.len() >= limit {
                return Ok(found);
            }
        }
        if !entries.is_empty() {
            continue;
        }
        found.next = found.next.max(head);
        if !found.events.is_empty() || timeout_at(until, watch.changed()).await.is_err() {
            return Ok(found);
        }
    }
}
