//! Cases written down as data, README.md beside them says how; each is run
//! against a server of its own.

mod matching;
mod parse;
mod run;

pub use parse::{Case, Step};
pub use run::{Manner, check_files, run_file};
