//! Claims and reshapes: what fits, what counts, what stays.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::world::{
    CONFLICT, NOW, PLAIN, World, assert_same_after_dump, claim, host, id, kinds, refused, total,
};
use stowplan_ledger::{
    Change, Record,
    rows::{Origin, OriginKind},
};
use stowplan_model::{Inventory, Micros};
use stowplan_placement::{
    claims::{
        ConsumerClaim, ConsumerGeneration, delete_allocations, replace_allocations, replace_many,
    },
    reshape::{ReshapedProvider, reshape},
};

fn with(generation: ConsumerGeneration, claim: ConsumerClaim) -> ConsumerClaim {
    ConsumerClaim { generation, ..claim }
}

#[test]
fn claims_count_generations() {
    let mut world = host();
    world.provider("other", None, &[("VCPU", 8)]);
    let (host, other) = (world.generation("host"), world.generation("other"));
    let first = claim("one", &[("host", &[("VCPU", 2), ("DISK_GB", 5)])]);
    let put = replace_allocations(&world.image, &with(ConsumerGeneration::New, first.clone()), NOW);
    assert_eq!(kinds(&put.as_ref().unwrap().0), ["consumer", "generation"]);
    world.run(put);
    let consumer = world.image.consumers.get(id("one")).unwrap();
    assert_eq!((consumer.generation, world.generation("host")), (1, host + 1));
    let put = |world: &World, generation, claim: &ConsumerClaim| {
        replace_allocations(&world.image, &with(generation, claim.clone()), Micros(9))
    };
    refused(
        put(&world, ConsumerGeneration::New, &first),
        409,
        CONFLICT,
        "consumer generation conflict - expected 1 but got None",
    );
    refused(put(&world, ConsumerGeneration::Is(5), &first), 409, CONFLICT, "expected 1 but got 5");
    refused(
        put(&world, ConsumerGeneration::Is(5), &claim("two", &[])),
        409,
        CONFLICT,
        "expected null but got 5",
    );
    // Only providers that the claim names count; those that it leaves do not.
    let moved = claim("one", &[("other", &[("VCPU", 4)])]);
    let moved = put(&world, ConsumerGeneration::Is(1), &moved);
    world.run(moved);
    assert_eq!((world.generation("host"), world.generation("other")), (host + 1, other + 1));
    assert_eq!(world.image.consumers.get(id("one")).unwrap().created, NOW);
    // Nothing left: the consumer goes, and its providers count.
    let emptied = put(&world, ConsumerGeneration::Is(2), &claim("one", &[]));
    assert_eq!(kinds(&emptied.as_ref().unwrap().0), ["consumer gone", "generation"]);
    world.run(emptied);
    assert!(world.image.consumers.is_empty());
    assert_eq!(put(&world, ConsumerGeneration::New, &claim("one", &[])).unwrap().0.records, []);
    refused(delete_allocations(&world.image, id("one")), 404, PLAIN, "No allocations for consumer");
}

#[test]
fn claims_fit_or_change_nothing() {
    let mut world = host();
    let bounds = Inventory { min_unit: 2, max_unit: 6, step_size: 2, ..total(7) };
    world.provider("picky", None, &[]);
    world.inventories("picky", &[("VCPU", bounds)]);
    let put = |takes: &[(&str, &[(&str, i64)])]| {
        replace_allocations(&world.image, &claim("one", takes), NOW)
    };
    for amount in [1, 3, 8] {
        refused(
            put(&[("picky", &[("VCPU", amount)])]),
            409,
            PLAIN,
            "The requested amount would violate inventory constraints.",
        );
    }
    assert!(put(&[("picky", &[("VCPU", 6)])]).is_ok());
    refused(
        put(&[("host", &[("VCPU", 9)])]),
        409,
        PLAIN,
        "The requested amount would exceed the capacity.",
    );
    refused(put(&[("host", &[("MEMORY_MB", 1)])]), 409, PLAIN, "Inventory for 'MEMORY_MB' on");
    refused(put(&[("host", &[("CUSTOM_NO", 1)])]), 400, PLAIN, "No such resource class CUSTOM_NO.");
    refused(put(&[("nobody", &[("VCPU", 1)])]), 400, PLAIN, "that does not exist.");

    // One consumer twice: what it holds would be given back twice.
    let twice =
        [claim("one", &[("host", &[("VCPU", 1)])]), claim("one", &[("host", &[("VCPU", 7)])])];
    refused(replace_many(&world.image, &twice, NOW), 400, PLAIN, "named more than once");

    // Two claims that fit one by one, but not together.
    let both =
        [claim("one", &[("host", &[("VCPU", 5)])]), claim("two", &[("host", &[("VCPU", 4)])])];
    refused(replace_many(&world.image, &both, NOW), 409, PLAIN, "would exceed the capacity.");
    // What one gives back the other may take, in any order.
    world.claim("one", &[("host", &[("VCPU", 8)])]);
    let swap =
        [claim("two", &[("host", &[("VCPU", 8)])]), claim("one", &[("host", &[("DISK_GB", 1)])])];
    let swap = replace_many(&world.image, &swap, NOW);
    let ids = |change: &Change| {
        let of = |record: &Record| match record {
            Record::Consumer(row) => Some(row.id),
            _ => None,
        };
        change.records.iter().filter_map(of).collect::<Vec<_>>()
    };
    assert_eq!(ids(&swap.as_ref().unwrap().0), [2, 1], "old consumers keep their ids");
    world.run(swap);
    let vcpu = world.image.classes.ix("VCPU").unwrap();
    assert_eq!(world.image.providers.used(world.at("host"), vcpu), 8);
}

