//! Scenarios of the query form: a request in a cloud of which only host
//! aggregates and the names of hosts matter, and the query for allocation
//! candidates that it becomes.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use stowplan_config::{OptionError, Settings};
use stowplan_engine::scenario::{Difference, complete};
use stowplan_engine::{CheckedRequest, StageFault};
use stowplan_model::Uuid;
use stowplan_model::names::{is_custom, standard_traits};
use stowplan_model::request::ScheduleRequest;

use crate::error::SchedulerError;
use crate::select::{Asked, RequestedGroup, RootTraits, Site, query_string, translate};

/// The most candidates that are asked for where no option says otherwise
/// (`[scheduler] max_placement_results`): what the peer's query has.
const LIMIT: u32 = 1000;

/// One scenario.
#[derive(Clone, Debug, Deserialize)]
pub struct QueryScenario {
    /// Name of the case.
    pub id: String,
    /// What it is about.
    #[serde(default)]
    pub note: Option<String>,
    /// Host aggregates, in order of their ids.
    #[serde(default)]
    aggregates: Vec<Aggregate>,
    /// The hosts that a request may name.
    compute_nodes: Vec<Node>,
    /// The lowest version of a compute service.
    #[serde(default = "newest")]
    min_compute_version: i64,
    #[serde(default)]
    request: Map<String, Value>,
    #[serde(default)]
    config: Map<String, Value>,
    /// What is expected of it.
    #[serde(default)]
    pub expect: Option<ExpectedQuery>,
}

const fn newest() -> i64 {
    100
}

#[derive(Clone, Debug, Deserialize)]
struct Aggregate {
    uuid: Uuid,
    #[serde(default)]
    metadata: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Deserialize)]
struct Node {
    host: String,
    node: String,
    uuid: Uuid,
}

/// What a scenario expects.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExpectedQuery {
    query: Option<String>,
    /// The query of shared CPUs where dedicated ones were asked for.
    fallback_query: Option<String>,
    cpu_pinning_requested: Option<bool>,
    /// The request fails, whatever the error is called.
    error: Option<Value>,
}

/// The queries that a request becomes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QueryTexts {
    /// The first one, as Placement's clients write it.
    pub query: String,
    /// The query of shared CPUs where dedicated ones were asked for.
    pub fallback_query: Option<String>,
    /// Whether dedicated CPUs were asked for.
    pub cpu_pinning_requested: bool,
}

