//! Nova's databases, followed: what is in them shows, and so does what changes. The
//! same on Nova's own schema, and on MariaDB, is proved by `tests/follow`.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};
use stowplan_db::{Backend, ConnectSpec, sea_orm::ConnectionTrait as _};
use stowplan_tests::{Builder, Client, Server};
use tempfile::TempDir;

const API: &str = include_str!("api.sql");
const CELL: &str = include_str!("cell.sql");
const HOST: &str = "/v1/hosts/cmp-1";
const SERVER: &str = "66666666-0000-4000-8000-000000000001";
const GROUP: &str = "/v1/server-groups/99999999-0000-4000-8000-000000000003";

/// A folder with the databases `api.db` and `cell.db`.
struct Nova {
    folder: TempDir,
}

impl Nova {
    fn new() -> Self {
        let nova = Self { folder: tempfile::tempdir().unwrap() };
        nova.api(API);
        nova.cell(CELL);
        nova
    }

    fn api(&self, statements: &str) {
        run(&self.folder.path().join("api.db"), statements);
    }

    fn cell(&self, statements: &str) {
        run(&self.folder.path().join("cell.db"), statements);
    }

    /// A server that follows them, and looks ten times a second.
    fn follow(&self) -> Server {
        Builder::new()
            .folder(self.folder.path())
            .set("placement_database.sqlite_synchronous=false")
            .set("DEFAULT.service_down_time=1000000000")
            .set("nova.api_database=sqlite:///api.db")
            .set("nova.poll_interval=100ms")
            .start()
    }
}

/// Runs statements in a SQLite database, which is made if it is missing.
fn run(file: &Path, statements: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let url = format!("sqlite://{}", file.display());
        let database = stowplan_db::connect(&ConnectSpec::new(Backend::Sqlite, url)).await.unwrap();
        database.writer().await.execute_unprepared(statements).await.unwrap();
        database.close().await.unwrap();
    });
}

/// Waits until something is so.
fn wait(client: &Client, what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < until, "{what}: not within 30 s; {}", nova(client));
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn nova(client: &Client) -> Value {
    client.get("/readyz").json()["nova"].clone()
}

fn wait_for_host(client: &Client) {
    wait(client, "the host", || client.get(HOST).status == 200);
}

/// A field of the host, such as `/figures/vcpus_used`.
fn host(client: &Client, field: &str) -> Value {
    client.get(HOST).json().pointer(field).cloned().unwrap_or_default()
}

#[test]
fn all_that_is_there_is_known() {
    let nova_db = Nova::new();
    let server = nova_db.follow();
    let client = server.client();
    wait_for_host(&client);
    for (field, value) in [
        ("/source", json!("nova_db")),
        ("/node", json!("cmp-1.example")),
        ("/uuid", json!("11111111-0000-4000-8000-000000000001")),
        ("/cell_uuid", json!("cccccccc-0000-4000-8000-000000000001")),
        ("/availability_zone", json!("z1")),
        ("/state", json!("up")),
        ("/status", json!("enabled")),
        ("/figures/vcpus_total", json!(16)),
        ("/figures/free_disk_mb", json!(980 * 1024)),
        ("/service/last_seen_up", json!(1_767_312_000_000_000_i64)),
        ("/report/cpu_allocation_ratio", json!(4.0)),
        ("/report/ram_allocation_ratio", json!(1.5)),
        ("/report/disk_allocation_ratio", json!(1.0)),
        ("/report/pci_pools", json!([])),
        ("/report/metrics", json!([])),
        ("/report/stats/num_instances", json!("1")),
        (
            "/report/instances",
            json!({SERVER: {"name": "vm-1", "image_properties": {"os_distro": "linux"}}}),
        ),
    ] {
        assert_eq!(host(&client, field), value, "{field}");
    }
    assert_eq!(client.get("/v1/hosts/cmp-2").status, 404, "it has no service");
    wait(&client, "the group", || client.get(GROUP).status == 200);
    let group = client.get(GROUP).json();
    assert_eq!((&group["policy"], &group["name"]), (&json!("anti-affinity"), &json!("apart")));
    let told = nova(&client);
    assert_eq!(
        (&told["state"], &told["databases"]["c1"]["known"]),
        (&json!("following"), &json!(1))
    );
    assert!(told["databases"]["cell0"].is_null());
}

#[test]
fn a_change_shows_whatever_its_time() {
    let nova_db = Nova::new();
    let server = nova_db.follow();
    let client = server.client();
    wait_for_host(&client);
    for (field, value, statement) in [
        (
            "/figures/vcpus_used",
            json!(3),
            "UPDATE compute_nodes SET vcpus_used = 3, updated_at = '2025-01-01 00:00:00'",
        ),
        ("/figures/vcpus_used", json!(4), "UPDATE compute_nodes SET vcpus_used = 4"),
        (
            "/figures/vcpus_used",
            json!(5),
            "UPDATE compute_nodes SET vcpus_used = 5, updated_at = NULL",
        ),
        ("/status", json!("disabled"), "UPDATE services SET disabled = 1"),
        ("/state", json!("down"), "UPDATE services SET forced_down = 1"),
        (
            "/service/last_seen_up",
            json!(1_767_398_400_000_000_i64),
            "UPDATE services SET last_seen_up = '2026-01-03 00:00:00'",
        ),
        ("/report/instances", json!({}), "UPDATE instances SET deleted = id WHERE id = 1"),
    ] {
        nova_db.cell(statement);
        wait(&client, statement, || host(&client, field) == value);
    }
    nova_db.api("DELETE FROM aggregate_metadata");
    wait(&client, "the zone is gone", || host(&client, "/availability_zone") == "nova");
    nova_db.cell("UPDATE compute_nodes SET deleted = id WHERE id = 1");
    wait(&client, "the node is gone", || client.get(HOST).status == 404);
}

