//! The Placement API against the real binary: cases written down as data, and
//! what only shows when many clients come at once.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod bounds;
mod manner;
mod races;

use std::path::PathBuf;
use stowplan_tests::cases::{check_files, run_file};

macro_rules! cases {
    ($($name:ident),+ $(,)?) => {
        const FILES: &[&str] = &[$(stringify!($name)),+];
        $(
            #[test]
            fn $name() {
                run_file(&folder().join(concat!(stringify!($name), ".case")), manner::PLACEMENT);
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
    check_files(&folder(), FILES);
}
