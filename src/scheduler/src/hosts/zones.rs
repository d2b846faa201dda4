//! Availability zones: which services are in each, and whether it is available.

use std::collections::BTreeMap;
use std::sync::Arc;

use stowplan_ledger::Image;
use stowplan_ledger::rows::ServiceRow;

use super::{BINARY, zone_of};

/// Names of zones that no host aggregate makes.
#[derive(Clone, Copy, Debug)]
pub struct ZoneNames<'a> {
    /// The zone of hosts whose aggregates put them in none: `[DEFAULT]
    /// default_availability_zone`.
    pub default: &'a str,
    /// The zone of services that run no servers: `[DEFAULT]
    /// internal_service_availability_zone`.
    pub internal: &'a str,
}

impl ZoneNames<'_> {
    /// The zone of a service.
    #[must_use]
    pub fn of<'s>(&'s self, image: &'s Image, service: &ServiceRow) -> &'s str {
        if service.binary == BINARY {
            zone_of(image, &service.host).unwrap_or(self.default)
        } else {
            self.internal
        }
    }
}

/// A zone with the services in it.
#[derive(Clone, Debug, Default)]
pub struct Zone {
    /// Those that are enabled, by host and program.
    pub enabled: BTreeMap<String, BTreeMap<String, Arc<ServiceRow>>>,
}

impl Zone {
    /// Whether servers can be asked for in it: any service is enabled.
    #[must_use]
    pub fn is_available(&self) -> bool {
        !self.enabled.is_empty()
    }
}

/// All zones with a service in them, in order of their names. A zone without
/// one is none: nothing can be placed there.
#[must_use]
pub fn zones(image: &Image, names: ZoneNames<'_>) -> BTreeMap<String, Zone> {
    let mut zones: BTreeMap<String, Zone> = BTreeMap::new();
    for service in image.services.iter() {
        let zone = zones.entry(names.of(image, service).to_owned()).or_default();
        if !service.disabled {
            let on_host = zone.enabled.entry(service.host.clone()).or_default();
            on_host.insert(service.binary.clone(), service.clone());
        }
    }
    zones
}
