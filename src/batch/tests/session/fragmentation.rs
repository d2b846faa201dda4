//! Which hosts are made useless for others: plugin `fragmentation`.

use crate::bench::{Accept, GPU, Host, Tasks, add_job, cycle_with, only, placed, settings, state};
use stowplan_batch::amounts::DimIx;
use stowplan_batch::fragment::Experience;
use stowplan_batch::plugins::{Outside, tiers};
use stowplan_batch::session::{State, Tiers};
use stowplan_engine::config::EngineConfig;
use stowplan_engine::table::HostFacts;

fn plugins() -> Tiers {
    only(&["gang", "predicates", "fragmentation"])
}

fn host(gpus: i64, cpu: i64) -> Host {
    Host { cpu, memory: 1000, gpus, ..Host::default() }
}

fn named(name: &str, host: Host) -> Host {
    let labels = [("name".to_owned(), name.to_owned())].into();
    Host { facts: HostFacts { labels, ..HostFacts::default() }, ..host }
}

fn asking(role: &'static str, count: u32, gpus: i64, cpu: i64) -> Tasks {
    let request = vec![(DimIx::CPU, cpu), (DimIx::MEMORY, 1), (GPU, gpus)];
    let request = request.into_iter().filter(|(_, amount)| *amount > 0).collect();
    Tasks { role, count, request, ..Tasks::default() }
}

fn only_on(name: &str, tasks: Tasks) -> Tasks {
    Tasks { node_selector: [("name".to_owned(), name.to_owned())].into(), ..tasks }
}

/// What sessions on a cluster of eight hosts of 4 GPUs learn from these tasks.
fn experience(roles: &[Tasks]) -> Experience {
    let mut state = state(&vec![host(4, 32); 8]);
    let experience = state.experience.clone();
    add_job(&mut state, "p/a", 0, roles);
    cycle_with(plugins(), state, &mut Accept::default());
    experience
}

/// Where the last of some jobs goes.
fn last(mut state: State, experience: Experience, jobs: &[Tasks]) -> Option<String> {
    state.experience = experience;
    let mut last = None;
    for (at, tasks) in jobs.iter().enumerate() {
        last = Some(add_job(&mut state, &format!("p/j{at}"), 1, std::slice::from_ref(tasks)));
    }
    let closed = cycle_with(plugins(), state, &mut Accept::default());
    last.and_then(|job| placed(&closed.state, job).into_iter().next().flatten())
}

#[test]
fn whole_hosts_are_kept_where_whole_hosts_are_asked_for() {
    let hosts = [named("whole", host(4, 32)), named("broken", host(4, 32))];
    let jobs = [only_on("broken", asking("first", 1, 1, 1)), asking("second", 1, 1, 1)];
    let sets = experience(&[asking("sets", 20, 4, 4), asking("singles", 4, 1, 1)]);
    assert_eq!(last(state(&hosts), sets, &jobs).as_deref(), Some("h01"));
    // Who has learnt nothing finds them alike, and takes the first.
    assert_eq!(last(state(&hosts), Experience::default(), &jobs).as_deref(), Some("h00"));
}

#[test]
fn a_session_that_is_given_nothing_learns_from_its_own_tasks() {
    let mut state = state(&[host(1, 16), host(1, 4), host(0, 64)]);
    add_job(&mut state, "p/many", 30, &[asking("hungry", 30, 1, 12)]);
    let small = add_job(&mut state, "p/small", 1, &[asking("small", 1, 1, 2)]);
    let plain = add_job(&mut state, "p/plain", 1, &[asking("plain", 1, 0, 6)]);
    let closed = cycle_with(plugins(), state, &mut Accept::default());
    // The gang is too large; others leave the host that its tasks could use.
    assert_eq!(placed(&closed.state, small), [Some("h01".to_owned())]);
    assert_eq!(placed(&closed.state, plain), [Some("h02".to_owned())]);
}

#[test]
fn models_that_others_need_are_left_to_them() {
    let hosts = [named("rare", host(1, 8)), named("common", host(1, 8))];
    let picky = only_on("rare", asking("picky", 30, 1, 1));
    let mut state = state(&hosts);
    add_job(&mut state, "p/picky", 30, &[picky]);
    let free = add_job(&mut state, "p/free", 1, &[asking("free", 1, 1, 1)]);
    let closed = cycle_with(plugins(), state, &mut Accept::default());
    assert_eq!(placed(&closed.state, free), [Some("h01".to_owned())]);
}

#[test]
fn the_same_experience_gives_the_same_places() {
    let run = || {
        let mix = [asking("sets", 20, 2, 4), asking("singles", 20, 1, 3), asking("plain", 9, 0, 5)];
        let experience = experience(&mix);
        let mut state = state(&[host(4, 16), host(4, 32), host(2, 9), host(0, 16), host(1, 3)]);
        state.experience = experience;
        let job = add_job(&mut state, "p/b", 0, &mix);
        placed(&cycle_with(plugins(), state, &mut Accept::default()).state, job)
    };
    let first = run();
    assert!(first.iter().flatten().count() > 9, "{first:?}");
    assert_eq!(first, run());
}

#[test]
fn arguments_that_cannot_be_are_refused() {
    for (key, value, expected) in [
        ("fragmentation.weight", "-1", "a number from 0 on"),
        ("fragmentation.weight", "much", "a number"),
        ("fragmentation.core", "-0.5", "a number from 0 on"),
    ] {
        let mut settings = settings();
        settings.batch.tiers = vec![vec!["fragmentation".to_owned()]];
        let given = [(key.to_owned(), value.to_owned())].into();
        settings.batch_plugins.insert("fragmentation".to_owned(), given);
        let made = tiers(&settings, &EngineConfig::from(&settings), &Outside::default());
        let fault = made.err().unwrap().to_string();
        assert_eq!(fault, format!("[batch:fragmentation] {key} = {value}: expected {expected}"));
    }
}
