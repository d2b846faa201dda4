//! Which databases of cells are followed.

use std::collections::BTreeMap;

use stowplan_config::{CellDatabase, DatabaseUrl, Nova};
use stowplan_model::Uuid;

use super::{tables::CellMapping, template::filled};

/// The cell of servers that no host was found for: it has no hosts.
const CELL0: Uuid = Uuid::nil();
/// The name space of cells that only the configuration knows.
const NAMESPACE: Uuid = Uuid::from_u128(0x0f6a_7c1e_93d4_5b0a_8e21_4c77_d2b9_6a05);

/// A cell that is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// Its name, or its uuid where it has none.
    pub name: String,
    /// Its database.
    pub url: DatabaseUrl,
}

/// The cells to be followed, by their uuids.
pub type Cells = BTreeMap<Uuid, Followed>;

/// The cells that the options and the cell mappings name, and what is wrong with
/// the others. Without an API database there are no mappings.
pub fn followed(options: &Nova, mappings: Option<&[CellMapping]>) -> (Cells, Vec<String>) {
    let (mut cells, mut problems) = (Cells::new(), Vec::new());
    let known: Vec<Mapping> = mappings
        .into_iter()
        .flatten()
        .filter_map(|row| Mapping::read(row, options).map_err(|it| problems.push(it)).ok())
        .filter(|mapping| mapping.uuid != CELL0)
        .collect();
    if options.cell_databases.is_empty() {
        for mapping in known {
            match mapping.url {
                Ok(url) => {
                    cells.insert(mapping.uuid, Followed { name: mapping.name, url });
                }
                Err(problem) => problems.push(format!("cell {}: {problem}", mapping.name)),
            }
        }
        return (cells, problems);
    }
    for database in &options.cell_databases {
        let (uuid, name) = match identity(database, &known, mappings.is_some()) {
            Ok(identity) => identity,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        cells.insert(uuid, Followed { name, url: database.url.clone() });
    }
    (cells, problems)
}

/// A cell mapping that can be read.
struct Mapping {
    uuid: Uuid,
    name: String,
    url: Result<DatabaseUrl, String>,
}

impl Mapping {
    fn read(row: &CellMapping, options: &Nova) -> Result<Self, String> {
        let uuid = Uuid::try_parse(&row.uuid);
        let uuid = uuid.map_err(|_| format!("cell mapping {:?}: expected a uuid", row.uuid))?;
        let name = row.name.clone().filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| uuid.to_string());
        Ok(Self { uuid, name, url: url(row, options) })
    }
}

/// The address of a cell mapping; no problem repeats it, for it holds a password.
fn url(row: &CellMapping, options: &Nova) -> Result<DatabaseUrl, String> {
    let template = row.database_connection.as_deref().unwrap_or_default();
    let address = match (&options.template_database, &options.api_database) {
        (Some(address), _) => address.reveal(),
        (None, Some(address)) => address.reveal(),
        (None, None) => "",
    };
    let text = filled(template, address).map_err(|problem| format!("its address has {problem}"))?;
    let url: DatabaseUrl =
        text.parse().map_err(|problem: stowplan_config::Problem| problem.to_string())?;
    has_file(&url).then_some(url).ok_or_else(|| NO_FILE.to_owned())
}

/// What is wrong with a SQLite database that is no file.
pub const NO_FILE: &str = "expected the file of a SQLite database, as sqlite:////path";

/// Whether an address names a database that others can write.
pub fn has_file(url: &DatabaseUrl) -> bool {
    url.backend != stowplan_config::Backend::Sqlite || url.path.is_some()
}

