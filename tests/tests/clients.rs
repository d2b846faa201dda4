//! OpenStack's own clients, driven against the binary: the compute part. They
//! are installed from the Python package index at the first run. All of it is
//! run by `tox-like-scripts/clients`.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::process::Command;
use stowplan_tests::{binary, workspace};

#[test]
fn the_openstack_command_and_the_sdk_do_all_that_the_compute_surface_has() {
    let output = Command::new("python3")
        .arg(workspace().join("tests/clients/run"))
        .arg("--server")
        .arg(format!("{} serve --config {{config}}", binary().display()))
        .arg("compute*")
        .output()
        .expect("python3 runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complaint}");
    assert!(said.contains("compute_sdk") && said.contains(", 0 failed"), "{said}");
}
