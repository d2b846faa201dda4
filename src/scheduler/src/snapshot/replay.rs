//! Requests decided on a snapshot.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stowplan_config::{OptionError, Settings};
use stowplan_engine::Engine;
use stowplan_engine::registry::RegistryError;
use stowplan_ledger::Image;
use stowplan_model::Micros;

use super::build::SnapshotError;
use super::check::ExpectedDecision;
use super::form::Snapshot;
use crate::decisions::InstanceRecord;
use crate::error::SchedulerError;
use crate::select::{
    Decided, Failure, Means, Order, Refusal, Refused, SelectRequest, Selection, VERSION, decide,
    read_request, why,
};

/// A snapshot, built.
pub struct Cloud {
    seq: i64,
    now: Micros,
    config: Map<String, Value>,
    image: Image,
}

impl Cloud {
    /// Builds a snapshot.
    ///
    /// # Errors
    /// As [`Snapshot::image`].
    pub fn of(snapshot: &Snapshot) -> Result<Self, SnapshotError> {
        let image = snapshot.image()?;
        Ok(Self { seq: snapshot.seq, now: snapshot.now, config: snapshot.config.clone(), image })
    }
}

/// A request with the cloud that it is made in.
pub struct Replay {
    /// Name of the case.
    pub id: String,
    /// What it is about.
    pub note: Option<String>,
    cloud: Arc<Cloud>,
    now: Micros,
    request: SelectRequest,
    /// What is expected to come of it.
    pub expect: Option<ExpectedDecision>,
}

/// What came of a replay.
#[derive(Clone, Debug, Serialize)]
pub struct Replayed {
    /// `placed`, `dry_run` or `no_valid_host`.
    pub outcome: &'static str,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Hosts with a candidate.
    pub candidates: usize,
    /// One selection for each server, if there is a host for each.
    pub selections: Vec<Selection>,
    /// Why there is not.
    pub reasons: Vec<String>,
    /// How each server was placed.
    pub servers: Vec<InstanceRecord>,
}

impl Replayed {
    /// Why there is no valid host, if there is none.
    #[must_use]
    pub fn refusal(&self) -> Option<String> {
        self.selections.is_empty().then(|| Refusal::sentence(&self.reasons))
    }
}

