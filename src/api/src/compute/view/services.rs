//! Services.

use super::{ThingId, times::written};
use crate::compute::version::{Feature, Microversion};
use serde::Serialize;
use stowplan_ledger::{Image, rows::ServiceRow};
use stowplan_model::Micros;
use stowplan_scheduler::{
    Prepared,
    hosts::{HostState, ZoneNames, service_state},
};
use utoipa::ToSchema;

/// A service, as the compute API shows it.
#[derive(Debug, Serialize, ToSchema)]
pub struct ComputeService {
    /// Its integer id, or its uuid (from 2.53 on).
    id: ThingId,
    /// Its program.
    #[schema(examples("nova-compute"))]
    binary: String,
    /// The host that it runs on.
    host: String,
    /// Its availability zone.
    zone: String,
    /// `enabled` or `disabled`.
    status: &'static str,
    /// `up` or `down`.
    state: &'static str,
    /// When it was last heard, without a time zone.
    updated_at: Option<String>,
    /// Why it is disabled.
    disabled_reason: Option<String>,
    /// Whether it is declared down (from 2.11 on).
    #[serde(skip_serializing_if = "Option::is_none")]
    forced_down: Option<bool>,
}

/// What views of services are made with.
pub struct Services<'a> {
    /// The image that they are of.
    pub image: &'a Image,
    /// The options.
    pub prepared: &'a Prepared,
    /// Now.
    pub now: Micros,
    /// The microversion.
    pub version: Microversion,
}

impl Services<'_> {
    /// A service as the microversion shows it.
    #[must_use]
    pub fn view(&self, row: &ServiceRow) -> ComputeService {
        let uuids = self.version.has(Feature::Uuids);
        ComputeService {
            id: if uuids { ThingId::Uuid(row.uuid) } else { ThingId::Number(row.id) },
            binary: row.binary.clone(),
            host: row.host.clone(),
            zone: self.zones().of(self.image, row).to_owned(),
            status: status(row),
            state: if self.is_up(row) { "up" } else { "down" },
            updated_at: Some(heard(row)),
            disabled_reason: row.disabled_reason.clone(),
            forced_down: self.version.has(Feature::ForcedDown).then_some(row.forced_down),
        }
    }

    /// Names of zones that no aggregate makes.
    #[must_use]
    pub fn zones(&self) -> ZoneNames<'_> {
        let options = &self.prepared.settings.default;
        ZoneNames {
            default: &options.default_availability_zone,
            internal: &options.internal_service_availability_zone,
        }
    }

    /// Whether a service is alive.
    #[must_use]
    pub fn is_up(&self, row: &ServiceRow) -> bool {
        let config = self.prepared.engine.config();
        service_state(self.image, row, config, self.now) == HostState::Up
    }
}

/// `enabled` or `disabled`.
#[must_use]
pub fn status(row: &ServiceRow) -> &'static str {
    if row.disabled { "disabled" } else { "enabled" }
}

/// When a service was last heard, or made.
#[must_use]
pub fn heard(row: &ServiceRow) -> String {
    written(row.last_seen.unwrap_or(row.created))
}

/// A service.
#[derive(Debug, Serialize, ToSchema)]
pub struct ServiceAnswer {
    /// The service.
    pub service: ComputeService,
}

/// Services.
#[derive(Debug, Serialize, ToSchema)]
pub struct ServicesAnswer {
    /// In order of their ids.
    pub services: Vec<ComputeService>,
}

/// What has been done to a service (before 2.53).
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct ServiceAction {
    /// Its host.
    pub host: String,
    /// Its program.
    pub binary: String,
    /// `enabled` or `disabled`, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<&'static str>,
    /// Why it is disabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled_reason: Option<String>,
    /// Whether it is declared down, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forced_down: Option<bool>,
}

/// What has been done to a service (before 2.53).
#[derive(Debug, Serialize, ToSchema)]
pub struct ServiceActionAnswer {
    /// The service.
    pub service: ServiceAction,
}
