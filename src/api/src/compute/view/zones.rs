//! Availability zones.

use super::services::{Services, heard};
use serde::Serialize;
use std::collections::BTreeMap;
use stowplan_scheduler::hosts::{Zone, zones};
use utoipa::ToSchema;

/// An availability zone.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AvailabilityZone {
    /// Its name.
    zone_name: String,
    /// How it is.
    zone_state: ZoneState,
    /// Its services that are enabled, by host and program; null in the short
    /// list and where the zone is not available.
    #[schema(value_type = Option<BTreeMap<String, BTreeMap<String, ZoneService>>>)]
    hosts: Option<Hosts>,
}

type Hosts = BTreeMap<String, BTreeMap<String, ZoneService>>;

/// How an availability zone is.
#[derive(Debug, Serialize, ToSchema)]
pub struct ZoneState {
    /// Whether any service in it is enabled.
    available: bool,
}

/// A service in an availability zone.
#[derive(Debug, Serialize, ToSchema)]
pub struct ZoneService {
    /// Whether it is enabled.
    active: bool,
    /// Whether it is alive.
    available: bool,
    /// When it was last heard, without a time zone.
    updated_at: Option<String>,
}

/// Availability zones.
#[derive(Debug, Serialize, ToSchema)]
pub struct ZonesAnswer {
    /// Those that are available first, each part in order of names.
    #[serde(rename = "availabilityZoneInfo")]
    pub zones: Vec<AvailabilityZone>,
}

impl ZonesAnswer {
    /// The zones with a service in them; with their services, or short, where
    /// the zone of services that run no servers is left out.
    #[must_use]
    pub fn of(services: &Services<'_>, detail: bool) -> Self {
        let names = services.zones();
        let mut all: Vec<(String, Zone)> = zones(services.image, names).into_iter().collect();
        // The sort is stable: names stay in order.
        all.sort_by_key(|(_, zone)| !zone.is_available());
        let shown = all.into_iter().filter(|(name, _)| detail || name != names.internal);
        let zones = shown.map(|(name, zone)| {
            let available = zone.is_available();
            AvailabilityZone {
                zone_name: name,
                zone_state: ZoneState { available },
                hosts: (detail && available).then(|| hosts(services, &zone)),
            }
        });
        Self { zones: zones.collect() }
    }
}

fn hosts(services: &Services<'_>, zone: &Zone) -> Hosts {
    let mut hosts = Hosts::new();
    for (host, programs) in &zone.enabled {
        for (program, row) in programs {
            let service = ZoneService {
                active: !row.disabled,
                available: services.is_up(row),
                updated_at: Some(heard(row)),
            };
            hosts.entry(host.clone()).or_default().insert(program.clone(), service);
        }
    }
    hosts
}