/// Why a replay cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// Fields of the request.
    #[error("request: {0}")]
    Request(#[from] SchedulerError),
    /// The cloud.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// Something else is not of its type.
    #[error(transparent)]
    Form(#[from] serde_json::Error),
    /// A decision without its request.
    #[error("decision {0} does not say what was asked: its body is not kept, or its request")]
    NoBody(String),
    /// A decision about something else.
    #[error("decision {id} is about {kind}, expected one about servers")]
    Kind {
        /// Its id.
        id: String,
        /// What it is about.
        kind: String,
    },
    /// A decision of another version.
    #[error("decision {id} has a body of version {version}, expected {VERSION}")]
    Version {
        /// Its id.
        id: String,
        /// Its version.
        version: u64,
    },
}

/// Why a request cannot be decided.
#[derive(Debug, thiserror::Error)]
pub enum ReplayFailure {
    /// An option cannot be set.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// A filter or weigher that is not there.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The request cannot be judged.
    #[error(transparent)]
    Request(#[from] SchedulerError),
}

impl Replay {
    /// Whether a JSON value is a request in a cloud: its own, or another one
    /// that is at hand. A scenario that says which filters and weighers are asked
    /// or what comes of each is one of the engine.
    #[must_use]
    pub fn is_one(item: &Value, has_cloud: bool) -> bool {
        let expect = item.get("expect").unwrap_or(&Value::Null);
        let of_engine = ["filters", "weighers", "index", "instance_uuids", "compute_node"]
            .iter()
            .any(|key| item.get(key).is_some());
        let of_engine = of_engine
            || ["filtered", "eliminated_by", "weighed"].iter().any(|key| expect.get(key).is_some());
        let cloud = item.get("providers").is_some() || (has_cloud && item.get("hosts").is_none());
        cloud && item.get("request").is_some() && !of_engine
    }

    /// Whether a JSON value is a decision, as `GET /v1/decisions/{id}` shows it.
    #[must_use]
    pub fn is_decision(item: &Value) -> bool {
        ["seq", "outcome", "header", "body"].iter().all(|key| item.get(key).is_some())
    }

    /// A scenario of its JSON value: a cloud of its own, or that of `cloud`,
    /// `request` and what it expects.
    ///
    /// # Errors
    /// A field that is not of its type, or a cloud that is none.
    pub fn read(item: &Value, cloud: Option<&Arc<Cloud>>) -> Result<Self, ReplayError> {
        let text = |key: &str| item.get(key).and_then(Value::as_str).map(str::to_owned);
        let cloud = match cloud {
            Some(cloud) => cloud.clone(),
            None => Arc::new(Cloud::of(&Snapshot::deserialize(item)?)?),
        };
        let expect = item.get("expect").map(ExpectedDecision::deserialize).transpose()?;
        let request = item.get("request").unwrap_or(&Value::Null);
        let request = read_request(request.to_string().as_bytes())?;
        let id = text("id").unwrap_or_else(|| "without id".to_owned());
        let now = cloud.now;
        Ok(Self { id, note: text("note"), cloud, now, request, expect })
    }

    /// A recorded decision, to be made again on a cloud: what was recorded is
    /// what is expected.
    ///
    /// # Errors
    /// A decision that does not hold its request.
    pub fn of_decision(item: &Value, cloud: &Arc<Cloud>) -> Result<Self, ReplayError> {
        let id = item["id"].as_str().unwrap_or_default().to_owned();
        let kind = item["kind"].as_str().unwrap_or_default();
        if kind != "servers" {
            return Err(ReplayError::Kind { id, kind: kind.to_owned() });
        }
        let body = &item["body"];
        if body.is_null() || body["request"].is_null() {
            return Err(ReplayError::NoBody(id));
        }
        let version = body["version"].as_u64().unwrap_or_default();
        if version != u64::from(VERSION) {
            return Err(ReplayError::Version { id, version });
        }
        let request = read_request(body["request"].to_string().as_bytes())?;
        let made_on = item["header"]["decided_on"].as_i64();
        let note = (made_on != Some(cloud.seq)).then(|| {
            let made_on = made_on.unwrap_or_default();
            format!("made on sequence {made_on}, the snapshot is of {}", cloud.seq)
        });
        let expect = ExpectedDecision {
            outcome: item["outcome"].as_str().map(str::to_owned),
            hosts: None,
            candidates: body["candidates"].as_u64().and_then(|count| count.try_into().ok()),
            servers: body["servers"].as_array().cloned().unwrap_or_default(),
        };
        // By the time of the decision: hosts' signs of life have an age.
        let now = item["created"].as_i64().map_or(cloud.now, Micros);
        Ok(Self { id, note, cloud: cloud.clone(), now, request, expect: Some(expect) })
    }

    /// Decides it, on settings: those of `base`, then the cloud's, then
    /// `overrides` (`section.name` and value).
    ///
    /// # Errors
    /// An option, filter or weigher that does not exist, or a request that cannot
    /// be judged. No valid host is no error.
    pub fn evaluate(
        &self,
        base: &Settings,
        overrides: &[(String, String)],
    ) -> Result<Replayed, ReplayFailure> {
        let mut settings = base.clone();
        for (key, value) in &self.cloud.config {
            settings.set_json(key, value)?;
        }
        for (key, value) in overrides {
            settings.set(key, value)?;
        }
        let engine = Engine::new(&settings)?;
        let order = Order::check(self.request.clone(), ("", ""), 0)?;
        let means = Means { engine: &engine, settings: &settings, order: &order, now: self.now };
        match decide(&self.cloud.image, means) {
            Ok(decided) => Ok(placed(&order, decided)),
            Err(Failure::NoHost(refused)) => Ok(no_valid_host(means, *refused)),
            Err(Failure::Request(error)) => Err(error.into()),
        }
    }
}

fn placed(order: &Order, decided: Decided) -> Replayed {
    Replayed {
        outcome: if order.dry_run { "dry_run" } else { "placed" },
        seed: order.seed,
        candidates: decided.trace.hosts,
        selections: decided.selections(),
        reasons: Vec::new(),
        servers: decided.trace.servers.into_iter().map(Into::into).collect(),
    }
}

fn no_valid_host(means: Means<'_>, refused: Refused) -> Replayed {
    Replayed {
        outcome: "no_valid_host",
        seed: means.order.seed,
        candidates: refused.trace.hosts,
        selections: Vec::new(),
        reasons: why(&refused, means).sentences,
        servers: refused.trace.servers.into_iter().map(Into::into).collect(),
    }
}
