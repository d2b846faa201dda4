//! Proposals: what holds, what is refused, with which words, status and code.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::world::{NOW, World, claim, id, kinds, total};
use stowplan_ledger::{
    Change, Image, Record,
    rows::{Origin, OriginKind},
};
use stowplan_model::{Inventory, Micros, Uuid};
use stowplan_placement::{
    PlacementError,
    claims::{
        ConsumerClaim, ConsumerGeneration, delete_allocations, replace_allocations, replace_many,
    },
    inventories::{
        Reserving, add_inventory, delete_inventories, delete_inventory, set_inventories,
        set_inventory,
    },
    membership::{delete_traits, set_aggregates, set_traits},
    names::{
        Ensured, create_class, delete_class, delete_trait, ensure_class, ensure_trait,
        rename_class, seed,
    },
    providers::{NewProvider, ProviderUpdate, create_provider, delete_provider, update_provider},
    queries::{
        ConsumerTypeFilter, ProviderFilter, allocations_of_provider, list_providers,
        project_usages, provider_usages, type_usages,
    },
    reshape::{ReshapedProvider, reshape},
};

/// A refusal by status, code (its last words) and text.
fn refused<T>(proposal: Result<T, PlacementError>, status: u16, code: &str, text: &str) {
    let error = proposal.err().expect("the proposal is refused");
    assert!(error.to_string().contains(text), "{error}");
    assert!(error.code().ends_with(code), "{}", error.code());
    assert_eq!(error.status(), status);
}

const PLAIN: &str = "undefined_code";
const CONFLICT: &str = "concurrent_update";

fn new(name: &str, parent: Option<&str>) -> NewProvider {
    NewProvider { uuid: id(name), name: name.into(), parent: parent.map(id) }
}

fn host() -> World {
    let mut world = World::new();
    world.provider("host", None, &[("VCPU", 8), ("DISK_GB", 100)]);
    world
}

#[test]
fn seeding_brings_the_standard_names_once() {
    let image = World::new().image;
    assert_eq!(image.classes.iter().next().unwrap().name, "VCPU");
    assert!(image.traits.ix("MISC_SHARES_VIA_AGGREGATE").is_some());
    assert_eq!(seed(&image, NOW), (Change::nothing(), 0));
}

#[test]
fn classes() {
    let mut world = World::new();
    let made = create_class(&world.image, "CUSTOM_GOLD", NOW);
    world.run(made);
    refused(
        create_class(&world.image, "CUSTOM_GOLD", NOW),
        409,
        PLAIN,
        "Conflicting resource class already exists: CUSTOM_GOLD",
    );
    assert_eq!(
        ensure_class(&world.image, "CUSTOM_GOLD", NOW),
        (Change::nothing(), Ensured::Existed)
    );
    refused(
        delete_class(&world.image, "VCPU"),
        400,
        PLAIN,
        "Cannot delete standard resource class VCPU.",
    );
    refused(
        delete_class(&world.image, "CUSTOM_NO"),
        404,
        PLAIN,
        "No such resource class CUSTOM_NO.",
    );
    refused(
        rename_class(&world.image, "VCPU", "CUSTOM_X", NOW),
        400,
        PLAIN,
        "Cannot update standard resource class VCPU",
    );
    world.provider("host", None, &[("CUSTOM_GOLD", 8)]);
    world.claim("one", &[("host", &[("CUSTOM_GOLD", 3)])]);
    refused(delete_class(&world.image, "CUSTOM_GOLD"), 409, PLAIN, "Class is in use in inventory.");
    world.provider("other", None, &[("CUSTOM_TIN", 8)]);
    refused(
        rename_class(&world.image, "CUSTOM_GOLD", "CUSTOM_TIN", NOW),
        409,
        PLAIN,
        "Resource class already exists: CUSTOM_TIN",
    );

    let renamed = rename_class(&world.image, "CUSTOM_GOLD", "CUSTOM_SILVER", NOW);
    world.run(renamed);
    let silver = world.image.classes.ix("CUSTOM_SILVER").unwrap();
    assert!(world.image.classes.ix("CUSTOM_GOLD").is_none());
    let at = world.at("host");
    assert_eq!(provider_usages(&world.image, at).collect::<Vec<_>>(), [(silver, 3)]);
    assert_eq!(world.image.providers.inventory(at, silver), Some(&total(8)));
    assert_same_after_dump(&world.image);
}

