//! Devices that are lost, or have less than is held of them: who exceeds them has
//! to leave, and nobody else.

use super::detail::Cause;
use super::nominate::{HOLD_TYPE, hold_of};
use super::phases::{Draft, has_place, state_of};
use crate::amounts::TASK_CLASS;
use crate::life::TaskState;
use serde_json::Value;
use std::cmp::Reverse;
use stowplan_ledger::Image;
use stowplan_ledger::image::hosts::Host;
use stowplan_ledger::image::names::Ix;
use stowplan_ledger::image::providers::At;
use stowplan_ledger::rows::TaskRow;
use stowplan_model::Uuid;

impl Draft<'_> {
    /// Tells tasks to leave devices of a host that have less than is held of
    /// them: those of the lowest priority first, of equals the youngest, until
    /// the rest fits. Devices are the providers below the host's own: what a
    /// host itself has may be less than is held, as when a ratio is lowered.
    pub(super) fn leave_devices(&mut self, host: &Host) {
        let image = self.image;
        let Some(root) = image.providers.find(host.row.uuid) else { return };
        for (at, class) in devices(image, root).filter(|it| excess(image, *it) > 0) {
            self.leave_device(at, class);
        }
    }

    fn leave_device(&mut self, at: At, class: Ix) {
        let image = self.image;
        let mut over = excess(image, (at, class));
        let mut staying: Vec<(TaskRow, i64)> = Vec::new();
        for consumer in image.consumers.of_provider(at) {
            let parts = consumer.allocations.iter();
            let parts = parts.filter(|part| part.provider == at && part.class == class);
            let amount: i64 = parts.map(|part| part.used).sum();
            if consumer.consumer_type.as_deref() == Some(HOLD_TYPE) {
                // Its nomination ends.
                over -= amount;
                continue;
            }
            // As this change has it: one that it has sent off already leaves, for
            // that cause.
            match self.task(consumer.uuid) {
                Some(task) if has_place(&task.state) => staying.push((task.clone(), amount)),
                // It is on its way out.
                Some(task) if state_of(task) == TaskState::Releasing => over -= amount,
                Some(_) | None => {}
            }
        }
        staying.sort_by_key(|(task, _)| (priority(image, task), Reverse(task.id)));
        for (task, amount) in staying.into_iter().filter(|(_, amount)| *amount > 0) {
            if over <= 0 {
                return;
            }
            self.evict(task, Cause::DeviceLost, None);
            over -= amount;
        }
    }

    /// Whether what is held for a nominated task is on a device that has less
    /// than is held of it.
    pub(super) fn holds_lost_device(&self, task: &TaskRow, host: Uuid) -> bool {
        let image = self.image;
        let hold = image.consumers.get(hold_of(task.uuid));
        let root = image.providers.find(host);
        hold.into_iter().flat_map(|hold| &hold.allocations).any(|part| {
            Some(part.provider) != root && excess(image, (part.provider, part.class)) > 0
        })
    }
}

/// The providers below a host's own, with what each has; places for tasks are
/// no device.
fn devices(image: &Image, root: At) -> impl Iterator<Item = (At, Ix)> + '_ {
    let below = image.providers.tree_of(root).iter().copied().filter(move |at| *at != root);
    below
        .filter_map(|at| Some((at, image.providers.get(at)?)))
        .flat_map(|(at, provider)| provider.classes.iter().map(move |class| (at, *class)))
        .filter(|(_, class)| image.classes.name(*class) != TASK_CLASS)
}

/// By how much what is held of a provider is more than it has.
fn excess(image: &Image, (at, class): (At, Ix)) -> i64 {
    let capacity = image.providers.capacity(at, class).unwrap_or(0).max(0);
    image.providers.used(at, class) - capacity
}

fn priority(image: &Image, task: &TaskRow) -> i64 {
    let job = image.batch.jobs.by_id(task.job);
    job.and_then(|job| job.spec.get("priority")).and_then(Value::as_i64).unwrap_or(0)
}

/// Why the nominations of a job end whose hold is on a lost device.
pub(super) const HELD_DEVICE_LOST: &str = "a device that was held for it is lost";
