//! `/os-hypervisors`: nodes of hosts with what they report and hold.

use super::{
    call::{Answer, Call, json},
    operations::{
        DetailHypervisors, ListHypervisors, ListServers, Operation, SearchHypervisors,
        ShowHypervisor, ShowUptime, Statistics,
    },
    path::{Id, Key},
    services::services,
    version::{Feature, Microversion},
    view::{
        HypervisorAnswer, HypervisorDetailAnswer, HypervisorDetailsAnswer, Hypervisors,
        HypervisorsAnswer, Link, StatisticsAnswer, ThingId,
    },
};
use crate::{
    failure::{Code, Failure},
    query::Query,
    schema::flag,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use std::{collections::BTreeSet, sync::Arc};
use stowplan_ledger::{Image, image::hosts::Host, rows::ServiceRow};

/// What stands for itself in a query.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// A node with the service that runs it. One without is no hypervisor.
type Found<'a> = (&'a Arc<Host>, &'a Arc<ServiceRow>);

/// Lists hypervisors.
#[utoipa::path(get, path = "/v2.1/os-hypervisors", tag = "compute hypervisors",
    params(
        ("limit" = Option<i64>, Query, description = "Hypervisors in the page (from 2.33 on)."),
        ("marker" = Option<String>, Query, description = "Id of the last one of the page before \
            (from 2.33 on)."),
        ("hypervisor_hostname_pattern" = Option<String>, Query, description = "A part of their \
            names (from 2.53 on)."),
        ("with_servers" = Option<bool>, Query, description = "With their servers (from 2.53 on)."),
    ),
    responses(
        (status = 200, description = "The hypervisors.", body = HypervisorsAnswer),
        (status = 400, description = "No such marker, or a pattern in pages."),
        (status = 404, description = "No hypervisor has such a name."),
    ))]
pub async fn list(call: Call<ListHypervisors>) -> Answer {
    let path = "/os-hypervisors";
    let (hypervisors, hypervisors_links) =
        listed(&call, path, |views, it, servers| views.summary(it.0, it.1, servers), |it| it.id)?;
    json(&HypervisorsAnswer { hypervisors, hypervisors_links })
}

/// Lists hypervisors in full.
#[utoipa::path(get, path = "/v2.1/os-hypervisors/detail", tag = "compute hypervisors",
    params(
        ("limit" = Option<i64>, Query, description = "Hypervisors in the page (from 2.33 on)."),
        ("marker" = Option<String>, Query, description = "Id of the last one of the page before \
            (from 2.33 on)."),
        ("hypervisor_hostname_pattern" = Option<String>, Query, description = "A part of their \
            names (from 2.53 on)."),
        ("with_servers" = Option<bool>, Query, description = "With their servers (from 2.53 on)."),
    ),
    responses(
        (status = 200, description = "The hypervisors.", body = HypervisorDetailsAnswer),
        (status = 400, description = "No such marker, or a pattern in pages."),
        (status = 404, description = "No hypervisor has such a name."),
    ))]
pub async fn detail(call: Call<DetailHypervisors>) -> Answer {
    let path = "/os-hypervisors/detail";
    let (hypervisors, hypervisors_links) = listed(
        &call,
        path,
        |views, it, servers| views.detail(it.0, it.1, servers),
        |it| it.summary.id,
    )?;
    json(&HypervisorDetailsAnswer { hypervisors, hypervisors_links })
}

/// Shows a hypervisor.
#[utoipa::path(get, path = "/v2.1/os-hypervisors/{id}", tag = "compute hypervisors",
    params(
        ("id" = String, Path, description = "Its uuid; before 2.53 its integer id."),
        ("with_servers" = Option<bool>, Query, description = "With its servers (from 2.53 on)."),
    ),
    responses(
        (status = 200, description = "The hypervisor.", body = HypervisorDetailAnswer),
        (status = 400, description = "The id is no uuid."),
        (status = 404, description = "There is no such hypervisor."),
    ))]
pub async fn show(call: Call<ShowHypervisor>, Id(id): Id) -> Answer {
    let (image, prepared) = (call.image(), call.api().scheduler.prepared());
    let (host, service) = find(&image, &id, call.version)?;
    let views = Hypervisors(services(&call, &image, &prepared));
    let hypervisor = views.detail(host, service, with_servers(&call));
    json(&HypervisorDetailAnswer { hypervisor })
}

/// Adds up the figures of all hypervisors whose service takes new servers.
#[utoipa::path(get, path = "/v2.1/os-hypervisors/statistics", tag = "compute hypervisors",
    extensions(("x-openstack" = json!({"max-ver": "2.87"}))),
    responses((status = 200, description = "The figures.", body = StatisticsAnswer)))]
