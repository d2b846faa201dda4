//! Best fit, FGD and stowplan's `fragmentation` on a trace, side by side.

use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;
use stowplan_fragmentation::best_fit::BestFit;
use stowplan_fragmentation::fgd::Fgd;
use stowplan_fragmentation::stowplan::Fragmentation;
use stowplan_fragmentation::{List, Outcome, Policy, Trace, TraceFault, replay};

/// The lists that are replayed unless others are named.
const LISTS: &[&str] = &[
    "default",
    "cpu050",
    "cpu100",
    "gpushare40",
    "gpushare100",
    "gpuspec33",
    "multigpu20",
    "multigpu50",
];

/// Replays a trace of GPU tasks in given orders, one try each, and says which part of all GPUs was put
/// to use: in percent when the tasks so far have asked for all GPUs, and at the end.
#[derive(Debug, Parser)]
struct Arguments {
    /// A folder in the form of openb: nodes, lists of tasks, orders of arrival.
    folder: PathBuf,
    /// The lists to replay.
    #[arg(long, value_delimiter = ',', default_values_t = LISTS.iter().map(|name| (*name).to_owned()))]
    lists: Vec<String>,
    /// Runs of each list.
    #[arg(long, default_value_t = usize::MAX)]
    runs: usize,
    /// Leave best fit and FGD out: only what is published of them is shown.
    #[arg(long)]
    own: bool,
}

/// The outcomes of a policy on all runs, on two threads.
fn outcomes<P: Policy>(
    trace: &Trace,
    list: &List,
    runs: usize,
    policy: impl Fn() -> P + Sync,
) -> Vec<Outcome> {
    let orders: Vec<_> = list.orders.iter().take(runs).collect();
    let run = |order: &&Vec<usize>| replay(&trace.nodes, &list.shapes, order, &mut policy());
    std::thread::scope(|scope| {
        let (first, second) = orders.split_at(orders.len() / 2);
        let beside = scope.spawn(|| second.iter().map(run).collect::<Vec<_>>());
        let mut all: Vec<Outcome> = first.iter().map(run).collect();
        all.extend(beside.join().unwrap_or_default());
        all
    })
}

fn mean(outcomes: &[Outcome]) -> Outcome {
    let mean = |part: fn(&Outcome) -> f64| {
        outcomes.iter().map(part).sum::<f64>() / outcomes.len().max(1) as f64
    };
    Outcome { at_full: mean(|one| one.at_full), at_end: mean(|one| one.at_end) }
}

fn cell(outcomes: &[Outcome]) -> String {
    if outcomes.is_empty() {
        return format!("{:>15}", "-");
    }
    let mean = mean(outcomes);
    format!("{:>6.2} ({:.2})", mean.at_end, mean.at_full)
}

fn row(arguments: &Arguments, trace: &Trace, name: &str) -> Result<(), TraceFault> {
    let list = trace.list(name)?;
    let shapes = &list.shapes;
    let runs = arguments.runs;
    let published = |policy: &str| -> Result<Vec<Outcome>, TraceFault> {
        let mut outcomes = trace.published(name, policy)?;
        outcomes.truncate(runs);
        Ok(outcomes)
    };
    let (fit, fgd) = (published("BestFit")?, published("FGD")?);
    let (mut own_fit, mut own_fgd) = (Vec::new(), Vec::new());
    if !arguments.own {
        own_fit = outcomes(trace, &list, runs, || BestFit::new(shapes));
        own_fgd = outcomes(trace, &list, runs, || Fgd::new(shapes, &list.tasks));
    }
    let ours = outcomes(trace, &list, runs, || Fragmentation::new(shapes, &trace.nodes));
    // Held against the published runs of FGD, or its replayed ones where none are.
    let rival = if fgd.is_empty() { &own_fgd } else { &fgd };
    let better = ours.iter().zip(rival).filter(|(ours, fgd)| ours.at_end > fgd.at_end).count();
    let over = mean(&ours).at_end - mean(rival).at_end;
    println!(
        "{name:<12} {} {} {} {} {} {over:>+6.2} {better:>3} of {}",
        cell(&fit),
        cell(&own_fit),
        cell(&fgd),
        cell(&own_fgd),
        cell(&ours),
        ours.len(),
    );
    Ok(())
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    println!("GPUs in use at the end, in percent (when the tasks so far had asked for all)");
    println!(
        "{:<12} {:>15} {:>15} {:>15} {:>15} {:>15} {:>6} {:>9}",
        "list",
        "best fit, pub.",
        "replayed",
        "FGD, published",
        "replayed",
        "fragmentation",
        "over",
        "better in"
    );
    let rows = || -> Result<(), TraceFault> {
        let trace = Trace::open(&arguments.folder)?;
        arguments.lists.iter().try_for_each(|name| row(&arguments, &trace, name))
    };
    match rows() {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("{fault}");
            ExitCode::FAILURE
        }
    }
}