/// The image says the same of itself after a round through its rows.
fn assert_same_after_dump(image: &Image) {
    let mut again = Image::default();
    again.apply(&Change { kind: String::new(), records: image.dump() });
    assert_eq!(again.dump(), image.dump());
}

#[test]
fn traits() {
    let mut world = host();
    let (change, made) = ensure_trait(&world.image, "CUSTOM_A", NOW);
    assert_eq!(made, Ensured::Created);
    world.image.apply(&change);
    let names = ["CUSTOM_A".to_owned(), "HW_CPU_X86_AVX2".to_owned()];
    let before = world.generation("host");
    let set = set_traits(&world.image, id("host"), before, &names);
    assert_eq!(world.run(set).generation, before + 1);
    let set = set_traits(&world.image, id("host"), before + 1, &names);
    assert_eq!(world.run(set).generation, before + 1, "nothing changes, nothing counts");
    refused(
        set_traits(&world.image, id("host"), before, &names),
        409,
        CONFLICT,
        "Resource provider's generation already changed.",
    );
    let unknown = ["CUSTOM_X".to_owned(), "CUSTOM_Y".to_owned()];
    refused(
        set_traits(&world.image, id("host"), before + 1, &unknown),
        400,
        PLAIN,
        "No such trait CUSTOM_X, CUSTOM_Y",
    );
    refused(
        delete_trait(&world.image, "CUSTOM_A"),
        409,
        PLAIN,
        "The trait CUSTOM_A is in use by a resource provider.",
    );
    refused(
        delete_trait(&world.image, "HW_CPU_X86_AVX2"),
        400,
        PLAIN,
        "Cannot delete standard trait",
    );
    refused(delete_trait(&world.image, "CUSTOM_NO"), 404, PLAIN, "No such trait(s): CUSTOM_NO.");
    let gone = delete_traits(&world.image, id("host"));
    world.run(gone);
    assert_eq!(world.generation("host"), before + 2);
    let gone = delete_trait(&world.image, "CUSTOM_A");
    world.run(gone);
    assert!(world.image.traits.ix("CUSTOM_A").is_none());
}

#[test]
fn aggregates_count_only_with_a_generation() {
    let mut world = host();
    let before = world.generation("host");
    let set = set_aggregates(&world.image, id("host"), None, &[id("rack")]);
    assert_eq!(world.run(set), before);
    let set = set_aggregates(&world.image, id("host"), Some(before), &[id("rack"), id("row")]);
    assert_eq!(world.run(set), before + 1);
    refused(
        set_aggregates(&world.image, id("host"), Some(before), &[]),
        409,
        CONFLICT,
        "Please update the generation and try again.",
    );
    let (at, provider) = (world.at("host"), world.image.providers.get(world.at("host")).unwrap());
    assert_eq!((provider.aggregates.len(), world.image.providers.generation(at)), (2, before + 1));
}

#[test]
fn providers_are_created_under_their_parents() {
    let mut world = World::new();
    world.provider("root", None, &[]);
    world.provider("child", Some("root"), &[]);
    let row = create_provider(&world.image, &new("grandchild", Some("child")), NOW);
    let row = world.run(row);
    assert_eq!((row.root, row.parent, row.generation), (id("root"), Some(id("child")), 0));
    let create = |new: NewProvider| create_provider(&world.image, &new, NOW);
    refused(
        create(new("self", Some("self"))),
        400,
        PLAIN,
        "parent provider UUID cannot be same as UUID",
    );
    refused(
        create(new("orphan", Some("nobody"))),
        400,
        PLAIN,
        "parent provider UUID does not exist.",
    );
    let same_uuid = NewProvider { name: "else".into(), ..new("root", None) };
    refused(
        create(same_uuid),
        409,
        "duplicate_name",
        &format!("Conflicting resource provider uuid: {} already exists.", id("root")),
    );
    let same_name = NewProvider { uuid: id("else"), ..new("root", None) };
    refused(
        create(same_name),
        409,
        "duplicate_name",
        "Conflicting resource provider name: root already exists.",
    );
}

