//! The single change that would have given a refused request a host.
//!
//! One thing at a time is left out of the request, or made less, and candidates
//! and filters are asked again, on what the server without a host met. What is
//! told has been tried. It is looked for on refusal only, in a bounded number of
//! trials.

use std::fmt;

use serde::Serialize;
use stowplan_engine::HostView;

use super::decide::{Means, Refused};
use super::trials::Trials;

/// Trials for one refusal at most, and hosts that all of them may look at.
const MOST_TRIALS: usize = 64;
const MOST_LOOKS: usize = 500_000;
/// Changes that are kept, and those that the sentence tells.
const KEPT: usize = 8;
const TOLD: usize = 3;

/// A change that would have been enough by itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Unlock {
    #[serde(flatten)]
    pub(super) change: Change,
    /// The change in words.
    pub(super) text: String,
    /// The host that there would have been, its node; null where only servers
    /// are fewer.
    pub(super) host: Option<String>,
    pub(super) node: Option<String>,
}

/// What is changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Change {
    /// Fewer servers.
    Count { wanted: usize, fits: usize },
    /// Less of a resource class.
    Amount { group: String, class: String, wanted: i64, fits: i64 },
    /// Without one requirement of the query for candidates.
    Requirement { requirement: String },
    /// Without a field of the request that names hosts.
    Field { field: &'static str },
    /// Without one filter.
    Filter { filter: &'static str },
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { wanted, fits } => write!(f, "{fits} servers instead of {wanted}"),
            Self::Amount { group, class, wanted, fits } => {
                write!(f, "{fits} {class} instead of {wanted}, {} fewer", wanted - fits)?;
                if group.is_empty() { Ok(()) } else { write!(f, " (group {group})") }
            }
            Self::Requirement { requirement } => {
                write!(f, "without requirement \"{requirement}\"")
            }
            Self::Field { field } => write!(f, "without field {field}"),
            Self::Filter { filter } => write!(f, "without filter {filter}"),
        }
    }
}

/// The changes as a reason, if there is any. That there would be hosts for fewer
/// servers is a reason of its own.
pub(super) fn enough(unlocks: &[Unlock], refused: &Refused, servers: usize) -> Option<String> {
    let hosts = unlocks.iter().filter_map(|it| Some((&it.text, it.host.as_ref()?)));
    let told = hosts.take(TOLD).map(|(text, host)| format!("{text} ({host})"));
    let told = told.collect::<Vec<String>>().join(", or ");
    if told.is_empty() {
        return None;
    }
    let place = refused.trace.servers.len().max(1);
    let server = if servers > 1 { format!("for server {place} ") } else { String::new() };
    Some(format!("{server}one change would be enough: {told}"))
}

/// Looks for all single changes of a request that found no host.
pub(super) fn unlocks(refused: &Refused, means: Means<'_>) -> Vec<Unlock> {
    let Some(queries) = &refused.trace.queries else { return Vec::new() };
    let scene = &refused.scene;
    let left = MOST_TRIALS.min(MOST_LOOKS / scene.image.hosts.table().live().count().max(1));
    let mut trials = Trials { scene, means, queries, left, found: Vec::new() };
    let placed = refused.trace.servers.iter().filter(|server| server.chosen.is_some()).count();
    if placed > 0 {
        let wanted = means.order.instances.len();
        trials.note(Change::Count { wanted, fits: placed }, None);
    }
    trials.requirements();
    trials.fields();
    trials.filters(&refused.trace);
    trials.found.truncate(KEPT);
    trials.found
}
