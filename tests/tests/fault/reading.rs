//! Everything that the service holds, read through its API, with its books
//! checked.

use crate::{
    cloud::Cloud,
    model::{Object, Resources, World},
    requests::PROJECT,
};
use serde::{Deserialize, de::DeserializeOwned};
use std::collections::{BTreeMap, BTreeSet};
use stowplan_tests::Client;
use uuid::Uuid;

#[derive(Deserialize)]
struct Providers {
    resource_providers: Vec<Provider>,
}

/// A provider as lists show it.
#[derive(Deserialize)]
pub struct Provider {
    pub uuid: Uuid,
    name: String,
    generation: i64,
    parent_provider_uuid: Option<Uuid>,
}

#[derive(Deserialize)]
struct Inventories {
    inventories: BTreeMap<String, Inventory>,
}

#[derive(Deserialize)]
struct Inventory {
    total: i64,
}

#[derive(Deserialize)]
struct Traits {
    traits: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Usages {
    usages: Resources,
}

#[derive(Deserialize)]
struct Shares {
    allocations: BTreeMap<Uuid, Share>,
}

#[derive(Deserialize)]
struct Share {
    resources: Resources,
    consumer_generation: i64,
}

#[derive(Deserialize)]
struct Holding {
    allocations: BTreeMap<Uuid, HeldThere>,
    consumer_generation: i64,
}

#[derive(Deserialize)]
struct HeldThere {
    resources: Resources,
}

/// Reads everything but the hosts' providers, which are checked to be as they
/// were reported.
///
/// # Panics
/// When the usage of a provider is not the sum of its allocations, is above its
/// capacity, or two views of a consumer differ.
pub fn read(client: &Client, cloud: &Cloud) -> World {
    let mut world = World::new();
    let mut held: Resources = Resources::new();
    for provider in providers(client) {
        let path = format!("/resource_providers/{}", provider.uuid);
        let inventories = inventories(client, provider.uuid);
        let sums = add_shares(client, &path, provider.uuid, &mut world);
        let usages = get::<Usages>(client, &format!("{path}/usages")).usages;
        let wanted: Resources =
            inventories.keys().map(|class| (class.clone(), at(&sums, class))).collect();
        assert_eq!(usages, wanted, "usages and the sum of allocations at {path}");
        for (class, used) in &sums {
            assert!(*used <= at(&inventories, class), "{path} holds {used} {class}");
            *held.entry(class.clone()).or_default() += used;
        }
        if let Some(reported) = cloud.inventories.get(&provider.uuid) {
            assert_eq!(inventories, *reported, "of the host at {path}");
            continue;
        }
        let traits = get::<Traits>(client, &format!("{path}/traits")).traits;
        let object = Object::Provider {
            name: provider.name,
            generation: provider.generation,
            parent: provider.parent_provider_uuid,
            inventories,
            traits,
        };
        world.insert(provider.uuid, object);
    }
    assert_eq!(by_project(client), held, "usages of the project and all allocations");
    world
}

/// All providers.
pub fn providers(client: &Client) -> Vec<Provider> {
    get::<Providers>(client, "/resource_providers").resource_providers
}

/// The totals of a provider's inventories.
pub fn inventories(client: &Client, provider: Uuid) -> Resources {
    let path = format!("/resource_providers/{provider}/inventories");
    let all = get::<Inventories>(client, &path).inventories;
    all.into_iter().map(|(class, inventory)| (class, inventory.total)).collect()
}

fn at(resources: &Resources, class: &str) -> i64 {
    resources.get(class).copied().unwrap_or_default()
}

/// Adds what consumers hold of one provider; gives the sum.
fn add_shares(client: &Client, path: &str, provider: Uuid, world: &mut World) -> Resources {
    let mut sums = Resources::new();
    let shares: Shares = get(client, &format!("{path}/allocations"));
    for (consumer, share) in shares.allocations {
        for (class, used) in &share.resources {
            *sums.entry(class.clone()).or_default() += used;
        }
        let object = world.entry(consumer).or_insert_with(|| by_consumer(client, consumer));
        let Object::Consumer { generation, allocations } = object else {
            panic!("{consumer} is a provider too");
        };
        assert_eq!(*generation, share.consumer_generation, "the generation of {consumer}");
        assert_eq!(allocations.get(&provider), Some(&share.resources), "of {consumer} at {path}");
    }
    sums
}

fn by_consumer(client: &Client, consumer: Uuid) -> Object {
    let held: Holding = get(client, &format!("/allocations/{consumer}"));
    Object::Consumer {
        generation: held.consumer_generation,
        allocations: held.allocations.into_iter().map(|(at, held)| (at, held.resources)).collect(),
    }
}

fn by_project(client: &Client) -> Resources {
    let path = format!("/usages?project_id={}", PROJECT);
    get::<Usages>(&client.clone().at("1.37"), &path).usages
}

fn get<T: DeserializeOwned>(client: &Client, path: &str) -> T {
    let reply = client.get(path).expect(200);
    serde_json::from_str(&reply.body).unwrap_or_else(|error| panic!("{path}: {error}"))
}
