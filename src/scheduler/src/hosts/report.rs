//! The one mutation by which a host is known: its report.

use std::collections::{BTreeMap, BTreeSet};

use stowplan_ledger::image::hosts::Host;
use stowplan_ledger::image::providers::At;
use stowplan_ledger::rows::{CellRow, HostRow, HostSource, ServiceRow};
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::host::{HostReport, ServiceReport};
use stowplan_model::{Micros, Uuid};

use super::{children, inventory, service, status, validate};
use crate::aggregates::mirrored;
use crate::draft::{Draft, Shape, aggregates_of, traits_of};
use crate::error::SchedulerError;
use crate::select::confirmed_by_report;

/// The name space of the uuids that are derived from names: a host that leaves
/// and comes back is the same one.
pub(super) const NAMESPACE: Uuid = Uuid::from_u128(0x6d1c_2f60_7c8b_5a53_9a0e_51b1_52b9_3a4d);

/// The trait of providers that belong to compute services.
const OWNER_NOVA: &str = "OWNER_NOVA";

/// A report on its way into the ledger.
#[derive(Clone, Debug)]
pub struct ReportHost {
    /// Name of the host.
    pub host: String,
    /// Name of the node, where the call names one.
    pub node: Option<String>,
    /// What brings the report.
    pub source: HostSource,
    /// The report. A nil uuid means that of the host as it is known, or of the
    /// root provider named after the node, or else one derived from the names.
    pub report: HostReport,
    /// Takes over an inventory that clients of the Placement API have made.
    pub take_over: bool,
    /// Where the report is older than its arrival: number of the last change that
    /// was in the ledger when it was made. Claims after it are none that it knows.
    pub as_of: Option<i64>,
    /// `[batch] default_max_tasks`.
    pub default_max_tasks: i64,
}

/// What a report has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported {
    /// Uuid of the compute node.
    pub uuid: Uuid,
    /// Whether the host was unknown.
    pub created: bool,
    /// Whether anything was written.
    pub changed: bool,
}

/// Reads the body of a report.
///
/// # Errors
/// Every field that is unknown or whose value is not of its kind.
pub fn read_report(body: &[u8]) -> Result<HostReport, SchedulerError> {
    Ok(crate::body::read(body)?)
}

/// Takes a report in: host, service, cell, root provider with inventory and
/// traits, and child providers, in one change. A report that says nothing new
/// gives an empty change.
///
/// # Errors
/// Fields that cannot be, a uuid or name that is another's, or an inventory
/// that is not the report's to write.
pub fn report_host(
    image: &Image,
    call: &ReportHost,
    now: Micros,
) -> Result<(Change, Reported), SchedulerError> {
    let node = node_of(image, call);
    let node = node.as_str();
    validate::check(&call.host, node, &call.report).into_result(())?;
    let before = image.hosts.find(&call.host, node).map(AsRef::as_ref);
    let uuid = uuid_of(image, call, node, before)?;
    let root = root_of(image, uuid)?;
    let report = HostReport { uuid, ..call.report.clone() };
    let inventory =
        inventory::decide(image, root, before, &report, call.source, call.take_over, node)?;

    let mut draft = Draft::new(image, "host.report", now);
    if let Some(cell) = report.cell_uuid
        && image.cells.get(cell).is_none()
    {
        let id = image.cells.next_id();
        draft.push(Record::Cell(CellRow { id, uuid: cell, name: String::new(), disabled: false }));
    }
    let said_before = before.map(|host| &host.row.report.service);
    let service = service::after_report(image, &call.host, said_before, &report.service, now)?;
    if image.service_of(&call.host).is_none_or(|row| **row != service) {
        draft.push(Record::Service(service.clone()));
    }
    let toggled = toggled(image, before, &service);
    let there = Member::of(image, root);
    let joins = before.is_none() || root.is_none();
    draft.shape(Shape {
        uuid,
        name: node.to_owned(),
        parent: None,
        inventories: inventory.set,
        traits: Some(root_traits(there.traits, before, &report, toggled)),
        aggregates: joins.then(|| &there.aggregates | &mirrored(image, &call.host)),
    })?;
    children::shape(&mut draft, uuid, node, &report, call.default_max_tasks)?;
    if let Some(disabled) = toggled {
        status::toggle_nodes(&mut draft, &call.host, Some(uuid), disabled)?;
    }
    let confirmed = confirmed_by_report(image, uuid, |it| report.instances.contains_key(&it));
    confirmed.into_iter().for_each(|record| draft.push(record));
    let row = HostRow {
        id: before.map_or_else(|| image.hosts.next_id(), |host| host.row.id),
        uuid,
        host: call.host.clone(),
        node: node.to_owned(),
        source: call.source,
        inventory_owner: inventory.owner,
        report,
        report_seq: call.as_of.unwrap_or_else(|| image.next_seq()),
        news: BTreeMap::new(),
        created: before.map_or(now, |host| host.row.created),
        updated: now,
    };
    if before.is_none_or(|host| says_more(&host.row, &row)) {
        draft.push(Record::Host(Box::new(row)));
    }
    let change = draft.finish();
    let changed = !change.records.is_empty();
    Ok((change, Reported { uuid, created: before.is_none(), changed }))
}

