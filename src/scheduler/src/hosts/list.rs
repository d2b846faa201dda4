//! Lists of hosts, and what is derived of one: its state and its zone.

use std::sync::Arc;

use stowplan_engine::config::EngineConfig;
use stowplan_ledger::Image;
use stowplan_ledger::image::hosts::Host;
use stowplan_ledger::rows::{HostSource, ServiceRow};
use stowplan_model::{Micros, Uuid};

use crate::error::SchedulerError;
use crate::fields::FieldErrors;

/// The metadata key of a host aggregate that makes it an availability zone.
pub const ZONE: &str = "availability_zone";

/// Which hosts a list shows; what is none is not looked at.
#[derive(Clone, Debug, Default)]
pub struct HostFilter {
    /// Name of the host.
    pub host: Option<String>,
    /// Availability zone.
    pub zone: Option<String>,
    /// Id of a host aggregate.
    pub aggregate: Option<i64>,
    /// Cell.
    pub cell: Option<Uuid>,
    /// Whether the service is alive.
    pub state: Option<HostState>,
    /// Whether the service takes new servers.
    pub enabled: Option<bool>,
}

/// Whether a host's service is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostState {
    /// It was heard of in time.
    Up,
    /// It was not, or somebody declared it down.
    Down,
}

/// One page of hosts.
#[derive(Clone, Debug)]
pub struct HostPage {
    /// The hosts, in order of the names of host and node.
    pub hosts: Vec<Arc<Host>>,
    /// The marker of the next page, if there is one.
    pub next: Option<Uuid>,
}

/// The hosts that pass a filter, after the marker (the uuid of the last host
/// of the page before), at most `limit`.
///
/// # Errors
/// When no host has the marker's uuid.
pub fn list(
    image: &Image,
    filter: &HostFilter,
    marker: Option<Uuid>,
    limit: usize,
    config: &EngineConfig,
    default_zone: &str,
    now: Micros,
) -> Result<HostPage, SchedulerError> {
    let after = match marker {
        None => None,
        Some(uuid) => {
            let host = image.hosts.get(uuid).ok_or_else(|| {
                let mut errors = FieldErrors::default();
                errors.add("marker", &uuid, "the uuid of a host that exists");
                errors
            })?;
            Some((host.row.host.as_str(), host.row.node.as_str()))
        }
    };
    let passes = |host: &&Arc<Host>| {
        let row = &host.row;
        after.is_none_or(|after| (row.host.as_str(), row.node.as_str()) > after)
            && filter.host.as_ref().is_none_or(|name| *name == row.host)
            && filter.cell.is_none_or(|cell| row.report.cell_uuid == Some(cell))
            && filter
                .aggregate
                .is_none_or(|id| image.hosts.aggregates_of(&row.host).any(|of| of == id))
            && filter
                .zone
                .as_ref()
                .is_none_or(|zone| zone_of(image, &row.host).unwrap_or(default_zone) == zone)
            && filter.state.is_none_or(|wanted| state(image, host, config, now) == wanted)
            && filter.enabled.is_none_or(|enabled| {
                image.service_of(&row.host).is_none_or(|service| !service.disabled) == enabled
            })
    };
    let mut hosts: Vec<Arc<Host>> =
        image.hosts.by_name().filter(passes).take(limit + 1).cloned().collect();
    let more = hosts.len() > limit;
    hosts.truncate(limit);
    let next = hosts.last().filter(|_| more).map(|host| host.row.uuid);
    Ok(HostPage { hosts, next })
}

/// Whether the service of a host is alive, as ComputeFilter judges it.
#[must_use]
pub fn state(image: &Image, host: &Host, config: &EngineConfig, now: Micros) -> HostState {
    let Some(service) = image.service_of(&host.row.host) else { return HostState::Down };
    alive(service, host.row.source, config, now)
}

/// The same of a service: its host's first node says where it is heard.
#[must_use]
pub fn service_state(
    image: &Image,
    service: &ServiceRow,
    config: &EngineConfig,
    now: Micros,
) -> HostState {
    let node = image.hosts.nodes_of(&service.host).next();
    let source = node.map_or(HostSource::Rest, |node| node.row.source);
    alive(service, source, config, now)
}

fn alive(
    service: &ServiceRow,
    source: HostSource,
    config: &EngineConfig,
    now: Micros,
) -> HostState {
    let limit = match source {
        HostSource::Rest | HostSource::NovaDb => config.service_down_time,
        HostSource::Bus => config.bus_down_time,
    };
    let age = now.since(service.last_seen.unwrap_or(service.created)).saturating_abs();
    if service.forced_down || age > limit { HostState::Down } else { HostState::Up }
}

/// The availability zone that a host's aggregates put it in.
#[must_use]
pub fn zone_of<'a>(image: &'a Image, host: &str) -> Option<&'a str> {
    image
        .hosts
        .aggregates_of(host)
        .filter_map(|id| image.host_aggregates.by_id(id))
        .find_map(|row| row.metadata.get(ZONE))
        .map(String::as_str)
}

/// The names that no host bears, in the order given.
#[must_use]
pub fn unknown(image: &Image, hosts: &[String]) -> Vec<String> {
    let missing = |host: &&String| image.hosts.nodes_of(host).next().is_none();
    hosts.iter().filter(missing).cloned().collect()
}
