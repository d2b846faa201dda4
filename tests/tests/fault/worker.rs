//! One client: it sends one request after another about objects of its own, and
//! remembers what it was told.

use crate::{
    cloud::Cloud,
    model::{self, Object, Outcome, Request, World},
};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use std::{
    ops::AddAssign,
    sync::atomic::{AtomicBool, Ordering::SeqCst},
};
use stowplan_tests::Client;
use uuid::Uuid;

/// Consumers of one worker.
const CONSUMERS: usize = 8;

/// What became of a worker's requests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub acknowledged: u64,
    pub refused: u64,
    /// Whose answer never came.
    pub lost: u64,
    /// Of those, the ones that had been carried out.
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
    pub(crate) number: u64,
    pub(crate) random: ChaCha8Rng,
    pub(crate) consumers: Vec<Uuid>,
    /// What it has been told; nobody else writes to it.
    pub known: World,
    under_way: Option<Request>,
    /// The last decision that it was told of.
    pub decision: Option<Uuid>,
    pub tally: Tally,
}

impl Worker {
    pub fn new(number: u64, mut random: ChaCha8Rng) -> Self {
        let consumers = (0..CONSUMERS).map(|_| fresh(&mut random)).collect();
        let (known, tally) = (World::new(), Tally::default());
        Self { number, random, consumers, known, under_way: None, decision: None, tally }
    }

    /// Sends one request after another until no answer comes.
    ///
    /// # Panics
    /// When an answer is not what it must be, or none comes although the
    /// service was not to end.
    pub fn work(&mut self, client: &Client, cloud: &Cloud, is_ending: &AtomicBool) {
        loop {
            let request = self.next_request(cloud);
            match client.try_send(request.method, &request.path, request.body.as_ref()) {
                Ok(reply) => self.learn(request, reply.status, &reply.body),
                Err(error) => {
                    assert!(is_ending.load(SeqCst), "no answer: {error}: {request:#?}");
                    self.under_way = Some(request);
                    self.tally.lost += 1;
                    return;
                }
            }
        }
    }

    fn learn(&mut self, request: Request, status: u16, body: &str) {
        let is_success = (200..300).contains(&status);
        let is_due = match request.outcome {
            Outcome::Success => is_success,
            Outcome::Refusal => status == 409,
            Outcome::Either => is_success || status == 409,
        };
        assert!(is_due, "{request:#?}\n{status}: {body}");
        if !is_success {
            self.tally.refused += 1;
            return;
        }
        self.tally.acknowledged += 1;
        if request.path == "/v1/select_destinations" {
            let answer: Value = serde_json::from_str(body).expect("JSON");
            self.decision = answer["decision_id"].as_str().and_then(|id| id.parse().ok());
            assert!(self.decision.is_some(), "no decision: {body}");
        }
        model::apply(&mut self.known, request.effect.answered(body));
    }

    /// Learns what became of the request that was under way.
    ///
    /// # Panics
    /// When it was carried out in part.
    pub fn settle(&mut self, actual: &World, round: u64) {
        if let Some(request) = self.under_way.take() {
            println!("round {round}: no answer to {} {}", request.method, request.path);
            let written = request.effect.found(&self.known, actual);
            self.tally.done += u64::from(!written.is_empty());
            model::apply(&mut self.known, written);
        }
    }

    /// Its own providers.
    pub(crate) fn providers(&self) -> Vec<Uuid> {
        let is_one = |object: &Object| matches!(object, Object::Provider { .. });
        self.known.iter().filter(|(_, object)| is_one(object)).map(|(uuid, _)| *uuid).collect()
    }

    /// The generation of a consumer that there is.
    pub(crate) fn generation(&self, consumer: Uuid) -> Option<i64> {
        match self.known.get(&consumer)? {
            Object::Consumer { generation, .. } => Some(*generation),
            Object::Provider { .. } => None,
        }
    }
}

/// A uuid that the seed decides.
pub(crate) fn fresh(random: &mut ChaCha8Rng) -> Uuid {
    uuid::Builder::from_random_bytes(random.random()).into_uuid()
}
