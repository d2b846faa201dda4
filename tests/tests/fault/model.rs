//! What a client knows of the service: objects, and what requests do to them.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// Units by resource class.
pub type Resources = BTreeMap<String, i64>;

/// One thing that a request writes whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Object {
    Consumer {
        generation: i64,
        /// By provider.
        allocations: BTreeMap<Uuid, Resources>,
    },
    Provider {
        name: String,
        generation: i64,
        parent: Option<Uuid>,
        /// The totals.
        inventories: Resources,
        traits: BTreeSet<String>,
    },
}

/// All things, by their uuid.
pub type World = BTreeMap<Uuid, Object>;

/// What a request leaves when it succeeds: the objects that it writes, none
/// where it removes one.
pub type Effect = BTreeMap<Uuid, Option<Object>>;

/// What must come of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Success,
    Refusal,
    /// Who is first decides.
    Either,
}

/// A request and what it means.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: &'static str,
    pub path: String,
    pub body: Option<Value>,
    pub effect: Effect,
    pub outcome: Outcome,
}

/// Takes an effect into account.
pub fn apply(world: &mut World, effect: Effect) {
    for (uuid, object) in effect {
        match object {
            Some(object) => world.insert(uuid, object),
            None => world.remove(&uuid),
        };
    }
}

/// Whether a request whose answer was lost has been carried out.
///
/// # Panics
/// When it has in part.
pub fn is_done(request: &Request, before: &World, actual: &World) -> bool {
    let is = |wanted: &dyn Fn(&Uuid) -> Option<Object>| {
        request.effect.keys().all(|uuid| actual.get(uuid) == wanted(uuid).as_ref())
    };
    let is_after = is(&|uuid| request.effect[uuid].clone());
    let is_before = is(&|uuid| before.get(uuid).cloned());
    assert!(
        is_after || is_before,
        "neither done nor undone: {request:#?}\nbefore: {:#?}\nnow: {:#?}",
        request.effect.keys().map(|uuid| before.get(uuid)).collect::<Vec<_>>(),
        request.effect.keys().map(|uuid| actual.get(uuid)).collect::<Vec<_>>(),
    );
    is_after
}

/// # Panics
/// When the two differ, with what differs.
pub fn assert_same(actual: &World, expected: &World, round: u64) {
    let all: BTreeSet<&Uuid> = actual.keys().chain(expected.keys()).collect();
    let wrong: Vec<String> = all
        .into_iter()
        .filter(|uuid| actual.get(uuid) != expected.get(uuid))
        .map(|uuid| {
            let (is, was) = (actual.get(uuid), expected.get(uuid));
            format!("{uuid}\n  acknowledged: {was:?}\n  found: {is:?}")
        })
        .collect();
    assert!(wrong.is_empty(), "round {round}:\n{}", wrong.join("\n"));
}
