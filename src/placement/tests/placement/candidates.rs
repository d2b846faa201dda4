//! Candidates of known clouds: counts, orders, bounds, losses.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::{
    asking::{devices, group, isolated, required},
    oracle::by_names,
    world::{World, id, total},
};
use std::collections::BTreeSet;
use stowplan_model::Inventory;
use stowplan_placement::{
    PlacementError,
    candidates::{
        Candidate, CandidateQuery, GroupPolicy, RequestGroup, Strategy, candidates,
        candidates_for_host, summarised,
    },
};

fn found(world: &World, query: &CandidateQuery) -> Vec<Candidate> {
    candidates(&world.image, query).unwrap().collect()
}

/// Says a candidate as `provider CLASS:units ...; group=provider,...`.
fn said(world: &World, query: &CandidateQuery, candidate: &Candidate) -> String {
    let mut text = String::new();
    for share in &candidate.allocations {
        let class = world.image.classes.name(share.class);
        text += &format!("{} {class}:{} ", world.name(share.provider), share.amount);
    }
    for (group, providers) in query.groups.iter().zip(&candidate.mappings) {
        let names: Vec<&str> = providers.iter().map(|at| world.name(*at)).collect();
        text += &format!("[{}={}]", group.suffix, names.join(","));
    }
    text
}

fn check(world: &World, query: &CandidateQuery, expected: &[&str]) {
    let mut texts: Vec<String> =
        found(world, query).iter().map(|candidate| said(world, query, candidate)).collect();
    texts.sort();
    assert_eq!(texts, expected);
}

#[test]
fn isolated_devices_are_counted_exactly() {
    let world = devices(2, 8);
    for (groups, expected) in [(2, 112), (3, 672), (4, 3_360), (5, 13_440)] {
        let all = found(&world, &isolated(groups));
        assert_eq!(all.len(), expected, "{groups} groups");
        let query = CandidateQuery {
            limit: Some(10),
            strategy: Strategy::BreadthFirst,
            ..isolated(groups)
        };
        let some = found(&world, &query);
        let roots: BTreeSet<_> = some.iter().map(|candidate| candidate.root).collect();
        assert_eq!((some.len(), roots.len()), (10, 2));
    }
}

#[test]
fn one_device_too_few_is_found_out_at_once() {
    // Without the matching test these would visit 10^8 arrangements and more.
    let world = devices(1, 13);
    assert_eq!(found(&world, &isolated(14)), []);
    let mut query = isolated(12);
    query.limit = Some(1);
    assert_eq!(found(&world, &query).len(), 1);

    // The same without isolation: each device has room for one group.
    let mut query = isolated(14);
    query.group_policy = GroupPolicy::None;
    assert_eq!(found(&world, &query), []);

    // Devices enough in the tree, but not under one of them.
    let mut world = World::new();
    world.provider("host", None, &[("VCPU", 8)]);
    for numa in 0..2 {
        let name = format!("numa-{numa}");
        world.provider(&name, Some("host"), &[("MEMORY_MB", 64)]);
        for device in 0..7 {
            let child = format!("numa-{numa}-device-{device}");
            world.provider(&child, Some(&name), &[("CUSTOM_DEV", 1)]);
        }
    }
    let mut query = isolated(8);
    query.groups.push(group("_NUMA", &[("MEMORY_MB", 1)]));
    query.same_subtree = vec![query.groups.iter().map(|group| group.suffix.clone()).collect()];
    assert_eq!(found(&world, &query), []);
    query.groups.remove(0);
    query.same_subtree[0].remove(0);
    query.limit = Some(3);
    assert_eq!(found(&world, &query).len(), 3);
}

#[test]
fn traits_that_never_meet_are_found_out_at_once() {
    // Every class on twelve children, and no choice of one of each has all
    // traits: without remembering what is hopeless, 12^8 arrangements.
    let mut world = World::new();
    world.provider("host", None, &[]);
    let classes: Vec<String> = (0..8).map(|n| format!("CUSTOM_C{n}")).collect();
    let names: Vec<String> = (0..9).map(|n| format!("CUSTOM_T{n}")).collect();
    for child in 0..12 {
        let has: Vec<_> = classes.iter().map(|class| (class.as_str(), 10)).collect();
        world.provider(&format!("child-{child}"), Some("host"), &has);
        world.traits(&format!("child-{child}"), &[names[child % 9].as_str()]);
    }
    let wanted: Vec<_> = classes.iter().map(|class| (class.as_str(), 1)).collect();
    let mut spread = group("", &wanted);
    spread.required = names.iter().map(|name| vec![name.clone()]).collect();
    assert_eq!(found(&world, &CandidateQuery::new(vec![spread.clone()])), []);
    spread.required.pop();
    let query = CandidateQuery { limit: Some(2), ..CandidateQuery::new(vec![spread]) };
    assert_eq!(found(&world, &query).len(), 2);
}

