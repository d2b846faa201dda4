//! One client: it writes to objects of its own, on providers that it shares
//! with the others, and remembers what it was told.

use crate::model::{self, Effect, Object, Outcome, Request, Resources, World};
use rand::{
    RngExt as _,
    seq::{IndexedRandom as _, SliceRandom as _},
};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::AddAssign,
    sync::atomic::{AtomicBool, Ordering::SeqCst},
};
use stowplan_tests::Client;
use uuid::Uuid;

/// The project of all consumers.
pub const PROJECT: &str = "fault";
/// Traits that providers get.
const TRAITS: [&str; 4] = ["CUSTOM_A", "CUSTOM_B", "HW_CPU_X86_AVX", "STORAGE_DISK_SSD"];
/// Consumers of one worker.
const CONSUMERS: usize = 8;
/// Most providers of one worker's own.
const PROVIDERS: usize = 4;

/// What all workers contend for.
#[derive(Debug)]
pub struct Shared {
    pub providers: BTreeSet<Uuid>,
    /// What each of them has.
    pub inventories: Resources,
}

impl Shared {
    /// Makes the providers: fewer units than the workers will ask for.
    pub fn set_up(client: &Client) -> Self {
        for name in TRAITS.iter().filter(|name| name.starts_with("CUSTOM_")) {
            let _ = client.send("PUT", &format!("/traits/{name}"), None).expect(201);
        }
        let inventories = resources([("MEMORY_MB", 4096), ("VCPU", 24)]);
        let providers = (0..4).map(|number| {
            let uuid = Uuid::new_v4();
            let body = json!({"uuid": uuid, "name": format!("shared-{number}")});
            let _ = client.post("/resource_providers", &body).expect(200);
            let path = format!("/resource_providers/{uuid}/inventories");
            let _ = client.put(&path, &inventories_body(&inventories, 0)).expect(200);
            uuid
        });
        Self { providers: providers.collect(), inventories }
    }
}

/// What became of a worker's requests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub acknowledged: u64,
    pub refused: u64,
    /// Whose answer never came.
    pub lost: u64,
    /// Of those, the ones that were carried out.
    pub done: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.acknowledged += other.acknowledged;
        self.refused += other.refused;
        self.lost += other.lost;
        self.done += other.done;
    }
}

/// A client with its own consumers and providers.
#[derive(Debug)]
pub struct Worker {
    number: u64,
    random: ChaCha8Rng,
    consumers: Vec<Uuid>,
    /// What it has been told; nobody else writes to it.
    pub known: World,
    under_way: Option<Request>,
    pub tally: Tally,
}

impl Worker {
    pub fn new(number: u64, mut random: ChaCha8Rng) -> Self {
        let consumers = (0..CONSUMERS).map(|_| fresh(&mut random)).collect();
        let (known, tally) = (World::new(), Tally::default());
        Self { number, random, consumers, known, under_way: None, tally }
    }

    /// Sends one request after another until no answer comes.
    ///
    /// # Panics
    /// When an answer is not what it must be, or none comes although the
    /// service was not to end.
    pub fn work(&mut self, client: &Client, shared: &Shared, is_ending: &AtomicBool) {
        loop {
            let request = self.next_request(shared);
            match client.try_send(request.method, &request.path, request.body.as_ref()) {
                Ok(reply) => {
                    let is_success = (200..300).contains(&reply.status);
                    let is_due = match request.outcome {
                        Outcome::Success => is_success,
                        Outcome::Refusal => reply.status == 409,
                        Outcome::Either => is_success || reply.status == 409,
                    };
                    assert!(is_due, "{request:#?}\n{}: {}", reply.status, reply.body);
                    if is_success {
                        model::apply(&mut self.known, request.effect);
                        self.tally.acknowledged += 1;
                    } else {
                        self.tally.refused += 1;
                    }
                }
                Err(error) => {
                    assert!(is_ending.load(SeqCst), "no answer: {error}: {request:#?}");
                    self.under_way = Some(request);
                    self.tally.lost += 1;
                    return;
                }
            }
        }
    }

    /// Learns what became of the request that was under way.
    ///
    /// # Panics
    /// When it was carried out in part.
    pub fn settle(&mut self, actual: &World, round: u64) {
        if let Some(request) = self.under_way.take() {
            println!("round {round}: no answer to {} {}", request.method, request.path);
            if model::is_done(&request, &self.known, actual) {
                model::apply(&mut self.known, request.effect);
                self.tally.done += 1;
            }
        }
    }

