//! The queues at the beginning of a session, flat or as a tree.

use super::entry::Entry;
use crate::amounts::{Amounts, Missing, UNLIMITED};
use crate::plugins::quota::{Books, capability, real_capability};
use crate::session::{QueueIx, State};

/// The name of the queue that all others are a part of.
const ROOT: &str = "root";

/// Queues beside each other.
pub(super) fn flat(state: &State) -> Vec<Entry> {
    let total = state.total();
    let mut guarantees = Amounts::new();
    state.queues().for_each(|queue| guarantees.add(&state[queue].guarantee));
    let entry = |(queue, books): (QueueIx, Books)| {
        let at = &state[queue];
        let cap = capability(at);
        let real = real_capability(&total, &guarantees, &at.guarantee, cap.as_ref());
        let mut deserved = at.deserved.clone();
        deserved.cap(&real, Missing::Infinity);
        deserved.lift(&at.guarantee);
        let mut entry = Entry {
            books,
            guarantee: at.guarantee.clone(),
            deserved,
            real_capability: real,
            is_leaf: true,
            ..Entry::default()
        };
        entry.refresh();
        entry
    };
    state.queues().zip(Books::of(state)).map(entry).collect()
}

/// Queues as a tree: each is held to the limits of all that it is a part of,
/// and everything of a queue counts for those as well.
///
/// # Errors
/// There is no root, a parent is missing, queues go round in a circle, or a job
/// is in a queue that is no leaf.
pub(super) fn tree(state: &State) -> Result<Vec<Entry>, String> {
    let parents = parents(state)?;
    let mut entries: Vec<Entry> = Books::of(state)
        .into_iter()
        .map(|books| Entry { books, is_leaf: true, ..Entry::default() })
        .collect();
    for queue in state.queues() {
        let path = path(state, &parents, queue)?;
        entries[queue.index()].is_root = path.is_empty();
        if let Some(parent) = path.last() {
            entries[parent.index()].is_leaf = false;
        }
        entries[queue.index()].path = path;
    }
    if let Some(queue) = state.queues().find(|queue| {
        let entry = &entries[queue.index()];
        !entry.is_leaf && entry.books.has_jobs
    }) {
        return Err(format!("queue {:?} has jobs and queues", state[queue].name));
    }
    add_up(state, &mut entries);
    set_limits(state, &mut entries);
    entries.iter_mut().for_each(Entry::refresh);
    Ok(entries)
}

/// The parent of each queue; none for the root.
fn parents(state: &State) -> Result<Vec<Option<QueueIx>>, String> {
    let named = |name: &str| state.queues().find(|queue| state[*queue].name == name);
    let root = named(ROOT).ok_or("there is no queue root")?;
    let parent = |queue: QueueIx| match state[queue].parent.as_deref() {
        _ if queue == root => Ok(None),
        None | Some("") => Ok(Some(root)),
        Some(name) => named(name).map(Some).ok_or_else(|| {
            format!("queue {:?} is a part of {name:?}, which is not there", state[queue].name)
        }),
    };
    state.queues().map(parent).collect()
}

/// What a queue is a part of, from the root on.
fn path(
    state: &State,
    parents: &[Option<QueueIx>],
    queue: QueueIx,
) -> Result<Vec<QueueIx>, String> {
    let mut path = Vec::new();
    let mut at = queue;
    while let Some(parent) = parents[at.index()] {
        if path.len() >= parents.len() {
            return Err(format!("queue {:?} is a part of itself", state[queue].name));
        }
        path.push(parent);
        at = parent;
    }
    path.reverse();
    Ok(path)
}

/// Adds the books of each leaf to those of all that it is a part of; only
/// leaves have jobs of their own.
fn add_up(state: &State, entries: &mut [Entry]) {
    let leaves: Vec<QueueIx> =
        state.queues().filter(|queue| entries[queue.index()].is_leaf).collect();
    for queue in leaves {
        let own = entries[queue.index()].books.clone();
        for above in entries[queue.index()].path.clone() {
            entries[above.index()].books.add(&own);
        }
    }
}

/// Limits from the root down.
fn set_limits(state: &State, entries: &mut [Entry]) {
    let mut order: Vec<QueueIx> = state.queues().collect();
    order.sort_by_key(|queue| entries[queue.index()].path.len());
    let mut caps: Vec<Amounts> = vec![Amounts::new(); entries.len()];
    for queue in &order {
        let at = &state[*queue];
        let entry = &mut entries[queue.index()];
        (entry.guarantee, entry.deserved) = (at.guarantee.clone(), at.deserved.clone());
        entry.deserved.lift(&at.guarantee);
    }
    for queue in order {
        let parent = entries[queue.index()].path.last().copied();
        let inherited = parent.map_or_else(|| unlimited(state), |at| caps[at.index()].clone());
        let mut cap = inherited;
        for (dim, amount) in capability(&state[queue]).iter().flat_map(Amounts::iter) {
            if amount != UNLIMITED {
                cap.set(dim, amount);
            }
        }
        let below: Vec<QueueIx> = state
            .queues()
            .filter(|child| entries[child.index()].path.last() == Some(&queue))
            .collect();
        let real = match parent {
            None => cap.clone(),
            Some(parent) => {
                let parent = &entries[parent.index()];
                let own = &entries[queue.index()].guarantee;
                let among = parent.guaranteed_below.clone();
                real_capability(&parent.real_capability, &among, own, Some(&cap))
            }
        };
        let mut sums = (Amounts::new(), Amounts::new());
        for child in below {
            sums.0.add(&entries[child.index()].guarantee);
            sums.1.add(&entries[child.index()].deserved);
        }
        let entry = &mut entries[queue.index()];
        if entry.is_root {
            (entry.guarantee, entry.deserved) = sums.clone();
        }
        entry.guaranteed_below = sums.0;
        entry.real_capability = real;
        caps[queue.index()] = cap;
    }
}

fn unlimited(state: &State) -> Amounts {
    let mut all = Amounts::new();
    state.world.dims().iter().for_each(|(dim, _)| all.set(dim, UNLIMITED));
    all
}
