//! How the reading of Nova's databases goes, for probes.

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use serde::Serialize;
use stowplan_model::Micros;
use utoipa::ToSchema;

/// Whether a database is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DatabaseState {
    /// What it says is known.
    Following,
    /// It was not read yet.
    #[default]
    Connecting,
    /// It does not answer, or cannot be understood; it is tried again.
    Away,
}

/// How the reading of one database goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Database {
    /// Whether it is read.
    pub state: DatabaseState,
    /// Why it is not, or what of it cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When it was last read, microseconds since the epoch; null before that.
    pub read: Option<Micros>,
    /// Compute nodes, cells or the like that it has told of.
    pub known: usize,
    /// Of these, what cannot be taken up.
    pub refused: usize,
}

/// How the reading goes; shared by all that has to do with it.
#[derive(Debug, Default)]
pub struct Status(ArcSwap<BTreeMap<String, Database>>);

impl Status {
    /// All databases by their names: `api`, and of cells their names or uuids.
    #[must_use]
    pub fn databases(&self) -> Arc<BTreeMap<String, Database>> {
        self.0.load_full()
    }

    /// The state of the one that is worst off; none where there is no database.
    #[must_use]
    pub fn worst(&self) -> Option<DatabaseState> {
        self.0.load().values().map(|database| database.state).max()
    }

    /// Notes how one is.
    pub fn set(&self, name: &str, database: &Database) {
        self.0.rcu(|all| {
            let mut all = BTreeMap::clone(all);
            all.insert(name.to_owned(), database.clone());
            all
        });
    }

    /// Forgets one that is not read any more.
    pub fn forget(&self, name: &str) {
        self.0.rcu(|all| {
            let mut all = BTreeMap::clone(all);
            all.remove(name);
            all
        });
    }
}
