//! The compute surface against the real binary: cases written down as data, what
//! only shows when many clients come at once, and what a restart keeps.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod manner;
mod options;
mod races;
mod restart;

use std::path::PathBuf;
use stowplan_tests::cases::{check_files, run_file};

macro_rules! cases {
    ($($name:ident),+ $(,)?) => {
        const FILES: &[&str] = &[$(stringify!($name)),+];
        $(
            #[test]
            fn $name() {
                run_file(&folder().join(concat!(stringify!($name), ".case")), manner::COMPUTE);
            }
        )+
    };
}

cases!(aggregates, groups, hypervisors, policy, services, versions, zones);

fn folder() -> PathBuf {
    stowplan_tests::workspace().join("tests/tests/compute/cases")
}

#[test]
fn every_file_of_cases_is_run() {
    check_files(&folder(), FILES);
}
