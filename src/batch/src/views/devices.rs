//! The devices that a task holds, for whoever starts it.

use crate::amounts::TASK_CLASS;
use serde::Serialize;
use stowplan_ledger::Image;
use stowplan_ledger::image::consumers::Allocation;
use stowplan_ledger::rows::TaskRow;
use stowplan_model::Uuid;
use utoipa::ToSchema;

/// What a task holds of a device of its host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct HeldDevice {
    /// The device's resource provider.
    pub provider: Uuid,
    /// Its name, as the host's report has it; the provider's where a client of
    /// Placement has made it.
    pub name: String,
    /// Its resource class.
    pub resource_class: String,
    /// Units of it.
    pub amount: i64,
}

/// What a task holds of its host's devices, in the order of their creation:
/// the providers below the host's own, places for tasks apart.
#[must_use]
pub fn held_devices(image: &Image, task: &TaskRow) -> Vec<HeldDevice> {
    let host = task.host.and_then(|uuid| image.hosts.get(uuid));
    let (Some(host), Some(consumer)) = (host, image.consumers.get(task.uuid)) else {
        return Vec::new();
    };
    let device = |part: &Allocation| {
        let provider = image.providers.get(part.provider)?;
        let class = image.classes.name(part.class);
        if provider.uuid == host.row.uuid || class == TASK_CLASS {
            return None;
        }
        let own = provider.name.strip_prefix(host.row.node.as_str());
        let own = own.and_then(|name| name.strip_prefix('_'));
        Some(HeldDevice {
            provider: provider.uuid,
            name: own.unwrap_or(&provider.name).to_owned(),
            resource_class: class.to_owned(),
            amount: part.used,
        })
    };
    consumer.allocations.iter().filter_map(device).collect()
}
