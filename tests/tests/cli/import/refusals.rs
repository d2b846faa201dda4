//! Databases that are not taken over: with every reason, and without a trace.

use super::{SCHEMA, change, import, peer, report, serve};
use crate::{folder, stowplan};
use serde_json::json;

/// What is done to the small database, and the fault that is told for it: table,
/// problem, the row that is named.
const FAULTS: &[(&str, &str, &str, &str)] = &[
    (
        "UPDATE resource_providers SET uuid = 'host-1' WHERE id = 1",
        "resource_providers",
        "a text that is no uuid",
        "id 1: \"host-1\"",
    ),
    (
        "UPDATE resource_providers SET uuid = '11111111111141118111111111111111' WHERE id = 2",
        "resource_providers",
        "the uuid of another row",
        "id 2: 11111111111141118111111111111111",
    ),
    (
        "UPDATE resource_providers SET name = NULL WHERE id = 3",
        "resource_providers",
        "a name that the API does not take",
        "id 3: \"\"",
    ),
    (
        "UPDATE resource_providers SET name = 'host' WHERE id = 3",
        "resource_providers",
        "the name of another row",
        "id 3: \"host\"",
    ),
    (
        "UPDATE resource_providers SET generation = NULL WHERE id = 3",
        "resource_providers",
        "a value is missing",
        "id 3: generation",
    ),
    (
        "UPDATE resource_providers SET root_provider_id = NULL WHERE id = 3",
        "resource_providers",
        "a provider without its root",
        "id 3: \"pool\"",
    ),
    (
        "UPDATE resource_providers SET parent_provider_id = 2 WHERE id = 1",
        "resource_providers",
        "parents that do not lead to the root",
        "id 1: parent 2, root 1",
    ),
    (
        "UPDATE resource_providers SET parent_provider_id = 17 WHERE id = 2",
        "resource_providers",
        "parents that do not lead to the root",
        "id 2: parent 17, root 1",
    ),
    (
        "UPDATE resource_providers SET root_provider_id = 3 WHERE id = 2",
        "resource_providers",
        "parents that do not lead to the root",
        "id 2: parent 1, root 3",
    ),
    (
        "UPDATE inventories SET resource_provider_id = 17 WHERE id = 2",
        "inventories",
        "the resource provider does not exist",
        "id 2: id 17",
    ),
    (
        "UPDATE inventories SET resource_class_id = 17 WHERE id = 3",
        "inventories",
        "the resource class does not exist",
        "id 3: id 17",
    ),
    (
        "UPDATE inventories SET resource_provider_id = 1, resource_class_id = 0 WHERE id = 3",
        "inventories",
        "a row that is there twice",
        "id 3",
    ),
    (
        "UPDATE inventories SET total = 0 WHERE id = 3",
        "inventories",
        "a number out of range",
        "id 3: total is 0, expected 1 to 2147483647",
    ),
    (
        "UPDATE inventories SET allocation_ratio = -1 WHERE id = 3",
        "inventories",
        "a number out of range",
        "id 3: allocation_ratio is -1, expected 0 to 3.40282e38",
    ),
    (
        "UPDATE resource_classes SET name = 'custom_fpga' WHERE id = 10000",
        "resource_classes",
        "a name that the API does not take",
        "id 10000: \"custom_fpga\"",
    ),
    (
        "UPDATE traits SET name = 'CUSTOM-GOLD' WHERE id = 2",
        "traits",
        "a name that the API does not take",
        "id 2: \"CUSTOM-GOLD\"",
    ),
    (
        "UPDATE resource_provider_traits SET trait_id = 17 WHERE resource_provider_id = 1",
        "resource_provider_traits",
        "the trait does not exist",
        "provider id 1, trait id 17: id 17",
    ),
    (
        "UPDATE placement_aggregates SET uuid = NULL",
        "placement_aggregates",
        "a text that is no uuid",
        "id 1: \"\"",
    ),
    (
        "DELETE FROM placement_aggregates",
        "resource_provider_aggregates",
        "the aggregate does not exist",
        "provider id 1, aggregate id 1: id 1",
    ),
    (
        "UPDATE consumers SET project_id = 17 WHERE id = 1",
        "consumers",
        "the project does not exist",
        "id 1: id 17",
    ),
    (
        "UPDATE consumers SET user_id = 17 WHERE id = 1",
        "consumers",
        "the user does not exist",
        "id 1: id 17",
    ),
    (
        "UPDATE consumers SET consumer_type_id = 17 WHERE id = 1",
        "consumers",
        "the consumer type does not exist",
        "id 1: id 17",
    ),
    (
        "UPDATE projects SET external_id = '' WHERE id = 1",
        "projects",
        "a name that the API does not take",
        "id 1: \"\"",
    ),
    (
        "UPDATE consumer_types SET name = 'Instance'",
        "consumer_types",
        "a name that the API does not take",
        "id 1: \"Instance\"",
    ),
    (
        "DELETE FROM consumers WHERE id = 2",
        "allocations",
        "the consumer does not exist",
        "consumer 66666666-6666-4666-8666-666666666666",
    ),
    (
        "UPDATE allocations SET resource_provider_id = 17 WHERE id = 1",
        "allocations",
        "the resource provider does not exist",
        "id 1: id 17",
    ),
    (
        "UPDATE allocations SET resource_class_id = 17 WHERE id = 1",
        "allocations",
        "the resource class does not exist",
        "id 1: id 17",
    ),
    (
        "UPDATE allocations SET used = 0 WHERE id = 1",
        "allocations",
        "a number out of range",
        "id 1: used is 0, expected 1 to 2147483647",
    ),
    (
        "UPDATE allocations SET resource_provider_id = 1, resource_class_id = 0 WHERE id = 2",
        "allocations",
        "a row that is there twice",
        "id 2",
    ),
];