#[test]
fn providers_move_between_trees_as_far_as_allowed() {
    let mut world = World::new();
    for name in ["old", "new"] {
        world.provider(name, None, &[]);
    }
    world.provider("child", Some("old"), &[]);
    world.provider("leaf", Some("child"), &[]);
    let update = |world: &World, name: &str, parent: Option<Option<&str>>, reparenting| {
        let parent = parent.map(|parent| parent.map(id));
        let update = ProviderUpdate { name: name.into(), parent, reparenting };
        update_provider(&world.image, id(name), &update, Micros(5))
    };
    refused(
        update(&world, "child", Some(Some("new")), false),
        400,
        PLAIN,
        "re-parenting a provider is not currently allowed.",
    );
    refused(
        update(&world, "child", Some(None), false),
        400,
        PLAIN,
        "un-parenting a provider is not currently allowed.",
    );
    refused(
        update(&world, "child", Some(Some("nobody")), true),
        400,
        PLAIN,
        "parent provider UUID does not exist.",
    );
    for below in ["child", "leaf"] {
        refused(
            update(&world, "child", Some(Some(below)), true),
            400,
            PLAIN,
            "creating loop in the provider tree is not allowed.",
        );
    }
    assert_eq!(update(&world, "child", Some(Some("old")), false).unwrap().0, Change::nothing());
    assert_eq!(update(&world, "child", None, false).unwrap().0, Change::nothing());
    let moved = update(&world, "child", Some(Some("new")), true);
    assert_eq!(world.run(moved).root, id("new"));
    let root_of = |world: &World, name| world.image.providers.get(world.at(name)).unwrap().root;
    assert_eq!(root_of(&world, "leaf"), world.at("new"));
    assert_eq!(world.image.providers.tree_of(world.at("old")), [world.at("old")]);
    let freed = update(&world, "child", Some(None), true);
    world.run(freed);
    assert_eq!(root_of(&world, "leaf"), world.at("child"));
    assert_eq!(root_of(&world, "child"), world.at("child"));
    // A root may always be put under another.
    let joined = update(&world, "new", Some(Some("leaf")), false);
    assert_eq!(world.run(joined).root, id("child"));
    let taken = ProviderUpdate { name: "old".into(), parent: None, reparenting: false };
    refused(
        update_provider(&world.image, id("new"), &taken, NOW),
        409,
        "duplicate_name",
        "Conflicting resource provider old already exists.",
    );
    assert_same_after_dump(&world.image);
}

#[test]
fn providers_in_use_stay() {
    let mut world = host();
    world.provider("child", Some("host"), &[("VCPU", 1)]);
    refused(
        delete_provider(&world.image, id("host")),
        409,
        "cannot_delete_parent",
        "It has child resource providers.",
    );
    world.claim("one", &[("child", &[("VCPU", 1)])]);
    refused(
        delete_provider(&world.image, id("child")),
        409,
        "resource_provider.inuse",
        "Resource provider has allocations.",
    );
    refused(delete_provider(&world.image, id("nobody")), 404, PLAIN, "found for delete");
    let freed = delete_allocations(&world.image, id("one"));
    world.run(freed);
    for name in ["child", "host"] {
        let gone = delete_provider(&world.image, id(name));
        world.run(gone);
    }
    assert!(world.image.providers.is_empty());
}

