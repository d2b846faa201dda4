//! Batch jobs, from the first POST to the last `task.bound` that a subscriber
//! reads, and what cycles cost those who ask for candidates meanwhile.

use crate::{
    books::Books,
    cloud::Cloud,
    load::{Figures, Notes, drive},
    rows::{Row, get, of_clients},
    wire::{Connection, Target},
};
use serde::Deserialize;
use serde_json::json;
use std::{
    collections::HashMap,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
use uuid::Uuid;

/// How long one row may take.
const PATIENCE: Duration = Duration::from_secs(600);
/// Jobs that fit nowhere: every cycle has to look at them.
const HOPELESS: usize = 100;
/// What such a job asks for: more than any host has.
const TOO_MANY: u32 = 100_000;

/// Jobs to be run: how many, of how many tasks, submitted by how many clients.
#[derive(Clone, Copy)]
struct Load {
    jobs: usize,
    tasks: usize,
    clients: usize,
}

/// All rows, in order.
pub fn rows() -> Vec<Row> {
    let loads = [
        Load { jobs: 100, tasks: 100, clients: 1 },
        Load { jobs: 100, tasks: 100, clients: 8 },
        Load { jobs: 10_000, tasks: 1, clients: 8 },
    ];
    let mut rows: Vec<Row> = loads.into_iter().map(end_to_end).collect();
    rows.push(Row::new("candidates, limit 10, no cycle".to_owned(), |cloud, target, _, time| {
        get(target, &query(cloud), time, 1)
    }));
    rows.push(Row::new("candidates, limit 10, during cycles".to_owned(), during_cycles));
    rows
}

fn query(cloud: &Cloud) -> String {
    format!("/allocation_candidates?{}&limit=10", cloud.claimed())
}

/// A row of one operation per task: from the POST of its job to its event.
fn end_to_end(load: Load) -> Row {
    let Load { jobs, tasks, clients } = load;
    let (of, by) = (
        if tasks == 1 { "1 task".to_owned() } else { format!("{tasks} tasks") },
        of_clients(clients),
    );
    Row::new(format!("{jobs} jobs of {of}, POST to task.bound, {by}"), move |_, target, _, _| {
        let bound = Bound::after_now(target);
        let posted: Mutex<HashMap<Uuid, Instant>> = Mutex::default();
        let done = thread::scope(|scope| {
            let reader = scope.spawn(|| bound.read(target, jobs * tasks));
            let begun = Instant::now();
            let post = |connection: &mut Connection, _: usize, notes: &mut Notes<()>| {
                let at = Instant::now();
                let job = submit(connection, tasks, "1");
                notes.status(201);
                posted.lock().expect("no poison").insert(job, at);
            };
            drive(target, clients, PATIENCE, jobs, post);
            (begun, reader.join().expect("all events come"))
        });
        let (begun, events) = done;
        let posted = posted.into_inner().expect("no poison");
        let mut times: Vec<Duration> =
            events.iter().map(|(job, at)| at.duration_since(posted[job])).collect();
        times.sort_unstable();
        let end = events.iter().map(|(_, at)| *at).max().expect("events");
        let mut connection = target.connect();
        held_as_told(&mut connection, jobs * tasks);
        end_jobs(target, posted.keys());
        Figures { times, elapsed: end - begun, ..Figures::default() }
    })
}

/// Candidates while jobs come and go, and others wait that fit nowhere.
fn during_cycles(cloud: &Cloud, target: &Target, _: &mut Books, time: Duration) -> Figures {
    let mut connection = target.connect();
    let hopeless: Vec<Uuid> =
        (0..HOPELESS).map(|_| submit(&mut connection, 1, &TOO_MANY.to_string())).collect();
    let (stop, bound) = (AtomicBool::new(false), AtomicUsize::new(0));
    let figures = thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let events = Bound::after_now(target);
                let job = submit(&mut connection, 100, "1");
                bound.fetch_add(events.read(target, 100).len(), Ordering::Relaxed);
                end_jobs(target, [&job]);
            }
        });
        let figures = get(target, &query(cloud), time, 1);
        stop.store(true, Ordering::Relaxed);
        figures
    });
    assert!(bound.into_inner() > 0, "cycles have bound tasks");
    end_jobs(target, &hopeless);
    figures
}

/// Submits a job of tasks that ask for processors, and tells its id.
fn submit(connection: &mut Connection, tasks: usize, cpu: &str) -> Uuid {
    #[derive(Deserialize)]
    struct Answer {
        id: Uuid,
    }
    let job = json!({"namespace": "bench", "tasks": [
        {"count": tasks, "requests": {"cpu": cpu, "memory": "64Mi"}},
    ]});
    let answer = connection.call(&("POST", "/v1/jobs".to_owned(), Some(job.to_string())));
    let said = String::from_utf8_lossy(answer.body);
    assert_eq!(answer.status, 201, "a submission was answered {said}");
    let answer: Answer = serde_json::from_slice(answer.body).expect("a job");
    answer.id
}

/// What queues say that tasks hold is what events said.
fn held_as_told(connection: &mut Connection, tasks: usize) {
    let queue = connection.call(&("GET", "/v1/queues/default".to_owned(), None)).json();
    assert_eq!(queue["status"]["allocated"]["VCPU"], tasks, "no bind is lost");
}

/// Ends jobs at once.
fn end_jobs<'a>(target: &Target, jobs: impl IntoIterator<Item = &'a Uuid>) {
    let jobs: Vec<&Uuid> = jobs.into_iter().collect();
    let one = |connection: &mut Connection, number: usize, notes: &mut Notes<()>| {
        let path = format!("/v1/jobs/{}:cancel?force=true", jobs[number]);
        let status = connection.call(&("POST", path, None)).status;
        assert!(notes.status(status), "a cancellation was answered {status}");
    };
    drive(target, 8.min(jobs.len()), PATIENCE, jobs.len(), one);
}

/// A subscriber of binds.
struct Bound {
    since: i64,
}

#[derive(Deserialize)]
struct Page {
    events: Vec<Event>,
    next: i64,
}

#[derive(Deserialize)]
struct Event {
    job: Uuid,
}

impl Bound {
    fn after_now(target: &Target) -> Self {
        let page = Self::page(&mut target.connect(), "/v1/events".to_owned());
        Self { since: page.next }
    }

    /// Reads until so many tasks are bound: their jobs, and when that was read.
    fn read(mut self, target: &Target, count: usize) -> Vec<(Uuid, Instant)> {
        let mut connection = target.connect();
        let mut bound = Vec::with_capacity(count);
        let until = Instant::now() + PATIENCE;
        while bound.len() < count {
            assert!(Instant::now() < until, "{} of {count} tasks are bound", bound.len());
            let since = self.since;
            let path = format!("/v1/events?since={since}&kinds=task.bound&wait=10");
            let page = Self::page(&mut connection, path);
            let now = Instant::now();
            bound.extend(page.events.into_iter().map(|event| (event.job, now)));
            self.since = page.next;
        }
        bound
    }

    fn page(connection: &mut Connection, path: String) -> Page {
        let answer = connection.call(&("GET", path, None));
        let said = String::from_utf8_lossy(answer.body);
        assert_eq!(answer.status, 200, "events were answered {said}");
        serde_json::from_slice(answer.body).expect("events")
    }
}
