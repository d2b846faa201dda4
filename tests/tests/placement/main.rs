//! The Placement API against the real binary: cases written down as data, and
//! what only shows when many clients come at once.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod bounds;
mod case;
mod matching;
mod parse;
mod races;

use std::{collections::BTreeSet, fs, path::PathBuf};

macro_rules! cases {
    ($($name:ident),+ $(,)?) => {
        const FILES: &[&str] = &[$(stringify!($name)),+];
        $(
            #[test]
            fn $name() {
                case::run_file(&folder().join(concat!(stringify!($name), ".case")));
            }
        )+
    };
}

cases!(
    allocations,
    candidates,
    errors,
    explain,
    inventories,
    names,
    providers,
    reshape,
    units,
    versions,
);

fn folder() -> PathBuf {
    stowplan_tests::workspace().join("tests/tests/placement/cases")
}

#[test]
fn every_file_of_cases_is_run() {
    let there: BTreeSet<String> = fs::read_dir(folder())
        .expect("the cases")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "case"))
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    assert_eq!(there, FILES.iter().map(|name| (*name).to_owned()).collect());
}
