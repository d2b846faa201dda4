//! Which hosts: predicates and binpack.

use crate::bench::{
    Accept, GPU, Host, Tasks, add_job, cpu, cycle, cycle_with, only, placed, state, tasks,
    with_arguments,
};
use stowplan_batch::amounts::DimIx;
use stowplan_batch::session::{Toleration, TolerationOperator};
use stowplan_engine::table::{HostFacts, StateFlags};
use stowplan_model::host::{Taint, TaintEffect};

fn labelled(labels: &[(&str, &str)]) -> HostFacts {
    let labels = labels.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    HostFacts { labels, ..HostFacts::default() }
}

fn tainted(key: &str, effect: TaintEffect) -> HostFacts {
    let taint = Taint { key: key.to_owned(), value: String::new(), effect };
    HostFacts { taints: vec![taint], ..HostFacts::default() }
}

#[test]
fn binpack_fills_the_fuller_host_first() {
    let mut state = state(&[cpu(8), cpu(4), cpu(8)]);
    let job = add_job(&mut state, "p/pack", 0, &[tasks("worker", 6, 1)]);
    let tiers = only(&["gang", "predicates", "binpack"]);
    let closed = cycle_with(tiers, state, &mut Accept::default());
    let hosts: Vec<String> = placed(&closed.state, job).into_iter().flatten().collect();
    assert_eq!(hosts, ["h01", "h01", "h01", "h01", "h00", "h00"]);
}

#[test]
fn only_hosts_that_take_tasks_and_that_the_task_wants() {
    let hosts = [
        Host { flags: StateFlags::DISABLED, ..cpu(8) },
        Host { flags: StateFlags::UNSCHEDULABLE, ..cpu(8) },
        Host { silent: true, ..cpu(8) },
        Host { facts: tainted("gpu", TaintEffect::NoSchedule), ..cpu(8) },
        Host { facts: labelled(&[("zone", "b")]), ..cpu(8) },
        Host { facts: labelled(&[("zone", "a")]), ..cpu(8) },
    ];
    let mut state = state(&hosts);
    let zone = [("zone".to_owned(), "a".to_owned())].into();
    let job = add_job(
        &mut state,
        "p/choosy",
        1,
        &[Tasks { node_selector: zone, ..tasks("worker", 1, 1) }],
    );
    let closed = cycle(state.clone(), &mut Accept::default());
    assert_eq!(placed(&closed.state, job), [Some("h05".to_owned())]);
    let zone = [("zone".to_owned(), "c".to_owned())].into();
    add_job(&mut state, "p/nowhere", 1, &[Tasks { node_selector: zone, ..tasks("worker", 1, 1) }]);
    let closed = cycle(state, &mut Accept::default());
    let verdict = &closed.verdicts[1];
    assert_eq!(
        verdict.condition.as_ref().unwrap().message,
        "1 of the 1 tasks it needs have no place; worker: 0 of 6 hosts fit: \
         3 do not have label zone=c; 2 are disabled or down; 1 take no batch tasks"
    );
}

#[test]
fn taints_keep_off_whom_they_should() {
    let hosts = [
        Host { facts: tainted("gpu", TaintEffect::NoExecute), ..cpu(8) },
        Host { facts: tainted("old", TaintEffect::PreferNoSchedule), ..cpu(9) },
    ];
    let mut state = state(&hosts);
    let plain = add_job(&mut state, "p/plain", 1, &[tasks("worker", 1, 1)]);
    let tolerant = Tasks {
        tolerations: vec![Toleration {
            key: "gpu".to_owned(),
            operator: TolerationOperator::Exists,
            ..Toleration::default()
        }],
        ..tasks("worker", 1, 8)
    };
    let tolerant = add_job(&mut state, "p/tolerant", 1, &[tolerant]);
    let closed = cycle(state, &mut Accept::default());
    assert_eq!(placed(&closed.state, plain), [Some("h01".to_owned())]);
    assert_eq!(placed(&closed.state, tolerant), [Some("h00".to_owned())]);
}

#[test]
fn devices_are_taken_one_provider_each() {
    let mut state = state(&[Host { gpus: 3, ..cpu(8) }]);
    let asks = Tasks {
        role: "worker",
        count: 2,
        request: vec![(DimIx::CPU, 1), (GPU, 2)],
        ..Tasks::default()
    };
    let job = add_job(&mut state, "p/train", 1, &[asks]);
    let mut commits = Accept::default();
    let closed = cycle(state, &mut commits);
    assert_eq!(placed(&closed.state, job), [Some("h00".to_owned()), None]);
    let devices = commits.plans[0].binds[0].takes.iter().filter(|take| take.class == "PGPU");
    assert_eq!(devices.map(|take| take.amount).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn places_for_tasks_are_limited() {
    let mut state = state(&[cpu(1000)]);
    let job = add_job(&mut state, "p/many", 0, &[tasks("worker", 120, 1)]);
    let closed = cycle(state, &mut Accept::default());
    assert_eq!(placed(&closed.state, job).iter().flatten().count(), 100);
    let message = &closed.verdicts[0].condition.as_ref().unwrap().message;
    assert!(message.contains("1 lack pods (needs 1, most left 0)"), "{message}");
}

#[test]
fn shared_devices_are_filled_up_or_spread_over() {
    let share = |units| Tasks { request: vec![(GPU, units)], ..tasks("worker", 2, 0) };
    for (policy, hosts) in [("binpack", ["h00", "h00"]), ("spread", ["h00", "h01"])] {
        let given = [("deviceshare.SchedulePolicy", policy), ("deviceshare.ScheduleWeight", "10")];
        let tiers = with_arguments(&["gang", "predicates", "deviceshare"], "deviceshare", &given);
        let host = Host { gpus: 2, shares: 1000, ..cpu(8) };
        let mut state = state(&[host.clone(), host]);
        let job = add_job(&mut state, "p/share", 2, &[share(400)]);
        let closed = cycle_with(tiers, state, &mut Accept::default());
        let at: Vec<String> = placed(&closed.state, job).into_iter().flatten().collect();
        assert_eq!(at, hosts, "{policy}");
    }
}