#[test]
fn an_overfull_provider_may_only_get_emptier() {
    let mut world = host();
    world.claim("one", &[("host", &[("VCPU", 5)])]);
    world.claim("two", &[("host", &[("VCPU", 3)])]);
    world.inventories("host", &[("VCPU", total(4)), ("DISK_GB", total(10))]);
    for (consumer, amount, fits) in
        [("one", 5, true), ("one", 4, true), ("one", 6, false), ("three", 1, false)]
    {
        let put = claim(consumer, &[("host", &[("VCPU", amount)])]);
        let put = replace_allocations(&world.image, &put, NOW);
        assert_eq!(put.is_ok(), fits, "{consumer} {amount}");
    }
}

#[test]
fn origins_stay_while_their_host_does() {
    let mut world = host();
    world.provider("device", Some("host"), &[("PGPU", 2)]);
    world.provider("other", None, &[("VCPU", 8)]);
    let origin = Origin {
        kind: OriginKind::Server,
        host: id("host"),
        seq: 7,
        decision: None,
        group: None,
        lease: None,
    };
    let placed = claim("one", &[("host", &[("VCPU", 2)])]);
    let placed = ConsumerClaim { origin: Some(origin.clone()), ..placed };
    let placed = replace_allocations(&world.image, &placed, NOW);
    world.run(placed);
    world.claim("one", &[("device", &[("PGPU", 1)]), ("other", &[("VCPU", 1)])]);
    let known = |world: &World| world.image.consumers.get(id("one")).unwrap().origin.clone();
    assert_eq!(known(&world).as_deref(), Some(&origin));
    world.claim("one", &[("other", &[("VCPU", 1)])]);
    assert_eq!(known(&world), None);
}

#[test]
fn reshaping_moves_inventories_under_allocations() {
    let mut world = host();
    world.claim("one", &[("host", &[("VCPU", 4), ("DISK_GB", 10)])]);
    world.provider("numa", Some("host"), &[]);
    let (host, numa) = (world.generation("host"), world.generation("numa"));
    let shape = |provider: &str, generation, has: &[(&str, i64)]| ReshapedProvider {
        provider: id(provider),
        generation,
        inventories: has.iter().map(|(c, units)| ((*c).to_owned(), total(*units))).collect(),
    };
    let shapes = [shape("host", host, &[("DISK_GB", 100)]), shape("numa", numa, &[("VCPU", 8)])];
    let moved = [claim("one", &[("numa", &[("VCPU", 4)]), ("host", &[("DISK_GB", 10)])])];
    let run = |shapes: &[ReshapedProvider], claims: &[ConsumerClaim], limit| {
        reshape(&world.image, shapes, claims, limit, NOW)
    };
    refused(
        run(&shapes, &[], 10),
        409,
        "inventory.inuse",
        "update conflict: Inventory for 'VCPU' on",
    );
    refused(run(&shapes, &moved, 3), 400, PLAIN, "max_reshape_rows allows 3");
    refused(
        run(&[shape("host", host + 1, &[])], &[], 10),
        409,
        CONFLICT,
        &format!("actual: {host}, given: {}", host + 1),
    );
    refused(run(&[shape("nobody", 0, &[])], &[], 10), 400, "not_found", "in inventories not found");
    refused(
        run(&[shape("host", host, &[("CUSTOM_NO", 1)])], &[], 10),
        400,
        PLAIN,
        "malformed reshaper data: No such resource class CUSTOM_NO.",
    );
    let too_much = [claim("one", &[("numa", &[("VCPU", 9)]), ("host", &[("DISK_GB", 10)])])];
    refused(run(&shapes, &too_much, 10), 409, PLAIN, "Unable to allocate inventory");
    let done = run(&shapes, &moved, 4);
    world.run(done);
    let vcpu = world.image.classes.ix("VCPU").unwrap();
    let used = |name: &str| world.image.providers.used(world.at(name), vcpu);
    assert_eq!((used("host"), used("numa")), (0, 4));
    assert_eq!(world.image.providers.inventory(world.at("host"), vcpu), None);
    // In between, at the allocations, and in the end.
    assert_eq!((world.generation("host"), world.generation("numa")), (host + 3, numa + 3));
    assert_same_after_dump(&world.image);
}