#[test]
fn a_claim_counts_until_the_host_knows_of_it() {
    let nova_db = Nova::new();
    let server = nova_db.follow();
    let client = server.client();
    wait_for_host(&client);
    let uuid = host(&client, "/uuid").as_str().unwrap().to_owned();
    let provider = format!("/resource_providers/{uuid}");
    let placement = server.client().at("1.39");
    let generation = placement.get(&provider).expect(200).json()["generation"].clone();
    let inventories = json!({"resource_provider_generation": generation, "inventories": {
        "VCPU": {"total": 16}, "MEMORY_MB": {"total": 65536}, "DISK_GB": {"total": 1000}}});
    let _ = placement.put(&format!("{provider}/inventories"), &inventories).expect(200);
    let used = || host(&client, "/figures/vcpus_used");
    assert_eq!(used(), 2);
    let request = json!({"flavor": {"vcpus": 4, "memory_mb": 1024, "root_gb": 10}, "project_id": "p", "user_id": "u"});
    let placed = client.post("/v1/select_destinations", &request).expect(200).json();
    assert_eq!(used(), 6, "{placed}");
    // Another row of the database changes, which tells nothing of this host.
    nova_db.cell("UPDATE services SET version = 71");
    wait(&client, "the service", || host(&client, "/service/version") == 71);
    nova_db.cell("UPDATE compute_nodes SET vcpus_used = 6, updated_at = '2026-01-05 00:00:00'");
    wait(&client, "the row counts", || host(&client, "/report/vcpus_used") == 6);
    assert_eq!(used(), 6);
}

#[test]
fn what_cannot_be_read_is_told_and_loses_nothing() {
    let nova_db = Nova::new();
    nova_db.cell("UPDATE compute_nodes SET numa_topology = '{'");
    let server = nova_db.follow();
    let client = server.client();
    let told = |name: &str| nova(&client)["databases"][name].clone();
    wait(&client, "it is told", || told("c1")["refused"] == 1);
    let reason = told("c1")["reason"].to_string();
    assert!(
        reason.contains("host cmp-1, node cmp-1.example: numa_topology is {: expected"),
        "{reason}"
    );
    nova_db
        .cell("UPDATE compute_nodes SET numa_topology = NULL, updated_at = '2026-01-03 00:00:00'");
    wait_for_host(&client);
    wait(&client, "it is forgiven", || told("c1")["refused"] == 0);

    nova_db.cell(
        "UPDATE alembic_version SET version_num = 'abc'; ALTER TABLE services RENAME TO gone",
    );
    wait(&client, "the cell is away", || told("c1")["state"] == "away");
    assert_eq!((nova(&client)["state"].clone(), client.get(HOST).status), (json!("away"), 200));
    nova_db.cell("ALTER TABLE gone RENAME TO services; UPDATE compute_nodes SET vcpus_used = 9");
    wait(&client, "the version is told", || {
        told("c1")["reason"]
            .to_string()
            .contains("its schema is at version abc, understood are ab450ba04102")
    });
    assert_eq!(host(&client, "/figures/vcpus_used"), 2);
    nova_db.cell("UPDATE alembic_version SET version_num = 'ab450ba04102'");
    wait(&client, "it is read again", || host(&client, "/figures/vcpus_used") == 9);
    assert_eq!(nova(&client)["state"], "following");
}

#[test]
fn what_went_while_nobody_looked_is_gone() {
    let nova_db = Nova::new();
    let mut server = nova_db.follow();
    wait_for_host(&server.client());
    let client = server.client();
    wait(&client, "the group", || client.get(GROUP).status == 200);
    assert!(server.stop().success());
    nova_db.cell("DELETE FROM compute_nodes");
    nova_db.api("DELETE FROM instance_groups; DELETE FROM aggregates");
    server.start_again();
    let client = server.client();
    wait(&client, "the host is gone", || client.get(HOST).status == 404);
    wait(&client, "the group is gone", || client.get(GROUP).status == 404);
    wait(&client, "the aggregate is gone", || {
        client.get("/v1/aggregates").json()["aggregates"] == json!([])
    });
}

#[test]
fn what_others_made_stays() {
    let nova_db = Nova::new();
    let server = nova_db.follow();
    let client = server.client();
    wait_for_host(&client);
    let _ = client.put("/v1/hosts/other", &json!({"vcpus": 4})).expect(201);
    let _ = client.post("/v1/aggregates", &json!({"name": "mine"})).expect(201);
    nova_db.api("DELETE FROM aggregates; DELETE FROM cell_mappings WHERE id = 2");
    wait(&client, "the cell is gone", || client.get(HOST).status == 404);
    let _ = client.get("/v1/hosts/other").expect(200);
    let names: Vec<Value> = client.get("/v1/aggregates").json()["aggregates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["name"].clone())
        .collect();
    assert_eq!(names, ["mine"]);
}
