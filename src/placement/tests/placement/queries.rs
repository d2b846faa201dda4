//! Lists of providers, sums of usage.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::world::{NOW, PLAIN, World, claim, host, id, refused};
use stowplan_model::Uuid;
use stowplan_placement::{
    claims::{ConsumerClaim, replace_allocations},
    queries::{
        ConsumerTypeFilter, ProviderFilter, allocations_of_provider, list_providers,
        project_usages, type_usages,
    },
};

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
    for (project, user, expected) in [
        ("project", None, &[(vcpu, 7), (disk, 30)][..]),
        ("project", Some("anna"), &[(vcpu, 3), (disk, 20)]),
        ("project", Some("eve"), &[]),
        ("nobody's", None, &[]),
    ] {
        let found = project_usages(image, project, user);
        assert_eq!(found.units.as_slice(), expected, "{project} {user:?}");
    }
    for (parameter, expected) in [
        (None, vec![("INSTANCE", 2, 6), ("unknown", 1, 1)]),
        (Some("all"), vec![("all", 3, 7)]),
        (Some("unknown"), vec![("unknown", 1, 1)]),
        (Some("INSTANCE"), vec![("INSTANCE", 2, 6)]),
        (Some("MIGRATION"), vec![]),
    ] {
        let filter = ConsumerTypeFilter::of_parameter(parameter);
        let groups = type_usages(image, "project", None, &filter);
        let said: Vec<_> =
            groups.iter().map(|(name, usage)| (*name, usage.consumers, usage.units[0].1)).collect();
        assert_eq!(said, expected, "{parameter:?}");
    }
    let holders: Vec<Uuid> =
        allocations_of_provider(image, world.at("host")).map(|share| share.consumer.uuid).collect();
    assert_eq!(holders.len(), 3);
}
