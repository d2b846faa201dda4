//! The requests that a worker makes up.

use crate::{
    cloud::{Cloud, TRAITS, totals},
    model::{Effect, Object, Outcome, Request, Resources, World, Written, resources},
    worker::{Worker, fresh},
};
use rand::{
    RngExt as _,
    seq::{IndexedRandom as _, SliceRandom as _},
};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// The project of all consumers.
pub const PROJECT: &str = "fault";
/// Most providers of one worker's own.
const PROVIDERS: usize = 4;

impl Worker {
    pub(crate) fn next_request(&mut self, cloud: &Cloud) -> Request {
        match self.random.random_range(0..100) {
            0..25 => self.claim(cloud),
            25..40 => self.claim_several(cloud),
            40..50 => self.select_destinations(cloud),
            50..65 => self.release(cloud),
            65..69 => self.claim_with_old_generation(cloud),
            69..78 => self.create_provider(),
            78..83 => self.delete_provider(),
            83..91 => self.set_inventories(),
            91..94 => self.set_inventories_with_old_generation(),
            _ => self.set_traits(),
        }
    }

    /// `PUT /allocations/{consumer}`.
    fn claim(&mut self, cloud: &Cloud) -> Request {
        let consumer = self.consumer();
        let allocations = self.some_allocations(cloud);
        let body = self.claim_body(&allocations, self.generation(consumer));
        Request {
            method: "PUT",
            path: format!("/allocations/{consumer}"),
            body: Some(body),
            effect: Effect::one(consumer, self.holding(consumer, allocations)),
            outcome: Outcome::Either,
        }
    }

    /// `POST /allocations`: some consumers get something, others lose all, in
    /// one request.
    fn claim_several(&mut self, cloud: &Cloud) -> Request {
        let mut some = self.consumers.clone();
        some.shuffle(&mut self.random);
        some.truncate(self.random.random_range(2..4));
        let (mut bodies, mut written) = (Map::new(), Written::new());
        for consumer in some {
            let generation = self.generation(consumer);
            let is_to_go = generation.is_some() && self.random.random_bool(0.5);
            let allocations = if is_to_go { BTreeMap::new() } else { self.some_allocations(cloud) };
            bodies.insert(consumer.to_string(), self.claim_body(&allocations, generation));
            written.insert(consumer, self.holding(consumer, allocations));
        }
        Request {
            method: "POST",
            path: "/allocations".to_owned(),
            body: Some(Value::Object(bodies)),
            effect: Effect::Writes(written),
            outcome: Outcome::Either,
        }
    }

    /// `POST /v1/select_destinations` for servers that hold nothing yet.
    fn select_destinations(&mut self, cloud: &Cloud) -> Request {
        let is_new = |consumer: &Uuid| !self.known.contains_key(consumer);
        let mut servers: Vec<Uuid> = self.consumers.iter().copied().filter(is_new).collect();
        servers.truncate(self.random.random_range(1..4));
        if servers.is_empty() {
            return self.release(cloud);
        }
        let vcpus = self.random.random_range(1..4);
        let flavor = json!({
            "name": "small", "vcpus": vcpus, "memory_mb": 256 * vcpus, "root_gb": 3, "swap": 1000,
        });
        Request {
            method: "POST",
            path: "/v1/select_destinations".to_owned(),
            body: Some(json!({
                "flavor": flavor,
                "instance_uuids": servers,
                "project_id": PROJECT,
                "user_id": format!("worker-{}", self.number),
            })),
            effect: Effect::Places {
                servers,
                // A swap of less than one GiB takes one.
                resources: resources([
                    ("DISK_GB", 3 + 1),
                    ("MEMORY_MB", 256 * vcpus),
                    ("VCPU", vcpus),
                ]),
            },
            outcome: Outcome::Either,
        }
    }

    /// `DELETE /allocations/{consumer}`.
    fn release(&mut self, cloud: &Cloud) -> Request {
        let consumer = self.consumer();
        if !self.known.contains_key(&consumer) {
            return self.claim(cloud);
        }
        Request {
            method: "DELETE",
            path: format!("/allocations/{consumer}"),
            body: None,
            effect: Effect::one(consumer, None),
            outcome: Outcome::Success,
        }
    }

    fn claim_with_old_generation(&mut self, cloud: &Cloud) -> Request {
        let consumer = self.consumer();
        let allocations = self.some_allocations(cloud);
        let wrong = self.generation(consumer).map_or(7, |generation| generation - 1);
        Request {
            method: "PUT",
            path: format!("/allocations/{consumer}"),
            body: Some(self.claim_body(&allocations, Some(wrong))),
            effect: Effect::nothing(),
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
            effect: Effect::one(uuid, Some(object)),
            outcome: Outcome::Success,
        }
    }

    /// `DELETE /resource_providers/{uuid}`, refused when it has children.
    fn delete_provider(&mut self) -> Request {
        let Some(uuid) = self.providers().choose(&mut self.random).copied() else {
            return self.create_provider();
        };
        let (effect, outcome) = if is_parent(&self.known, uuid) {
            (Effect::nothing(), Outcome::Refusal)
        } else {
            (Effect::one(uuid, None), Outcome::Success)
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
            "PUT" => Request { effect: Effect::nothing(), outcome: Outcome::Refusal, ..request },
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
            effect: Effect::one(uuid, Some(object)),
            outcome: Outcome::Success,
        }
    }

    fn consumer(&mut self) -> Uuid {
        *self.consumers.choose(&mut self.random).expect("consumers")
    }

    /// What a consumer is after it was given this: nothing is left of one that
    /// holds nothing.
    fn holding(&self, consumer: Uuid, allocations: BTreeMap<Uuid, Resources>) -> Option<Object> {
        let generation = self.generation(consumer).unwrap_or(0) + 1;
        (!allocations.is_empty()).then_some(Object::Consumer { generation, allocations })
    }

    fn some_allocations(&mut self, cloud: &Cloud) -> BTreeMap<Uuid, Resources> {
        let count = self.random.random_range(1..3);
        let mut at = cloud.hosts.clone();
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
        allocations: &BTreeMap<Uuid, Resources>,
        generation: Option<i64>,
    ) -> Value {
        let by_provider: Map<String, Value> = allocations
            .iter()
            .map(|(provider, resources)| (provider.to_string(), json!({"resources": resources})))
            .collect();
        json!({
            "allocations": by_provider,
            "project_id": PROJECT,
            "user_id": format!("worker-{}", self.number),
            "consumer_generation": generation,
            "consumer_type": "INSTANCE",
        })
    }
}

fn is_parent(world: &World, uuid: Uuid) -> bool {
    let is_child = |object: &Object| match object {
        Object::Provider { parent, .. } => *parent == Some(uuid),
        Object::Consumer { .. } => false,
    };
    world.values().any(is_child)
}

fn inventories_body(inventories: &Resources, generation: i64) -> Value {
    json!({"inventories": totals(inventories), "resource_provider_generation": generation})
}
