//! What became of a hint: whether it was used, and if not, why.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::explain::Loser;

/// Names and hosts that are told; further ones are counted.
const TOLD: usize = 100;

/// What became of a hint.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HintTrace {
    /// Whether a preferred host was used, and if not, why.
    pub outcome: HintOutcome,
    /// The host that the hint led to; null when it led to none.
    pub host: Option<String>,
    /// Its node.
    pub node: Option<String>,
    /// Candidates that `nodeNames` left; null when there are none of these.
    pub required: Option<usize>,
    /// Preferred hosts that did not pass, in the order tried.
    pub tried: Vec<Tried>,
    /// Further ones.
    pub more_tried: usize,
    /// Names that count for nothing.
    pub dropped: Vec<Dropped>,
    /// Further ones.
    pub more_dropped: usize,
    /// All that as a sentence.
    pub text: String,
}

/// Whether a preferred host was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HintOutcome {
    /// One passed all filters.
    Used,
    /// The hint prefers no host.
    NothingPreferred,
    /// A plan for the whole job goes before it.
    Planned,
    /// No preferred name is a candidate's.
    NothingToTry,
    /// None passed all filters.
    NonePassed,
}

impl HintOutcome {
    /// Its name in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::NothingPreferred => "nothing_preferred",
            Self::Planned => "planned",
            Self::NothingToTry => "nothing_to_try",
            Self::NonePassed => "none_passed",
        }
    }

    /// It as a sentence.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Used => "the hint's preferred host passed all filters",
            Self::NothingPreferred => "the hint prefers no host",
            Self::Planned => "a plan for the whole job goes before the hint's preferred hosts",
            Self::NothingToTry => "none of the hint's preferred hosts is a candidate",
            Self::NonePassed => "none of the hint's preferred hosts passed all filters",
        }
    }
}

/// A preferred host that did not pass.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tried {
    /// The filter that it did not pass; `candidates` where the servers before
    /// left nothing.
    pub filter: &'static str,
    /// The host with the reason.
    #[serde(flatten)]
    pub loser: Loser,
}

/// A name that counts for nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// `nodeNames` or `preferredNodeNames`.
    pub field: &'static str,
    /// The name.
    pub name: String,
    /// Why.
    pub reason: DroppedReason,
}

/// Why a name counts for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DroppedReason {
    /// It stands beyond `[scheduler] max_hint_nodes`.
    BeyondLimit,
    /// There is no such host.
    Unknown,
    /// The host is no candidate for this request.
    NoCandidate,
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.reason {
            DroppedReason::BeyondLimit => "it stands beyond [scheduler] max_hint_nodes",
            DroppedReason::Unknown => "there is no such host",
            DroppedReason::NoCandidate => "the host is no candidate",
        };
        write!(f, "{:?} in the hint's {} is passed over: {why}", self.name, self.field)
    }
}

impl HintTrace {
    /// A trace of hosts tried and names dropped.
    pub(super) fn new(
        outcome: HintOutcome,
        required: Option<usize>,
        mut tried: Vec<Tried>,
        mut dropped: Vec<Dropped>,
    ) -> Self {
        let more_tried = tried.len().saturating_sub(TOLD);
        let more_dropped = dropped.len().saturating_sub(TOLD);
        tried.truncate(TOLD);
        dropped.truncate(TOLD);
        let text = match required {
            Some(left) => {
                format!("{}; its nodeNames left {left} candidates", outcome.sentence())
            }
            None => outcome.sentence().to_owned(),
        };
        let (host, node) = (None, None);
        Self { outcome, host, node, required, tried, more_tried, dropped, more_dropped, text }
    }

    /// Names the host that the hint led to.
    pub(super) fn leads_to(mut self, host: &str, node: &str) -> Self {
        self.host = Some(host.to_owned());
        self.node = Some(node.to_owned());
        self
    }
}
