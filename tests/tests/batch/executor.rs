//! A thousand jobs, run by an executor, while the service is killed again and
//! again: every job ends, and no task runs twice at once.

use crate::cloud::{audit, hosts};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::{self, sleep},
    time::{Duration, Instant},
};
use stowplan_tests::{Builder, Client};

const HOSTS: usize = 10;
const JOBS: usize = 1000;
const KILLS: usize = 5;
/// How long a task runs.
const RUN: Duration = Duration::from_millis(30);

/// Whoever serves at the moment.
pub type Served = Arc<Mutex<Client>>;

/// A client of whoever serves at the moment.
pub fn client(served: &Served) -> Client {
    served.lock().unwrap().clone()
}

/// An executor of all hosts: it knows of binds and evictions from events, and
/// reads what hosts are to run when it may have missed some.
pub struct Executor {
    served: Served,
    hosts: usize,
    run: Duration,
    /// Tasks that were told to leave.
    pub evicted: usize,
    since: Option<i64>,
    /// Attempt and start of what runs.
    running: BTreeMap<String, (i64, Instant)>,
    /// What has been said to have ended well.
    done: BTreeSet<String>,
    /// What still has to be reported.
    reports: Vec<Value>,
}

impl Executor {
    /// One of so many hosts; every task runs for so long.
    pub fn new(served: Served, hosts: usize, run: Duration) -> Self {
        Self {
            served,
            hosts,
            run,
            evicted: 0,
            since: None,
            running: BTreeMap::new(),
            done: BTreeSet::new(),
            reports: Vec::new(),
        }
    }

    /// Looks what there is to do, does it, and reports.
    pub fn turn(&mut self) {
        let client = client(&self.served);
        if let Some(since) = self.since {
            let path = format!("/v1/events?since={since}&kinds=task.bound,task.evict&wait=1");
            match client.try_send("GET", &path, None) {
                Ok(reply) if reply.status == 200 => {
                    let body = reply.json();
                    for event in body["events"].as_array().unwrap() {
                        self.heed(&event["task"], event["kind"] == "task.bound");
                    }
                    self.since = body["next"].as_i64();
                }
                _ => self.since = None,
            }
        }
        if self.since.is_none() && self.read(&client).is_none() {
            sleep(Duration::from_millis(20));
            return;
        }
        self.end();
        self.report(&client);
    }

    /// What hosts are to run, and what they have to let go.
    fn read(&mut self, client: &Client) -> Option<()> {
        let mut listed = BTreeSet::new();
        let mut seq = i64::MAX;
        for n in 0..self.hosts {
            let reply = client.try_send("GET", &format!("/v1/hosts/h{n}/tasks"), None).ok()?;
            if reply.status != 200 {
                return None;
            }
            let body = reply.json();
            seq = seq.min(body["seq"].as_i64()?);
            for task in body["tasks"].as_array()? {
                listed.insert(task["id"].as_str()?.to_owned());
                self.heed(task, task["state"] != "Releasing");
            }
        }
        self.running.retain(|task, _| listed.contains(task));
        self.since = Some(seq);
        Some(())
    }

    fn heed(&mut self, task: &Value, is_to_run: bool) {
        let id = task["id"].as_str().unwrap().to_owned();
        let attempt = task["attempt"].as_i64().unwrap();
        if !is_to_run {
            self.running.remove(&id);
            self.evicted += 1;
            self.say(&id, attempt, "Released");
            return;
        }
        match self.running.get(&id) {
            Some((known, _)) if *known >= attempt => return,
            Some((known, _)) => panic!("{id} runs as {known} and is bound again as {attempt}"),
            None => {}
        }
        // An event that comes again, of what has ended since.
        let said = |report: &Value| report["task"] == id && report["attempt"] == attempt;
        if self.reports.iter().any(said) || self.done.contains(&id) {
            return;
        }
        self.running.insert(id.clone(), (attempt, Instant::now()));
        self.say(&id, attempt, "Running");
    }

