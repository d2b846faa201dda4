//! Files of scenarios, of whichever form each is.

use super::Form;
use crate::exit::Fault;
use anyhow::Context as _;
use serde::de::{Deserialize as _, Error as _};
use serde_json::Value;
use std::{path::Path, sync::Arc};
use stowplan_batch::scenario::{BatchScenario, units::UnitCase};
use stowplan_bus::scenario::WireScenario;
use stowplan_config::Settings;
use stowplan_engine::config::EngineConfig;
use stowplan_engine::scenario::{self, Scenario, SelectScenario, hints::HintScenario, parse_with};
use stowplan_scheduler::{
    scenario::QueryScenario,
    snapshot::{Cloud, Replay, Snapshot, find_candidates},
};

/// Reads scenarios, with what is needed besides their files.
pub struct Reader<'a> {
    /// The cloud of those that have none.
    cloud: Option<Arc<Cloud>>,
    base: &'a Settings,
    overrides: &'a [(String, String)],
}

/// A scenario, read.
pub enum Read {
    Engine(Box<Scenario>),
    Select(Box<SelectScenario>),
    Query(Box<QueryScenario>),
    Hint(Box<HintScenario>),
    Batch(Box<BatchScenario>),
    Unit(Box<UnitCase>),
    Wire(Box<WireScenario>),
    Replay(Box<Replay>),
}

impl Read {
    /// Evaluates it on settings.
    pub fn evaluate(self, base: &Settings, overrides: &[(String, String)]) -> Form {
        match self {
            Self::Engine(scenario) => {
                let result = scenario::evaluate(&scenario, base, overrides);
                Form::Engine(scenario, result)
            }
            Self::Select(scenario) => {
                let result = scenario.evaluate(base, overrides);
                Form::Select(scenario, result)
            }
            Self::Query(scenario) => {
                let result = scenario.evaluate(base, overrides);
                Form::Query(scenario, result)
            }
            Self::Hint(scenario) => {
                let result = scenario.evaluate(base, overrides);
                Form::Hint(scenario, result)
            }
            Self::Batch(scenario) => {
                let result = scenario.evaluate(base, overrides).map(Box::new);
                Form::Batch(scenario, result)
            }
            Self::Unit(case) => {
                let result = case.evaluate(&EngineConfig::from(base));
                Form::Unit(case, result)
            }
            Self::Wire(scenario) => {
                let result = scenario.evaluate(base, overrides);
                Form::Wire(scenario, result)
            }
            Self::Replay(replay) => {
                let result = replay.evaluate(base, overrides);
                Form::Replay(replay, Box::new(result))
            }
        }
    }
}

impl<'a> Reader<'a> {
    /// With the cloud in a file, if one is named.
    pub fn new(
        snapshot: Option<&Path>,
        base: &'a Settings,
        overrides: &'a [(String, String)],
    ) -> Result<Self, Fault> {
        let cloud = snapshot.map(cloud).transpose().map_err(Fault::usage)?;
        Ok(Self { cloud: cloud.map(Arc::new), base, overrides })
    }

    /// The scenarios of a file.
    pub fn read(&self, file: &Path) -> anyhow::Result<Vec<Read>> {
        parse_with(&text_of(file)?, |item| self.one(item))
            .with_context(|| file.display().to_string())
    }

    fn one(&self, item: Value) -> serde_json::Result<Read> {
        let wrong = serde_json::Error::custom::<String>;
        if Replay::is_decision(&item) {
            let Some(cloud) = &self.cloud else {
                let text = "a decision is made again in a cloud: expected --snapshot FILE";
                return Err(wrong(text.to_owned()));
            };
            let replay = Replay::of_decision(&item, cloud);
            return replay.map(|it| Read::Replay(Box::new(it))).map_err(|e| wrong(e.to_string()));
        }
        if let Some(case) = UnitCase::read(&item) {
            return Ok(Read::Unit(Box::new(case)));
        }
        if BatchScenario::is_one(&item) {
            return serde_json::from_value(item).map(|it| Read::Batch(Box::new(it)));
        }
        if Replay::is_one(&item, self.cloud.is_some()) {
            let replay = Replay::read(&item, self.cloud.as_ref());
            return replay.map(|it| Read::Replay(Box::new(it))).map_err(|e| wrong(e.to_string()));
        }
        let find = |scenario: &mut Scenario, item: &Value| {
            find_candidates(scenario, item, self.base, self.overrides)
                .map_err(|error| wrong(error.to_string()))
        };
        if QueryScenario::is_one(&item) {
            return serde_json::from_value(item).map(|it| Read::Query(Box::new(it)));
        }
        if WireScenario::is_one(&item) {
            return WireScenario::read(item).map(|it| Read::Wire(Box::new(it)));
        }
        if SelectScenario::is_one(&item) {
            let mut scenario = SelectScenario::read(item.clone())?;
            find(&mut scenario.common, &item)?;
            return Ok(Read::Select(Box::new(scenario)));
        }
        if HintScenario::is_one(&item) {
            return serde_json::from_value(item).map(|it| Read::Hint(Box::new(it)));
        }
        let mut scenario = Scenario::read(item.clone())?;
        find(&mut scenario, &item)?;
        Ok(Read::Engine(Box::new(scenario)))
    }
}

fn cloud(file: &Path) -> anyhow::Result<Cloud> {
    let item: Value =
        serde_json::from_str(&text_of(file)?).with_context(|| file.display().to_string())?;
    let snapshot = Snapshot::deserialize(&item).with_context(|| file.display().to_string())?;
    Cloud::of(&snapshot).with_context(|| file.display().to_string())
}

fn text_of(file: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}
