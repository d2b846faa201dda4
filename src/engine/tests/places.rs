//! NUMA cells and PCI devices: pruned candidates, taken by one server after the
//! other, and given back.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use serde_json::{Value, json};
use stowplan_config::Settings;
use stowplan_engine::offers::Mappings;
use stowplan_engine::table::{HostFacts, HostNuma, PciPools};
use stowplan_engine::{
    Ask, CheckedRequest, Claimed, Detail, Engine, HostIx, HostRow, HostTable, HostView, Offers,
    Undo, consume,
};
use stowplan_model::host_devices::NumaCell;
use stowplan_model::{Micros, Uuid};

const HOST: HostIx = HostIx(0);

/// A cell of four cores of two threads and 4096 MiB.
fn cell(id: i64) -> Value {
    let cpus: Vec<i64> = (id * 8..id * 8 + 8).collect();
    let cores: Vec<[i64; 2]> = (0..4).map(|core| [id * 8 + core, id * 8 + core + 4]).collect();
    json!({
        "id": id, "cpuset": cpus, "pcpuset": cpus, "siblings": cores, "memory": 4096,
        "mempages": [{"size_kb": 4, "total": 1_048_576}],
    })
}

fn table(cells: &[Value], pools: Value) -> HostTable {
    let mut table = HostTable::new();
    let cells = cells.iter().map(|cell| serde_json::from_value(cell.clone()).unwrap());
    let facts =
        HostFacts { host: "h".to_owned(), uuid: Uuid::from_u128(1), ..HostFacts::default() };
    table.upsert(
        HOST,
        HostRow {
            facts,
            numa: Some(HostNuma { cells: cells.collect() }),
            pci_pools: Some(PciPools::new(serde_json::from_value(pools).unwrap())),
            ..HostRow::default()
        },
    );
    table
}

fn request(body: Value) -> CheckedRequest {
    CheckedRequest::check(serde_json::from_value(body).unwrap()).unwrap()
}

fn engine() -> Engine {
    let mut settings = Settings::default();
    settings.filter_scheduler.enabled_filters =
        vec!["PciPassthroughFilter".to_owned(), "NUMATopologyFilter".to_owned()];
    Engine::new(&settings).unwrap()
}

/// What filters leave of the host's candidates, or why it fails.
fn filtered(
    table: &HostTable,
    request: &CheckedRequest,
    offers: &Offers,
) -> Result<Vec<u32>, String> {
    let engine = engine();
    let ask = Ask { view: table, request, now: Micros(0), index: 0, hosts: &[HOST], offers };
    let evaluation = engine.evaluate(&ask).unwrap();
    let explanation = engine.explain(&ask, &evaluation, Detail::ALL);
    match explanation.filters.iter().flat_map(|filter| &filter.losers).next() {
        Some(loser) => Err(loser.text.clone()),
        None => {
            let standing = offers.standing(&evaluation.filters.left, HOST);
            Ok(standing.map(|(number, _)| number).collect())
        }
    }
}

fn place(table: &mut HostTable, undo: &mut Undo, request: &mut CheckedRequest) -> Vec<String> {
    let claimed = Claimed { numa_limits: true, ..Claimed::PLAIN };
    let findings = consume(table, undo, request, HOST, engine().config(), claimed);
    findings.iter().map(ToString::to_string).collect()
}

fn cells(table: &HostTable) -> &[NumaCell] {
    &table.numa(HOST).unwrap().cells
}

