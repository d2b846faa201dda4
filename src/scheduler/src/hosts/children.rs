//! Child providers of a host: its devices, and the bound on its batch tasks.

use std::collections::BTreeSet;

use stowplan_ledger::image::providers::At;
use stowplan_ledger::rows::Inventories;
use stowplan_ledger::{Image, Record};
use stowplan_model::host::HostReport;
use stowplan_model::host_devices::Device;
use stowplan_model::{Inventory, Uuid};

use crate::draft::{Draft, Shape};
use crate::error::SchedulerError;

/// The class of which every batch task holds one unit on its host.
pub const BATCH_TASK: &str = "CUSTOM_BATCH_TASK";

/// Brings the child providers of a host into the shape of its report. They are
/// named after the node: `<node>_<device>` and `<node>_batch`.
pub(super) fn shape(
    draft: &mut Draft<'_>,
    root: Uuid,
    node: &str,
    report: &HostReport,
    default_max_tasks: i64,
) -> Result<(), SchedulerError> {
    let mut kept = BTreeSet::new();
    for device in &report.devices {
        let uuid = device_uuid(root, &device.name);
        kept.insert(uuid);
        draft.shape(Shape {
            uuid,
            name: format!("{node}_{}", device.name),
            parent: Some(root),
            inventories: Some(stock(device)),
            traits: Some(device.traits.iter().cloned().collect()),
            aggregates: None,
        })?;
    }
    let max_tasks = report.max_tasks.unwrap_or(default_max_tasks);
    if max_tasks > 0 {
        let uuid = batch_uuid(root);
        kept.insert(uuid);
        draft.shape(Shape {
            uuid,
            name: format!("{node}_batch"),
            parent: Some(root),
            inventories: Some(Inventories::from([(BATCH_TASK.to_owned(), units(max_tasks))])),
            traits: None,
            aggregates: None,
        })?;
    }
    retire(draft, root, node, &kept)
}

/// Takes away the children of ours that the report no longer has. One that
/// somebody holds, or below which clients have put providers of their own, is
/// emptied of what is free, and goes with a later report.
pub(super) fn retire(
    draft: &mut Draft<'_>,
    root: Uuid,
    node: &str,
    kept: &BTreeSet<Uuid>,
) -> Result<(), SchedulerError> {
    let image = draft.image;
    let Some(at) = image.providers.find(root) else { return Ok(()) };
    let tree = image.providers.tree_of(at);
    let above = |at: &At| image.providers.get(*at).and_then(|provider| provider.parent);
    let parents: BTreeSet<At> = tree.iter().filter_map(above).collect();
    for &child in tree {
        let Some(provider) = image.providers.get(child) else { continue };
        if kept.contains(&provider.uuid) || !is_ours(root, node, provider.uuid, &provider.name) {
            continue;
        }
        if !parents.contains(&child) && image.consumers.of_provider(child).next().is_none() {
            draft.push(Record::ProviderGone(provider.uuid));
            continue;
        }
        draft.shape(Shape {
            uuid: provider.uuid,
            name: provider.name.to_string(),
            parent: Some(root),
            inventories: Some(emptied(image, child)),
            traits: None,
            aggregates: None,
        })?;
    }
    Ok(())
}

/// A provider's inventories with everything reserved.
fn emptied(image: &Image, at: At) -> Inventories {
    let mut all = stowplan_placement::names::inventories(image, at);
    for inventory in all.values_mut() {
        inventory.reserved = inventory.total;
    }
    all
}

/// Whether a child provider was made from reports: its uuid follows from its
/// name.
fn is_ours(root: Uuid, node: &str, uuid: Uuid, name: &str) -> bool {
    let name = name.strip_prefix(node).and_then(|rest| rest.strip_prefix('_'));
    name.is_some_and(|name| uuid == device_uuid(root, name))
        || (name == Some("batch") && uuid == batch_uuid(root))
}

fn device_uuid(root: Uuid, device: &str) -> Uuid {
    Uuid::new_v5(&root, format!("device/{device}").as_bytes())
}

fn batch_uuid(root: Uuid) -> Uuid {
    Uuid::new_v5(&root, b"batch")
}

fn stock(device: &Device) -> Inventories {
    Inventories::from([(device.resource_class.clone(), units(device.total))])
}

fn units(total: i64) -> Inventory {
    Inventory {
        total,
        reserved: 0,
        min_unit: 1,
        max_unit: total,
        step_size: 1,
        allocation_ratio: 1.0,
    }
}
