//! `stowplan evaluate`: scheduling policies tried offline on scenarios.

mod batch;
mod check;
mod read;
mod show;

use crate::{
    cli::ConfigArgs,
    exit::{Fault, Outcome},
    out::Format,
};
use anyhow::anyhow;
use clap::Args;
use read::Reader;
use std::path::PathBuf;
use stowplan_batch::scenario::{
    BatchFailure, BatchScenario, Outcomes,
    units::{Came as UnitCame, UnitCase},
};
use stowplan_bus::scenario::{Wire, WireScenario};
use stowplan_config::Settings;
use stowplan_engine::scenario::{
    self, Destinations, Scenario, SelectScenario,
    hints::{Came, HintFailure, HintScenario},
};
use stowplan_scheduler::{
    scenario::{QueryFailure, QueryScenario, QueryTexts},
    snapshot::{Replay, ReplayFailure, Replayed},
};

const HELP: &str = "\
A scenario is a JSON object with `hosts`, `request`, `config`, `filters`,
`weighers` and, to be checked, `expect`; a file holds one or a list of them.
One of batch scheduling has `nodes`, `queues` and `jobs`, and `tiers` and
`actions` unless those of the configuration are meant.
With --snapshot the requests of scenarios without `hosts` are made in that cloud,
and a file may be a decision, as `stowplan explain ID --format json` prints it: it
is made again, and --check compares.
Options have their defaults unless --config names a file; the scenario's own
`config` wins over that, and --set over all.

Examples:
  stowplan evaluate case.json
  stowplan evaluate --check policy/*.json
  stowplan evaluate --snapshot cloud.json --check decision.json
  stowplan evaluate --set filter_scheduler.ram_weight_multiplier=-1 case.json";

/// What is evaluated, and how it is told.
#[derive(Debug, Args)]
#[command(about = "Run filters and weighers offline on scenarios in files", after_help = HELP)]
pub struct Evaluate {
    /// Compare with what each scenario expects: print what differs, and end
    /// with exit code 1 if anything does. Cases that `deviations.toml` beside the
    /// file or one folder above lists are told with the reason there.
    #[arg(long)]
    check: bool,
    /// How to print it.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// A cloud, as `stowplan snapshot` prints it.
    #[arg(long, value_name = "FILE")]
    snapshot: Option<PathBuf>,
    #[command(flatten)]
    config: ConfigArgs,
    /// Files of scenarios.
    #[arg(required = true, value_name = "FILE")]
    scenarios: Vec<PathBuf>,
}

/// A scenario with the file that it stands in.
struct Case {
    file: PathBuf,
    form: Form,
}

/// A scenario of one of the forms, with what came of it.
enum Form {
    /// Hosts, filters and weighers.
    Engine(Box<Scenario>, scenario::Result),
    /// Destinations of the servers of one request.
    Select(Box<SelectScenario>, Result<Destinations, scenario::Failure>),
    /// A request and the query for candidates that it becomes.
    Query(Box<QueryScenario>, Result<QueryTexts, QueryFailure>),
    /// A scheduling hint and what becomes of it.
    Hint(Box<HintScenario>, Result<Came, HintFailure>),
    /// A cluster with queues and jobs, and a cycle.
    Batch(Box<BatchScenario>, Result<Box<Outcomes>, BatchFailure>),
    /// A single rule of batch scheduling.
    Unit(Box<UnitCase>, Result<UnitCame, String>),
    /// A call on the wire, its reply and its notification.
    Wire(Box<WireScenario>, Result<Wire, String>),
    /// A request in a cloud.
    Replay(Box<Replay>, Box<Result<Replayed, ReplayFailure>>),
}

impl Case {
    fn id(&self) -> &str {
        match &self.form {
            Form::Engine(scenario, _) => &scenario.id,
            Form::Select(scenario, _) => &scenario.common.id,
            Form::Query(scenario, _) => &scenario.id,
            Form::Hint(scenario, _) => &scenario.id,
            Form::Batch(scenario, _) => &scenario.id,
            Form::Unit(case, _) => &case.id,
            Form::Wire(scenario, _) => &scenario.id,
            Form::Replay(replay, _) => &replay.id,
        }
    }

    fn note(&self) -> Option<&str> {
        match &self.form {
            Form::Engine(scenario, _) => scenario.note.as_deref(),
            Form::Select(scenario, _) => scenario.common.note.as_deref(),
            Form::Query(scenario, _) => scenario.note.as_deref(),
            Form::Hint(scenario, _) => scenario.note.as_deref(),
            Form::Batch(scenario, _) => scenario.note.as_deref(),
            Form::Unit(case, _) => case.note.as_deref(),
            Form::Wire(scenario, _) => scenario.note.as_deref(),
            Form::Replay(replay, _) => replay.note.as_deref(),
        }
    }

    /// Why nothing came of it.
    fn failure(&self) -> Option<String> {
        match &self.form {
            Form::Engine(_, result) => result.as_ref().err().map(ToString::to_string),
            Form::Select(_, Ok(Destinations { error: Some(error), .. })) => Some(error.to_string()),
            Form::Select(_, result) => result.as_ref().err().map(ToString::to_string),
            Form::Query(_, result) => result.as_ref().err().map(ToString::to_string),
            Form::Hint(_, result) => result.as_ref().err().map(ToString::to_string),
            Form::Batch(_, result) => result.as_ref().err().map(ToString::to_string),
            Form::Unit(_, result) => result.as_ref().err().cloned(),
            Form::Wire(_, result) => result.as_ref().err().cloned(),
            Form::Replay(_, result) => match result.as_ref() {
                Ok(replayed) => replayed.refusal(),
                Err(failure) => Some(failure.to_string()),
            },
        }
    }
}

impl Evaluate {
    /// Does it.
    pub fn run(self) -> Result<Outcome, Fault> {
        let base = Settings::load(&self.config.named_sources()).map_err(Fault::usage)?.settings;
        let overrides = overrides(self.config.set()).map_err(Fault::usage)?;
        let reader = Reader::new(self.snapshot.as_deref(), &base, &overrides)?;
        let mut cases = Vec::new();
        for file in &self.scenarios {
            for form in reader.read(file).map_err(Fault::usage)? {
                cases.push(Case { file: file.clone(), form: form.evaluate(&base, &overrides) });
            }
        }
        if self.check {
            return check::run(&cases, self.format);
        }
        show::run(&cases, self.format)?;
        let failed = cases.iter().any(|case| case.failure().is_some());
        Ok(if failed { Outcome::CheckFailed } else { Outcome::Fine })
    }
}

fn overrides(set: &[String]) -> anyhow::Result<Vec<(String, String)>> {
    let split = |text: &String| {
        let (key, value) = text
            .split_once('=')
            .ok_or_else(|| anyhow!("--set {text}: expected section.option=value"))?;
        Ok((key.trim().to_owned(), value.trim().to_owned()))
    };
    set.iter().map(split).collect()
}