pub async fn statistics(call: Call<Statistics>) -> Answer {
    let (image, prepared) = (call.image(), call.api().scheduler.prepared());
    let views = Hypervisors(services(&call, &image, &prepared));
    json(&StatisticsAnswer { hypervisor_statistics: views.statistics() })
}

/// Shows the uptime of a hypervisor, as it reports it.
#[utoipa::path(get, path = "/v2.1/os-hypervisors/{id}/uptime", tag = "compute hypervisors",
    extensions(("x-openstack" = json!({"max-ver": "2.87"}))),
    params(("id" = String, Path, description = "Its uuid; before 2.53 its integer id.")),
    responses(
        (status = 200, description = "The hypervisor.", body = HypervisorAnswer),
        (status = 400, description = "The id is no uuid, or the service is down."),
        (status = 404, description = "There is no such hypervisor."),
        (status = 501, description = "It does not report its uptime."),
    ))]
pub async fn uptime(call: Call<ShowUptime>, Id(id): Id) -> Answer {
    let (image, prepared) = (call.image(), call.api().scheduler.prepared());
    let (host, service) = find(&image, &id, call.version)?;
    let views = Hypervisors(services(&call, &image, &prepared));
    let Some(uptime) = &host.row.report.uptime else {
        let detail = format!("Host {} does not report its uptime.", host.row.host);
        return Err(Failure::new(Code::NotImplemented, detail));
    };
    if !views.0.is_up(service) {
        let host = &host.row.host;
        return Err(Failure::bad_request(format!(
            "Compute service of {host} is unavailable at this time: its state is down: expected up"
        )));
    }
    json(&HypervisorAnswer { hypervisor: views.uptime(host, service, uptime) })
}

/// Lists hypervisors by a part of their names.
#[utoipa::path(get, path = "/v2.1/os-hypervisors/{id}/search", tag = "compute hypervisors",
    extensions(("x-openstack" = json!({"max-ver": "2.52"}))),
    params(("id" = String, Path, description = "A part of their names.")),
    responses(
        (status = 200, description = "The hypervisors.", body = HypervisorsAnswer),
        (status = 404, description = "No hypervisor has such a name."),
    ))]
pub async fn search(call: Call<SearchHypervisors>, Id(pattern): Id) -> Answer {
    matching(&call, &pattern, false)
}

/// Lists hypervisors by a part of their names, with their servers.
#[utoipa::path(get, path = "/v2.1/os-hypervisors/{id}/servers", tag = "compute hypervisors",
    extensions(("x-openstack" = json!({"max-ver": "2.52"}))),
    params(("id" = String, Path, description = "A part of their names.")),
    responses(
        (status = 200, description = "The hypervisors.", body = HypervisorsAnswer),
        (status = 404, description = "No hypervisor has such a name."),
    ))]
pub async fn servers(call: Call<ListServers>, Id(pattern): Id) -> Answer {
    matching(&call, &pattern, true)
}

/// The hypervisors that a query asks for, each in a view of it, with the link to
/// the page after them.
fn listed<O: Operation, T>(
    call: &Call<O>,
    path: &str,
    view: impl Fn(&Hypervisors<'_>, Found<'_>, bool) -> T,
    id: impl Fn(&T) -> ThingId,
) -> Result<(Vec<T>, Option<[Link; 1]>), Failure> {
    let (image, prepared) = (call.image(), call.api().scheduler.prepared());
    let (found, servers) = (page(call, &image)?, with_servers(call));
    let views = Hypervisors(services(call, &image, &prepared));
    let rows = found.rows.iter();
    let shown: Vec<T> = rows.map(|found| view(&views, *found, servers)).collect();
    let last = shown.last().map(id).filter(|_| found.is_full);
    Ok((shown, next(call, path, last)))
}

fn matching<O: Operation>(call: &Call<O>, pattern: &str, servers: bool) -> Answer {
    let (image, prepared) = (call.image(), call.api().scheduler.prepared());
    let views = Hypervisors(services(call, &image, &prepared));
    let rows = named(&image, pattern)?.into_iter();
    let hypervisors = rows.map(|(host, service)| views.summary(host, service, servers)).collect();
    json(&HypervisorsAnswer { hypervisors, hypervisors_links: None })
}

/// All hypervisors, in order of creation.
fn all(image: &Image) -> impl Iterator<Item = Found<'_>> {
    image.hosts.iter().filter_map(|host| Some((host, image.service_of(&host.row.host)?)))
}

/// Those with a text in their names, whatever its letter case.
fn named<'a>(image: &'a Image, pattern: &str) -> Result<Vec<Found<'a>>, Failure> {
    let wanted = pattern.to_lowercase();
    let found: Vec<Found<'a>> =
        all(image).filter(|(host, _)| host.row.node.to_lowercase().contains(&wanted)).collect();
    if found.is_empty() {
        let detail = format!("No hypervisor matching '{pattern}' could be found.");
        return Err(Failure::not_found(detail));
    }
    Ok(found)
}

