//! `/v1/queues/{queue}/jobs`: the jobs of a queue, as they came or as they
//! are served.

use super::{
    caller::Caller,
    jobs::{check_marker, filter},
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
use std::collections::HashMap;
use stowplan_batch::{
    BatchError, explain,
    views::{self, JobFilter, JobSummary},
};
use stowplan_model::Uuid;
use stowplan_scheduler::fields::FieldErrors;
use utoipa::{OpenApi, ToSchema};

#[derive(OpenApi)]
#[openapi(paths(list))]
struct Document;

/// The description of this call.
pub fn openapi() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

/// Adds this call.
pub fn routes(config: &mut ServiceConfig) {
    config.service(resource("/queues/{queue}/jobs", [(Method::GET, web::to(list))]));
}

/// A page of the jobs of a queue.
#[derive(Debug, Serialize, ToSchema)]
pub struct QueueJobs {
    jobs: Vec<QueueJob>,
    /// The marker of the next page; null after the last one.
    next: Option<Uuid>,
}

/// A job of a queue.
#[derive(Debug, Serialize, ToSchema)]
pub struct QueueJob {
    /// Its place among the jobs of the queue that wait, from 1; there with
    /// `order=position` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<usize>,
    /// What lists show of it.
    #[serde(flatten)]
    summary: JobSummary,
}

/// The order of a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Submission,
    Position,
}

/// Lists the jobs of a queue: all in order of submission, or those that wait in
/// the order in which they are served, with their positions.
#[utoipa::path(get, path = "/v1/queues/{queue}/jobs", tag = "queues", security(("token" = [])),
    params(
        ("queue" = String, Path, description = "Its name."),
        ("order" = Option<String>, Query, description = "`submission` (as without it) or \
            `position`: only jobs that wait, the next one first."),
        ("limit" = Option<i64>, Query, description = "Jobs in the page."),
        ("marker" = Option<Uuid>, Query, description = "The `next` of the page before."),
        ("name" = Option<String>, Query, description = "Those of one name."),
        ("phase" = Option<String>, Query, description = "Those in one phase."),
        ("host" = Option<String>, Query, description = "Those with a task on one host."),
        ("label" = Option<String>, Query, description = "Those with tasks of a label: `key`, or \
            `key=value`."),
    ),
    responses(
        (status = 200, description = "A page of its jobs.", body = QueueJobs),
        (status = 404, description = "There is no such queue."),
    ))]
pub async fn list(
    caller: Caller,
    Part(queue): Part,
    request: HttpRequest,
) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:jobs:list")?;
    let mut params = Params::of(&request)?;
    let orders = [("submission", Order::Submission), ("position", Order::Position)];
    let order = params.word("order", &orders).unwrap_or(Order::Submission);
    let filter = filter(&mut params);
    let marker = params.uuid("marker");
    let limit = params.limit(caller.api().settings.load().api.max_limit);
    if let Some(other) = &filter.queue {
        params.refuse("queue", other, "nothing: the path names the queue");
    }
    params.finish()?;
    let image = caller.api().ledger.image();
    if image.batch.queue(&queue).is_none() {
        return Err(BatchError::NoQueue(queue).into());
    }
    let filter = JobFilter { queue: Some(queue.clone()), ..filter };
    if order == Order::Submission {
        check_marker(&image, marker)?;
        let page = views::jobs(&image, &filter, marker, limit);
        let jobs = page.jobs.into_iter().map(|summary| QueueJob { position: None, summary });
        return Ok(json(StatusCode::OK, &QueueJobs { jobs: jobs.collect(), next: page.next }));
    }
    let (settings, now) = (caller.api().settings.load_full(), caller.now());
    let page = move || -> Result<QueueJobs, Failure> {
        let order = explain::positions(&image, &settings, &queue, now)
            .map_err(|fault| Failure::new(Code::Unavailable, fault.to_string()))?
            .ok_or(BatchError::NoQueue(queue))?;
        let places: HashMap<Uuid, usize> = order.iter().copied().zip(1..).collect();
        // Places count from one, so that of the marker is how many to leave out.
        let after = match marker {
            None => 0,
            Some(marker) => *places.get(&marker).ok_or_else(|| no_longer(marker))?,
        };
        let mut found = views::jobs_among(&image, &filter, &order[after..]);
        let place = |job| places.get(&job).copied();
        let jobs: Vec<QueueJob> = found
            .by_ref()
            .take(limit)
            .map(|summary| QueueJob { position: place(summary.id), summary })
            .collect();
        let more = found.next().is_some();
        let next = jobs.last().filter(|_| more).map(|job| job.summary.id);
        Ok(QueueJobs { jobs, next })
    };
    Ok(json(StatusCode::OK, &caller.beside(page).await??))
}

/// A marker that is not among the jobs that wait.
fn no_longer(marker: Uuid) -> BatchError {
    let mut errors = FieldErrors::default();
    errors.add("marker", &marker, "a job that waits in this queue");
    errors.into()
}
