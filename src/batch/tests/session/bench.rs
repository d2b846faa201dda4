//! A workbench: hosts, jobs, and a cycle over them.

use std::collections::BTreeMap;
use std::sync::Arc;
use stowplan_batch::actions::actions;
use stowplan_batch::amounts::{Amounts, DimIx, Dims};
use stowplan_batch::plugins::{Outside, tiers};
use stowplan_batch::session::{
    Census, Closed, Commits, GroupIx, Job, JobIx, Outcome, Plan, Queue, QueueIx, Role, Session,
    SessionOptions, Shape, State, Status, Task, Tiers, Toleration,
};
use stowplan_batch::world::{HostState, Picks, Source, Sources, World};
use stowplan_config::Settings;
use stowplan_engine::config::EngineConfig;
use stowplan_engine::table::{Figure, Figures, HostFacts, HostRow};
use stowplan_engine::{HostIx, HostTable, HostView};
use stowplan_model::{Micros, Uuid};

pub const NOW: Micros = Micros::from_seconds(1_000_000);
pub const GPU: DimIx = DimIx(4);

/// A host to be made.
#[derive(Clone, Debug, Default)]
pub struct Host {
    pub cpu: i64,
    pub memory: i64,
    pub gpus: i64,
    /// Into how many shares each of them is divided; 0: it is given whole.
    pub shares: i64,
    pub facts: HostFacts,
    pub flags: i64,
    pub silent: bool,
}

pub fn cpu(cpu: i64) -> Host {
    Host { cpu, memory: 1000, ..Host::default() }
}

pub fn settings() -> Settings {
    Settings::default()
}

pub fn world(hosts: &[Host]) -> World {
    let dims = Arc::new(Dims::from_settings(&settings()).unwrap());
    assert_eq!(dims.name(GPU), "nvidia.com/gpu");
    let mut table = HostTable::new();
    let mut states = Vec::new();
    for (place, host) in hosts.iter().enumerate() {
        let ix = HostIx(place as u32);
        let alive = if host.silent { i64::MIN } else { NOW.0 };
        let figures = Figures::default()
            .with(Figure::AliveSince, alive)
            .with(Figure::StateFlags, host.flags)
            .with(Figure::FreeRamMb, host.memory);
        let name = format!("h{place:02}");
        let uuid = Uuid::from_u128(1000 + place as u128);
        let facts = HostFacts { host: name.clone(), node: name, uuid, ..host.facts.clone() };
        table.upsert(ix, HostRow { facts, figures, ..HostRow::default() });
        states.push((ix, HostState { sources: sources(host, place), figures }));
    }
    let order = states.iter().map(|(ix, _)| *ix).collect();
    let mut world = World::new(dims, table, order);
    for (ix, state) in states {
        world.load(ix, state);
    }
    world
}

pub fn sources(host: &Host, place: usize) -> Sources {
    let mut sources = Sources::default();
    let mut add = |dim, id: usize, capacity| {
        sources.push(Source::plain(dim, Uuid::from_u128(id as u128), capacity));
    };
    let root = 1000 + place;
    add(DimIx::CPU, root, host.cpu);
    add(DimIx::MEMORY, root, host.memory);
    add(DimIx::PODS, root + 1000, 100);
    for device in 0..host.gpus as usize {
        add(GPU, root * 100 + device, host.shares.max(1));
    }
    sources
}

/// Tasks to be made: how many, what each asks for.
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    pub role: &'static str,
    pub count: u32,
    pub min: Option<u32>,
    pub request: Vec<(DimIx, i64)>,
    pub status: Option<Status>,
    pub host: Option<HostIx>,
    pub picks: Picks,
    pub node_selector: BTreeMap<String, String>,
    pub tolerations: Vec<Toleration>,
    /// Since when it runs.
    pub started: Option<Micros>,
    /// The queue that hosts are judged for.
    pub queue: Option<QueueIx>,
}

pub fn tasks(role: &'static str, count: u32, cpu: i64) -> Tasks {
    Tasks { role, count, request: vec![(DimIx::CPU, cpu)], ..Tasks::default() }
}

pub fn state(hosts: &[Host]) -> State {
    let mut state = State::new(world(hosts), NOW);
    state.add_queue(Queue { created: NOW, ..Queue::named("default") });
    state
}