#[test]
fn flat_clouds_give_hosts_in_order_and_stop_early() {
    let mut world = World::new();
    for host in 0..600 {
        world.provider(&format!("host-{host}"), None, &[("VCPU", 4), ("DISK_GB", 100)]);
    }
    world.claim("full", &[("host-1", &[("VCPU", 4)])]);
    let mut query = CandidateQuery::new(vec![group("", &[("VCPU", 1), ("DISK_GB", 10)])]);
    assert_eq!(found(&world, &query).len(), 599);
    query.limit = Some(3);
    check(
        &world,
        &query,
        &[
            "host-0 VCPU:1 host-0 DISK_GB:10 [=host-0]",
            "host-2 VCPU:1 host-2 DISK_GB:10 [=host-2]",
            "host-3 VCPU:1 host-3 DISK_GB:10 [=host-3]",
        ],
    );
    let of_host = |name| {
        let found = candidates_for_host(&world.image, &query, world.at(name)).unwrap();
        found.map(|candidate| candidate.root).collect::<Vec<_>>()
    };
    assert_eq!(of_host("host-599"), [world.at("host-599")]);
    assert_eq!(of_host("host-1"), []);
}

#[test]
fn amounts_of_several_groups_add_up() {
    let mut world = World::new();
    world.provider("host", None, &[]);
    world.provider("numa-0", Some("host"), &[("VCPU", 16)]);
    world.provider("numa-1", Some("host"), &[("VCPU", 16)]);
    let mut query =
        CandidateQuery::new(vec![group("", &[("VCPU", 1)]), group("1", &[("VCPU", 1)])]);
    let expected = [
        "numa-0 VCPU:1 numa-1 VCPU:1 [=numa-0][1=numa-1]",
        "numa-0 VCPU:2 [=numa-0][1=numa-0]",
        "numa-1 VCPU:1 numa-0 VCPU:1 [=numa-1][1=numa-0]",
        "numa-1 VCPU:2 [=numa-1][1=numa-1]",
    ];
    for policy in [GroupPolicy::None, GroupPolicy::Isolate] {
        query.group_policy = policy;
        check(&world, &query, &expected);
    }
    query.groups = vec![group("", &[("VCPU", 9)]), group("1", &[("VCPU", 8)])];
    check(
        &world,
        &query,
        &[
            "numa-0 VCPU:9 numa-1 VCPU:8 [=numa-0][1=numa-1]",
            "numa-1 VCPU:9 numa-0 VCPU:8 [=numa-1][1=numa-0]",
        ],
    );
}

#[test]
fn unit_rules_bound_amounts_and_sums() {
    let mut world = World::new();
    let overcommitted = Inventory { allocation_ratio: 1.5, ..total(3) };
    world.provider("small", None, &[]);
    world.inventories("small", &[("VCPU", overcommitted)]);
    world.provider("large", None, &[]);
    let wide = Inventory { allocation_ratio: 16.0, max_unit: 8, ..total(8) };
    world.inventories("large", &[("VCPU", wide)]);
    for (amount, expected) in [(4, 2), (5, 1), (8, 1), (9, 0), (16, 0)] {
        let query = CandidateQuery::new(vec![group("", &[("VCPU", amount)])]);
        assert_eq!(found(&world, &query).len(), expected, "{amount}");
    }
    // Two groups on one provider are one allocation of its class.
    let two = vec![group("", &[("VCPU", 4)]), group("1", &[("VCPU", 5)])];
    assert_eq!(found(&world, &CandidateQuery::new(two)), []);
}

#[test]
fn shared_storage_serves_every_host_of_its_aggregate() {
    let mut world = World::new();
    world.provider("host-a", None, &[("VCPU", 4), ("DISK_GB", 10)]);
    world.provider("host-b", None, &[("VCPU", 4)]);
    world.provider("host-c", None, &[("VCPU", 4)]);
    world.provider("storage", None, &[("DISK_GB", 100)]);
    world.traits("storage", &["MISC_SHARES_VIA_AGGREGATE"]);
    for name in ["host-a", "host-b", "storage"] {
        world.aggregates(name, &["rack"]);
    }
    let query = CandidateQuery::new(vec![group("", &[("VCPU", 1), ("DISK_GB", 5)])]);
    check(
        &world,
        &query,
        &[
            "host-a VCPU:1 host-a DISK_GB:5 [=host-a]",
            "host-a VCPU:1 storage DISK_GB:5 [=host-a,storage]",
            "host-b VCPU:1 storage DISK_GB:5 [=host-b,storage]",
        ],
    );
    // What shared providers alone meet comes once, though three roots see it.
    let disk = CandidateQuery::new(vec![group("", &[("DISK_GB", 20)])]);
    for strategy in [Strategy::DepthFirst, Strategy::BreadthFirst] {
        let disk = CandidateQuery { strategy, ..disk.clone() };
        check(&world, &disk, &["storage DISK_GB:20 [=storage]"]);
    }
    let all = found(&world, &query);
    let names = |nested| {
        let places = summarised(&world.image, &all, nested);
        places.iter().map(|at| world.name(*at)).collect::<Vec<_>>()
    };
    assert_eq!(names(true), ["host-a", "storage", "host-b"]);
    assert_eq!(names(false), ["host-a", "storage", "host-b"]);
}

