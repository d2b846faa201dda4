//! Recorded cases that are known to end otherwise, each with the reason.

use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The name of the file that lists them. It lies in the folder of the recorded
/// cases, or in the one above.
const FILE: &str = "deviations.toml";

/// A case that is known to end otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deviation {
    /// Its file, from where the list lies.
    pub file: PathBuf,
    /// Its name.
    pub case: String,
    /// Why.
    pub reason: String,
}

/// A list of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deviations {
    folder: PathBuf,
    all: Vec<Deviation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    deviation: Vec<Deviation>,
}

impl Deviations {
    /// The list for the cases of a file; an empty one where there is none.
    ///
    /// # Errors
    /// A list that cannot be read, with what is wrong with it.
    pub fn beside(file: &Path) -> Result<Self, String> {
        let folders = file.ancestors().skip(1).take(2);
        let Some(folder) = folders.into_iter().find(|folder| folder.join(FILE).is_file()) else {
            return Ok(Self::default());
        };
        let path = folder.join(FILE);
        let told = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(&path).map_err(|error| told(&error))?;
        let list: List = toml::from_str(&text).map_err(|error| told(&error))?;
        Ok(Self { folder: folder.to_owned(), all: list.deviation })
    }

    /// Why a case ends otherwise, if it is known to.
    #[must_use]
    pub fn reason(&self, file: &Path, case: &str) -> Option<&str> {
        let own = file.strip_prefix(&self.folder).ok()?;
        let mut listed = self.all.iter().filter(|it| it.case == case && it.file == own);
        listed.next().map(|it| it.reason.as_str())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_list_lies_beside_the_cases_or_above() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("peer");
        std::fs::create_dir(&inner).unwrap();
        let file = inner.join("a.json");
        assert_eq!(Deviations::beside(&file), Ok(Deviations::default()));
        let list = "[[deviation]]\nfile = \"peer/a.json\"\ncase = \"x\"\nreason = \"a fault\"\n";
        std::fs::write(folder.path().join(FILE), list).unwrap();
        let found = Deviations::beside(&file).unwrap();
        assert_eq!(found.reason(&file, "x"), Some("a fault"));
        assert_eq!(found.reason(&file, "y"), None);
        assert_eq!(found.reason(&inner.join("b.json"), "x"), None);
        std::fs::write(inner.join(FILE), "[[deviation]]\nfile = 3\n").unwrap();
        assert!(Deviations::beside(&file).unwrap_err().contains("deviations.toml"));
    }
}
