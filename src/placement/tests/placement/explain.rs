//! Why there is nothing: what requirements leave, and which one stands in the way.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::{
    asking::{devices, group, isolated, required},
    world::{World, id, total},
};
use stowplan_model::Inventory;
use stowplan_placement::{
    PlacementError,
    candidates::{CandidateQuery, GroupPolicy, RequirementLoss, explain, unlocking},
};

fn losses(world: &World, query: &CandidateQuery) -> Vec<RequirementLoss> {
    explain(&world.image, query).unwrap()
}

/// Requirements in words with the roots after each, and those that unlock.
fn check(world: &World, query: &CandidateQuery, steps: &[(&str, usize)], unlocks: &[&str]) {
    let losses = losses(world, query);
    let texts: Vec<_> =
        losses.iter().map(|loss| (loss.requirement.to_string(), loss.after)).collect();
    let texts: Vec<_> = texts.iter().map(|(text, after)| (text.as_str(), *after)).collect();
    assert_eq!(texts, steps);
    let found = unlocking(&world.image, query, &losses);
    assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), unlocks);
}

const TOGETHER: &str = "all amounts at once in one tree";

/// Three hosts, two of them fast.
fn hosts() -> World {
    let mut world = World::new();
    for (name, cpus, memory) in [("a", 4, 1024), ("b", 8, 512), ("c", 2, 4096)] {
        world.provider(name, None, &[("VCPU", cpus), ("MEMORY_MB", memory)]);
    }
    world.claim("one", &[("b", &[("VCPU", 2)])]);
    world.traits("a", &["CUSTOM_FAST"]);
    world.traits("b", &["CUSTOM_FAST"]);
    world
}

#[test]
fn each_requirement_says_what_it_leaves_and_how_near_it_came() {
    let world = hosts();
    let mut wanted = group("", &[("VCPU", 5), ("MEMORY_MB", 600)]);
    wanted.required = required(&["CUSTOM_FAST"]);
    let query = CandidateQuery::new(vec![wanted]);
    let losses = losses(&world, &query);
    assert_eq!(losses[0].before, 3);
    let near = losses[1].nearest.unwrap();
    assert_eq!((near.wanted, near.largest_free, near.provider), (5, 6, id("b")));
    assert_eq!((near.inventory.capacity(), near.used), (8, 2));
    let near = losses[2].nearest.unwrap();
    assert_eq!((near.wanted, near.largest_free, near.provider), (600, 512, id("b")));
    let steps = [
        ("trait CUSTOM_FAST", 2),
        ("5 VCPU", 1),
        ("600 MEMORY_MB", 0),
        (TOGETHER, 0),
        ("the required traits among the providers that are taken from", 0),
    ];
    // Either amount stands in the way of the other; the trait of neither.
    check(&world, &query, &steps, &["5 VCPU", "600 MEMORY_MB"]);
}

#[test]
fn what_is_met_unlocks_nothing() {
    let query = CandidateQuery::new(vec![group("", &[("VCPU", 2)])]);
    check(&hosts(), &query, &[("2 VCPU", 3), (TOGETHER, 3)], &[]);
    check(&World::new(), &query, &[("2 VCPU", 0), (TOGETHER, 0)], &[]);
}

#[test]
fn a_class_that_nobody_has_is_near_to_nothing() {
    let mut query = CandidateQuery::new(vec![group("", &[("VGPU", 1)])]);
    query.root_required = vec!["CUSTOM_FAST".into()];
    let world = hosts();
    check(
        &world,
        &query,
        &[("trait CUSTOM_FAST of the host", 2), ("1 VGPU", 0), (TOGETHER, 0)],
        &["1 VGPU"],
    );
    assert_eq!(losses(&world, &query)[1].nearest, None);
}

#[test]
fn a_lone_amount_goes_and_leaves_the_rest_of_its_group() {
    let mut wanted = group("", &[("VCPU", 500)]);
    wanted.required = required(&["HW_GPU_API_VULKAN"]);
    let mut query = CandidateQuery::new(vec![wanted]);
    // Neither would do alone: no provider has the trait, whatever is taken.
    let steps = [
        ("trait HW_GPU_API_VULKAN", 0),
        ("500 VCPU", 0),
        (TOGETHER, 0),
        ("the required traits among the providers that are taken from", 0),
    ];
    check(&hosts(), &query, &steps, &[]);
    query.groups[0].required = required(&["CUSTOM_FAST"]);
    let steps = [
        ("trait CUSTOM_FAST", 2),
        ("500 VCPU", 0),
        (TOGETHER, 0),
        ("the required traits among the providers that are taken from", 0),
    ];
    check(&hosts(), &query, &steps, &["500 VCPU"]);
}

#[test]
fn unit_rules_are_told_with_the_nearest() {
    let mut world = World::new();
    world.provider("disk", None, &[]);
    let stepped = Inventory { min_unit: 10, step_size: 5, ..total(100) };
    world.inventories("disk", &[("DISK_GB", stepped)]);
    let query = CandidateQuery::new(vec![group("", &[("DISK_GB", 12)])]);
    let near = losses(&world, &query)[0].nearest.unwrap();
    assert_eq!((near.largest_free, near.inventory), (100, stepped));
}