/// Why a request becomes no query.
#[derive(Debug, thiserror::Error)]
pub enum QueryFailure {
    /// An option of the scenario cannot be set.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The request cannot be read.
    #[error(transparent)]
    Request(#[from] StageFault),
    /// Its groups cannot.
    #[error("requested_resources: {0}")]
    Groups(#[from] serde_json::Error),
    /// It cannot be translated.
    #[error(transparent)]
    Translation(#[from] SchedulerError),
    /// The host that it is bound to does not exist.
    #[error("there is no host {host:?} with node {node:?}")]
    NoSuchHost {
        /// The host.
        host: Option<String>,
        /// The node.
        node: Option<String>,
    },
}

impl QueryScenario {
    /// Whether a JSON value is a scenario of this form.
    #[must_use]
    pub fn is_one(item: &Value) -> bool {
        item.get("compute_nodes").is_some()
    }

    /// Translates its request, on settings: those of `base`, then the
    /// scenario's own, then `overrides` (`section.name` and value).
    ///
    /// # Errors
    /// The request fails, or the scenario names an option that does not exist.
    pub fn evaluate(
        &self,
        base: &Settings,
        overrides: &[(String, String)],
    ) -> Result<QueryTexts, QueryFailure> {
        let mut settings = base.clone();
        settings.scheduler.max_placement_results.get_or_insert(LIMIT);
        for (key, value) in &self.config {
            settings.set_json(key, value)?;
        }
        for (key, value) in overrides {
            settings.set(key, value)?;
        }
        let mut request = self.request.clone();
        let groups = request.remove("requested_resources").unwrap_or(json!([]));
        let groups: Vec<RequestedGroup> = serde_json::from_value(groups)?;
        let request = complete(&request)?;
        let checked = CheckedRequest::check(request.clone())?;
        let asked = Asked {
            request: &request,
            image: request.image.as_ref().and(checked.image()),
            groups: &groups,
            same_subtree: &[],
            networks: &[],
            root: &RootTraits::default(),
            zone_must_exist: false,
        };
        let mut queries = translate(self, asked, &settings)?;
        let in_tree = match self.target(&request)?.as_slice() {
            [] => None,
            [one] => Some(*one),
            // Some of several may be cut off by a limit.
            _ => {
                queries.queries.iter_mut().for_each(|query| query.limit = None);
                None
            }
        };
        let mut texts =
            queries.queries.iter().map(|query| query_string(query, queries.policy, in_tree));
        Ok(QueryTexts {
            query: texts.next().unwrap_or_default(),
            fallback_query: texts.next(),
            cpu_pinning_requested: queries.pinned,
        })
    }

    /// The nodes that the request is bound to; empty when it is not.
    fn target(&self, request: &ScheduleRequest) -> Result<Vec<Uuid>, QueryFailure> {
        let first = |names: &Option<Vec<String>>| names.as_ref().and_then(|it| it.first().cloned());
        let destination = request.requested_destination.as_ref();
        let (host, node) = match destination.filter(|it| it.host.is_some()) {
            Some(destination) => (destination.host.clone(), destination.node.clone()),
            None => (first(&request.force_hosts), first(&request.force_nodes)),
        };
        if host.is_none() && node.is_none() {
            return Ok(Vec::new());
        }
        let is_meant = |it: &&Node| {
            host.as_ref().is_none_or(|host| *host == it.host)
                && node.as_ref().is_none_or(|node| *node == it.node)
        };
        let nodes: Vec<Uuid> =
            self.compute_nodes.iter().filter(is_meant).map(|it| it.uuid).collect();
        if nodes.is_empty() {
            return Err(QueryFailure::NoSuchHost { host, node });
        }
        Ok(nodes)
    }
}

impl Site for QueryScenario {
    fn host_aggregates(&self) -> Box<dyn Iterator<Item = (Uuid, &BTreeMap<String, String>)> + '_> {
        Box::new(self.aggregates.iter().map(|it| (it.uuid, &it.metadata)))
    }

    fn has_trait(&self, name: &str) -> bool {
        static STANDARD: LazyLock<HashSet<&str>> = LazyLock::new(|| standard_traits().collect());
        is_custom(name) || STANDARD.contains(name)
    }

    /// Recorded queries have no routed networks.
    fn provider_aggregates(&self, _provider: Uuid) -> Vec<Uuid> {
        Vec::new()
    }

    fn min_compute_version(&self) -> Option<i64> {
        Some(self.min_compute_version)
    }
}

/// What came out differently than expected; nothing when the case passes.
#[must_use]
pub fn check_query(
    expected: &ExpectedQuery,
    result: &Result<QueryTexts, QueryFailure>,
) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut compare = |what: &str, expected: Value, got: Value| {
        if expected != got {
            differences.push(Difference { what: what.to_owned(), expected, got });
        }
    };
    match (result, &expected.error) {
        (Err(_), Some(_)) => {}
        (Err(failure), None) => compare("error", Value::Null, json!(failure.to_string())),
        (Ok(texts), Some(error)) => compare("error", error.clone(), json!(texts)),
        (Ok(texts), None) => {
            if let Some(query) = &expected.query {
                compare("query", json!(query), json!(texts.query));
            }
            if expected.fallback_query.is_some() {
                compare(
                    "fallback_query",
                    json!(expected.fallback_query),
                    json!(texts.fallback_query),
                );
            }
            if let Some(pinned) = expected.cpu_pinning_requested {
                compare("cpu_pinning_requested", json!(pinned), json!(texts.cpu_pinning_requested));
            }
        }
    }
    differences
}
