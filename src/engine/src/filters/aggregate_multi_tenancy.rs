//! `AggregateMultiTenancyIsolation`: the host's aggregates admit the project.

use std::collections::BTreeSet;

use stowplan_model::pytext;

use super::by_aggregates::{ByAggregates, SetRule};
use crate::fault::Fault;
use crate::filter::{Filter, Predicate, Runs};
use crate::reason::Reason;
use crate::request::RequestCx;
use crate::table::AggregateSet;

/// Keys that begin with this name projects.
const PREFIX: &str = "filter_tenant_id";

/// Projects that a reason names.
const NAMED: usize = 5;

/// Fails hosts whose aggregates name projects, the request's not among them.
/// Values are lists between commas.
#[derive(Clone, Copy, Debug, Default)]
pub struct AggregateMultiTenancyIsolation;

impl Filter for AggregateMultiTenancyIsolation {
    fn name(&self) -> &'static str {
        "AggregateMultiTenancyIsolation"
    }

    fn runs(&self) -> Runs {
        Runs { once_per_request: true, on_rebuild: false }
    }

    fn prepare(&self, cx: &RequestCx<'_>) -> Result<Option<Box<dyn Predicate>>, Fault> {
        let project = cx.request.request().project_id.clone();
        Ok(Some(ByAggregates::prepare(cx.view, Tenancy { project })))
    }
}

struct Tenancy {
    project: Option<String>,
}

impl SetRule for Tenancy {
    fn objection(&self, set: &AggregateSet) -> Result<Option<Reason>, Fault> {
        let projects: BTreeSet<&str> = set
            .iter()
            .flat_map(|aggregate| &aggregate.metadata)
            .filter(|(key, _)| key.starts_with(PREFIX))
            .flat_map(|(_, value)| value.split(',').map(pytext::strip))
            .collect();
        let admitted = projects.is_empty()
            || self.project.as_ref().is_some_and(|project| projects.contains(project.as_str()));
        Ok((!admitted).then(|| Reason::ProjectNotAdmitted {
            project: self.project.clone(),
            admitted: projects.into_iter().take(NAMED).map(str::to_owned).collect(),
        }))
    }
}
