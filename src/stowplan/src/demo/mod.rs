//! `stowplan demo`: a made-up cloud, placed before one's eyes.

mod cloud;
mod show;
mod workload;

use crate::{
    bar::progress,
    exit::{Fault, Outcome},
    heartbeats::Heartbeats,
    http::Client,
    out::outln,
    serve::{self, Order, Service},
};
use anyhow::{Context as _, anyhow};
use clap::Args;
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    net::TcpListener,
    path::{Path, PathBuf},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use stowplan_config::{Settings, Sources};
use tokio::sync::mpsc::UnboundedSender;

/// The project that owns everything here.
const PROJECT: &str = "demo";
/// How long the service may take to end once it was told to.
const STOP_PATIENCE: Duration = Duration::from_secs(2);

const HELP: &str = "\
Starts a server of its own (SQLite in a fresh folder, on loopback), makes up 200
hosts in 3 zones, places 500 virtual machines and some gangs through the API, and
shows what came of it. Then the server stays, to be looked at; Ctrl-C ends it.

Examples:
  stowplan demo
  stowplan demo --directory /tmp/cloud     keep the database: run it again, or
                                           kill it midway, and see what is left";

/// The demonstration.
#[derive(Debug, Args)]
#[command(about = "Place a made-up cloud on this machine and look at it", after_help = HELP)]
pub struct Demo {
    /// Folder of the database and the log, made if it is missing and kept
    /// afterwards [default: a fresh one, which goes at the end].
    #[arg(long, value_name = "FOLDER")]
    directory: Option<PathBuf>,
    /// Port to listen on; any free one if it is taken.
    #[arg(long, default_value_t = 8778)]
    port: u16,
    /// End after the tables.
    #[arg(long)]
    exit: bool,
}

impl Demo {
    /// Does it.
    pub fn run(self) -> Result<Outcome, Fault> {
        let fresh;
        let folder = match &self.directory {
            Some(folder) => {
                std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
                folder.canonicalize()?
            }
            None => {
                fresh = tempfile::Builder::new().prefix("stowplan-demo-").tempdir()?;
                fresh.path().to_owned()
            }
        };
        let settings = settings(&folder, free_port(self.port))?;
        serve::log(&settings)?;
        let service = Service::open(settings)?;
        let url = service.url().to_owned();
        outln!("a server on {url}, its database and log in {}", folder.display());
        let (orders, taken) = serve::signals(service.background())?;
        let server = thread::Builder::new()
            .name("server".to_owned())
            .spawn(move || service.run(taken, |_| ()))?;
        let client = Client::new(&url, "admin")?;
        match show_cloud(&client) {
            Ok(_alive) => {
                if self.exit {
                    let _ = orders.send(Order::Stop);
                } else {
                    say_where_to_look(&url);
                }
                // The hosts stay alive for as long as the server does.
                join(server)?;
            }
            Err(error) => {
                let was_stopped = was_stopped(&orders);
                let _ = orders.send(Order::Stop);
                join(server)?;
                if !was_stopped {
                    return Err(error.into());
                }
            }
        }
        outln!("ended, and everything is written");
        Ok(Outcome::Fine)
    }
}

fn join(server: JoinHandle<Result<(), Fault>>) -> anyhow::Result<()> {
    match server.join() {
        Ok(Ok(())) => Ok(()),
        Ok(Err(Fault::Usage(error) | Fault::Service(error))) => Err(error),
        Err(_) => Err(anyhow!("the server broke off")),
    }
}

/// Whether the service has ended, or is about to: then it is no wonder that it
/// did not answer.
fn was_stopped(orders: &UnboundedSender<Order>) -> bool {
    let until = Instant::now() + STOP_PATIENCE;
    while !orders.is_closed() && Instant::now() < until {
        thread::sleep(Duration::from_millis(20));
    }
    orders.is_closed()
}

fn settings(folder: &Path, port: u16) -> Result<Settings, Fault> {
    let folder = folder.display();
    let sources = Sources::new()
        .set(format!("placement_database.connection=sqlite:///{folder}/stowplan.db"))
        .set(format!("DEFAULT.log_file={folder}/stowplan.log"))
        .set("api.bind_host=127.0.0.1")
        .set(format!("api.bind_port={port}"));
    Ok(Settings::load(&sources).map_err(Fault::usage)?.settings)
}

/// This port, or 0 for any other if it is taken.
fn free_port(port: u16) -> u16 {
    if TcpListener::bind(("127.0.0.1", port)).is_ok() { port } else { 0 }
}

/// Places what is missing of the cloud, and shows it.
fn show_cloud(client: &Client) -> anyhow::Result<Heartbeats> {
    let found = claims(client)?;
    let servers = found.get("INSTANCE").copied().unwrap_or(0);
    let tasks = found.get("BATCH_TASK").copied().unwrap_or(0);
    if servers + tasks > 0 {
        outln!(
            "found the claims of {servers} virtual machines and {tasks} tasks of an earlier run: \
             nothing was lost"
        );
    }
    let hosts = cloud::hosts();
    let bar = progress("hosts", hosts.len());
    for host in &hosts {
        client.put(&format!("/v1/hosts/{}", host.name), &host.report())?.demand()?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    for aggregate in cloud::aggregates(&hosts) {
        let made = client.post("/v1/aggregates", &aggregate)?;
        // It is there from an earlier run.
        if made.status != 409 {
            made.demand()?;
        }
    }
    outln!("{} hosts in {} zones", hosts.len(), cloud::ZONES.len());
    let names: Vec<String> = hosts.into_iter().map(|host| host.name).collect();
    let alive = Heartbeats::start(client, &names)?;

    let placed = workload::place_servers(client, servers.min(workload::SERVERS))?;
    let known: Vec<String> = show::jobs(client)?.into_iter().map(|job| job.name).collect();
    workload::submit_gangs(client, &known)?;
    show::gangs(client)?;
    show::zones(client)?;
    if placed.latency.count > 0 {
        show::latencies(&placed);
    }
    show::refusal(client)?;
    Ok(alive)
}

#[derive(Deserialize)]
struct Usages {
    usages: BTreeMap<String, Usage>,
}

#[derive(Deserialize)]
struct Usage {
    consumer_count: usize,
}

/// How many consumers of each type there are.
fn claims(client: &Client) -> anyhow::Result<BTreeMap<String, usize>> {
    let path = format!("/usages?project_id={PROJECT}");
    let Usages { usages } = client.get(&path)?.demand()?.json()?;
    Ok(usages.into_iter().map(|(kind, usage)| (kind, usage.consumer_count)).collect())
}

fn say_where_to_look(url: &str) {
    outln!(
        "Look around:\n  {url}/docs           the API, to be tried out (token: admin)\n  \
         {url}/v1/hosts       hosts with their live figures\n  \
         {url}/v1/decisions   why each is where it is\n  \
         curl -H 'X-Auth-Token: admin' {url}/v1/jobs\n\nCtrl-C ends the server."
    );
}
