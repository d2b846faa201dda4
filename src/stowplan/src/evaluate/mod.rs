//! `stowplan evaluate`: scheduling policies tried offline on scenarios.

mod check;
mod show;

use crate::{
    cli::ConfigArgs,
    exit::{Fault, Outcome},
    out::Format,
};
use anyhow::{Context as _, anyhow};
use clap::Args;
use serde_json::Value;
use std::path::{Path, PathBuf};
use stowplan_config::Settings;
use stowplan_engine::scenario::{
    self, Destinations, Scenario, SelectScenario,
    hints::{Came, HintFailure, HintScenario},
};
use stowplan_scheduler::scenario::{QueryFailure, QueryScenario, QueryTexts};

const HELP: &str = "\
A scenario is a JSON object with `hosts`, `request`, `config`, `filters`,
`weighers` and, to be checked, `expect`; a file holds one or a list of them.
Options have their defaults unless --config names a file; the scenario's own
`config` wins over that, and --set over all.

Examples:
  stowplan evaluate case.json
  stowplan evaluate --check policy/*.json
  stowplan evaluate --set filter_scheduler.ram_weight_multiplier=-1 case.json";

/// What is evaluated, and how it is told.
#[derive(Debug, Args)]
#[command(about = "Run filters and weighers offline on scenarios in files", after_help = HELP)]
pub struct Evaluate {
    /// Compare with what each scenario expects: print what differs, and end
    /// with exit code 1 if anything does.
    #[arg(long)]
    check: bool,
    /// How to print it.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
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
}

impl Case {
    fn id(&self) -> &str {
        match &self.form {
            Form::Engine(scenario, _) => &scenario.id,
            Form::Select(scenario, _) => &scenario.common.id,
            Form::Query(scenario, _) => &scenario.id,
            Form::Hint(scenario, _) => &scenario.id,
        }
    }

    fn note(&self) -> Option<&str> {
        match &self.form {
            Form::Engine(scenario, _) => scenario.note.as_deref(),
            Form::Select(scenario, _) => scenario.common.note.as_deref(),
            Form::Query(scenario, _) => scenario.note.as_deref(),
            Form::Hint(scenario, _) => scenario.note.as_deref(),
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
        }
    }
}

impl Evaluate {
    /// Does it.
    pub fn run(self) -> Result<Outcome, Fault> {
        let base = Settings::load(&self.config.named_sources()).map_err(Fault::usage)?.settings;
        let overrides = overrides(self.config.set()).map_err(Fault::usage)?;
        let mut cases = Vec::new();
        for file in &self.scenarios {
            for item in read(file).map_err(Fault::usage)? {
                let form = match item {
                    Read::Engine(scenario) => {
                        let result = scenario::evaluate(&scenario, &base, &overrides);
                        Form::Engine(scenario, result)
                    }
                    Read::Select(scenario) => {
                        let result = scenario.evaluate(&base, &overrides);
                        Form::Select(scenario, result)
                    }
                    Read::Query(scenario) => {
                        let result = scenario.evaluate(&base, &overrides);
                        Form::Query(scenario, result)
                    }
                    Read::Hint(scenario) => {
                        let result = scenario.evaluate(&base, &overrides);
                        Form::Hint(scenario, result)
                    }
                };
                cases.push(Case { file: file.clone(), form });
            }
        }
        if self.check {
            return Ok(check::run(&cases, self.format));
        }
        show::run(&cases, self.format)?;
        let failed = cases.iter().any(|case| case.failure().is_some());
        Ok(if failed { Outcome::CheckFailed } else { Outcome::Fine })
    }
}

/// A scenario, read.
enum Read {
    Engine(Box<Scenario>),
    Select(Box<SelectScenario>),
    Query(Box<QueryScenario>),
    Hint(Box<HintScenario>),
}

fn read(file: &Path) -> anyhow::Result<Vec<Read>> {
    let text =
        std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let form = |item: Value| {
        if QueryScenario::is_one(&item) {
            serde_json::from_value(item).map(|scenario| Read::Query(Box::new(scenario)))
        } else if SelectScenario::is_one(&item) {
            SelectScenario::read(item).map(|scenario| Read::Select(Box::new(scenario)))
        } else if HintScenario::is_one(&item) {
            serde_json::from_value(item).map(|scenario| Read::Hint(Box::new(scenario)))
        } else {
            Scenario::read(item).map(|scenario| Read::Engine(Box::new(scenario)))
        }
    };
    scenario::parse_with(&text, form).with_context(|| file.display().to_string())
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
