//! Proposals: what holds, what is refused, with which words, status and code.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::world::{CONFLICT, NOW, PLAIN, World, assert_same_after_dump, host, id, refused, total};
use stowplan_ledger::Change;
use stowplan_model::{Inventory, Micros};
use stowplan_placement::{
    claims::delete_allocations,
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
    queries::provider_usages,
};

fn new(name: &str, parent: Option<&str>) -> NewProvider {
    NewProvider { uuid: id(name), name: name.into(), parent: parent.map(id) }
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
