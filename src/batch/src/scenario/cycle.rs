//! One cycle of a scenario.

use super::build::state;
use super::cluster::Cluster;
use super::outcome::{Outcome, Recorder};
use super::tiers::{texts, tiers};
use super::{BatchFailure, Policy, probe};
use crate::actions::actions;
use crate::plugins::{self, Outside};
use crate::session::{Session, SessionOptions, Tiers};
use std::collections::BTreeMap;
use stowplan_config::Settings;
use stowplan_engine::config::EngineConfig;

/// The action that admits jobs; without it allocate does.
const ENQUEUE: &str = "enqueue";

/// What cycles are run with.
pub(super) struct Run<'a> {
    pub(super) settings: &'a Settings,
    pub(super) engine: &'a EngineConfig,
    pub(super) policy: &'a Policy,
}

impl Run<'_> {
    fn tiers(&self) -> Result<Tiers, BatchFailure> {
        match &self.policy.tiers {
            Some(input) => tiers(input, &self.policy.mock_plugins, self.engine),
            None => Ok(plugins::tiers(self.settings, self.engine, &Outside::default())?),
        }
    }

    /// Arguments of actions: the configuration's, then the scenario's.
    fn arguments(&self) -> BTreeMap<String, BTreeMap<String, String>> {
        let mut all = self.settings.batch_plugins.clone();
        for given in &self.policy.action_arguments {
            all.entry(given.action.clone()).or_default().extend(texts(given.arguments.iter()));
        }
        all
    }

    /// Runs a cycle. Without actions it is only opened, and asked what there is
    /// to ask.
    pub(super) fn cycle(
        &self,
        cluster: &Cluster,
        named: Option<&[String]>,
    ) -> Result<Outcome, BatchFailure> {
        let named = named.unwrap_or(&self.settings.batch.actions);
        let actions = actions(named.iter().map(String::as_str), &self.arguments())?;
        let options = SessionOptions {
            commit_retries: 0,
            enqueues: named.iter().any(|action| action == ENQUEUE),
            max_hint_nodes: self.engine.max_hint_nodes,
        };
        let mut recorder = Recorder::default();
        let mut session =
            Session::open(state(cluster, self.settings)?, self.tiers()?, options, &mut recorder);
        let probed =
            if actions.is_empty() { probe::ask(&mut session)? } else { probe::Probed::default() };
        actions.iter().for_each(|action| action.run(&mut session));
        debug_assert_eq!(session.state.audit(), None);
        debug_assert_eq!(session.tiers.audit(&session.state), None);
        let mut outcome = Outcome::of(&session);
        drop(session);
        outcome.add(recorder, probed);
        Ok(outcome)
    }
}
