//! `/v1/hosts`: what hosts report, and what is known of them.

use super::{
    caller::Caller,
    params::{Params, json},
};
use crate::{body::Body, failure::Failure, placement::path::Part};
use actix_web::{HttpRequest, HttpResponse, http::StatusCode};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use stowplan_engine::{Figure, HostView, table::StateFlags};
use stowplan_ledger::{
    Image,
    image::hosts::Host,
    rows::{HostSource, InventoryOwner, OriginKind},
};
use stowplan_model::{
    Micros, Uuid,
    host::{HostReport, ServiceReport},
};
use stowplan_scheduler::{
    Prepared, body,
    fields::FieldErrors,
    hosts::{self, HostFilter, HostState, Reported},
};
use utoipa::ToSchema;

/// A host as lists show it.
#[derive(Debug, Serialize, ToSchema)]
pub struct HostSummary {
    /// Name of the host.
    host: String,
    /// Name of the node.
    node: String,
    /// Uuid of the compute node, which is its root provider's.
    uuid: Uuid,
    /// Cell; null outside Nova.
    cell_uuid: Option<Uuid>,
    /// Availability zone, by its host aggregates.
    availability_zone: String,
    /// Ids of the host aggregates that it is in.
    aggregates: Vec<i64>,
    /// `up` or `down`.
    #[schema(examples("up"))]
    state: &'static str,
    /// `enabled` or `disabled`.
    #[schema(examples("enabled"))]
    status: &'static str,
    /// Where its reports come from.
    #[schema(value_type = String, examples("rest"))]
    source: HostSource,
    /// Who writes its root provider's inventory.
    #[schema(value_type = String, examples("report"))]
    inventory_owner: InventoryOwner,
    /// What filters and weighers see now.
    figures: LiveFigures,
    /// When it was first reported, microseconds since the epoch.
    created: Micros,
    /// When its report last said something new.
    updated: Micros,
}

/// The live figures of a host: its report and our claims after it.
#[derive(Debug, Serialize, ToSchema)]
pub struct LiveFigures {
    vcpus_total: i64,
    vcpus_used: i64,
    memory_mb: i64,
    free_ram_mb: i64,
    local_gb: i64,
    free_disk_mb: i64,
    num_instances: i64,
    num_io_ops: i64,
    failed_builds: i64,
}

/// A host in full.
#[derive(Debug, Serialize, ToSchema)]
pub struct HostDetail {
    #[serde(flatten)]
    summary: HostSummary,
    /// The service that runs it, as operators and reports left it.
    service: ServiceReport,
    /// What it said last.
    report: HostReport,
    /// Servers on it: those that it reports and those claimed since.
    instances: BTreeSet<Uuid>,
    /// Batch tasks bound to it.
    tasks: BTreeSet<Uuid>,
}

/// A page of hosts.
#[derive(Debug, Serialize, ToSchema)]
pub struct HostList {
    hosts: Vec<HostSummary>,
    /// The marker of the next page; null after the last one.
    next: Option<Uuid>,
}

/// What a report has done.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReportAnswer {
    /// Uuid of the compute node.
    uuid: Uuid,
    /// The host was not known before.
    created: bool,
    /// Something was written: a report that says nothing new writes nothing.
    changed: bool,
}

impl From<Reported> for ReportAnswer {
    fn from(reported: Reported) -> Self {
        Self { uuid: reported.uuid, created: reported.created, changed: reported.changed }
    }
}

/// Hosts that were heard of.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Heartbeat {
    /// Their names, at most 100,000.
    hosts: Vec<String>,
}

/// Hosts in one heartbeat at most.
const MAX_HEARTBEAT: usize = 100_000;

/// Which of the hosts are known.
#[derive(Debug, Serialize, ToSchema)]
pub struct HeartbeatAnswer {
    /// How many were noted.
    heard: usize,
    /// Names that no host bears.
    unknown: Vec<String>,
}

/// What views of hosts are made with.
struct View<'a> {
    image: &'a Image,
    prepared: &'a Prepared,
    now: Micros,
}

