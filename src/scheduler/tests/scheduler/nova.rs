//! What Nova's databases say, as it differs from the ledger.

use std::collections::BTreeMap;

use serde_json::json;
use stowplan_ledger::rows::{HostSource, InventoryOwner};
use stowplan_model::host::{HostReport, InstanceReport, ServiceReport};
use stowplan_model::{Micros, Uuid};
use stowplan_scheduler::facts::{AggregateFact, CellFact, Fact, GroupFact, Said};
use stowplan_scheduler::hosts::ReportHost;
use stowplan_scheduler::nova;

use super::cloud::{CALL, Cloud, NOW};

const NODE: Uuid = Uuid::from_u128(0x11);
const VM: Uuid = Uuid::from_u128(0x22);

async fn learn(cloud: &Cloud, facts: &[Fact]) {
    for fact in facts {
        let said = Said { fact: fact.clone(), at: NOW };
        cloud.scheduler.learn(CALL, said).await.unwrap();
    }
}

fn report(uuid: Uuid, servers: &[Uuid]) -> ReportHost {
    let instances = servers.iter().map(|uuid| (*uuid, InstanceReport::default()));
    let service = ServiceReport { last_seen_up: Some(NOW), ..ServiceReport::default() };
    ReportHost {
        host: "cmp-1".to_owned(),
        node: Some("cmp-1".to_owned()),
        source: HostSource::NovaDb,
        report: HostReport {
            uuid,
            vcpus: Some(8),
            vcpus_used: Some(0),
            instances: instances.collect(),
            service,
            ..HostReport::default()
        },
        take_over: false,
        as_of: None,
        default_max_tasks: 10,
    }
}

async fn told(cloud: &Cloud, report: ReportHost) -> bool {
    let outcomes = cloud.scheduler.report_hosts(CALL, vec![report]).await;
    outcomes.into_iter().next().unwrap().unwrap()
}

#[tokio::test]
async fn aggregates_differ_until_they_are_told() {
    let cloud = Cloud::new().await;
    let ssd = AggregateFact {
        external_id: Some(7),
        uuid: Some(Uuid::from_u128(7)),
        name: "ssd".to_owned(),
        hosts: vec!["b".to_owned(), "a".to_owned()],
        metadata: BTreeMap::from([("k".to_owned(), "v".to_owned())]),
    };
    let facts = nova::aggregates(&cloud.image(), std::slice::from_ref(&ssd));
    assert_eq!(facts, [Fact::Aggregate(ssd.clone())]);
    learn(&cloud, &facts).await;
    assert_eq!(nova::aggregates(&cloud.image(), std::slice::from_ref(&ssd)), []);
    let other = AggregateFact { hosts: vec!["a".to_owned()], ..ssd.clone() };
    assert_eq!(nova::aggregates(&cloud.image(), std::slice::from_ref(&other)).len(), 1);
    let gone = nova::aggregates(&cloud.image(), &[]);
    assert_eq!(gone, [Fact::AggregateGone { uuid: ssd.uuid, external_id: Some(7) }]);
    learn(&cloud, &gone).await;
    assert_eq!(nova::aggregates(&cloud.image(), &[]), []);
}

#[tokio::test]
async fn groups_lose_members_that_are_no_servers_here() {
    let cloud = Cloud::new().await;
    told(&cloud, report(NODE, &[VM])).await;
    let idle = Uuid::from_u128(0x33);
    let group = |members: &[Uuid]| GroupFact {
        uuid: Uuid::from_u128(3),
        name: "g".to_owned(),
        policy: "affinity".to_owned(),
        members: members.to_vec(),
        complete: true,
        ..GroupFact::default()
    };
    let with = |members: &[Uuid]| vec![group(members)];
    let members = |cloud: &Cloud| {
        cloud.image().server_groups.get(Uuid::from_u128(3)).unwrap().members.clone()
    };
    learn(&cloud, &nova::groups(&cloud.image(), &with(&[VM, idle]))).await;
    assert_eq!(members(&cloud), [VM, idle]);
    assert_eq!(nova::groups(&cloud.image(), &with(&[idle, VM])), []);
    // Word of the bus, which has only what is new, changes nothing of that.
    let said = GroupFact { members: vec![VM], complete: false, ..group(&[]) };
    learn(&cloud, &[Fact::Group(said)]).await;
    assert_eq!(nova::groups(&cloud.image(), &with(&[idle, VM])), []);
    learn(&cloud, &nova::groups(&cloud.image(), &with(&[]))).await;
    assert_eq!(members(&cloud), [VM], "it is on a host");
    assert_eq!(nova::groups(&cloud.image(), &with(&[])), []);
    // A group that Nova has not, and that was made here, stays.
    let own = GroupFact { uuid: Uuid::from_u128(4), complete: false, ..group(&[]) };
    learn(&cloud, &[Fact::Group(own)]).await;
    assert_eq!(nova::groups(&cloud.image(), &[]), [Fact::GroupGone(Uuid::from_u128(3))]);
    cloud.scheduler.forget_stamps(Micros(i64::MAX)).await.unwrap();
    assert_eq!(nova::groups(&cloud.image(), &[]).len(), 1, "that is not forgotten");
}