#[test]
fn before_nested_providers_a_tree_serves_with_one_provider() {
    let world = devices(1, 2);
    let groups = vec![group("", &[("VCPU", 1), ("CUSTOM_DEV", 1)])];
    let mut query = CandidateQuery::new(groups);
    assert_eq!(found(&world, &query).len(), 2);
    query.nested = false;
    assert_eq!(found(&world, &query), []);
    query.groups = vec![group("", &[("CUSTOM_DEV", 1)])];
    let all = found(&world, &query);
    assert_eq!(all.len(), 2);
    assert_eq!(summarised(&world.image, &all, false).len(), 2);
    assert_eq!(summarised(&world.image, &all, true).len(), 3);
}

#[test]
fn roots_answer_alone_what_nothing_below_them_has() {
    // As hosts report: the bound on batch tasks stands below each of them.
    let mut world = World::new();
    for host in ["a", "b", "c"] {
        world.provider(host, None, &[("VCPU", 4), ("DISK_GB", 10)]);
        world.provider(&format!("{host}_batch"), Some(host), &[("CUSTOM_BATCH_TASK", 5)]);
    }
    world.traits("a_batch", &["CUSTOM_FAST"]);
    world.traits("b", &["CUSTOM_FAST"]);
    world.claim("one", &[("a", &[("VCPU", 1)])]);
    let mut wanted = group("", &[("VCPU", 4), ("DISK_GB", 1)]);
    let query = |wanted: &RequestGroup| CandidateQuery::new(vec![wanted.clone()]);
    let on = |host: &str| format!("{host} VCPU:4 {host} DISK_GB:1 [={host}]");
    check(&world, &query(&wanted), &[&on("b"), &on("c")]);
    wanted.required = required(&["CUSTOM_FAST"]);
    check(&world, &query(&wanted), &[&on("b")]);
    wanted.required = Vec::new();
    wanted.in_tree = Some(id("c_batch"));
    check(&world, &query(&wanted), &[&on("c")]);
    let places = summarised(&world.image, &found(&world, &query(&wanted)), true);
    assert_eq!(places.len(), 2, "a tree is described whole");

    // One child that has the class: trees are looked at again.
    world.provider("c_more", Some("c"), &[("VCPU", 9)]);
    wanted.in_tree = None;
    let both = "c_more VCPU:4 c DISK_GB:1 [=c_more,c]";
    check(&world, &query(&wanted), &[&on("b"), &on("c"), both]);
}

#[test]
fn a_random_order_is_decided_by_its_seed() {
    let world = devices(3, 5);
    let drawn = |seed, limit| {
        let query = CandidateQuery { seed: Some(seed), limit, ..isolated(2) };
        let all: Vec<_> =
            found(&world, &query).iter().map(|one| by_names(&world.image, one)).collect();
        all
    };
    assert_eq!(drawn(1, Some(20)), drawn(1, Some(20)));
    assert_ne!(drawn(1, Some(20)), drawn(2, Some(20)));
    assert_eq!(drawn(1, None), drawn(1, None));
    assert_ne!(drawn(1, None), drawn(2, None));
    let sets: BTreeSet<_> = drawn(1, None).into_iter().collect();
    assert_eq!(sets.len(), 60);
    assert_eq!(sets, drawn(2, None).into_iter().collect());
}

#[test]
fn names_that_do_not_exist_are_errors_unless_nothing_is_left_before() {
    let mut world = World::new();
    world.provider("host", None, &[("VCPU", 4)]);
    let ask = |groups: Vec<RequestGroup>| {
        let found = candidates(&world.image, &CandidateQuery::new(groups));
        found.map(Iterator::count)
    };
    let class = |class: &str| PlacementError::QueryClass { class: class.into() };
    let bogus = group("1", &[("CUSTOM_BOGUS", 1)]);
    assert_eq!(ask(vec![bogus.clone()]), Err(class("CUSTOM_BOGUS")));
    let fine = group("", &[("VCPU", 1)]);
    assert_eq!(ask(vec![fine.clone(), bogus.clone()]), Err(class("CUSTOM_BOGUS")));
    // The first group finds nothing: the second is never looked at.
    assert_eq!(ask(vec![group("", &[("VCPU", 5)]), bogus]), Ok(0));
    let mut named = fine.clone();
    named.required = required(&["CUSTOM_BOGUS"]);
    let unknown = PlacementError::CandidateTrait { name: "CUSTOM_BOGUS".into() };
    assert_eq!(
        (unknown.status(), unknown.to_string().as_str()),
        (400, "No such trait(s): CUSTOM_BOGUS.")
    );
    assert_eq!(ask(vec![named.clone()]), Err(unknown));
    named.member_of = vec![vec![id("nobody")]];
    assert_eq!(ask(vec![named]), Ok(0));
}
