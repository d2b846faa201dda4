//! Random clouds and queries: the search against the oracle.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::{
    oracle::{self, by_names},
    world::{NOW, World, claim, id},
};
use proptest::{collection::vec, option, prelude::*};
use std::collections::BTreeSet;
use stowplan_model::Inventory;
use stowplan_placement::{
    candidates::{
        CandidateQuery, GroupPolicy, RequestGroup, Search, Strategy as Order, candidates, explain,
        unlocking,
    },
    claims::{ConsumerClaim, ConsumerGeneration, ProviderClaim, replace_allocations},
};

const CLASSES: [&str; 3] = ["VCPU", "DISK_GB", "CUSTOM_VF"];
const TRAITS: [&str; 4] = ["MISC_SHARES_VIA_AGGREGATE", "CUSTOM_A", "CUSTOM_B", "CUSTOM_C"];
const AGGREGATES: [&str; 3] = ["agg-a", "agg-b", "agg-c"];

#[derive(Clone, Debug)]
struct Spec {
    parent: Option<usize>,
    has: Vec<(usize, Inventory)>,
    traits: Vec<usize>,
    aggregates: Vec<usize>,
}

fn inventory() -> impl Strategy<Value = Inventory> {
    let ratio = prop_oneof![4 => Just(1.0), 1 => Just(1.5), 1 => Just(2.0)];
    let (small, step) =
        (prop_oneof![9 => Just(1_i64), 1 => Just(2)], prop_oneof![9 => Just(1_i64), 1 => Just(2)]);
    let most = prop_oneof![6 => Just(100_i64), 1 => 1..4_i64];
    (2..9_i64, 0..2_i64, small, most, step, ratio).prop_map(
        |(total, reserved, min_unit, max_unit, step_size, allocation_ratio)| Inventory {
            total,
            reserved: reserved.min(total),
            min_unit,
            max_unit,
            step_size,
            allocation_ratio,
        },
    )
}

fn some_of(count: usize, chance: f64) -> impl Strategy<Value = Vec<usize>> {
    vec(prop::bool::weighted(chance), count).prop_map(|bits| {
        bits.iter().enumerate().filter(|(_, bit)| **bit).map(|(place, _)| place).collect()
    })
}

fn spec() -> impl Strategy<Value = Spec> {
    let parent = option::weighted(0.8, 0..8_usize);
    let has = vec((prop::bool::weighted(0.75), inventory()), CLASSES.len()).prop_map(|of| {
        let there = of.into_iter().enumerate().filter(|(_, (there, _))| *there);
        there.map(|(class, (_, inventory))| (class, inventory)).collect()
    });
    (parent, has, some_of(TRAITS.len(), 0.4), some_of(AGGREGATES.len(), 0.4))
        .prop_map(|(parent, has, traits, aggregates)| Spec { parent, has, traits, aggregates })
}

/// A cloud as it mostly is: only roots have VCPU and DISK_GB, and nobody
/// shares. What asks for these is answered without a look at the trees.
fn lean(specs: &mut [Spec]) {
    for (number, spec) in specs.iter_mut().enumerate() {
        spec.traits.retain(|name| *name != 0);
        if spec.parent.is_some_and(|parent| parent < number) {
            spec.has.retain(|(class, _)| CLASSES[*class] == "CUSTOM_VF");
        }
    }
}

fn name(number: usize) -> String {
    format!("provider-{number}")
}

fn world(specs: &[Spec], takes: &[(usize, usize, i64)]) -> World {
    let mut world = World::new();
    for (number, spec) in specs.iter().enumerate() {
        let parent = spec.parent.filter(|parent| *parent < number).map(name);
        world.provider(&name(number), parent.as_deref(), &[]);
        let has: Vec<_> =
            spec.has.iter().map(|(class, inventory)| (CLASSES[*class], *inventory)).collect();
        world.inventories(&name(number), &has);
        let traits: Vec<&str> = spec.traits.iter().map(|number| TRAITS[*number]).collect();
        world.traits(&name(number), &traits);
        let aggregates: Vec<&str> = spec.aggregates.iter().map(|a| AGGREGATES[*a]).collect();
        world.aggregates(&name(number), &aggregates);
    }
    for class in CLASSES {
        let (change, _) = stowplan_placement::names::ensure_class(&world.image, class, NOW);
        world.image.apply(&change);
    }
    for name in TRAITS {
        let (change, _) = stowplan_placement::names::ensure_trait(&world.image, name, NOW);
        world.image.apply(&change);
    }
    for (number, (provider, class, amount)) in takes.iter().enumerate() {
        let provider = name(provider % specs.len());
        let takes = [(provider.as_str(), &[(CLASSES[*class], *amount)][..])];
        let wanted = claim(&format!("consumer-{number}"), &takes);
        if let Ok((change, ())) = replace_allocations(&world.image, &wanted, NOW) {
            world.image.apply(&change);
        }
    }
    world
}