/// Uuid and name of the cell of a configured database.
fn identity(
    database: &CellDatabase,
    known: &[Mapping],
    has_mappings: bool,
) -> Result<(Uuid, String), String> {
    let derived = |text: &str| Uuid::new_v5(&NAMESPACE, text.as_bytes());
    let Some(cell) = &database.cell else {
        let place = place(&database.url);
        let same =
            known.iter().find(|it| it.url.as_ref().is_ok_and(|url| self::place(url) == place));
        return Ok(match same {
            Some(mapping) => (mapping.uuid, mapping.name.clone()),
            None => (derived(&place), place),
        });
    };
    let uuid = Uuid::try_parse(cell).ok();
    let found = known.iter().find(|it| Some(it.uuid) == uuid || it.name == *cell);
    match (found, uuid) {
        (Some(mapping), _) => Ok((mapping.uuid, mapping.name.clone())),
        (None, Some(uuid)) => Ok((uuid, cell.clone())),
        (None, None) if has_mappings => {
            Err(format!("[nova] cell_databases: no cell mapping has the name {cell}"))
        }
        (None, None) => Ok((derived(cell), cell.clone())),
    }
}

/// Server and name of a database, whoever logs in and how.
fn place(url: &DatabaseUrl) -> String {
    let rest = url.sqlx_url.split_once("://").map_or(url.sqlx_url.as_str(), |(_, rest)| rest);
    let rest = rest.split('?').next().unwrap_or_default();
    rest.rsplit_once('@').map_or(rest, |(_, rest)| rest).to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    const ONE: Uuid = Uuid::from_u128(1);

    fn mapping(uuid: Uuid, name: Option<&str>, address: &str) -> CellMapping {
        CellMapping {
            uuid: uuid.to_string(),
            name: name.map(str::to_owned),
            database_connection: Some(address.to_owned()),
            disabled: false,
        }
    }

    fn options(cells: &[(Option<&str>, &str)]) -> Nova {
        let cell = |(cell, url): &(Option<&str>, &str)| CellDatabase {
            cell: cell.map(str::to_owned),
            url: url.parse().unwrap(),
        };
        Nova {
            api_database: Some("mysql+pymysql://nova:pw@db/nova_api".parse().unwrap()),
            cell_databases: cells.iter().map(cell).collect(),
            ..Nova::default()
        }
    }

    fn found(cells: &Cells) -> Vec<(Uuid, &str, &str)> {
        cells
            .iter()
            .map(|(uuid, cell)| (*uuid, cell.name.as_str(), cell.url.sqlx_url.as_str()))
            .collect()
    }

    #[test]
    fn mappings_name_the_databases() {
        let rows = [
            mapping(CELL0, Some("cell0"), "mysql://db/nova_cell0"),
            mapping(ONE, Some("c1"), "{scheme}://{username}:{password}@{hostname}/c1"),
            mapping(Uuid::from_u128(2), None, "mysql://other/c2"),
            mapping(Uuid::from_u128(3), Some("c3"), "{nothing}"),
            mapping(Uuid::from_u128(4), Some("c4"), "sqlite://"),
        ];
        let (cells, problems) = followed(&options(&[]), Some(&rows));
        let second = Uuid::from_u128(2).to_string();
        assert_eq!(
            found(&cells),
            [
                (ONE, "c1", "mysql://nova:pw@db/c1"),
                (Uuid::from_u128(2), second.as_str(), "mysql://other/c2"),
            ]
        );
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems[0].starts_with("cell c3: its address has {nothing}: expected scheme"));
        assert!(!problems.concat().contains("pw"));
    }

    #[test]
    fn options_name_them_first() {
        let rows = [
            mapping(ONE, Some("c1"), "mysql://nova@db/c1"),
            mapping(Uuid::from_u128(2), Some("c2"), "mysql://db/c2"),
        ];
        let by_name =
            options(&[(Some("c1"), "mysql://ro:x@replica/c1"), (None, "mysql://ro@db/c2")]);
        let (cells, problems) = followed(&by_name, Some(&rows));
        assert_eq!(
            found(&cells),
            [
                (ONE, "c1", "mysql://ro:x@replica/c1"),
                (Uuid::from_u128(2), "c2", "mysql://ro@db/c2"),
            ]
        );
        assert_eq!(problems, Vec::<String>::new());
        let (cells, problems) = followed(&options(&[(Some("c9"), "mysql://h/d")]), Some(&rows));
        assert!(cells.is_empty());
        assert_eq!(problems, ["[nova] cell_databases: no cell mapping has the name c9"]);
        let (cells, _) = followed(&options(&[(Some("c9"), "mysql://h/d")]), None);
        assert_eq!(cells.values().next().unwrap().name, "c9");
    }
}
