//! Which of Nova's databases are understood: those of Nova 24 (Xena), the first
//! with Alembic, to 34. The tables that are read are the same in all of them.

use stowplan_db::peer::Schema;

const REMEDY: &str = "Nova 24 (Xena) to 34 are: bring an older one up to date with `nova-manage`; \
                      a newer one needs a newer stowplan";

/// The API database.
pub const API: Schema = Schema {
    program: "Nova's API database",
    understood: &["cdeec0c85668", "b30f573d3377", "d67eeaabee36"],
    tables: &[
        "cell_mappings",
        "aggregates",
        "aggregate_hosts",
        "aggregate_metadata",
        "instance_groups",
        "instance_group_member",
        "instance_group_policy",
    ],
    remedy: REMEDY,
};

/// The database of a cell.
pub const CELL: Schema = Schema {
    program: "the databases of Nova's cells",
    understood: &[
        "ab450ba04102",
        "2903cd72dc14",
        "d60bddf7a903",
        "13863f4e1612",
        "1acf2c98e646",
        "1b91788ec3a6",
        "960aac0e09ea",
        "ccb0fa1a2252",
        "16f1fbcab42b",
        "8f2f1571d55b",
    ],
    tables: &["compute_nodes", "services", "instances", "instance_system_metadata"],
    remedy: REMEDY,
};