fn group(suffix: String) -> impl Strategy<Value = RequestGroup> {
    let resources = vec(option::weighted(0.5, 1..3_i64), CLASSES.len()).prop_map(|wanted| {
        let named =
            wanted.iter().zip(CLASSES).filter_map(|(units, class)| Some((class, (*units)?)));
        named.map(|(class, units)| (class.to_owned(), units)).collect::<Vec<_>>()
    });
    let names = |names: Vec<usize>| names.into_iter().map(|n| TRAITS[n].to_owned()).collect();
    let required = prop_oneof![
        4 => Just(Vec::new()),
        1 => vec(vec(1..TRAITS.len(), 1..3).prop_map(names), 1..3),
    ];
    let forbidden = some_of(TRAITS.len(), 0.03).prop_map(names);
    let uuids = |of: Vec<usize>| of.into_iter().map(|a| id(AGGREGATES[a])).collect::<Vec<_>>();
    let member_of = prop_oneof![
        8 => Just(Vec::new()),
        1 => vec(vec(0..AGGREGATES.len(), 1..3).prop_map(uuids), 1..3),
    ];
    let forbidden_aggregates = some_of(AGGREGATES.len(), 0.03).prop_map(uuids);
    let in_tree = option::weighted(0.07, 0..8_usize);
    (resources, required, forbidden, member_of, forbidden_aggregates, in_tree).prop_map(
        move |(resources, required, forbidden, member_of, forbidden_aggregates, in_tree)| {
            RequestGroup {
                suffix: suffix.clone(),
                resources,
                required,
                forbidden,
                member_of,
                forbidden_aggregates,
                in_tree: in_tree.map(|number| id(&name(number))),
            }
        },
    )
}

fn query() -> impl Strategy<Value = CandidateQuery> {
    let groups = (
        option::weighted(0.7, group(String::new())),
        vec(prop::bool::weighted(0.4), 3),
        group("_A".into()),
        group("_B".into()),
        group("_C".into()),
    );
    let root = || some_of(TRAITS.len(), 0.02);
    let subtrees = prop_oneof![
        2 => Just(Vec::new()),
        1 => vec(vec(prop_oneof![Just("_A"), Just("_B"), Just("_C")], 2..4), 1..3),
    ];
    let order = prop_oneof![Just(Order::DepthFirst), Just(Order::BreadthFirst)];
    (groups, prop::bool::ANY, subtrees, root(), root(), order, prop::bool::weighted(0.85))
        .prop_map(|(groups, isolate, subtrees, required, forbidden, strategy, nested)| {
            let (spread, used, a, b, c) = groups;
            let spread = spread.filter(|group| !group.resources.is_empty());
            let suffixed = [a, b, c].into_iter().zip(used).filter(|(_, used)| *used);
            let mut groups: Vec<RequestGroup> = spread.into_iter().collect();
            groups.extend(suffixed.map(|(group, _)| group));
            let known = |suffix: &&str| groups.iter().any(|group| group.suffix == *suffix);
            let subtree = |of: Vec<&str>| -> Vec<String> {
                of.into_iter().filter(|suffix| known(suffix)).map(str::to_owned).collect()
            };
            let named = |of: Vec<usize>| of.into_iter().map(|n| TRAITS[n].to_owned()).collect();
            let same_subtree = subtrees.into_iter().map(subtree).collect();
            CandidateQuery {
                group_policy: if isolate { GroupPolicy::Isolate } else { GroupPolicy::None },
                same_subtree,
                root_required: named(required),
                root_forbidden: named(forbidden),
                strategy,
                nested,
                ..CandidateQuery::new(groups)
            }
        })
        .prop_filter("a query has groups", |query| !query.groups.is_empty())
}