#[tokio::test]
async fn cells_are_renamed_and_disabled() {
    let cloud = Cloud::new().await;
    let cell = CellFact { uuid: Uuid::from_u128(9), name: "c".to_owned(), disabled: false };
    let off = CellFact { disabled: true, ..cell.clone() };
    for told in [cell, off] {
        let told = [told];
        let facts = nova::cells(&cloud.image(), &told);
        assert_eq!(facts, [Fact::Cell(told[0].clone())]);
        learn(&cloud, &facts).await;
        assert_eq!(nova::cells(&cloud.image(), &told), []);
    }
    assert!(cloud.image().cells.get(Uuid::from_u128(9)).unwrap().disabled);
}

#[tokio::test]
async fn a_report_that_says_nothing_new_writes_nothing() {
    let cloud = Cloud::new().await;
    assert!(told(&cloud, report(NODE, &[])).await);
    let seq = cloud.image().seq();
    assert!(!told(&cloud, report(NODE, &[])).await);
    assert_eq!(cloud.image().seq(), seq);
    assert!(told(&cloud, report(NODE, &[VM])).await);
    let image = cloud.image();
    let row = &image.hosts.get(NODE).unwrap().row;
    assert_eq!((row.source, row.inventory_owner), (HostSource::NovaDb, InventoryOwner::Report));
    assert_eq!(cloud.total("cmp-1", "VCPU"), None, "nova-compute writes inventories");
    cloud.scheduler.heard(vec![("cmp-1".to_owned(), Micros(6)), ("x".to_owned(), NOW)]).unwrap();
    told(&cloud, report(NODE, &[])).await;
    assert_eq!(cloud.image().service_of("cmp-1").unwrap().last_seen, Some(Micros(6)));
}

#[tokio::test]
async fn a_report_knows_of_no_claim_after_its_reading() {
    let cloud = Cloud::new().await;
    let read_at = cloud.image().seq();
    let mut first = report(NODE, &[]);
    first.report.inventory = None;
    told(&cloud, first).await;
    let inventory =
        json!({"VCPU": {"total": 8}, "MEMORY_MB": {"total": 1000}, "DISK_GB": {"total": 100}});
    let taken = json!({"uuid": NODE, "vcpus": 8, "vcpus_used": 0, "inventory": inventory});
    cloud.report_with("cmp-1", Some("cmp-1"), taken, true).await.unwrap();
    let asked = json!({"flavor": {"vcpus": 2, "memory_mb": 100, "root_gb": 1}});
    cloud.select(asked).await;
    let used = || {
        let image = cloud.image();
        let ix = image.hosts.get(NODE).unwrap().ix;
        image.hosts.table().figure(stowplan_engine::Figure::VcpusUsed, ix)
    };
    use stowplan_engine::HostView as _;
    assert_eq!(used(), 2);
    let older = ReportHost { as_of: Some(read_at), ..report(NODE, &[VM]) };
    assert!(told(&cloud, older).await);
    assert_eq!(used(), 2, "it was read before the claim");
    let newer = ReportHost { as_of: Some(cloud.image().seq()), ..report(NODE, &[]) };
    assert!(told(&cloud, newer).await);
    assert_eq!(used(), 0, "it was read after the claim");
}

#[tokio::test]
async fn a_node_that_is_gone_leaves_what_is_not_its_own() {
    let cloud = Cloud::new().await;
    told(&cloud, report(NODE, &[VM])).await;
    assert!(cloud.image().providers.find_name("cmp-1_batch").is_some());
    assert!(cloud.scheduler.forget_host(CALL, NODE).await.unwrap());
    let image = cloud.image();
    assert!(image.hosts.is_empty() && image.service_of("cmp-1").is_none());
    assert!(image.providers.find(NODE).is_none(), "nobody has put anything there");
    assert!(!cloud.scheduler.forget_host(CALL, NODE).await.unwrap());

    // A client of the Placement API has given it an inventory.
    told(&cloud, report(NODE, &[])).await;
    let inventory =
        json!({"VCPU": {"total": 8}, "MEMORY_MB": {"total": 1000}, "DISK_GB": {"total": 100}});
    let taken = json!({"uuid": NODE, "inventory": inventory});
    cloud.report_with("cmp-1", Some("cmp-1"), taken, true).await.unwrap();
    cloud.select(json!({"flavor": {"vcpus": 2, "memory_mb": 100, "root_gb": 1}})).await;
    assert!(cloud.scheduler.forget_host(CALL, NODE).await.unwrap());
    let image = cloud.image();
    assert!(image.hosts.is_empty() && image.providers.find(NODE).is_some());
    assert_eq!(image.consumers.iter().count(), 1, "nothing that is held is lost");
    let uuid = Uuid::from_u128(0x44);
    let again = cloud.scheduler.report_hosts(CALL, vec![report(uuid, &[])]).await;
    assert!(again[0].is_err(), "the name is that of a provider");
    assert!(told(&cloud, report(NODE, &[])).await);
}