impl View<'_> {
    fn summary(&self, host: &Host) -> HostSummary {
        let row = &host.row;
        let table = self.image.hosts.table();
        let figure = |figure| table.figure(figure, host.ix);
        let default = &self.prepared.settings.default.default_availability_zone;
        let zone = hosts::zone_of(self.image, &row.host).unwrap_or(default);
        let state = hosts::state(self.image, host, self.prepared.engine.config(), self.now);
        let disabled = figure(Figure::StateFlags) & StateFlags::DISABLED != 0;
        HostSummary {
            host: row.host.clone(),
            node: row.node.clone(),
            uuid: row.uuid,
            cell_uuid: row.report.cell_uuid,
            availability_zone: zone.to_owned(),
            aggregates: self.image.hosts.aggregates_of(&row.host).collect(),
            state: match state {
                HostState::Up => "up",
                HostState::Down => "down",
            },
            status: if disabled { "disabled" } else { "enabled" },
            source: row.source,
            inventory_owner: row.inventory_owner,
            figures: LiveFigures {
                vcpus_total: figure(Figure::VcpusTotal),
                vcpus_used: figure(Figure::VcpusUsed),
                memory_mb: figure(Figure::TotalUsableRamMb),
                free_ram_mb: figure(Figure::FreeRamMb),
                local_gb: figure(Figure::TotalUsableDiskGb),
                free_disk_mb: figure(Figure::FreeDiskMb),
                num_instances: figure(Figure::NumInstances),
                num_io_ops: figure(Figure::NumIoOps),
                failed_builds: figure(Figure::FailedBuilds),
            },
            created: row.created,
            updated: row.updated,
        }
    }

    fn detail(&self, host: &Host) -> HostDetail {
        let row = &host.row;
        let on_host = self.image.hosts.table().instances(host.ix).as_slice();
        let tasks = self.image.consumers.placed_on(row.uuid).filter(|consumer| {
            consumer.origin.as_ref().is_some_and(|origin| origin.kind == OriginKind::BatchTask)
        });
        let service = self.image.service_of(&row.host).map(|service| service.as_report());
        HostDetail {
            summary: self.summary(host),
            service: service.unwrap_or_default(),
            report: row.report.clone(),
            instances: on_host.iter().map(|(uuid, _)| *uuid).collect(),
            tasks: tasks.map(|consumer| consumer.uuid).collect(),
        }
    }
}

/// Lists hosts, in order of the names of host and node.
#[utoipa::path(get, path = "/v1/hosts", tag = "hosts", security(("token" = [])),
    params(
        ("limit" = Option<i64>, Query, description = "Hosts in the page."),
        ("marker" = Option<Uuid>, Query, description = "The `next` of the page before."),
        ("host" = Option<String>, Query, description = "Name of the host."),
        ("availability_zone" = Option<String>, Query),
        ("aggregate" = Option<i64>, Query, description = "Id of a host aggregate."),
        ("cell_uuid" = Option<Uuid>, Query),
        ("state" = Option<String>, Query, description = "`up` or `down`."),
        ("status" = Option<String>, Query, description = "`enabled` or `disabled`."),
    ),
    responses((status = 200, description = "A page of hosts.", body = HostList)))]
pub async fn list(caller: Caller, request: HttpRequest) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:hosts:list")?;
    let scheduler = &caller.api().scheduler;
    let prepared = scheduler.prepared();
    let mut params = Params::of(&request)?;
    let filter = HostFilter {
        host: params.text("host"),
        zone: params.text("availability_zone"),
        aggregate: params.number("aggregate"),
        cell: params.uuid("cell_uuid"),
        state: params.word("state", &[("up", HostState::Up), ("down", HostState::Down)]),
        enabled: params.word("status", &[("enabled", true), ("disabled", false)]),
    };
    let marker = params.uuid("marker");
    let limit = params.limit(prepared.settings.api.max_limit);
    params.finish()?;
    let (image, now) = (scheduler.ledger().image(), caller.now());
    let page = scheduler.list_hosts(&image, &filter, marker, limit, now)?;
    let view = View { image: &image, prepared: &prepared, now };
    let hosts = page.hosts.iter().map(|host| view.summary(host)).collect();
    Ok(json(StatusCode::OK, &HostList { hosts, next: page.next }))
}

/// Shows a host with its last report and its live figures.
#[utoipa::path(get, path = "/v1/hosts/{host}", tag = "hosts", security(("token" = [])),
    params(
        ("host" = String, Path, description = "Name of the host."),
        ("node" = Option<String>, Query, description = "Its node, where it has several."),
    ),
    responses(
        (status = 200, description = "The host.", body = HostDetail),
        (status = 404, description = "There is no such host or node."),
        (status = 409, description = "It has several nodes and none is named."),
    ))]
pub async fn show(
    caller: Caller,
    Part(host): Part,
    request: HttpRequest,
) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:hosts:show")?;
    let node = node(&request)?;
    let scheduler = &caller.api().scheduler;
    let (image, prepared) = (scheduler.ledger().image(), scheduler.prepared());
    let host = hosts::find(&image, &host, node.as_deref())?;
    let view = View { image: &image, prepared: &prepared, now: caller.now() };
    Ok(json(StatusCode::OK, &view.detail(host)))
}

