//! The program under test.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// The project's top folder.
#[must_use]
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the workspace")
}

/// The binary: `STOWPLAN_BINARY`, or that of this build, brought up to date
/// once per test process.
///
/// # Panics
/// When it cannot be built.
#[must_use]
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| match env::var_os("STOWPLAN_BINARY") {
        Some(path) => PathBuf::from(path),
        None => build(),
    })
}

/// Tests run from `<target>/<profile>/deps`; the binary lies one floor up.
fn build() -> PathBuf {
    let test = env::current_exe().expect("the path of this test");
    let folder = test.ancestors().nth(2).expect("the folder of the build");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(workspace()).args(["build", "--quiet", "--workspace", "--bin", "stowplan"]);
    if folder.ends_with("release") {
        command.arg("--release");
    }
    let built = command.status().expect("cargo runs");
    assert!(built.success(), "the binary cannot be built");
    folder.join("stowplan")
}
