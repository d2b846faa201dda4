//! Servers that are placed on hosts, by the scheduler.

use crate::{
    books::Books,
    cloud::Cloud,
    load::{Figures, Notes, drive},
    rows::{Row, of_clients},
    wire::{Connection, Target},
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use uuid::Uuid;

/// Servers of one request, as Nova's multi-create sends them.
const MANY: usize = 100;
/// Alternates, as Nova asks for with `max_attempts` of 3.
const ALTERNATES: usize = 2;

/// What one request asks for.
#[derive(Clone, Copy)]
struct Wish {
    servers: usize,
    alternates: usize,
    dry_run: bool,
}

/// Where one server goes.
#[derive(Deserialize)]
struct Selection {
    instance_uuid: Uuid,
    allocation_request: Value,
    alternates: Vec<Value>,
}

#[derive(Deserialize)]
struct Answer {
    selections: Vec<Selection>,
}

/// All rows, in order.
pub fn rows() -> Vec<Row> {
    let one = Wish { servers: 1, alternates: 0, dry_run: false };
    let many = Wish { servers: MANY, alternates: ALTERNATES, dry_run: false };
    let row = |name: &str, wish: Wish, clients: usize| {
        let name = format!("{name}, {}", of_clients(clients));
        Row::new(name, move |cloud, target, books, time| {
            place(cloud, target, books, time, wish, clients)
        })
    };
    vec![
        row("one server, dry run", Wish { dry_run: true, ..one }, 1),
        row("one server, claimed", one, 1),
        row("one server, claimed", one, 8),
        row(&format!("one server, {ALTERNATES} alternates"), Wish { servers: 1, ..many }, 8),
        row(&format!("{MANY} servers, {ALTERNATES} alternates each"), many, 1),
    ]
}

fn place(
    cloud: &Cloud,
    target: &Target,
    books: &mut Books,
    time: Duration,
    wish: Wish,
    clients: usize,
) -> Figures {
    let (project, user) = books.owner();
    let body = json!({
        "flavor": cloud.flavor, "count": wish.servers, "alternates": wish.alternates,
        "project_id": project, "user_id": user, "dry_run": wish.dry_run,
    });
    let call = ("POST", "/v1/select_destinations".to_owned(), Some(body.to_string()));
    let (figures, kept) = drive(
        target,
        clients,
        time,
        usize::MAX,
        |connection: &mut Connection, _, notes: &mut Notes<Selection>| {
            let answer = connection.call(&call);
            let said = String::from_utf8_lossy(answer.body);
            assert!(notes.status(answer.status), "a request was answered {said}");
            let answer: Answer = serde_json::from_slice(answer.body).expect("selections");
            assert_eq!(answer.selections.len(), wish.servers, "selections");
            for selection in &answer.selections {
                assert_eq!(selection.alternates.len(), wish.alternates, "alternates");
            }
            if !wish.dry_run {
                notes.kept.extend(answer.selections);
            }
        },
    );
    for selection in kept {
        books.accept(selection.instance_uuid, &selection.allocation_request);
    }
    figures
}
