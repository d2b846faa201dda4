//! The fault test: the service is killed at random moments under load, many
//! times; what it has acknowledged is there when it is back, what it refused is
//! not, and what was under way is either, but whole.
//!
//! `STOWPLAN_FAULT_SEED` repeats a run's requests (their timing is the
//! machine's), `STOWPLAN_FAULT_ROUNDS` sets how often the service is ended.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod cloud;
mod full;
mod model;
mod reading;
mod requests;
mod worker;

use cloud::Cloud;
use model::World;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use std::{
    env,
    ops::Range,
    sync::atomic::{AtomicBool, Ordering::SeqCst},
    thread,
    time::{Duration, Instant},
};
use stowplan_db::testing::{Kind, TestDatabase};
use stowplan_tests::{Builder, Server};
use uuid::Uuid;
use worker::{Tally, Worker};

/// Clients that write at once: enough that commits hold several changes.
const WORKERS: u64 = 6;
/// How long the load may last in a round, in milliseconds: on the embedded
/// database, and on a server.
const LOAD: Range<u64> = 20..300;
const LOAD_ON_SERVER: Range<u64> = 50..500;
/// Every so many rounds the service is asked to end, and not killed.
const GENTLE: u64 = 10;

#[test]
fn sqlite() {
    run(Builder::new().set("placement_database.sqlite_synchronous=true"), rounds(220), LOAD);
}

#[test]
fn postgres() {
    on_server(Kind::Postgres);
}

#[test]
fn mariadb() {
    on_server(Kind::MariaDb);
}

fn on_server(kind: Kind) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let Some(database) = runtime.block_on(TestDatabase::create(kind)) else {
        return;
    };
    let connection = format!("placement_database.connection={}", database.url());
    run(Builder::new().set(&connection), rounds(15), LOAD_ON_SERVER);
}

fn rounds(usual: u64) -> u64 {
    number("STOWPLAN_FAULT_ROUNDS").unwrap_or(usual)
}

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}: a number is expected, not {text}")))
}

/// Ends and starts the service this often, and looks at it each time.
fn run(builder: Builder, rounds: u64, load: Range<u64>) {
    let seed = number("STOWPLAN_FAULT_SEED").unwrap_or_else(|| Uuid::new_v4().as_u64_pair().1);
    println!("STOWPLAN_FAULT_SEED={seed} STOWPLAN_FAULT_ROUNDS={rounds}");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut server = builder.start();
    let cloud = Cloud::set_up(&server.client());
    let mut workers: Vec<Worker> = (0..WORKERS)
        .map(|number| Worker::new(number, ChaCha8Rng::seed_from_u64(seed ^ (number + 1))))
        .collect();
    for round in 1..=rounds {
        let load = Duration::from_millis(random.random_range(load.clone()));
        let began = Instant::now();
        workers = under_load(&mut server, &cloud, workers, load, round % GENTLE == 0);
        let ended = Instant::now();
        server.start_again();
        let started = Instant::now();
        settle(&server, &cloud, &mut workers, round);
        println!(
            "round {round}: load {:?}, start {:?}, look {:?}",
            ended - began,
            started - ended,
            started.elapsed(),
        );
    }
    let mut total = Tally::default();
    workers.iter().for_each(|worker| total += worker.tally);
    println!("{rounds} rounds: {total:?}");
    // A run in which one of these never came up has not looked at it.
    let Tally { acknowledged, refused, lost, done } = total;
    assert!(acknowledged > rounds && refused > 0 && lost > 0, "too little happened: {total:?}");
    assert!(done <= lost);
}

/// Lets all workers at the service until it ends.
fn under_load(
    server: &mut Server,
    cloud: &Cloud,
    workers: Vec<Worker>,
    load: Duration,
    is_gentle: bool,
) -> Vec<Worker> {
    let is_ending = AtomicBool::new(false);
    thread::scope(|scope| {
        let running: Vec<_> = workers
            .into_iter()
            .map(|mut worker| {
                let (client, is_ending) = (server.client(), &is_ending);
                scope.spawn(move || {
                    worker.work(&client, cloud, is_ending);
                    worker
                })
            })
            .collect();
        thread::sleep(load);
        is_ending.store(true, SeqCst);
        if is_gentle {
            let status = server.stop();
            assert_eq!(status.code(), Some(0), "the end that was asked for");
        } else {
            server.kill();
        }
        running.into_iter().map(|worker| worker.join().expect("a worker")).collect()
    })
}

/// Compares what the service says now with what it has acknowledged; what was
/// under way is known from here on.
fn settle(server: &Server, cloud: &Cloud, workers: &mut [Worker], round: u64) {
    let client = server.client();
    Cloud::heartbeat(&client);
    let actual = reading::read(&client, cloud);
    let mut expected = World::new();
    for worker in workers {
        worker.settle(&actual, round);
        if let Some(decision) = worker.decision {
            let _ = client.get(&format!("/v1/decisions/{decision}")).expect(200);
        }
        expected.extend(worker.known.clone());
    }
    model::assert_same(&actual, &expected, round);
}
