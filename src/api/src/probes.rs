//! Probes: whether the process lives, and whether it can serve.

use crate::{app::resource, state::Shared};
use actix_web::{
    HttpResponse,
    http::Method,
    web::{self, Data, ServiceConfig},
};
use serde::Serialize;
use std::collections::BTreeMap;
use stowplan_bus::{Counter, Link, Status};
use stowplan_scheduler::nova::{self, Database, DatabaseState};
use utoipa::ToSchema;

/// How the service is.
#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    /// `ok`.
    pub status: &'static str,
}

/// Whether the service can serve.
#[derive(Debug, Serialize, ToSchema)]
pub struct Readiness {
    /// `ready`; `read_only` while the database takes no writes.
    pub status: &'static str,
    /// Number of the last change that is in the image.
    pub seq: i64,
    /// Why nothing can be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The message bus.
    pub bus: Bus,
    /// Nova's databases.
    pub nova: Nova,
}

/// How the message bus is.
#[derive(Debug, Serialize, ToSchema)]
pub struct Bus {
    /// `off` without a `transport_url`; `connecting`, `consuming`, `away`,
    /// `stopped`.
    pub state: &'static str,
    /// The broker whose queues are consumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broker: Option<String>,
    /// Why no queues are consumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What was counted since the start, by name.
    #[schema(value_type = BTreeMap<String, u64>)]
    pub counts: BTreeMap<&'static str, u64>,
}

impl Bus {
    fn of(status: Option<&Status>) -> Self {
        let Some(status) = status else {
            return Self { state: "off", broker: None, reason: None, counts: BTreeMap::new() };
        };
        let link = status.link();
        let (broker, reason) = match link.as_ref() {
            Link::Connecting | Link::Stopped => (None, None),
            Link::Consuming { broker } => (Some(broker.clone()), None),
            Link::Away { reason } => (None, Some(reason.clone())),
        };
        let counts = Counter::ALL.iter().map(|(counter, name)| (*name, status.count(*counter)));
        Self { state: link.name(), broker, reason, counts: counts.collect() }
    }
}

/// How the reading of Nova's databases goes.
#[derive(Debug, Serialize, ToSchema)]
pub struct Nova {
    /// `off` without `[nova] api_database` and `cell_databases`; else the state of the
    /// database that is worst off: `following`, `connecting`, `away`.
    pub state: &'static str,
    /// The databases by their names: `api`, and those of the cells.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub databases: BTreeMap<String, Database>,
}

impl Nova {
    fn of(status: Option<&nova::Status>) -> Self {
        let Some(status) = status else {
            return Self { state: "off", databases: BTreeMap::new() };
        };
        let state = match status.worst() {
            Some(DatabaseState::Following) => "following",
            Some(DatabaseState::Away) => "away",
            Some(DatabaseState::Connecting) | None => "connecting",
        };
        Self { state, databases: BTreeMap::clone(&status.databases()) }
    }
}

pub(crate) fn routes(config: &mut ServiceConfig) {
    config
        .service(resource("/healthz", [(Method::GET, web::route().to(healthz))]))
        .service(resource("/readyz", [(Method::GET, web::route().to(readyz))]));
}

/// The process lives.
#[utoipa::path(get, path = "/healthz", tag = "probes", security(()),
    responses((status = 200, description = "The process lives.", body = Health)))]
pub async fn healthz() -> HttpResponse {
    HttpResponse::Ok().json(Health { status: "ok" })
}

/// The image is loaded and requests are served. While the database takes no
/// writes, reads are answered all the same; while the message bus is away, calls
/// over REST are; while one of Nova's databases is, what was read of it stands.
#[utoipa::path(get, path = "/readyz", tag = "probes", security(()),
    responses((status = 200, description = "Requests are served.", body = Readiness)))]
pub async fn readyz(shared: Data<Shared>) -> HttpResponse {
    let ledger = &shared.api.ledger;
    let reason = ledger.trouble().map(|reason| reason.to_string());
    let status = if reason.is_none() { "ready" } else { "read_only" };
    HttpResponse::Ok().json(Readiness {
        status,
        seq: ledger.image().seq(),
        reason,
        bus: Bus::of(shared.api.bus.as_deref()),
        nova: Nova::of(shared.api.nova.as_deref()),
    })
}