#[test]
fn inventories() {
    let mut world = host();
    let host = id("host");
    let now = world.generation("host");
    let full = Reserving::LessThanTotal;
    let put = |world: &World, class: &str, inventory| {
        set_inventory(&world.image, host, world.generation("host"), class, inventory, full)
    };
    refused(
        set_inventory(&world.image, host, now - 1, "VCPU", total(1), full),
        409,
        CONFLICT,
        "resource provider generation conflict",
    );
    let reserved = Inventory { reserved: 4, ..total(4) };
    refused(
        put(&world, "VCPU", reserved),
        400,
        PLAIN,
        "The reserved value is greater than or equal to total.",
    );
    let over = Inventory { reserved: 6, ..total(4) };
    refused(
        set_inventory(&world.image, host, now, "VCPU", over, Reserving::UpToTotal),
        400,
        PLAIN,
        "Unable to update inventory for resource provider",
    );
    assert!(set_inventory(&world.image, host, now, "VCPU", reserved, Reserving::UpToTotal).is_ok());
    refused(put(&world, "CUSTOM_NO", total(1)), 404, PLAIN, "No such resource class CUSTOM_NO.");
    refused(
        put(&world, "MEMORY_MB", total(1)),
        400,
        PLAIN,
        "No inventory record with resource class",
    );
    refused(
        add_inventory(&world.image, host, "CUSTOM_NO", total(1), full),
        400,
        PLAIN,
        "Unable to create inventory for resource provider",
    );
    refused(
        add_inventory(&world.image, host, "VCPU", total(1), full),
        409,
        CONFLICT,
        "Update conflict",
    );
    let added = add_inventory(&world.image, host, "MEMORY_MB", total(1), full);
    assert_eq!(world.run(added), now + 1);
    let unknown = [("CUSTOM_NO".to_owned(), total(1))];
    refused(
        set_inventories(&world.image, host, now + 1, &unknown, full),
        400,
        PLAIN,
        "Unknown resource class in inventory",
    );

    world.claim("one", &[("host", &[("VCPU", 3), ("DISK_GB", 10)])]);
    let now = world.generation("host");
    let in_use = format!("Inventory for 'VCPU, DISK_GB' on resource provider '{host}' in use.");
    refused(set_inventories(&world.image, host, now, &[], full), 409, "inventory.inuse", &in_use);
    refused(delete_inventories(&world.image, host), 409, "inventory.inuse", &in_use);
    refused(
        delete_inventory(&world.image, host, "VCPU"),
        409,
        CONFLICT,
        "Unable to delete inventory of class VCPU: Inventory for 'VCPU' on",
    );
    refused(
        delete_inventory(&world.image, host, "IPV4_ADDRESS"),
        404,
        PLAIN,
        "No inventory of class IPV4_ADDRESS found for delete",
    );
    // Capacity below what is in use is taken as it is.
    let cut = put(&world, "VCPU", total(1));
    assert_eq!(world.run(cut), now + 1);
    let gone = delete_inventory(&world.image, host, "MEMORY_MB");
    world.run(gone);
    assert_eq!(world.generation("host"), now + 2);
}

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
    let origin =
        Origin { kind: OriginKind::Server, host: id("host"), seq: 7, decision: None, group: None };
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

