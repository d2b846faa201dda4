//! `/v1/snapshot`: the cloud as a file.

use super::{caller::Caller, params::Params};
use crate::{
    failure::{Code, Failure},
    media,
};
use actix_web::{HttpRequest, HttpResponse, http::header};
use stowplan_batch::scenario;

/// What is exported.
#[derive(Clone, Copy)]
enum Form {
    Cloud,
    Batch,
}

/// Exports the cloud as a scenario of `stowplan evaluate`: hosts with their live
/// figures, resource providers with what is taken of them, host aggregates, server
/// groups, services, and the options that are not at their defaults and bear on
/// where servers go. All of it is of one moment, whatever is written meanwhile.
///
/// With `form=batch` it is a scenario of batch scheduling: hosts with what others than
/// tasks hold there, queues, and the jobs that cycles have to do with, with their tasks.
/// Evaluating it does what a cycle would do now, topology domains, NUMA cells,
/// metrics and the traits of devices apart, which it has not.
#[utoipa::path(get, path = "/v1/snapshot", tag = "scheduling", security(("token" = [])),
    params(("form" = Option<String>, Query, description = "`cloud` (as without it) or `batch`.")),
    responses((status = 200, description = "The cloud.", content_type = "application/json",
        body = Object, example = json!({
            "seq": 17, "now": 1_767_225_600_000_000_i64, "config": {},
            "resource_classes": ["CUSTOM_GPU"], "traits": [],
            "hosts": [{"host": "compute-1", "node": "compute-1", "free_ram_mb": 8192}],
            "providers": [{"uuid": "4e8e5957-649f-477b-9e5b-f1f75b21c03c", "name": "compute-1",
                "parent": null, "inventories": {"VCPU": {"total": 8}}, "traits": [],
                "aggregates": [], "allocations": {}}],
            "aggregates": [], "groups": [], "services": [], "cells": [],
        }))))]
pub async fn show(caller: Caller, request: HttpRequest) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:snapshot:show")?;
    let mut params = Params::of(&request)?;
    let form = params.word("form", &[("cloud", Form::Cloud), ("batch", Form::Batch)]);
    params.finish()?;
    let (scheduler, now) = (caller.api().scheduler.clone(), caller.now());
    let made = match form.unwrap_or(Form::Cloud) {
        Form::Cloud => caller.beside(move || serde_json::to_vec(&scheduler.snapshot(now))).await?,
        Form::Batch => {
            let (image, settings) =
                (caller.api().ledger.image(), caller.api().settings.load_full());
            let export = move || {
                scenario::export(&image, &settings, now).map(|made| serde_json::to_vec(&made))
            };
            let exported = caller.beside(export).await?;
            exported.map_err(|fault| Failure::new(Code::Unavailable, fault.to_string()))?
        }
    };
    let body = made.map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
    Ok(HttpResponse::Ok().insert_header((header::CONTENT_TYPE, media::JSON)).body(body))
}