pub fn add_job(state: &mut State, name: &str, min_available: u32, roles: &[Tasks]) -> JobIx {
    let named = |tasks: &Tasks| Role {
        name: tasks.role.to_owned(),
        min: tasks.min,
        census: Census::default(),
    };
    let uuid = Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes());
    let job = state.add_job(Job {
        created: NOW,
        min_available,
        roles: roles.iter().map(named).collect(),
        ..Job::named(uuid, name, QueueIx(0))
    });
    for (number, role) in roles.iter().enumerate() {
        let mut request = Amounts::new();
        role.request.iter().for_each(|(dim, amount)| request.set(*dim, *amount));
        request.set(DimIx::PODS, 1);
        let shape = state.shape(Shape {
            hint: None,
            request,
            node_selector: Arc::new(role.node_selector.clone()),
            tolerations: Arc::new(role.tolerations.clone()),
            queue: role.queue,
            ..Shape::default()
        });
        for index in 0..role.count {
            let name = format!("{name}/{}/{index}", role.role);
            state.add_task(Task {
                uuid: Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()),
                name,
                job,
                role: number as u32,
                group: GroupIx(0),
                number: Some(u64::from(index)),
                created: NOW,
                priority: 1,
                shape,
                status: role.status.unwrap_or(Status::Pending),
                attempt: 0,
                preemptable: true,
                may_preempt: true,
                protected: false,
                notes: Arc::default(),
                cells: Vec::new(),
                started: role.started,
                host: role.host,
                picks: role.picks.clone(),
                nominated: None,
                hint: None,
            });
        }
    }
    job
}

/// These plugins alone, in one tier, one of them with arguments.
pub fn with_arguments(plugins: &[&str], plugin: &str, given: &[(&str, &str)]) -> Tiers {
    let mut settings = settings();
    settings.batch.tiers = vec![plugins.iter().map(|name| (*name).to_owned()).collect()];
    let given = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    settings.batch_plugins.insert(plugin.to_owned(), given.collect());
    tiers(&settings, &EngineConfig::from(&settings), &Outside::default()).unwrap()
}

pub fn plugins() -> Tiers {
    named(None)
}

/// These plugins alone, in one tier.
pub fn only(plugins: &[&str]) -> Tiers {
    named(Some(plugins))
}

fn named(plugins: Option<&[&str]>) -> Tiers {
    let mut settings = settings();
    if let Some(plugins) = plugins {
        settings.batch.tiers = vec![plugins.iter().map(|name| (*name).to_owned()).collect()];
    }
    tiers(&settings, &EngineConfig::from(&settings), &Outside::default()).unwrap()
}

pub const OPTIONS: SessionOptions =
    SessionOptions { commit_retries: 3, enqueues: false, max_hint_nodes: 100 };

/// Commits whatever it is given.
#[derive(Debug, Default)]
pub struct Accept {
    pub plans: Vec<Plan>,
    told: usize,
}

impl Commits for Accept {
    fn submit(&mut self, plan: Plan) {
        self.plans.push(plan);
    }

    fn outcome(&mut self, _wait: bool) -> Option<Outcome> {
        let statement = self.plans.get(self.told)?.statement;
        self.told += 1;
        Some(Outcome { statement, result: Ok(()) })
    }
}

/// Runs one cycle of allocate and backfill with the default plugins.
pub fn cycle(state: State, commits: &mut dyn Commits) -> Closed {
    cycle_with(plugins(), state, commits)
}

/// The same with other plugins.
pub fn cycle_with(tiers: Tiers, state: State, commits: &mut dyn Commits) -> Closed {
    let mut session = Session::open(state, tiers, OPTIONS, commits);
    for action in actions(["allocate", "backfill"], &BTreeMap::new()).unwrap() {
        action.run(&mut session);
    }
    session.close(7)
}

/// The hosts of a job's tasks, by task; no host for one that has none.
pub fn placed(state: &State, job: JobIx) -> Vec<Option<String>> {
    let name = |host: HostIx| state.world.facts(host).node.clone();
    state[job].tasks.iter().map(|task| state[*task].host.map(name)).collect()
}

pub fn places(closed: &Closed, job: JobIx) -> usize {
    placed(&closed.state, job).iter().flatten().count()
}
