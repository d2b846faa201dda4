//! The state form of a scenario: the record of a compute node, what filters
//! and weighers see of it, and what is left when a server is placed there.

use serde::Serialize;
use serde_json::{Map, Value, json};
use stowplan_config::Settings;
use stowplan_model::host::HostReport;

use super::Scenario;
use super::evaluate::Failure;
use crate::attributes::{Attribute, attribute};
use crate::config::EngineConfig;
use crate::consume::{Claimed, consume};
use crate::request::CheckedRequest;
use crate::table::{HostIx, HostRow, HostTable, Undo};
use crate::view::HostView;

/// What came of a record, by the names of Nova's host state.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostState {
    /// As reported.
    pub state: Map<String, Value>,
    /// After the request's server was placed.
    pub after_consume: Map<String, Value>,
}

/// Attributes that a state shows.
const ATTRIBUTES: &[&str] = &[
    "free_ram_mb",
    "total_usable_ram_mb",
    "free_disk_mb",
    "disk_mb_used",
    "total_usable_disk_gb",
    "vcpus_total",
    "vcpus_used",
    "num_instances",
    "num_io_ops",
    "failed_builds",
    "cpu_allocation_ratio",
    "ram_allocation_ratio",
    "disk_allocation_ratio",
    "host_ip",
    "hypervisor_type",
    "hypervisor_version",
    "hypervisor_hostname",
    "cpu_info",
    "stats",
];

/// Names of hosts that records do not carry.
const HOST: &str = "host";
const NODE: &str = "node";

/// Runs a scenario of the state form.
///
/// # Errors
/// The request cannot be read.
pub(super) fn state(
    scenario: &Scenario,
    record: &HostReport,
    settings: &Settings,
) -> Result<HostState, Failure> {
    // A record that the compute service has not filled in yet is passed over.
    let is_filled = record.free_disk_gb.is_some();
    let passed_over = HostReport { uuid: record.uuid, ..HostReport::default() };
    let record = if is_filled { record } else { &passed_over };
    let mut table = HostTable::new();
    let host = HostIx(0);
    table.upsert(host, HostRow::from_report(HOST, NODE, record, false));
    let before = shown(&table, host, is_filled);
    let mut request = CheckedRequest::check(scenario.request()?)?;
    let config = EngineConfig::from(settings);
    // What could not be taken shows in the state.
    let _ = consume(&mut table, &mut Undo::new(), &mut request, host, &config, Claimed::PLAIN);
    Ok(HostState { state: before, after_consume: shown(&table, host, is_filled) })
}

fn shown(table: &HostTable, host: HostIx, is_filled: bool) -> Map<String, Value> {
    let named = ATTRIBUTES.iter().map(|name| {
        let value = match attribute(table, host, name) {
            None | Some(Attribute::Null) => Value::Null,
            Some(Attribute::Int(number)) => Value::from(number),
            Some(Attribute::Float(number)) => Value::from(number),
            Some(Attribute::Text(text)) => Value::String(text.into_owned()),
            Some(Attribute::Json(value)) => value.into_owned(),
        };
        ((*name).to_owned(), value)
    });
    let mut shown: Map<String, Value> = named.collect();
    let metrics = table.facts(host).metrics.as_deref().unwrap_or_default();
    let metrics = metrics.iter().map(|metric| json!([metric.name, metric.value]));
    shown.insert("metrics".to_owned(), metrics.collect());
    let guests = is_filled.then(|| table.guests_of(host));
    shown.insert("supported_instances".to_owned(), json!(guests));
    shown.insert("pci_pools".to_owned(), json!(table.pci_pools(host).map(|p| p.pools())));
    shown.insert("numa_cells".to_owned(), json!(table.numa(host).map(|numa| &numa.cells)));
    shown
}