/// The node of a call: the one it names, else the hypervisor's name, else the
/// only node the host has, else the host's name.
fn node_of(image: &Image, call: &ReportHost) -> String {
    let named = call.node.as_ref().or(call.report.hypervisor_hostname.as_ref());
    if let Some(node) = named {
        return node.clone();
    }
    let mut nodes = image.hosts.nodes_of(&call.host);
    match (nodes.next(), nodes.next()) {
        (Some(only), None) => only.row.node.clone(),
        _ => call.host.clone(),
    }
}

fn uuid_of(
    image: &Image,
    call: &ReportHost,
    node: &str,
    before: Option<&Host>,
) -> Result<Uuid, SchedulerError> {
    let given = Some(call.report.uuid).filter(|uuid| !uuid.is_nil());
    let named = image.providers.find_name(node).map(|at| image.providers.uuid(at));
    let uuid = match (before, given) {
        (Some(host), Some(given)) if given != host.row.uuid => {
            return Err(SchedulerError::HostUuid {
                host: call.host.clone(),
                node: node.to_owned(),
                known: host.row.uuid,
                given,
            });
        }
        (Some(host), _) => return Ok(host.row.uuid),
        (None, Some(given)) => given,
        (None, None) => named.unwrap_or_else(|| {
            Uuid::new_v5(&NAMESPACE, format!("host/{}/{node}", call.host).as_bytes())
        }),
    };
    if let Some(other) = image.hosts.get(uuid) {
        return Err(SchedulerError::UuidTaken {
            uuid,
            host: other.row.host.clone(),
            node: other.row.node.clone(),
        });
    }
    match named {
        Some(holder) if holder != uuid => {
            Err(SchedulerError::ProviderName { name: node.to_owned(), holder })
        }
        _ => Ok(uuid),
    }
}

/// The root provider of a host, if it exists.
fn root_of(image: &Image, uuid: Uuid) -> Result<Option<At>, SchedulerError> {
    let Some(at) = image.providers.find(uuid) else { return Ok(None) };
    match image.providers.get(at).and_then(|provider| provider.parent) {
        Some(parent) => {
            Err(SchedulerError::NotARoot { uuid, parent: image.providers.uuid(parent) })
        }
        None => Ok(Some(at)),
    }
}

/// What the root provider is in and has before a report.
struct Member {
    traits: BTreeSet<String>,
    aggregates: BTreeSet<Uuid>,
}

impl Member {
    fn of(image: &Image, root: Option<At>) -> Self {
        Self {
            traits: root.map(|at| traits_of(image, at)).unwrap_or_default(),
            aggregates: root.map(|at| aggregates_of(image, at)).unwrap_or_default(),
        }
    }
}

/// Whether the service was disabled or enabled by this report: only then is
/// the trait that says so touched, for nova-compute writes it too.
fn toggled(image: &Image, before: Option<&Host>, service: &ServiceRow) -> Option<bool> {
    let known = before.and_then(|host| image.service_of(&host.row.host));
    (known.is_some_and(|row| row.disabled) != service.disabled).then_some(service.disabled)
}

/// The root's traits after a report: those of others stay, those that the
/// report before named and this one does not go.
fn root_traits(
    mut traits: BTreeSet<String>,
    before: Option<&Host>,
    report: &HostReport,
    toggled: Option<bool>,
) -> BTreeSet<String> {
    for name in before.iter().flat_map(|host| &host.row.report.traits) {
        traits.remove(name);
    }
    traits.extend(report.traits.iter().cloned());
    traits.insert(OWNER_NOVA.to_owned());
    if let Some(disabled) = toggled {
        status::toggle(&mut traits, disabled);
    }
    traits
}

/// Whether a row says something that the one before does not. When the service
/// was last seen is no news: heartbeats carry that.
fn says_more(before: &HostRow, after: &HostRow) -> bool {
    let seen = before.report.service.last_seen_up;
    let service = ServiceReport { last_seen_up: seen, ..after.report.service.clone() };
    before.source != after.source
        || before.news != after.news
        || before.inventory_owner != after.inventory_owner
        || before.report != HostReport { service, ..after.report.clone() }
}