fn claimable(world: &World, found: &oracle::Found) {
    let mut allocations: Vec<ProviderClaim> = Vec::new();
    for ((provider, class), amount) in &found.0 {
        let part = (class.clone(), *amount);
        match allocations.iter_mut().find(|claim| claim.provider == *provider) {
            Some(claim) => claim.resources.push(part),
            None => allocations.push(ProviderClaim {
                provider: *provider,
                resources: [part].into_iter().collect(),
            }),
        }
    }
    let wanted = ConsumerClaim {
        allocations,
        generation: ConsumerGeneration::New,
        ..claim("newcomer", &[])
    };
    replace_allocations(&world.image, &wanted, NOW).expect("a candidate can be claimed");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn search_equals_oracle(
        mut specs in vec(spec(), 2..9),
        is_lean in any::<bool>(),
        takes in vec((0..8_usize, 0..CLASSES.len(), 1..4_i64), 0..6),
        query in query(),
        limit in 1..6_usize,
        seed in any::<u64>(),
    ) {
        if is_lean {
            lean(&mut specs);
        }
        let world = world(&specs, &takes);
        let image = &world.image;
        let expected = oracle::candidates(image, &query);
        let listed: Vec<_> =
            candidates(image, &query).unwrap().map(|found| by_names(image, &found)).collect();
        let found: BTreeSet<_> = listed.iter().cloned().collect();
        prop_assert_eq!(found.len(), listed.len(), "a candidate came twice");
        prop_assert_eq!(&found, &expected);
        for candidate in &found {
            claimable(&world, candidate);
        }

        // A limit cuts the same list; a random order loses nothing.
        let cut = CandidateQuery { limit: Some(limit), ..query.clone() };
        let short: Vec<_> =
            candidates(image, &cut).unwrap().map(|found| by_names(image, &found)).collect();
        prop_assert_eq!(&short[..], &listed[..limit.min(listed.len())]);
        let mixed = CandidateQuery { seed: Some(seed), ..query.clone() };
        let mixed: BTreeSet<_> =
            candidates(image, &mixed).unwrap().map(|found| by_names(image, &found)).collect();
        prop_assert_eq!(&mixed, &expected);
        let drawn = CandidateQuery { seed: Some(seed), limit: Some(limit), ..query.clone() };
        let drawn: BTreeSet<_> =
            candidates(image, &drawn).unwrap().map(|found| by_names(image, &found)).collect();
        prop_assert_eq!(drawn.len(), limit.min(expected.len()));
        prop_assert!(drawn.is_subset(&expected));

        // Root by root: each viable root once, with its own candidates.
        let mut search = Search::new(image, &query).unwrap();
        let mut roots = BTreeSet::new();
        let mut by_root = BTreeSet::new();
        while let Some((root, of_root)) = search.next_root() {
            prop_assert!(roots.insert(root), "a root came twice");
            for candidate in of_root {
                prop_assert_eq!(candidate.root, root);
                by_root.insert(by_names(image, &candidate));
            }
        }
        prop_assert_eq!(&by_root, &expected);
        let mut search = Search::new(image, &query).unwrap();
        let viable: Vec<_> = std::iter::from_fn(|| search.next_viable()).collect();
        prop_assert_eq!(viable.len(), roots.len(), "a root came twice");
        prop_assert_eq!(&viable.into_iter().collect::<BTreeSet<_>>(), &roots);
        for root in image.providers.iter() {
            prop_assert_eq!(search.is_viable(root), roots.contains(&root));
        }
    }

    #[test]
    fn explanations_equal_oracle(
        specs in vec(spec(), 2..9),
        takes in vec((0..8_usize, 0..CLASSES.len(), 1..4_i64), 0..6),
        query in query(),
    ) {
        let world = world(&specs, &takes);
        let image = &world.image;
        let is_met = |query: &CandidateQuery| !oracle::candidates(image, query).is_empty();
        let losses = explain(image, &query).unwrap();
        for pair in losses.windows(2) {
            prop_assert_eq!(pair[0].after, pair[1].before);
        }
        for loss in &losses {
            prop_assert!(loss.after <= loss.before);
        }
        // The last requirement leaves the roots with a candidate, no others.
        let mut search = Search::new(image, &query).unwrap();
        let roots = std::iter::from_fn(|| search.next_root()).count();
        prop_assert_eq!(losses.last().map(|loss| loss.after), Some(roots));
        prop_assert_eq!(is_met(&query), losses.iter().all(|loss| loss.after > 0));

        // What is said to unlock the query does, and nothing else would.
        let unlocks = unlocking(image, &query, &losses);
        let mut helpful: Vec<_> = losses.iter().map(|loss| loss.requirement.clone()).collect();
        helpful.retain(|one| !is_met(&query) && query.without(one).is_some_and(|q| is_met(&q)));
        prop_assert_eq!(unlocks, helpful);
    }
}
