//! What is measured, row by row.

use crate::{
    books::Books,
    cloud::{Cloud, Shape},
    jobs,
    load::{Figures, Notes, drive},
    servers,
    wire::{Call, Connection, Target},
};
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;
use uuid::Uuid;

/// Claims of one row, at most.
const CLAIMS: usize = 60_000;
/// How often a boot tries another candidate after a conflict.
const TRIES: usize = 10;
/// No end by count.
const ALL: usize = usize::MAX;

/// What a row does to a server, for how long, and what came of it.
type Run = dyn Fn(&Cloud, &Target, &mut Books, Duration) -> Figures;

/// A row of the table.
pub struct Row {
    pub name: String,
    /// Whether later rows need what it does.
    pub needed: bool,
    pub run: Box<Run>,
}

impl Row {
    pub fn new(
        name: String,
        run: impl Fn(&Cloud, &Target, &mut Books, Duration) -> Figures + 'static,
    ) -> Self {
        Self { name, needed: false, run: Box::new(run) }
    }
}

/// All rows, in order.
pub fn of(cloud: &Cloud) -> Vec<Row> {
    let mut rows = vec![Row {
        needed: true,
        ..Row::new("units of the cloud made, 4 clients".to_owned(), create)
    }];
    match cloud.shape {
        Shape::Hosts => rows.extend(servers::rows()),
        Shape::Jobs => rows.extend(jobs::rows()),
        Shape::Flat | Shape::Nested | Shape::Sharing => rows.extend(placement(cloud)),
    }
    rows
}

/// What clients of Placement do.
fn placement(cloud: &Cloud) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, query) in &cloud.queries {
        for (limit, clients) in [(Some(10), 1), (Some(10), 8), (Some(1000), 1), (None, 1)] {
            let bound = limit.map_or("no limit".to_owned(), |limit| format!("limit {limit}"));
            let limit = limit.map_or(String::new(), |limit| format!("&limit={limit}"));
            let path = format!("/allocation_candidates?{query}{limit}");
            rows.push(read(
                format!("candidates, {name}, {bound}, {}", of_clients(clients)),
                path,
                clients,
            ));
        }
    }
    let path = format!("/resource_providers?{}", cloud.claimed());
    rows.push(read("providers with resources, 1 client".to_owned(), path, 1));
    for clients in [1, 8] {
        rows.push(Row::new(
            format!("claims, {}", of_clients(clients)),
            move |cloud, target, books, time| claims(cloud, target, books, time, clients),
        ));
    }
    rows.push(Row::new("usages of the project, 1 client".to_owned(), |_, target, books, time| {
        get(target, &books.usages_path(), time, 1)
    }));
    for clients in [1, 8] {
        rows.push(Row::new(
            format!("boots, {}", of_clients(clients)),
            move |cloud, target, books, time| boots(cloud, target, books, time, clients),
        ));
    }
    rows
}

pub fn of_clients(clients: usize) -> String {
    if clients == 1 { "1 client".to_owned() } else { format!("{clients} clients") }
}

fn read(name: String, path: String, clients: usize) -> Row {
    Row::new(name, move |_, target, _, time| get(target, &path, time, clients))
}

/// The answers to one question, over and over.
pub fn get(target: &Target, path: &str, time: Duration, clients: usize) -> Figures {
    let call: Call = ("GET", path.to_owned(), None);
    let one = |connection: &mut Connection, _, notes: &mut Notes<()>| {
        let status = connection.call(&call).status;
        assert!(notes.status(status), "{path} was answered {status}");
    };
    // The first answers warm what there is to warm.
    drive(target, clients, time / 10, ALL, one);
    drive(target, clients, time, ALL, one).0
}

fn create(cloud: &Cloud, target: &Target, _: &mut Books, _: Duration) -> Figures {
    let put = |connection: &mut Connection, call: &Call| {
        let answer = connection.call(call);
        let said = String::from_utf8_lossy(answer.body);
        assert!(answer.status < 300, "{} {}: {} {said}", call.0, call.1, answer.status);
    };
    let mut connection = target.connect();
    cloud.first.iter().for_each(|call| put(&mut connection, call));
    let unit = |connection: &mut Connection, number: usize, _: &mut Notes<()>| {
        cloud.units[number].iter().for_each(|call| put(connection, call));
    };
    drive(target, 4, Duration::from_secs(3600), cloud.units.len(), unit).0
}

/// Claims a candidate; says whether it was accepted rather than refused.
fn claim<K>(connection: &mut Connection, path: String, body: String, notes: &mut Notes<K>) -> bool {
    let status = connection.call(&("PUT", path, Some(body))).status;
    assert!(status == 204 || status == 409, "a claim was answered {status}");
    notes.status(status)
}

fn claims(
    cloud: &Cloud,
    target: &Target,
    books: &mut Books,
    time: Duration,
    clients: usize,
) -> Figures {
    let path = format!("/allocation_candidates?{}", cloud.claimed());
    let found = candidates(&mut target.connect(), &("GET", path, None));
    let bodies: Vec<String> = found.iter().map(|found| books.claim(found)).collect();
    let (figures, kept) = drive(target, clients, time, CLAIMS, |connection, number, notes| {
        let consumer = Uuid::new_v4();
        let body = bodies[number % bodies.len()].clone();
        if claim(connection, format!("/allocations/{consumer}"), body, notes) {
            notes.kept.push((consumer, number % bodies.len()));
        }
    });
    for (consumer, number) in kept {
        books.accept(consumer, &found[number]);
    }
    figures
}

/// Candidates, one of them claimed at random, and every second claim deleted.
fn boots(
    cloud: &Cloud,
    target: &Target,
    books: &mut Books,
    time: Duration,
    clients: usize,
) -> Figures {
    let ask: Call = ("GET", format!("/allocation_candidates?{}&limit=10", cloud.claimed()), None);
    let own = &*books;
    let (figures, kept) = drive(target, clients, time, ALL, |connection, number, notes| {
        for _ in 0..TRIES {
            let found = candidates(connection, &ask);
            let consumer = Uuid::new_v4();
            // The last bytes of a random uuid are random.
            let pick = consumer.as_u128() as usize % found.len().max(1);
            let Some(candidate) = found.get(pick) else { panic!("the cloud is full") };
            let path = format!("/allocations/{consumer}");
            if !claim(connection, path.clone(), own.claim(candidate), notes) {
                continue;
            }
            if number.is_multiple_of(2) {
                notes.kept.push((consumer, candidate.clone()));
            } else {
                let status = connection.call(&("DELETE", path, None)).status;
                assert_eq!(status, 204, "a deletion");
            }
            return;
        }
    });
    for (consumer, candidate) in kept {
        books.accept(consumer, &candidate);
    }
    figures
}

/// The part of an answer that a claim needs.
#[derive(Deserialize)]
struct Found {
    allocation_requests: Vec<Value>,
}

fn candidates(connection: &mut Connection, call: &Call) -> Vec<Value> {
    let answer = connection.call(call);
    assert_eq!(answer.status, 200, "candidates");
    let found: Found = serde_json::from_slice(answer.body).expect("candidates");
    found.allocation_requests
}