    fn next_request(&mut self, shared: &Shared) -> Request {
        match self.random.random_range(0..100) {
            0..30 => self.claim(shared),
            30..45 => self.claim_several(shared),
            45..60 => self.release(shared),
            60..65 => self.claim_with_old_generation(shared),
            65..75 => self.create_provider(),
            75..80 => self.delete_provider(),
            80..90 => self.set_inventories(),
            90..94 => self.set_inventories_with_old_generation(),
            _ => self.set_traits(),
        }
    }

    /// `PUT /allocations/{consumer}`.
    fn claim(&mut self, shared: &Shared) -> Request {
        let consumer = self.consumer();
        let allocations = self.some_allocations(shared);
        let body = self.claim_body(consumer, &allocations, self.generation(consumer));
        Request {
            method: "PUT",
            path: format!("/allocations/{consumer}"),
            body: Some(body),
            effect: Effect::from([(consumer, self.holding(consumer, allocations))]),
            outcome: Outcome::Either,
        }
    }

    /// `POST /allocations`: some consumers get something, others lose all, in
    /// one request.
    fn claim_several(&mut self, shared: &Shared) -> Request {
        let count = self.random.random_range(2..4);
        let mut some = self.consumers.clone();
        some.shuffle(&mut self.random);
        some.truncate(count);
        let (mut bodies, mut effect) = (serde_json::Map::new(), Effect::new());
        for consumer in some {
            let generation = self.generation(consumer);
            let is_to_go = generation.is_some() && self.random.random_bool(0.5);
            let allocations =
                if is_to_go { BTreeMap::new() } else { self.some_allocations(shared) };
            bodies
                .insert(consumer.to_string(), self.claim_body(consumer, &allocations, generation));
            effect.insert(consumer, self.holding(consumer, allocations));
        }
        Request {
            method: "POST",
            path: "/allocations".to_owned(),
            body: Some(Value::Object(bodies)),
            effect,
            outcome: Outcome::Either,
        }
    }

    /// `DELETE /allocations/{consumer}`.
    fn release(&mut self, shared: &Shared) -> Request {
        let consumer = self.consumer();
        if !self.known.contains_key(&consumer) {
            return self.claim(shared);
        }
        Request {
            method: "DELETE",
            path: format!("/allocations/{consumer}"),
            body: None,
            effect: Effect::from([(consumer, None)]),
            outcome: Outcome::Success,
        }
    }

    fn claim_with_old_generation(&mut self, shared: &Shared) -> Request {
        let consumer = self.consumer();
        let allocations = self.some_allocations(shared);
        let wrong = self.generation(consumer).map_or(7, |generation| generation - 1);
        Request {
            method: "PUT",
            path: format!("/allocations/{consumer}"),
            body: Some(self.claim_body(consumer, &allocations, Some(wrong))),
            effect: Effect::new(),
            outcome: Outcome::Refusal,
        }
    }

    /// `POST /resource_providers`, at times below another.
    fn create_provider(&mut self) -> Request {
        let own = self.providers();
        if own.len() >= PROVIDERS {
            return self.delete_provider();
        }
        let parent = own.choose(&mut self.random).copied();
        let parent = parent.filter(|_| self.random.random_bool(0.5));
        let uuid = fresh(&mut self.random);
        let name = format!("worker-{}-{uuid}", self.number);
        let mut body = json!({"uuid": uuid, "name": name});
        if let Some(parent) = parent {
            body["parent_provider_uuid"] = json!(parent);
        }
        let object = Object::Provider {
            name,
            generation: 0,
            parent,
            inventories: Resources::new(),
            traits: BTreeSet::new(),
        };
        Request {
            method: "POST",
            path: "/resource_providers".to_owned(),
            body: Some(body),
            effect: Effect::from([(uuid, Some(object))]),
            outcome: Outcome::Success,
        }
    }

    /// `DELETE /resource_providers/{uuid}`, refused when it has children.
    fn delete_provider(&mut self) -> Request {
        let Some(uuid) = self.providers().choose(&mut self.random).copied() else {
            return self.create_provider();
        };
        let is_parent = self.known.values().any(
            |object| matches!(object, Object::Provider { parent, .. } if *parent == Some(uuid)),
        );
        let (effect, outcome) = match is_parent {
            true => (Effect::new(), Outcome::Refusal),
            false => (Effect::from([(uuid, None)]), Outcome::Success),
        };
        let path = format!("/resource_providers/{uuid}");
        Request { method: "DELETE", path, body: None, effect, outcome }
    }

    /// `PUT /resource_providers/{uuid}/inventories`.
    fn set_inventories(&mut self) -> Request {
        let new = self.some_inventories();
        self.write_provider("inventories", |generation, inventories, _| {
            let body = inventories_body(&new, *generation);
            *inventories = new;
            *generation += 1;
            body
        })
    }