#[test]
fn lists_of_providers() {
    let mut world = World::new();
    for (name, parent) in [("a", None), ("b", None), ("a-child", Some("a"))] {
        world.provider(name, parent, &[("VCPU", 4)]);
    }
    world.traits("a", &["CUSTOM_A"]);
    world.traits("b", &["CUSTOM_A", "CUSTOM_B"]);
    world.aggregates("a", &["rack"]);
    world.aggregates("b", &["rack", "row"]);
    world.claim("one", &[("b", &[("VCPU", 3)])]);
    let none = ProviderFilter::default;
    let names = |of: &[&str]| vec![of.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()];
    let cpus = |units| vec![("VCPU".to_owned(), units)];
    let cases = [
        (none(), vec!["a", "b", "a-child"]),
        (ProviderFilter { uuid: Some(id("b")), ..none() }, vec!["b"]),
        (ProviderFilter { name: Some("a".into()), ..none() }, vec!["a"]),
        (ProviderFilter { name: Some("a".into()), uuid: Some(id("b")), ..none() }, vec![]),
        (ProviderFilter { in_tree: Some(id("a-child")), ..none() }, vec!["a", "a-child"]),
        (
            ProviderFilter { in_tree: Some(id("x")), resources: vec![("NO".into(), 1)], ..none() },
            vec![],
        ),
        (ProviderFilter { member_of: vec![vec![id("rack")]], ..none() }, vec!["a", "b"]),
        (
            ProviderFilter { member_of: vec![vec![id("rack")], vec![id("row")]], ..none() },
            vec!["b"],
        ),
        (
            ProviderFilter { forbidden_aggregates: vec![id("row"), id("x")], ..none() },
            vec!["a", "a-child"],
        ),
        (ProviderFilter { required: names(&["CUSTOM_A", "CUSTOM_B"]), ..none() }, vec!["a", "b"]),
        (
            ProviderFilter {
                required: names(&["CUSTOM_A"]),
                forbidden: vec!["CUSTOM_B".into()],
                ..none()
            },
            vec!["a"],
        ),
        (ProviderFilter { resources: cpus(2), ..none() }, vec!["a", "a-child"]),
        (ProviderFilter { resources: cpus(1), in_tree: Some(id("b")), ..none() }, vec!["b"]),
    ];
    for (filter, expected) in cases {
        let found = list_providers(&world.image, &filter).unwrap();
        let found: Vec<&str> = found.iter().map(|at| world.name(*at)).collect();
        assert_eq!(found, expected, "{filter:?}");
    }
    let list = |filter| list_providers(&world.image, &filter);
    refused(
        list(ProviderFilter { resources: vec![("NO".into(), 1)], ..none() }),
        400,
        PLAIN,
        "Invalid resource class in resources parameter: No such resource class NO.",
    );
    refused(
        list(ProviderFilter { forbidden: vec!["NO".into()], ..none() }),
        400,
        PLAIN,
        "Invalid trait(s) in \"required\" parameter: No such trait(s): NO.",
    );
}

#[test]
fn sums_of_usage() {
    let mut world = host();
    for (consumer, kind, user, units) in [
        ("one", Some("INSTANCE"), "anna", 2),
        ("two", None, "anna", 1),
        ("three", Some("INSTANCE"), "ben", 4),
    ] {
        let put = ConsumerClaim {
            user: user.into(),
            consumer_type: kind.map(str::to_owned),
            ..claim(consumer, &[("host", &[("VCPU", units), ("DISK_GB", 10)])])
        };
        let put = replace_allocations(&world.image, &put, NOW);
        world.run(put);
    }
    let image = &world.image;
    let [vcpu, disk] = ["VCPU", "DISK_GB"].map(|name| image.classes.ix(name).unwrap());
    assert_eq!(project_usages(image, "project", None), [(vcpu, 7), (disk, 30)].into());
    assert_eq!(project_usages(image, "project", Some("anna")), [(vcpu, 3), (disk, 20)].into());
    assert_eq!(project_usages(image, "nobody's", None), [].into());
    for (parameter, expected) in [
        (None, vec![("INSTANCE", 2, 6), ("unknown", 1, 1)]),
        (Some("all"), vec![("all", 3, 7)]),
        (Some("unknown"), vec![("unknown", 1, 1)]),
        (Some("INSTANCE"), vec![("INSTANCE", 2, 6)]),
        (Some("MIGRATION"), vec![]),
    ] {
        let filter = ConsumerTypeFilter::of_parameter(parameter);
        let groups = type_usages(image, "project", None, &filter);
        let said: Vec<_> = groups
            .iter()
            .map(|(name, usage)| (name.as_str(), usage.consumers, usage.usages[&vcpu]))
            .collect();
        assert_eq!(said, expected, "{parameter:?}");
    }
    let holders: Vec<Uuid> =
        allocations_of_provider(image, world.at("host")).map(|share| share.consumer.uuid).collect();
    assert_eq!(holders.len(), 3);
}
