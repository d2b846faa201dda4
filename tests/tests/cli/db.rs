//! `stowplan db`.

use super::{folder, stowplan};

#[test]
fn sync_makes_the_schema_and_version_tells() {
    let folder = folder(&[]);
    let before = stowplan(&folder, &["db", "version"]);
    assert_eq!(before.code, 1, "{}", before.stderr);
    assert!(before.stdout.contains("run `stowplan db sync`"), "{}", before.stdout);
    assert_eq!(folder.path().read_dir().unwrap().count(), 0, "nothing is made by looking");
    let sync = stowplan(&folder, &["db", "sync"]);
    assert_eq!(sync.code, 0, "{}", sync.stderr);
    let after = stowplan(&folder, &["db", "version"]);
    assert_eq!(after.code, 0);
    assert!(!after.stdout.contains("pending"), "{}", after.stdout);
    let again = stowplan(&folder, &["db", "sync"]);
    assert!(again.stdout.contains("0 migrations run"), "{}", again.stdout);
}

#[test]
fn a_database_out_of_reach_is_exit_code_3_without_the_password() {
    let folder = folder(&[]);
    let set = "placement_database.connection=postgresql://u:hidden@127.0.0.1:1/d";
    let once = "placement_database.max_retries=0";
    let output = stowplan(&folder, &["db", "version", "--set", set, "--set", once]);
    assert_eq!(output.code, 3);
    assert!(output.stderr.contains("127.0.0.1:1/d"), "{}", output.stderr);
    assert!(!output.stderr.contains("hidden"), "{}", output.stderr);
}