    fn set_inventories_with_old_generation(&mut self) -> Request {
        let new = self.some_inventories();
        let request = self.write_provider("inventories", |generation, _, _| {
            inventories_body(&new, *generation + 1)
        });
        match request.method {
            "PUT" => Request { effect: Effect::new(), outcome: Outcome::Refusal, ..request },
            _ => request,
        }
    }

    /// `PUT /resource_providers/{uuid}/traits`; those that are there already are
    /// no change.
    fn set_traits(&mut self) -> Request {
        let mut new = BTreeSet::new();
        for name in TRAITS {
            if self.random.random_bool(0.5) {
                new.insert(name.to_owned());
            }
        }
        self.write_provider("traits", |generation, _, traits| {
            let body = json!({"traits": new, "resource_provider_generation": *generation});
            *generation += i64::from(*traits != new);
            *traits = new;
            body
        })
    }

    /// A write to some part of a provider, or the making of one where there is
    /// none. `write` counts the generation up when the service does.
    fn write_provider(
        &mut self,
        part: &str,
        write: impl FnOnce(&mut i64, &mut Resources, &mut BTreeSet<String>) -> Value,
    ) -> Request {
        let Some(uuid) = self.providers().choose(&mut self.random).copied() else {
            return self.create_provider();
        };
        let mut object = self.known[&uuid].clone();
        let Object::Provider { generation, inventories, traits, .. } = &mut object else {
            unreachable!("{uuid} is a provider")
        };
        let body = write(generation, inventories, traits);
        Request {
            method: "PUT",
            path: format!("/resource_providers/{uuid}/{part}"),
            body: Some(body),
            effect: Effect::from([(uuid, Some(object))]),
            outcome: Outcome::Success,
        }
    }

    fn consumer(&mut self) -> Uuid {
        *self.consumers.choose(&mut self.random).expect("consumers")
    }

    fn providers(&self) -> Vec<Uuid> {
        let is_one = |object: &Object| matches!(object, Object::Provider { .. });
        self.known.iter().filter(|(_, object)| is_one(object)).map(|(uuid, _)| *uuid).collect()
    }

    fn generation(&self, consumer: Uuid) -> Option<i64> {
        match self.known.get(&consumer)? {
            Object::Consumer { generation, .. } => Some(*generation),
            Object::Provider { .. } => None,
        }
    }

    /// What a consumer is after it was given this: nothing is left of one that
    /// holds nothing.
    fn holding(&self, consumer: Uuid, allocations: BTreeMap<Uuid, Resources>) -> Option<Object> {
        let generation = self.generation(consumer).unwrap_or(0) + 1;
        (!allocations.is_empty()).then_some(Object::Consumer { generation, allocations })
    }

    fn some_allocations(&mut self, shared: &Shared) -> BTreeMap<Uuid, Resources> {
        let count = self.random.random_range(1..3);
        let mut at: Vec<Uuid> = shared.providers.iter().copied().collect();
        at.shuffle(&mut self.random);
        at.into_iter()
            .take(count)
            .map(|provider| {
                let vcpus = self.random.random_range(1..5);
                (provider, resources([("MEMORY_MB", 256 * vcpus), ("VCPU", vcpus)]))
            })
            .collect()
    }

    fn some_inventories(&mut self) -> Resources {
        let mut all = Resources::new();
        for class in ["DISK_GB", "PCPU", "VGPU"] {
            if self.random.random_bool(0.6) {
                all.insert(class.to_owned(), self.random.random_range(1..1000));
            }
        }
        all
    }

    fn claim_body(
        &self,
        consumer: Uuid,
        allocations: &BTreeMap<Uuid, Resources>,
        generation: Option<i64>,
    ) -> Value {
        let by_provider = allocations
            .iter()
            .map(|(provider, resources)| (provider.to_string(), json!({"resources": resources})));
        json!({
            "allocations": Value::Object(by_provider.collect()),
            "project_id": PROJECT,
            "user_id": format!("worker-{}", self.number),
            "consumer_generation": generation,
            "consumer_type": if consumer.as_u128().is_multiple_of(2) { "INSTANCE" } else { "MIGRATION" },
        })
    }
}

fn inventories_body(inventories: &Resources, generation: i64) -> Value {
    let totals = inventories.iter().map(|(class, total)| (class.clone(), json!({"total": total})));
    json!({
        "inventories": Value::Object(totals.collect()),
        "resource_provider_generation": generation,
    })
}

fn resources<const N: usize>(amounts: [(&str, i64); N]) -> Resources {
    amounts.into_iter().map(|(class, amount)| (class.to_owned(), amount)).collect()
}

fn fresh(random: &mut ChaCha8Rng) -> Uuid {
    uuid::Builder::from_random_bytes(random.random()).into_uuid()
}
