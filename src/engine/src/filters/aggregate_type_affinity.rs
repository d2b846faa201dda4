//! `AggregateTypeAffinityFilter`: the host's aggregates admit the flavor.

use stowplan_model::pytext;

use super::by_aggregates::{ByAggregates, SetRule};
use crate::fault::Fault;
use crate::filter::{Filter, Predicate, Runs};
use crate::reason::Reason;
use crate::request::RequestCx;
use crate::table::AggregateSet;

/// The metadata key with the names of flavors between commas.
const KEY: &str = "instance_type";

/// Fails hosts whose aggregates name flavors, the request's not among them.
#[derive(Clone, Copy, Debug, Default)]
pub struct AggregateTypeAffinityFilter;

impl Filter for AggregateTypeAffinityFilter {
    fn name(&self) -> &'static str {
        "AggregateTypeAffinityFilter"
    }

    fn runs(&self) -> Runs {
        Runs { once_per_request: true, on_rebuild: false }
    }

    fn prepare(&self, cx: &RequestCx<'_>) -> Result<Option<Box<dyn Predicate>>, Fault> {
        let flavor = cx.request.request().flavor.name.clone();
        Ok(Some(ByAggregates::prepare(cx.view, Flavors { flavor })))
    }
}

struct Flavors {
    flavor: String,
}

impl SetRule for Flavors {
    fn objection(&self, set: &AggregateSet) -> Result<Option<Reason>, Fault> {
        let mut named: Vec<&str> = Vec::new();
        for (_, value) in set.values(KEY) {
            named.extend(value.split(',').map(pytext::strip));
        }
        let admitted = named.is_empty() || named.contains(&self.flavor.as_str());
        Ok((!admitted).then(|| Reason::FlavorNotAdmitted {
            flavor: self.flavor.clone(),
            admitted: named.into_iter().map(str::to_owned).collect(),
        }))
    }
}