fn find<'a>(image: &'a Image, id: &str, version: Microversion) -> Result<Found<'a>, Failure> {
    let not_found = || Failure::not_found(format!("Hypervisor with ID '{id}' could not be found."));
    let host = match Key::read(id, version) {
        Ok(Key::Uuid(uuid)) => image.hosts.get(uuid),
        Ok(Key::Number(number)) => number.and_then(|number| image.hosts.by_id(number)),
        // Before 2.53 what is no number is not found.
        Err(_) if !version.has(Feature::Uuids) => None,
        Err(told) => return Err(Failure::bad_request(told)),
    };
    let host = host.ok_or_else(not_found)?;
    Ok((host, image.service_of(&host.row.host).ok_or_else(not_found)?))
}

/// Hypervisors that a query asks for.
struct Page<'a> {
    rows: Vec<Found<'a>>,
    /// Whether there may be more after them: as with the peer, whenever the page
    /// has as many as it may.
    is_full: bool,
}

fn page<'a, O: Operation>(call: &Call<O>, image: &'a Image) -> Result<Page<'a>, Failure> {
    let (query, version) = (&call.query, call.version);
    let (paged, by_name) = (version.has(Feature::HypervisorPages), version.has(Feature::Uuids));
    if let Some(pattern) = query.last("hypervisor_hostname_pattern").filter(|_| by_name) {
        for name in ["limit", "marker"] {
            if let Some(value) = query.last(name) {
                return Err(Failure::bad_request(format!(
                    "Paging over hypervisors with the hypervisor_hostname_pattern query parameter \
                     is not supported: {name} is {value}: expected none"
                )));
            }
        }
        return Ok(Page { rows: named(image, pattern)?, is_full: false });
    }
    if !paged {
        return Ok(Page { rows: all(image).collect(), is_full: false });
    }
    let most = call.api().settings.load().api.max_limit as usize;
    let limit = query.last("limit").map_or(most, |text| text.parse().unwrap_or(usize::MAX));
    let limit = limit.min(most);
    let after = match query.last("marker") {
        Some(marker) => Some(marked(image, marker, version)?),
        None => None,
    };
    let rows = all(image).filter(|(host, _)| after.is_none_or(|after| host.row.id > after));
    let rows: Vec<Found<'a>> = rows.take(limit).collect();
    Ok(Page { is_full: limit > 0 && rows.len() == limit, rows })
}

/// The integer id of the hypervisor that a marker names.
fn marked(image: &Image, marker: &str, version: Microversion) -> Result<i64, Failure> {
    let host = match Key::read(marker, version) {
        Ok(Key::Uuid(uuid)) => image.hosts.get(uuid),
        Ok(Key::Number(number)) => number.and_then(|number| image.hosts.by_id(number)),
        Err(_) => None,
    };
    host.map(|host| host.row.id).ok_or_else(|| {
        Failure::bad_request(format!(
            "marker [{marker}] not found: expected the id of a hypervisor"
        ))
    })
}

fn with_servers<O: Operation>(call: &Call<O>) -> bool {
    let asked = call.query.last("with_servers").filter(|_| call.version.has(Feature::Uuids));
    asked.and_then(|word| flag(&Value::from(word))).unwrap_or(false)
}

/// The link to the page after a thing: the same query with its id as marker.
fn next<O: Operation>(call: &Call<O>, path: &str, last: Option<ThingId>) -> Option<[Link; 1]> {
    let marker = match last? {
        ThingId::Number(number) => number.to_string(),
        ThingId::Uuid(uuid) => uuid.to_string(),
    };
    let href = format!("{}?{}", call.address(path), with_marker(&call.query, &marker));
    Some([Link { rel: "next", href }])
}

/// A query with another marker, in order of the names.
fn with_marker(query: &Query, marker: &str) -> String {
    let mut keys: BTreeSet<&str> = query.keys().collect();
    keys.insert("marker");
    let pairs = keys.into_iter().map(|key| {
        let value = if key == "marker" { marker } else { query.last(key).unwrap_or_default() };
        format!("{}={}", utf8_percent_encode(key, PLAIN), utf8_percent_encode(value, PLAIN))
    });
    pairs.collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[test]
    fn the_next_page_is_asked_as_this_one() {
        for (text, after) in [
            ("", "marker=7"),
            ("limit=2", "limit=2&marker=7"),
            ("marker=3&with_servers=true&limit=2", "limit=2&marker=7&with_servers=true"),
            ("x=a%20b", "marker=7&x=a%20b"),
        ] {
            assert_eq!(with_marker(&Query::parse(text).unwrap(), "7"), after);
        }
    }
}
