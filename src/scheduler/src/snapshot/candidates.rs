//! Candidates for scenarios of the engine that have resource providers.

use std::collections::BTreeMap;

use serde::Deserialize as _;
use serde_json::Value;
use stowplan_config::{OptionError, Settings};
use stowplan_engine::offers::Mappings;
use stowplan_engine::scenario::{Candidate, Scenario};
use stowplan_engine::table::HostIx;
use stowplan_engine::{CheckedRequest, StageFault};

use super::build::SnapshotError;
use super::form::Snapshot;
use crate::error::SchedulerError;
use crate::select::{Asked, Pool, RootTraits, translate};

/// Why a scenario's candidates cannot be found.
#[derive(Debug, thiserror::Error)]
pub enum CandidatesFault {
    /// What it says of its cloud cannot be read.
    #[error(transparent)]
    Form(#[from] serde_json::Error),
    /// Its providers are no trees.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// An option that it sets does not exist.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// Its request cannot be read.
    #[error(transparent)]
    Request(#[from] StageFault),
    /// Its request cannot be translated.
    #[error(transparent)]
    Translation(#[from] SchedulerError),
}

/// Gives the hosts of a scenario that has `providers` their allocation
/// candidates, and takes out those that have none. Hosts with a key `candidates`
/// keep what they have. `item` is the scenario as it was read.
///
/// # Errors
/// A cloud or a request that cannot be read, or translated into a query.
pub fn find_candidates(
    scenario: &mut Scenario,
    item: &Value,
    base: &Settings,
    overrides: &[(String, String)],
) -> Result<(), CandidatesFault> {
    if scenario.providers.is_none() {
        return Ok(());
    }
    let settings = scenario.settings(base, overrides)?;
    let image = Snapshot::deserialize(item)?.image()?;
    let mut request = scenario.request()?;
    // A query cannot do without; none is as good as one without properties.
    request.image.get_or_insert_default();
    let checked = CheckedRequest::check(request.clone())?;
    let asked = Asked {
        request: &request,
        image: request.image.as_ref().and(checked.image()),
        groups: &[],
        same_subtree: &[],
        networks: &[],
        root: &RootTraits::default(),
        zone_must_exist: false,
    };
    let queries = translate(&image, asked, &settings)?;
    queries.check()?;
    let mut pool = Pool::search(&image, &queries, &request)?;
    let offers = pool.offers(&image);
    let mut found: BTreeMap<HostIx, Vec<Mappings>> = pool
        .hosts
        .iter()
        .map(|host| (*host, offers.of(*host).unwrap_or_default().to_vec()))
        .collect();
    // The columns have the hosts in the scenario's order.
    let mut places = (0..).map(HostIx);
    scenario.hosts.retain_mut(|host| {
        let found = places.next().and_then(|place| found.remove(&place));
        if host.candidates.is_none() {
            let candidates = |mappings: Vec<Mappings>| {
                mappings.into_iter().map(|mappings| Candidate { mappings }).collect()
            };
            host.candidates = found.map(candidates);
        }
        host.candidates.is_some()
    });
    Ok(())
}