#[test]
fn rules_between_groups_are_told_apart() {
    // Three devices do not serve four groups, kept apart or not.
    let world = devices(2, 3);
    let query = isolated(4);
    let amounts: Vec<String> = (0..4).map(|n| format!("1 CUSTOM_DEV (group _{n})")).collect();
    let mut steps: Vec<(&str, usize)> = amounts.iter().map(|text| (text.as_str(), 2)).collect();
    steps.push((TOGETHER, 0));
    steps.push(("a provider of its own for each group", 0));
    check(&world, &query, &steps, &amounts.iter().map(String::as_str).collect::<Vec<_>>());

    // Two groups on one host with one card of two functions: the policy alone
    // stands in the way.
    let mut world = World::new();
    world.provider("host", None, &[("VCPU", 8)]);
    world.provider("card", Some("host"), &[("CUSTOM_DEV", 2)]);
    let mut query = isolated(2);
    let amounts = [("1 CUSTOM_DEV (group _0)", 1), ("1 CUSTOM_DEV (group _1)", 1)];
    let mut steps = amounts.to_vec();
    steps.push((TOGETHER, 1));
    steps.push(("a provider of its own for each group", 0));
    check(
        &world,
        &query,
        &steps,
        &[amounts[0].0, amounts[1].0, "a provider of its own for each group"],
    );

    // A CPU of one branch with a device of the other.
    query.group_policy = GroupPolicy::None;
    query.groups.remove(1);
    let mut cpus = group("_CPU", &[("PCPU", 1)]);
    cpus.required = required(&["CUSTOM_ODD"]);
    query.groups.push(cpus);
    query.same_subtree = vec![vec!["_0".into(), "_CPU".into()]];
    world.provider("numa", Some("host"), &[("PCPU", 8)]);
    world.traits("numa", &["CUSTOM_ODD"]);
    let steps = [
        amounts[0],
        ("trait CUSTOM_ODD (group _CPU)", 1),
        ("1 PCPU (group _CPU)", 1),
        (TOGETHER, 1),
        ("groups _0, _CPU under one of their providers", 0),
    ];
    let unlocks = ["1 CUSTOM_DEV (group _0)", "groups _0, _CPU under one of their providers"];
    check(&world, &query, &steps, &unlocks);
}

#[test]
fn traits_are_told_apart_from_the_providers_that_have_them() {
    // The trait is in the tree, but not where the class is.
    let mut world = World::new();
    world.provider("host", None, &[("VCPU", 8)]);
    world.provider("card", Some("host"), &[("CUSTOM_DEV", 1)]);
    world.traits("card", &["CUSTOM_FAST"]);
    let mut wanted = group("", &[("VCPU", 1)]);
    wanted.required = required(&["CUSTOM_FAST"]);
    let steps = [
        ("trait CUSTOM_FAST", 1),
        ("1 VCPU", 1),
        (TOGETHER, 1),
        ("the required traits among the providers that are taken from", 0),
    ];
    check(&world, &CandidateQuery::new(vec![wanted]), &steps, &["trait CUSTOM_FAST", "1 VCPU"]);
}

#[test]
fn a_group_that_asks_for_nothing_is_met_by_nothing() {
    let mut bare = group("_X", &[]);
    bare.forbidden = vec!["CUSTOM_SLOW".into()];
    let mut world = hosts();
    world.traits("c", &["CUSTOM_SLOW"]);
    let mut query = CandidateQuery::new(vec![group("_A", &[("VCPU", 1)]), bare]);
    query.same_subtree = vec![vec!["_A".into(), "_X".into()]];
    let steps = [
        ("1 VCPU (group _A)", 3),
        ("a trait or an aggregate to ask for (group _X)", 0),
        ("no trait CUSTOM_SLOW (group _X)", 0),
        (TOGETHER, 0),
        ("groups _A, _X under one of their providers", 0),
    ];
    check(&world, &query, &steps, &["a trait or an aggregate to ask for (group _X)"]);
}

#[test]
fn names_that_do_not_exist_are_minded_where_the_search_minds_them() {
    let world = hosts();
    let bogus = group("1", &[("CUSTOM_BOGUS", 1)]);
    let query = CandidateQuery::new(vec![group("", &[("VCPU", 1)]), bogus.clone()]);
    let unknown = PlacementError::QueryClass { class: "CUSTOM_BOGUS".into() };
    assert_eq!(explain(&world.image, &query), Err(unknown));
    let query = CandidateQuery::new(vec![group("", &[("VCPU", 500)]), bogus]);
    let steps = [("500 VCPU", 0), ("1 CUSTOM_BOGUS (group 1)", 0), (TOGETHER, 0)];
    check(&world, &query, &steps, &[]);
}