/// Takes in the full state of a host; one that is new is made, with its
/// resource providers. Counts as a sign of life.
///
/// The node is `?node=`, else `hypervisor_hostname`, else the only node that
/// the host has, else the host's name; the root resource provider bears its
/// name. Without `uuid` the host keeps the one it has, or that of the provider
/// of its name, or gets one that follows from its names.
///
/// `inventory` sets the root provider's inventory. A report without it, of a
/// host whose provider no Placement client has made, gives its provider VCPU,
/// MEMORY_MB and DISK_GB after `vcpus`, `memory_mb` and `local_gb` for as long
/// as nobody else changes them.
#[utoipa::path(put, path = "/v1/hosts/{host}", tag = "hosts", security(("token" = [])),
    params(
        ("host" = String, Path, description = "Name of the host."),
        ("node" = Option<String>, Query, description = "Its node, where it has several."),
        ("take_over" = Option<bool>, Query,
            description = "Take over an inventory that clients of the Placement API have made."),
    ),
    request_body(content = HostReport, example = json!({
        "vcpus": 64, "memory_mb": 262_144, "local_gb": 2000, "cpu_allocation_ratio": 4.0,
        "hypervisor_type": "QEMU", "hypervisor_version": 8_002_000,
        "supported_instances": [["x86_64", "kvm", "hvm"]], "traits": ["HW_CPU_X86_AVX2"],
        "devices": [{"name": "gpu0", "resource_class": "CUSTOM_GPU_MILLI", "total": 1000,
            "traits": ["CUSTOM_GPU_V100M16"]}],
    })),
    responses(
        (status = 200, description = "The host was known.", body = ReportAnswer),
        (status = 201, description = "The host is new.", body = ReportAnswer),
        (status = 400, description = "Fields that cannot be, all of them named."),
        (status = 409, description = "A uuid or name of another, or an inventory of another."),
    ))]
pub async fn report(
    caller: Caller,
    Part(host): Part,
    request: HttpRequest,
    Body(body): Body,
) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:hosts:report")?;
    let mut params = Params::of(&request)?;
    let (node, take_over) = (params.text("node"), params.flag("take_over"));
    params.finish()?;
    let report = hosts::read_report(&body)?;
    let scheduler = &caller.api().scheduler;
    let reported =
        scheduler.report_host(caller.call(), &host, node.as_deref(), report, take_over).await?;
    let status = if reported.created { StatusCode::CREATED } else { StatusCode::OK };
    Ok(json(status, &ReportAnswer::from(reported)))
}

/// Takes a host out, with the provider tree of its node.
#[utoipa::path(delete, path = "/v1/hosts/{host}", tag = "hosts", security(("token" = [])),
    params(
        ("host" = String, Path, description = "Name of the host."),
        ("node" = Option<String>, Query, description = "Its node, where it has several."),
    ),
    responses(
        (status = 204, description = "It is gone."),
        (status = 404, description = "There is no such host or node."),
        (status = 409, description = "Consumers hold something of it: the first 20 are named."),
    ))]
pub async fn delete(
    caller: Caller,
    Part(host): Part,
    request: HttpRequest,
) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:hosts:delete")?;
    let node = node(&request)?;
    caller.api().scheduler.delete_host(caller.call(), &host, node.as_deref()).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Notes signs of life of many hosts.
#[utoipa::path(post, path = "/v1/hosts/heartbeat", tag = "hosts", security(("token" = [])),
    request_body(content = Heartbeat, example = json!({"hosts": ["compute-1", "compute-2"]})),
    responses((status = 200, description = "Which of them are known.", body = HeartbeatAnswer)))]
pub async fn heartbeat(caller: Caller, Body(body): Body) -> Result<HttpResponse, Failure> {
    caller.may("stowplan:hosts:heartbeat")?;
    let Heartbeat { hosts } =
        body::read(&body).map_err(stowplan_scheduler::SchedulerError::from)?;
    let mut errors = FieldErrors::default();
    let expected = format!("at most {MAX_HEARTBEAT} names");
    errors.require(hosts.len() <= MAX_HEARTBEAT, "hosts", &hosts.len(), expected);
    errors.into_result(()).map_err(stowplan_scheduler::SchedulerError::from)?;
    let count = hosts.len();
    let unknown = caller.api().scheduler.heartbeat(hosts, caller.now())?;
    let answer = HeartbeatAnswer { heard: count - unknown.len(), unknown };
    Ok(json(StatusCode::OK, &answer))
}

/// The `node` parameter, and no other.
fn node(request: &HttpRequest) -> Result<Option<String>, Failure> {
    let mut params = Params::of(request)?;
    let node = params.text("node");
    params.finish()?;
    Ok(node)
}
