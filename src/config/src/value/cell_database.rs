//! Databases of Nova's cells.

use super::{DatabaseUrl, Input, Kind, OptionType, Problem};
use crate::spec::Meta;

/// Where the database of one of Nova's cells is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellDatabase {
    /// Uuid or name of the cell; none where that follows from the address.
    pub cell: Option<String>,
    /// The database.
    pub url: DatabaseUrl,
}

impl CellDatabase {
    fn read(item: &str, notes: &mut Vec<String>) -> Result<Self, Problem> {
        let named = item.split_once('=').filter(|(cell, _)| !cell.contains("://"));
        let (cell, url) = match named {
            Some((cell, url)) => (Some(cell.trim()), url.trim()),
            None => (None, item),
        };
        if cell == Some("") {
            return Err(Problem::new("the name or uuid of a cell before the ="));
        }
        let url = DatabaseUrl::parse(url, notes)?;
        Ok(Self { cell: cell.map(str::to_owned), url })
    }
}

/// Splits at the commas after which another address follows: passwords and
/// parameters may hold commas, too.
fn items(text: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for part in text.split(',') {
        match items.last_mut() {
            Some(last) if !part.contains("://") => {
                last.push(',');
                last.push_str(part);
            }
            _ => items.push(part.to_owned()),
        }
    }
    let trimmed = items.iter().map(|item| item.trim().trim_end_matches(',').trim_end());
    trimmed.filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

impl OptionType for Vec<CellDatabase> {
    const KIND: Kind = Kind::CellDatabases;

    fn read(input: Input<'_>, _meta: &Meta, notes: &mut Vec<String>) -> Result<Self, Problem> {
        let (Input::Texts(texts) | Input::Items(texts)) = input;
        let all = texts.iter().flat_map(|text| items(text));
        let read: Self =
            all.map(|item| CellDatabase::read(&item, notes)).collect::<Result<_, _>>()?;
        let mut seen = std::collections::HashSet::new();
        match read.iter().filter_map(|one| one.cell.as_ref()).find(|cell| !seen.insert(*cell)) {
            Some(cell) => Err(Problem::new(format!("each cell once ({cell} is given twice)"))),
            None => Ok(read),
        }
    }

    fn texts(&self, _meta: &Meta) -> Vec<String> {
        let text = |one: &CellDatabase| match &one.cell {
            Some(cell) => format!("{cell}={}", one.url),
            None => one.url.to_string(),
        };
        self.iter().map(text).collect()
    }
}