#[test]
fn each_fault_is_told_with_its_row() {
    for (statement, table, problem, row) in FAULTS {
        let folder = peer(statement);
        let output = import(&folder, &["--format", "json"]);
        assert_eq!(output.code, 1, "{statement}: {}{}", output.stdout, output.stderr);
        let told = report(&output);
        assert_eq!(told["imported"], false, "{statement}");
        let faults = told["faults"].as_array().unwrap();
        let found = faults.iter().find(|fault| {
            fault["table"] == *table
                && fault["problem"] == *problem
                && fault["examples"].as_array().unwrap().contains(&json!(row))
        });
        assert!(found.is_some(), "{statement}: {faults:?}");
    }
}

#[test]
fn all_faults_come_at_once_and_many_are_counted() {
    let folder = peer(
        "UPDATE inventories SET total = 0 WHERE id = 3;
         WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 199)
         INSERT INTO allocations SELECT NULL, NULL, i, 1, printf('77777777-7777-4777-8777-%012d', i), 0, 1 FROM n;",
    );
    let output = import(&folder, &["--format", "json"]);
    assert_eq!(output.code, 1);
    let told = report(&output);
    let faults = told["faults"].as_array().unwrap();
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert_eq!((&faults[0]["rows"], &faults[1]["rows"]), (&json!(100), &json!(1)));
    assert_eq!(faults[0]["examples"].as_array().unwrap().len(), 5);
    assert!(faults[0]["hint"].as_str().unwrap().contains("online_data_migrations"));
    let table = import(&folder, &["--dry-run"]);
    assert_eq!(table.code, 1);
    for word in ["allocations", "100", "inventories", "online_data_migrations", "refused"] {
        assert!(table.stdout.contains(word), "{word}: {}", table.stdout);
    }
}

#[test]
fn after_a_refusal_nothing_is_there_and_the_repaired_database_goes_in() {
    // That this consumer is missing shows when all else has been written.
    let folder = peer("DELETE FROM consumers WHERE id = 2;");
    assert_eq!(import(&folder, &[]).code, 1);
    let mut server = serve(&folder);
    let providers = server.client().get("/resource_providers").expect(200).json();
    assert_eq!(providers["resource_providers"], json!([]));
    assert!(server.stop().success());
    change(&folder, "DELETE FROM allocations WHERE id = 3;");
    let output = import(&folder, &[]);
    assert_eq!(output.code, 0, "{}{}", output.stdout, output.stderr);
}

#[test]
fn a_schema_that_is_not_known_is_refused_with_what_was_found() {
    for (statement, expected) in [
        (
            "UPDATE alembic_version SET version_num = 'b4ed3a175331'",
            "its schema is at version b4ed3a175331, understood are a082b8bb98d0 and 422ece571366",
        ),
        ("INSERT INTO alembic_version VALUES ('0123456789ab')", "a082b8bb98d0, 0123456789ab"),
        ("DELETE FROM alembic_version", "version none"),
        ("DROP TABLE alembic_version", "none of openstack-placement"),
        ("DROP TABLE consumer_types", "it lacks the tables consumer_types"),
    ] {
        let folder = peer(statement);
        let output = import(&folder, &[]);
        assert_eq!(output.code, 1, "{statement}: {}", output.stderr);
        assert!(output.stdout.contains(expected), "{statement}: {}", output.stdout);
        assert!(!folder.path().join("stowplan.db").exists(), "{statement}");
    }
    let older = peer("UPDATE alembic_version SET version_num = '422ece571366'");
    assert_eq!(import(&older, &[]).code, 0);
}

#[test]
fn a_database_of_stowplan_is_no_source_and_one_of_the_peer_no_target() {
    let folder = folder(&[]);
    change(&folder, SCHEMA);
    let ours = "placement_database.connection=sqlite:///ours.db";
    assert_eq!(stowplan(&folder, &["db", "sync", "--set", ours]).code, 0);
    let output = stowplan(&folder, &["db", "import", "--from", "sqlite:///ours.db"]);
    assert_eq!(output.code, 1);
    assert!(output.stdout.contains("a database of stowplan itself"), "{}", output.stdout);
    let theirs = "placement_database.connection=sqlite:///placement.db";
    let output = import(&folder, &["--set", theirs]);
    assert_eq!(output.code, 3);
    assert!(output.stderr.contains("another program's tables"), "{}", output.stderr);
}

#[test]
fn a_source_out_of_reach_is_exit_code_3_and_is_not_made() {
    let folder = folder(&[]);
    let output = import(&folder, &[]);
    assert_eq!(output.code, 3);
    assert!(output.stderr.contains("placement.db"), "{}", output.stderr);
    assert!(!folder.path().join("placement.db").exists());
    let server = "postgresql+psycopg2://u:hidden@127.0.0.1:1/placement";
    let output = stowplan(&folder, &["db", "import", "--from", server]);
    assert_eq!(output.code, 3);
    assert!(output.stderr.contains("127.0.0.1:1/placement"), "{}", output.stderr);
    assert!(!output.stderr.contains("hidden"), "{}", output.stderr);
}

#[test]
fn an_address_that_is_none_is_wrong_usage_and_is_not_shown() {
    let folder = folder(&[]);
    for address in ["oracle://u:hidden@db/placement", "mysql://u:hidden@db:many/p", "sqlite://"] {
        let output = stowplan(&folder, &["db", "import", "--from", address]);
        assert_eq!(output.code, 2, "{address}");
        assert!(output.stderr.contains("--from: expected"), "{}", output.stderr);
        assert!(!output.stderr.contains("hidden"), "{}", output.stderr);
    }
}
