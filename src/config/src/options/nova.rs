//! `[nova]`: what is read from Nova's own databases.

use std::time::Duration;

use crate::macros::section;
use crate::value::{CellDatabase, DatabaseUrl, SecretUrl};

section! {
    /// Nova's databases, from which the state of hosts, services, servers, host
    /// aggregates and server groups is followed. They are only ever read.
    nova: Nova = "nova" {
        /// Address of Nova's API database: [api_database] connection of nova.conf. An
        /// account that may SELECT is enough. Unset, with cell_databases unset: Nova's
        /// databases are not read.
        api_database: Option<DatabaseUrl> = None, secret;
        /// Databases of cells, one a line or between commas, each as an address or as
        /// cell=address with the uuid or name of the cell. Unset: those that the cell
        /// mappings of the API database name.
        cell_databases: Vec<CellDatabase> = Vec::new(), secret;
        /// Address that fills in templates of cell mappings, such as
        /// {scheme}://{username}:{password}@{hostname}/nova: [database] connection of
        /// nova.conf. Unset: api_database.
        template_database: Option<SecretUrl> = None, secret;
        /// Time between two looks for changes.
        poll_interval: Duration = Duration::from_secs(5), min(0.1), mutable;
        /// Time between two comparisons of everything, which find what no look for
        /// changes can.
        full_interval: Duration = Duration::from_secs(300), min(1.0), mutable;
    }
}

impl Nova {
    /// Whether there is anything to follow.
    pub fn is_on(&self) -> bool {
        self.api_database.is_some() || !self.cell_databases.is_empty()
    }
}
