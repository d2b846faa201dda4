//! `[placement_database]`: where the ledger is kept.

use crate::macros::section;
use crate::value::DatabaseUrl;

section! {
    /// The database of the ledger.
    placement_database: PlacementDatabase = "placement_database" {
        /// Address of the database, in the form of SQLAlchemy: sqlite:////absolute/path,
        /// sqlite:///relative/path, mysql+pymysql://user:password@host/name or
        /// postgresql+psycopg2://user:password@host/name.
        connection: DatabaseUrl = DatabaseUrl::embedded("./stowplan.db"),
            secret, template("sqlite:///$state_path/stowplan.db");
        /// Parameters that are added to the address, such as
        /// ssl_ca=/path&ssl_verify_cert=true.
        connection_parameters: String = String::new();
        /// SQLite: wait for the disk at every commit. Without it a power cut may lose
        /// the last commits; a crash of the service loses nothing.
        sqlite_synchronous: bool = true;
        /// Most connections held to PostgreSQL or MariaDB.
        max_pool_size: u32 = 5, min(1.0);
        /// Seconds to wait for a free connection.
        pool_timeout: u32 = 2, min(1.0);
        /// Seconds after which a connection to PostgreSQL or MariaDB is replaced;
        /// 0: never.
        connection_recycle_time: u32 = 3600;
        /// How often a failed connection is tried again at start; -1: for ever.
        max_retries: i64 = 10, min(-1.0);
        /// Seconds between two tries to connect at start.
        retry_interval: u32 = 10;
        /// Make or upgrade the schema at start. Without it the service refuses to
        /// start on another schema than its own.
        sync_on_startup: bool = true;
    }
}
