//! `POST /v1/jobs`.

use super::{
    super::{
        caller::Caller,
        params::{Params, json},
    },
    no_job,
};
use crate::{
    body::Body,
    failure::{Code, Failure},
};
use actix_web::{
    HttpRequest, HttpResponse,
    http::{StatusCode, header},
};
use stowplan_batch::{
    BatchError,
    spec::{self, JobRequest, Limits},
    store::{self, DEFAULT_QUEUE, Submission},
    views::{self, JobDetail},
};
use stowplan_ledger::Image;
use stowplan_model::Uuid;
use stowplan_scheduler::fields::FieldErrors;

/// The longest Idempotency-Key.
const MAX_KEY: usize = 255;

/// Submits a job: it waits in its queue until a cycle finds places for at
/// least `min_available` of its tasks at once, beside virtual machines and
/// other jobs.
///
/// What a task asks for is rounded up to whole units of the resource classes
/// that `[batch] resource_map` names, and held so. Fields of the model that
/// this version does not act on are refused.
#[utoipa::path(post, path = "/v1/jobs", tag = "jobs", security(("token" = [])),
    params(
        ("dry_run" = Option<bool>, Query, description = "Only check it, and show what it would be."),
        ("Idempotency-Key" = Option<String>, Header, description = "At most 255 characters. The \
            same body with the same key of the same caller makes one job, however often it comes."),
    ),
    request_body(content = JobRequest, example = json!({
        "name": "train", "min_available": 5, "tasks": [
            {"role": "master", "requests": {"cpu": "500m", "memory": "1Gi"}},
            {"role": "worker", "count": 4, "requests": {"cpu": 4, "memory": "16Gi",
                "nvidia.com/gpu": 1}, "node_selector": {"zone": "a"}},
        ],
    })),
    responses(
        (status = 200, description = "What a dry run would make.", body = JobDetail),
        (status = 201, description = "The job; Location is its address.", body = JobDetail),
        (status = 400, description = "Fields that cannot be, all of them named."),
        (status = 409, description = "The name is taken, or the queue takes no jobs."),
        (status = 422, description = "The key was used for another body."),
    ))]
pub async fn submit(
    caller: Caller,
    request: HttpRequest,
    Body(body): Body,
) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:jobs:create")?;
    let mut params = Params::of(&request)?;
    let dry_run = params.flag("dry_run");
    params.finish()?;
    let key = key(&request)?;
    let submission = submission(&caller, spec::read_job(&body)?, key.as_deref(), &body)?;
    let (ledger, now) = (&caller.api().ledger, caller.now());
    if dry_run {
        let mut image = Image::clone(&ledger.image());
        let (change, uuid) = store::submit(&image, &submission, now)?;
        image.apply(&change);
        let job = views::job(&image, uuid).ok_or_else(|| no_job(&uuid.to_string()))?;
        return Ok(json(StatusCode::OK, &job));
    }
    let uuid = caller.write(move |image| store::submit(image, &submission, now)).await?;
    let job = views::job(&ledger.image(), uuid).ok_or_else(|| no_job(&uuid.to_string()))?;
    let mut response = json(StatusCode::CREATED, &job);
    if let Ok(location) = header::HeaderValue::from_str(&format!("/v1/jobs/{uuid}")) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

/// A request checked and completed, on its way into the ledger.
fn submission(
    caller: &Caller,
    mut asked: JobRequest,
    key: Option<&str>,
    body: &[u8],
) -> Result<Submission, Failure> {
    let settings = caller.api().settings.load();
    let limits = Limits { tasks: u64::from(settings.batch.max_tasks_per_job) };
    let token = &caller.token;
    asked.namespace = asked.namespace.or_else(|| token.project.clone());
    let image = caller.api().ledger.image();
    let class = store::class_for(&image, asked.priority_class.as_deref());
    let class = class.map_err(BatchError::from)?;
    let dims = caller.dims()?;
    let spec = spec::check(&asked, &token.user, class.as_ref(), &dims, limits);
    let mut spec = spec.map_err(BatchError::from)?;
    let namespace = asked.namespace.ok_or_else(|| {
        let mut errors = FieldErrors::default();
        errors.add("namespace", &None::<&str>, "a name, as the token is of no project");
        BatchError::from(errors)
    })?;
    let uuid = match key {
        // The same key of the same caller names the same job.
        Some(key) => {
            spec.submitted = Some(Uuid::new_v5(&Uuid::NAMESPACE_OID, body));
            let project = token.project.as_deref().unwrap_or_default();
            let name = serde_json::json!([project, token.user, key]).to_string();
            Uuid::new_v5(&Uuid::NAMESPACE_URL, name.as_bytes())
        }
        None => Uuid::new_v4(),
    };
    Ok(Submission {
        uuid,
        namespace,
        name: asked.name.unwrap_or_else(|| uuid.to_string()),
        queue: asked.queue.unwrap_or_else(|| DEFAULT_QUEUE.to_owned()),
        suspend: asked.suspend.unwrap_or(false),
        key: key.map(str::to_owned),
        spec,
    })
}

fn key(request: &HttpRequest) -> Result<Option<String>, Failure> {
    let Some(value) = request.headers().get("idempotency-key") else { return Ok(None) };
    let text = value.to_str().unwrap_or_default();
    if text.is_empty() || text.len() > MAX_KEY {
        let detail = format!("Idempotency-Key is {text:?}: expected 1 to {MAX_KEY} characters");
        return Err(Failure::new(Code::BadRequest, detail));
    }
    Ok(Some(text.to_owned()))
}
