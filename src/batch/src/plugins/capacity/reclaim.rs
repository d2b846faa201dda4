//! Which tasks of other queues may leave for one of a queue below its right.

use super::Capacity;
use super::entry::Entry;
use crate::amounts::{Amounts, Missing};
use crate::plugins::quota::queue_of;
use crate::session::{QueueIx, State, TaskIx};

/// What queues hold once the victims named so far are gone; only those that
/// differ.
#[derive(Default)]
struct Held(Vec<(QueueIx, Amounts)>);

impl Held {
    fn of<'a>(&'a self, queue: QueueIx, entry: &'a Entry) -> &'a Amounts {
        let known = self.0.iter().find(|(known, _)| *known == queue);
        known.map_or(&entry.books.allocated, |(_, held)| held)
    }

    fn take(&mut self, queue: QueueIx, entry: &Entry, request: &Amounts) {
        match self.0.iter_mut().find(|(known, _)| *known == queue) {
            Some((_, held)) => held.sub(request),
            None => {
                let mut held = entry.books.allocated.clone();
                held.sub(request);
                self.0.push((queue, held));
            }
        }
    }
}

/// For whom others are to leave.
pub(super) struct Reclaimer<'a> {
    /// The queue.
    pub(super) queue: QueueIx,
    /// What is asked for.
    pub(super) request: &'a Amounts,
    /// Whether those stay who hold nothing of that. Of a job that leaves as a
    /// whole they go along.
    pub(super) only_useful: bool,
}

/// The candidates that may leave, in the order given.
pub(super) fn victims(
    plugin: &Capacity,
    state: &State,
    reclaimer: &Reclaimer<'_>,
    candidates: &[TaskIx],
) -> Vec<TaskIx> {
    let Reclaimer { queue: own, request, only_useful } = *reclaimer;
    let mut held = Held::default();
    let mut victims = Vec::new();
    for &task in candidates {
        let loss = &state.shape_of(task).request;
        let queue = queue_of(state, task);
        let useful = !only_useful || request.shares_dimension(loss);
        let Some(entry) = plugin.at(queue).filter(|_| useful) else { continue };
        let mut left = held.of(queue, entry).clone();
        left.sub(loss);
        let keeps_guarantee = entry.guarantee.less_equal(&left, Missing::Zero);
        if keeps_guarantee
            && may_lose(held.of(queue, entry), entry, loss)
            && above_agree(plugin, own, queue, &held, request, loss)
        {
            victims.push(task);
            held.take(queue, entry, loss);
            for above in &entry.path {
                if let Some(entry) = plugin.at(*above) {
                    held.take(*above, entry, loss);
                }
            }
        }
    }
    victims
}

/// Whether a queue holds more than it deserves of what a task uses, or deserves
/// nothing of it.
fn may_lose(held: &Amounts, entry: &Entry, loss: &Amounts) -> bool {
    entry.deserves_none_of(loss) || held.above_relevant(&entry.deserved, loss).next().is_some()
}

/// Whether the queues above the victim's agree, as far up as what ancestors
/// deserve is looked at.
fn above_agree(
    plugin: &Capacity,
    reclaimer: QueueIx,
    victim: QueueIx,
    held: &Held,
    request: &Amounts,
    loss: &Amounts,
) -> bool {
    let (Some(own), Some(other)) = (plugin.at(reclaimer), plugin.at(victim)) else { return false };
    let levels = plugin.ancestor_level;
    let above = |entry: &Entry, level: usize| {
        let queue = entry.path.iter().rev().nth(level).copied()?;
        plugin.at(queue).filter(|entry| !entry.is_root).map(|entry| (queue, entry))
    };
    let line = |entry| (0..levels).map_while(move |level| above(entry, level));
    // Among siblings, what nobody deserves stays with whom it is, unless the
    // reclaimer has a right to it.
    let related = line(own).any(|(queue, _)| line(other).any(|(shared, _)| shared == queue));
    if related && other.deserves_none_of(loss) && own.deserves_none_of(request) {
        return false;
    }
    line(other).enumerate().all(|(level, (queue, entry))| {
        above(own, level).is_some_and(|(same, _)| same == queue)
            || may_lose(held.of(queue, entry), entry, loss)
    })
}