    fn end(&mut self) {
        let over = self.running.iter().filter(|(_, (_, start))| start.elapsed() >= self.run);
        let over: Vec<(String, i64)> = over.map(|(id, (n, _))| (id.clone(), *n)).collect();
        for (id, attempt) in over {
            self.running.remove(&id);
            self.say(&id, attempt, "Succeeded");
        }
    }

    fn say(&mut self, task: &str, attempt: i64, state: &str) {
        self.reports.push(json!({"task": task, "attempt": attempt, "state": state}));
    }

    /// Reports are said again until somebody has taken them in.
    fn report(&mut self, client: &Client) {
        if self.reports.is_empty() {
            return;
        }
        let reports = json!(self.reports);
        let Ok(reply) = client.try_send("POST", "/v1/task-reports", Some(&reports)) else { return };
        if reply.status != 200 {
            return;
        }
        let body = reply.json();
        let verdicts = body["verdicts"].as_array().unwrap();
        for (report, verdict) in self.reports.iter().zip(verdicts) {
            if report["state"] == "Succeeded" {
                assert_eq!(verdict["status"], 200, "{report} {verdict}");
                assert!(self.done.insert(report["task"].as_str().unwrap().to_owned()));
            }
        }
        self.reports.clear();
    }
}

/// Submits a job until somebody has taken it in: the key makes it one job.
fn submit(served: &Served, n: usize) -> String {
    let job = json!({"name": format!("job-{n}"), "tasks": [
        {"count": 1 + n % 2, "requests": {"cpu": "1", "memory": "64Mi"}},
    ]});
    loop {
        let client = client(served).header("idempotency-key", &format!("key-{n}"));
        match client.try_send("POST", "/v1/jobs", Some(&job)) {
            Ok(reply) if reply.status == 201 => {
                return reply.json()["id"].as_str().unwrap().to_owned();
            }
            Ok(reply) => panic!("{reply:?}"),
            Err(_) => sleep(Duration::from_millis(20)),
        }
    }
}

#[test]
fn every_job_ends_and_no_task_runs_twice_at_once() {
    let mut server = Builder::new().start();
    hosts(&server.client(), HOSTS, 16);
    let served: Served = Arc::new(Mutex::new(server.client()));
    let stop = Arc::new(AtomicBool::new(false));
    let executor = {
        let (served, stop) = (served.clone(), stop.clone());
        thread::spawn(move || {
            let mut executor = Executor::new(served, HOSTS, RUN);
            while !stop.load(Relaxed) {
                executor.turn();
            }
            executor.done.len()
        })
    };
    let submitter = {
        let served = served.clone();
        thread::spawn(move || (0..JOBS).map(|n| submit(&served, n)).collect::<BTreeSet<_>>())
    };
    for kill in 0..KILLS {
        sleep(Duration::from_millis(600 + 200 * kill as u64));
        server.kill();
        server.start_again();
        *served.lock().unwrap() = server.client();
    }
    let jobs = submitter.join().unwrap();
    assert_eq!(jobs.len(), JOBS);
    let client = server.client();
    let until = Instant::now() + Duration::from_secs(120);
    loop {
        let open = ["Pending", "Inqueue", "Running", "Unknown"].map(|phase| {
            let page = client.get(&format!("/v1/jobs?phase={phase}")).json();
            page["jobs"].as_array().unwrap().len()
        });
        if open.iter().sum::<usize>() == 0 {
            break;
        }
        assert!(!executor.is_finished(), "the executor broke off");
        assert!(Instant::now() < until, "{open:?} jobs have not ended");
        sleep(Duration::from_millis(100));
    }
    stop.store(true, Relaxed);
    let tasks = executor.join().unwrap();
    assert_eq!(tasks, JOBS + JOBS / 2, "each task ended well, once");
    let failed = client.get("/v1/jobs?phase=Failed").json();
    assert_eq!(failed["jobs"], json!([]));
    audit(&server);
    let queue = client.get("/v1/queues/default").json();
    assert_eq!(queue["status"]["allocated"], json!({}));
}