#[test]
fn servers_take_cells_with_the_devices_near_them_until_nothing_is_left() {
    let pools = json!([
        {"vendor_id": "8086", "product_id": "1520", "numa_node": 0, "count": 1},
        {"vendor_id": "8086", "product_id": "1520", "numa_node": 1, "count": 1},
    ]);
    let mut table = table(&[cell(0), cell(1)], pools);
    let mut request = request(json!({
        "pci_requests": [
            {"count": 1, "spec": [{"vendor_id": "8086"}], "numa_policy": "required"}
        ],
        "numa_topology": {"cells": [
            {"id": 0, "pcpuset": [0, 1, 2], "memory": 1024, "cpu_policy": "dedicated",
             "cpu_thread_policy": "isolate"},
        ]},
    }));
    let (offers, before) = (Offers::default(), table.clone());
    let mut undo = Undo::new();
    let start = undo.mark();

    assert_eq!(filtered(&table, &request, &offers), Ok(vec![0]));
    assert!(place(&mut table, &mut undo, &mut request).is_empty());
    // Whole cores are pinned, and the pool without devices is gone.
    assert_eq!(cells(&table)[0].pinned_cpus, [0, 1, 2, 4, 5, 6]);
    assert_eq!(cells(&table)[0].memory_usage, 1024);
    assert_eq!(cells(&table)[0].mempages[0].used, 262_144);
    assert_eq!(table.pci_pools(HOST).unwrap().pools().len(), 1);
    assert_eq!(table.pci_devices().value(HOST), 1);
    let one = undo.mark();

    assert_eq!(filtered(&table, &request, &offers), Ok(vec![0]));
    assert!(place(&mut table, &mut undo, &mut request).is_empty());
    assert_eq!(cells(&table)[1].pinned_cpus, [8, 9, 10, 12, 13, 14]);
    let why = filtered(&table, &request, &offers).unwrap_err();
    assert_eq!(why, "it has no PCI devices for servers");
    // What cannot be taken is told, and nothing of it is taken.
    let told = place(&mut table, &mut undo, &mut request);
    assert!(told[0].starts_with("h keeps its books without the placed server:"), "{told:?}");

    undo.back_to(&mut table, one);
    assert_eq!(table.pci_devices().value(HOST), 1);
    assert!(cells(&table)[1].pinned_cpus.is_empty());
    undo.back_to(&mut table, start);
    assert!(table == before);
}

#[test]
fn candidates_fall_whose_providers_have_too_few_devices() {
    let (one, two) = (Uuid::from_u128(10), Uuid::from_u128(20));
    let pools = json!([
        {"vendor_id": "8086", "product_id": "1520", "count": 1, "rp_uuid": one.to_string()},
        {"vendor_id": "8086", "product_id": "1520", "count": 2, "rp_uuid": two.to_string()},
    ]);
    let table = table(&[cell(0)], pools);
    let request = request(json!({
        "pci_requests": [{"request_id": "r", "count": 2, "spec": [{"vendor_id": "8086"}]}],
    }));
    let mapped = |providers: [Uuid; 2]| -> Mappings {
        [("r-0".to_owned(), vec![providers[0]]), ("r-1".to_owned(), vec![providers[1]])].into()
    };
    let mut offers = Offers::default();
    offers.list(HOST, vec![mapped([one, one]), mapped([one, two]), mapped([two, two])]);
    assert_eq!(filtered(&table, &request, &offers), Ok(vec![1, 2]));
    offers.list(HOST, vec![mapped([one, one])]);
    assert_eq!(
        filtered(&table, &request, &offers).unwrap_err(),
        "0 devices are left for a PCI request for 2 by the candidate's providers and by live \
         migration"
    );
    offers.list(HOST, Vec::new());
    assert_eq!(
        filtered(&table, &request, &offers).unwrap_err(),
        "none of its allocation candidates is left"
    );
}

#[test]
fn a_host_that_does_not_fit_says_what_runs_short() {
    let table = table(&[cell(0), cell(1)], json!([]));
    let why = |topology: Value| {
        filtered(&table, &request(json!({"numa_topology": topology})), &Offers::default())
            .unwrap_err()
    };
    let small = json!({"cpuset": [0], "memory": 1});
    assert_eq!(
        why(json!({"cells": [small, small, small]})),
        "it has 2 NUMA cells, the server asks for 3"
    );
    let wide: Vec<i64> = (0..9).collect();
    assert_eq!(
        why(json!({"cells": [{"id": 0, "cpuset": wide, "memory": 1}]})),
        "NUMA cell 0 of the server fits nowhere: on cell 0, 8 shared CPUs are there, it needs 9"
    );
    assert_eq!(
        why(json!({"cells": [{"id": 3, "cpuset": [0], "memory": 4097}]})),
        "NUMA cell 3 of the server fits nowhere: on cell 0, 4096 MiB are there, it needs 4097"
    );
    assert_eq!(
        why(json!({"cells": [{"id": 0, "cpuset": [0], "memory": 2, "pagesize": 2048}]})),
        "NUMA cell 0 of the server fits nowhere: on cell 0, 0 KiB are free in pages of 2048 KiB, \
         it needs 2048 whole"
    );
    assert_eq!(
        why(json!({"cells": [{
            "id": 0, "pcpuset": [0, 1, 2, 3, 4], "memory": 2, "cpu_policy": "dedicated",
            "cpu_thread_policy": "isolate",
        }]})),
        "NUMA cell 0 of the server fits nowhere: on cell 0, 8 dedicated CPUs are free, but not 5 \
         that lie on cores as its thread policy wants"
    );
}

