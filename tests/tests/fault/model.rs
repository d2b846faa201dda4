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

/// Objects as a request leaves them; none where it removes one.
pub type Written = BTreeMap<Uuid, Option<Object>>;

/// What a request does when it succeeds.
#[derive(Clone, Debug)]
pub enum Effect {
    Writes(Written),
    /// Each of the servers gets this from one provider of the service's choice.
    Places {
        servers: Vec<Uuid>,
        resources: Resources,
    },
}

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

impl Effect {
    /// Of a request that must be refused.
    pub fn nothing() -> Self {
        Self::Writes(Written::new())
    }

    /// Of a request about one object.
    pub fn one(uuid: Uuid, object: Option<Object>) -> Self {
        Self::Writes(Written::from([(uuid, object)]))
    }

    /// What is written, where the answer tells the rest.
    ///
    /// # Panics
    /// When the answer does not tell it, or does not give what was asked for.
    pub fn answered(self, body: &str) -> Written {
        let (servers, resources) = match self {
            Self::Writes(written) => return written,
            Self::Places { servers, resources } => (servers, resources),
        };
        let answer: Value = serde_json::from_str(body).expect("JSON");
        let selections = answer["selections"].as_array().expect("selections");
        assert_eq!(servers.len(), selections.len(), "{body}");
        let placed = servers.into_iter().zip(selections).map(|(server, selection)| {
            assert_eq!(selection["instance_uuid"], server.to_string(), "{body}");
            let host = selection["compute_node_uuid"].as_str().and_then(|uuid| uuid.parse().ok());
            (server, Some(placed(host.expect("a host"), &resources)))
        });
        placed.collect()
    }

    /// What a request whose answer was lost has written: all that it does, or
    /// nothing.
    ///
    /// # Panics
    /// When it has written a part.
    pub fn found(&self, before: &World, actual: &World) -> Written {
        let mut all = match self {
            Self::Writes(written) => written.clone(),
            Self::Places { servers, resources } => servers
                .iter()
                .map(|server| (*server, Some(placed(host_of(actual.get(server)), resources))))
                .collect(),
        };
        let is_after = all.iter().all(|(uuid, object)| actual.get(uuid) == object.as_ref());
        let is_before = all.keys().all(|uuid| actual.get(uuid) == before.get(uuid));
        assert!(
            is_after || is_before,
            "neither done nor undone: {self:#?}\nbefore: {:#?}\nnow: {:#?}",
            all.keys().map(|uuid| before.get(uuid)).collect::<Vec<_>>(),
            all.keys().map(|uuid| actual.get(uuid)).collect::<Vec<_>>(),
        );
        all.retain(|_, _| is_after);
        all
    }
}

/// A server that was placed.
fn placed(host: Uuid, resources: &Resources) -> Object {
    Object::Consumer { generation: 1, allocations: [(host, resources.clone())].into() }
}

/// The first provider that a server is found on; nil when it holds nothing.
fn host_of(server: Option<&Object>) -> Uuid {
    match server {
        Some(Object::Consumer { allocations, .. }) => allocations.keys().next().copied(),
        _ => None,
    }
    .unwrap_or_default()
}

/// Takes what was written into account.
pub fn apply(world: &mut World, written: Written) {
    for (uuid, object) in written {
        match object {
            Some(object) => world.insert(uuid, object),
            None => world.remove(&uuid),
        };
    }
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

/// Units by resource class.
pub fn resources<const N: usize>(amounts: [(&str, i64); N]) -> Resources {
    amounts.into_iter().map(|(class, amount)| (class.to_owned(), amount)).collect()
}
