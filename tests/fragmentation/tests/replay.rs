//! The rules of the replay, and what policies make of a made-up trace.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;
use stowplan_fragmentation::best_fit::BestFit;
use stowplan_fragmentation::fgd::Fgd;
use stowplan_fragmentation::node::WHOLE;
use stowplan_fragmentation::stowplan::Fragmentation;
use stowplan_fragmentation::{Node, Outcome, Policy, Task, Trace, replay};

fn trace() -> Trace {
    Trace::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("data")).unwrap()
}

fn node(cpu: i64, gpus: usize, model: &str) -> Node {
    Node { cpu, memory: 1000, gpus: vec![WHOLE; gpus], model: model.to_owned() }
}

fn task(cpu: i64, gpus: usize, share: i64, models: &[&str]) -> Task {
    let models = models.iter().map(|model| (*model).to_owned()).collect();
    Task { cpu, memory: 1, gpus, share, models }
}

/// Takes the first node that fits.
struct First<'a>(&'a [Task]);

impl Policy for First<'_> {
    fn place(&mut self, nodes: &[Node], shape: usize) -> Option<(usize, usize)> {
        let task = &self.0[shape];
        nodes.iter().position(|node| node.fits(task)).map(|at| (at, nodes[at].tightest(task)))
    }
}

#[test]
fn tasks_are_tried_once_and_stay() {
    let nodes = [node(10, 1, "a"), node(4, 2, "b")];
    let shapes = [
        task(4, 1, 600, &[]),
        task(4, 1, 600, &["b"]),
        task(0, 2, 1000, &[]),
        task(7, 0, 0, &["none"]),
        task(1, 1, 400, &[]),
    ];
    for (order, at_full, at_end) in [
        // The second share goes to b, so nobody gets two GPUs.
        (vec![0, 1, 2], 1200, 1200),
        (vec![2, 0, 1, 4], 2600, 3000),
        // What asks for no GPU takes any node with cpu, but not that of others.
        (vec![3, 0, 0], 600, 600),
        // All is asked for before the last one comes.
        (vec![0, 1, 2, 4], 1200, 1600),
    ] {
        let outcome = replay(&nodes, &shapes, &order, &mut First(&shapes));
        let percent = |held: i64| held as f64 * 100.0 / (3 * WHOLE) as f64;
        let wanted = Outcome { at_full: percent(at_full), at_end: percent(at_end) };
        assert_eq!(outcome, wanted, "{order:?}");
    }
}

#[test]
fn scores_of_best_fit_and_fgd_are_those_of_their_rules() {
    let small = task(1, 1, 500, &[]);
    let shapes = [small.clone(), task(1, 2, 1000, &[])];
    let half = node(64_000, 2, "a").with(&small, 0);
    let nodes = [node(64_000, 8, "a"), node(64_000, 2, "a"), half];
    // The fullest node, and on it the fullest GPU.
    assert_eq!(BestFit::new(&shapes).place(&nodes, 0), Some((2, 0)));
    assert_eq!(BestFit::new(&shapes).place(&nodes, 1), Some((1, 0)));
    // Where two GPUs are mostly asked for, the node that has lost its pair.
    let list = [1, 1, 1, 0];
    assert_eq!(Fgd::new(&shapes, &list).place(&nodes, 0), Some((2, 0)));
}

#[test]
fn fragmentation_wastes_less_than_best_fit_and_fgd() {
    let trace = trace();
    for (name, gain) in [("free", 5.0), ("models", 3.0)] {
        let list = trace.list(name).unwrap();
        let shapes = &list.shapes;
        let mut sums = [0.0; 3];
        for order in &list.orders {
            let run = |policy: &mut dyn Policy| replay(&trace.nodes, shapes, order, policy).at_end;
            let ours = run(&mut Fragmentation::new(shapes, &trace.nodes));
            let fit = run(&mut BestFit::new(shapes));
            assert!(ours > fit, "{name}: {ours} against {fit}");
            let fgd = run(&mut Fgd::new(shapes, &list.tasks));
            sums.iter_mut().zip([ours, fit, fgd]).for_each(|(sum, part)| *sum += part);
        }
        let [ours, fit, fgd] = sums.map(|sum| sum / list.orders.len() as f64);
        assert!(ours > fit + gain && ours > fgd + gain, "{name}: {ours}, {fit}, {fgd}");
    }
}

#[test]
fn the_same_tasks_go_to_the_same_nodes() {
    let trace = trace();
    let list = trace.list("free").unwrap();
    let run = || {
        let mut policy = Fragmentation::new(&list.shapes, &trace.nodes);
        replay(&trace.nodes, &list.shapes, &list.orders[0], &mut policy)
    };
    assert_eq!(run(), run());
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = std::env::temp_dir().join(format!("stowplan-trace-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let missing = Trace::open(&folder).unwrap_err().to_string();
    assert!(missing.contains("openb_node_list_gpu_node.csv"), "{missing}");
    let heading = "sn,cpu_milli,memory_mib,gpu,model\n";
    let list = folder.join("openb_node_list_gpu_node.csv");
    for (row, named) in [
        ("n,1,2,-1,a", ""),
        ("n,x,2,1,a", "line 2: cpu_milli is \"x\", expected a number from 0 on"),
        ("n,-1,2,1,a", "line 2: cpu_milli is \"-1\", expected a number from 0 on"),
        ("n,1", "memory_mib is \"\""),
    ] {
        std::fs::write(&list, format!("{heading}{row}\n")).unwrap();
        let fault = Trace::open(&folder).unwrap_err().to_string();
        assert!(fault.contains(named), "{row}: {fault}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
