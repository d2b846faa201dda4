//! What commands print.

use clap::ValueEnum;
use std::{
    fmt::Display,
    io::{Write as _, stdout},
};

/// How a result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Table,
    /// For programs: one JSON document.
    Json,
}

/// Prints a line. When nobody reads any more (`stowplan ... | head`) there is
/// nothing left to say, and the process ends.
pub fn line(text: impl Display) {
    let mut out = stdout().lock();
    if writeln!(out, "{text}").and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

/// As `println!`, for a reader that may go away.
macro_rules! outln {
    () => { $crate::out::line("") };
    ($($arguments:tt)*) => { $crate::out::line(format_args!($($arguments)*)) };
}

pub(crate) use outln;