#[test]
fn emptier_cells_come_first_unless_they_are_packed() {
    let mut half = cell(0);
    half["memory_usage"] = json!(1024);
    let table = table(&[half, cell(1)], json!([]));
    let chosen = |pack: bool| {
        let mut settings = Settings::default();
        settings.compute.packing_host_numa_cells_allocation_strategy = pack;
        let engine = Engine::new(&settings).unwrap();
        let mut table = table.clone();
        let mut request =
            request(json!({"numa_topology": {"cells": [{"cpuset": [0], "memory": 4}]}}));
        let claimed = Claimed::PLAIN;
        consume(&mut table, &mut Undo::new(), &mut request, HOST, engine.config(), claimed);
        cells(&table).iter().position(|cell| cell.cpu_usage == 1)
    };
    assert_eq!(chosen(false), Some(1));
    assert_eq!(chosen(true), Some(0));
}

#[test]
fn many_cells_that_do_not_fit_together_are_told_so() {
    // Each cell of the server fits onto each of the host, but its device is on
    // none of them.
    let many: Vec<Value> = (0..12).map(cell).collect();
    let pools = json!([{"vendor_id": "8086", "product_id": "1520", "numa_node": 99, "count": 1}]);
    let table = table(&many, pools);
    let cells: Vec<Value> =
        (0..8).map(|id| json!({"id": id, "cpuset": [id], "memory": 1})).collect();
    let request = request(json!({
        "numa_topology": {"cells": cells},
        "pci_requests": [
            {"count": 1, "spec": [{"vendor_id": "8086"}], "numa_policy": "required"}
        ],
    }));
    assert_eq!(
        filtered(&table, &request, &Offers::default()).unwrap_err(),
        "the server's NUMA cells do not fit with its devices: 0 devices are near enough to the \
         server's NUMA cells for a PCI request for 1"
    );
}

#[test]
fn sets_of_cells_are_tried_once_whatever_their_order() {
    let mut cells: Vec<Value> = (0..12).map(cell).collect();
    cells[11]["network_metadata"] = json!({"physnets": ["far"]});
    let table = table(&cells, json!([]));
    let wanted: Vec<Value> =
        (0..6).map(|id| json!({"id": id, "cpuset": [id], "memory": 1})).collect();
    let request = request(json!({
        "numa_topology": {"cells": wanted}, "network_metadata": {"physnets": ["far"]},
    }));
    assert_eq!(filtered(&table, &request, &Offers::default()), Ok(vec![0]));
}

#[test]
fn a_search_that_finds_nothing_is_given_up() {
    // The only cell with the network takes no memory.
    let mut cells: Vec<Value> = (0..24).map(cell).collect();
    cells[23]["network_metadata"] = json!({"physnets": ["far"]});
    cells[23]["memory"] = json!(0);
    let table = table(&cells, json!([]));
    let wanted: Vec<Value> =
        (0..12).map(|id| json!({"id": id, "cpuset": [id], "memory": 1})).collect();
    let request = request(json!({
        "numa_topology": {"cells": wanted}, "network_metadata": {"physnets": ["far"]},
    }));
    let mut offers = Offers::default();
    offers.list(HOST, vec![Mappings::new(); 50]);
    let why = filtered(&table, &request, &offers).unwrap_err();
    assert!(why.contains("in 100000 tries"), "{why}");
}
