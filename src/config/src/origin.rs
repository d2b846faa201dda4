//! Where a value comes from.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where a value comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Nobody set it.
    #[default]
    Default,
    /// A line of a file.
    File {
        /// The file, as it was named.
        path: PathBuf,
        /// Line, counted from 1; 0: the file as a whole.
        line: u32,
    },
    /// A variable of the environment.
    Environment(String),
    /// The command line.
    Override,
}

impl Origin {
    /// A line of a file.
    pub(crate) fn file(path: &Path, line: u32) -> Self {
        Self::File { path: path.to_owned(), line }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line: 0 } => write!(f, "{}", path.display()),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Override => f.write_str("command line"),
        }
    }
}

/// Reads what `Display` writes: the form in which values carry their origin
/// through the layers.
impl FromStr for Origin {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "default" {
            return Ok(Self::Default);
        }
        if text == "command line" {
            return Ok(Self::Override);
        }
        if let Some(name) = text.strip_prefix("environment ") {
            return Ok(Self::Environment(name.to_owned()));
        }
        let numbered =
            text.rsplit_once(':').and_then(|(path, line)| Some((path, line.parse().ok()?)));
        let (path, line) = numbered.unwrap_or((text, 0));
        Ok(Self::File { path: PathBuf::from(path), line })
    }
}
