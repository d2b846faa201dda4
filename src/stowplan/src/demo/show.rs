//! The tables of the result, all from the API.

use super::{
    cloud::{PACKED, ZONES},
    workload::Placed,
};
use crate::out::outln;
use crate::{http::Client, table};
use anyhow::Context as _;
use comfy_table::CellAlignment;
use serde::Deserialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    thread,
    time::{Duration, Instant},
};
use uuid::Uuid;

/// How long the first answer of a gang is waited for.
const GANG_PATIENCE: Duration = Duration::from_secs(20);
/// How long an explanation is waited for, which is written beside the answers.
const BODY_PATIENCE: Duration = Duration::from_secs(5);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Deserialize)]
struct Hosts {
    hosts: Vec<Host>,
}

#[derive(Deserialize)]
struct Host {
    availability_zone: String,
    figures: Figures,
}

#[derive(Deserialize)]
struct Figures {
    vcpus_total: i64,
    vcpus_used: i64,
    memory_mb: i64,
    free_ram_mb: i64,
    num_instances: i64,
}

#[derive(Deserialize)]
struct Jobs {
    jobs: Vec<Job>,
}

/// A job as the list shows it.
#[derive(Debug, Deserialize)]
pub struct Job {
    id: Uuid,
    /// Its name.
    pub name: String,
    phase: String,
    counts: BTreeMap<String, u32>,
    conditions: Vec<Condition>,
}

#[derive(Debug, Deserialize)]
struct Condition {
    message: String,
}

#[derive(Deserialize)]
struct Tasks {
    tasks: Vec<Task>,
}

#[derive(Deserialize)]
struct Task {
    host: Option<String>,
}

#[derive(Deserialize)]
struct Refusal {
    detail: String,
    decision_id: Option<Uuid>,
}

#[derive(Deserialize)]
struct Decision {
    body: Option<Explained>,
}

#[derive(Deserialize)]
struct Explained {
    servers: Vec<Server>,
}

#[derive(Deserialize)]
struct Server {
    explanation: Explanation,
}

#[derive(Deserialize)]
struct Explanation {
    filters: Vec<Filter>,
}

#[derive(Deserialize)]
struct Filter {
    filter: String,
    before: u64,
    after: u64,
    losers: Vec<Loser>,
}

#[derive(Deserialize)]
struct Loser {
    host: String,
    text: String,
}

/// What each zone holds.
///
/// # Errors
/// When the server does not answer.
pub fn zones(client: &Client) -> anyhow::Result<()> {
    let Hosts { hosts } = client.get("/v1/hosts?limit=1000")?.demand()?.json()?;
    let mut table =
        table::with_header(["zone", "hosts", "in use", "placed", "CPU used", "memory used"]);
    table::align(&mut table, 1..=5, CellAlignment::Right);
    for zone in ZONES {
        let of_zone: Vec<&Host> =
            hosts.iter().filter(|host| host.availability_zone == zone).collect();
        let sum = |of: fn(&Figures) -> i64| of_zone.iter().map(|host| of(&host.figures)).sum();
        let busy = of_zone.iter().filter(|host| host.figures.num_instances > 0).count();
        let percent =
            |part: i64, whole: i64| format!("{:.1} %", part as f64 * 100.0 / whole as f64);
        let memory: i64 = sum(|figures| figures.memory_mb);
        let free: i64 = sum(|figures| figures.free_ram_mb);
        let placed: i64 = sum(|figures| figures.num_instances);
        table.add_row([
            zone.to_owned(),
            of_zone.len().to_string(),
            busy.to_string(),
            placed.to_string(),
            percent(sum(|figures| figures.vcpus_used), sum(|figures| figures.vcpus_total)),
            percent(memory - free, memory),
        ]);
    }
    outln!("{table}");
    outln!(
        "{PACKED} fills few hosts: its host aggregate sets the weight multipliers of CPU, memory \
         and disk to -1. The other zones spread.\n"
    );
    Ok(())
}

/// How fast the virtual machines were placed.
pub fn latencies(placed: &Placed) {
    outln!("{}", table::latency_table(&[("select_destinations", placed.latency)]));
    let rate = placed.latency.count as f64 / placed.seconds;
    outln!("{rate:.0} virtual machines per second, each committed to disk\n");
}

/// The jobs of the demo.
///
/// # Errors
/// When the server does not answer.
pub fn jobs(client: &Client) -> anyhow::Result<Vec<Job>> {
    let path = format!("/v1/jobs?namespace={}&limit=1000", super::PROJECT);
    let Jobs { jobs } = client.get(&path)?.demand()?.json()?;
    Ok(jobs)
}

/// What became of the gangs, once each has been looked at by a cycle.
///
/// # Errors
/// When the server does not answer.
pub fn gangs(client: &Client) -> anyhow::Result<()> {
    let until = Instant::now() + GANG_PATIENCE;
    let waits = |job: &Job| job.phase != "Running" && job.conditions.is_empty();
    let mut found = jobs(client)?;
    while found.iter().any(waits) && Instant::now() < until {
        thread::sleep(PAUSE);
        found = jobs(client)?;
    }
    let mut table = table::with_header(["gang", "phase", "tasks", "with a host", "hosts", "why"]);
    table::align(&mut table, 2..=4, CellAlignment::Right);
    for job in found {
        let path = format!("/v1/jobs/{}/tasks", job.id);
        let Tasks { tasks } = client.get(&path)?.demand()?.json()?;
        let on: Vec<&str> = tasks.iter().filter_map(|task| task.host.as_deref()).collect();
        let hosts: BTreeSet<&str> = on.iter().copied().collect();
        let why: Vec<&str> = job.conditions.iter().map(|one| one.message.as_str()).collect();
        let total: u32 = job.counts.values().sum();
        table.add_row([
            job.name,
            job.phase,
            total.to_string(),
            on.len().to_string(),
            hosts.len().to_string(),
            why.join("; "),
        ]);
    }
    outln!("{table}");
    outln!(
        "A gang is placed whole, on the same hosts as the virtual machines, or holds nothing.\n"
    );
    Ok(())
}

/// A refusal, and the decision that explains it.
///
/// # Errors
/// When the server does not answer as it should.
pub fn refusal(client: &Client) -> anyhow::Result<()> {
    let refusal: Refusal = super::workload::ask_the_impossible(client)?.json()?;
    outln!("A request that no host can meet, an image for aarch64:\n  {}", refusal.detail);
    let Some(id) = refusal.decision_id else { return Ok(()) };
    let explained = explanation(client, id)?;
    let mut table = table::with_header(["filter", "hosts", "left", "for example"]);
    table::align(&mut table, 1..=2, CellAlignment::Right);
    for filter in explained.servers.iter().flat_map(|server| &server.explanation.filters) {
        let example = filter.losers.first();
        let example = example.map(|loser| format!("{}: {}", loser.host, loser.text));
        table.add_row([
            filter.filter.clone(),
            filter.before.to_string(),
            filter.after.to_string(),
            example.unwrap_or_default(),
        ]);
    }
    outln!("{table}\nThe whole of it: GET /v1/decisions/{id}\n");
    Ok(())
}

fn explanation(client: &Client, id: Uuid) -> anyhow::Result<Explained> {
    let until = Instant::now() + BODY_PATIENCE;
    loop {
        let decision: Decision = client.get(&format!("/v1/decisions/{id}"))?.demand()?.json()?;
        if decision.body.is_some() || Instant::now() > until {
            return decision.body.with_context(|| format!("decision {id} has no explanation"));
        }
        thread::sleep(PAUSE);
    }
}
