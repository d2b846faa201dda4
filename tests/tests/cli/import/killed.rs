//! An import that is killed has left nothing, or everything.

use super::{Output, change, import, peer, report};
use std::{fs, path::Path, process::Stdio, time::Duration};
use stowplan_tests::Cli;
use tempfile::TempDir;

/// Hosts, with an inventory and a consumer each, beside those of the small
/// database: so many that the file is written to long before the commit.
const HOSTS: usize = 6000;

/// What the small database holds and these, in the words of a refusal.
fn everything() -> String {
    format!("{} resource providers, {} consumers", HOSTS + 3, HOSTS + 2)
}

fn large() -> TempDir {
    let folder = peer("");
    // Ids in no order, as the peer draws them.
    let id = |prefix: char| {
        format!("printf('{prefix}%07x-0000-4000-8000-000000000000', (n * 40503) % 0x8000000)")
    };
    let (host, consumer) = (id('a'), id('c'));
    let each = |table: &str, row: &str| {
        format!(
            "WITH RECURSIVE numbers(n) AS (SELECT 100 UNION ALL SELECT n + 1 FROM numbers \
             WHERE n < {}) INSERT INTO {table} SELECT {row} FROM numbers;",
            99 + HOSTS
        )
    };
    change(
        &folder,
        &[
            each("resource_providers", &format!("NULL, NULL, n, {host}, 'host-' || n, 1, n, NULL")),
            each("inventories", "NULL, NULL, n, n, 0, 8, 0, 1, 8, 1, 16.0"),
            each("consumers", &format!("NULL, NULL, n, {consumer}, 1, 1, 1, 1")),
            each("allocations", &format!("NULL, NULL, n, n, {consumer}, 0, 4")),
        ]
        .concat(),
    );
    folder
}

fn size(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |file| file.len())
}

/// Starts an import and kills it once the log of what is not in the file yet
/// has so many bytes. Whether it lived that long.
fn killed_at(folder: &TempDir, bytes: u64) -> bool {
    let log = folder.path().join("stowplan.db-wal");
    let mut command = Cli::new(["db", "import", "--from", "sqlite:///placement.db"]).into_command();
    command.current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    loop {
        if size(&log) >= bytes {
            child.kill().unwrap();
            child.wait().unwrap();
            return true;
        }
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn refusal(output: &Output) -> String {
    report(output)["refused"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_killed_import_has_left_nothing_or_everything_and_may_be_run_again() {
    let source = large();
    let mut midway = 0;
    for bytes in [1, 400_000, 1_000_000, 2_000_000] {
        let folder = TempDir::new().unwrap();
        fs::copy(source.path().join("placement.db"), folder.path().join("placement.db")).unwrap();
        let killed = killed_at(&folder, bytes);
        let again = import(&folder, &["--format", "json"]);
        if again.code == 0 {
            midway += usize::from(killed && bytes >= 1_000_000);
        } else {
            assert!(refusal(&again).contains(&everything()), "{}{}", again.stdout, again.stderr);
        }
        let third = import(&folder, &["--format", "json"]);
        assert!(refusal(&third).contains(&everything()), "{}{}", third.stdout, third.stderr);
    }
    assert!(midway > 0, "none was killed in the midst of writing");
}
