//! `AggregateInstanceExtraSpecsFilter`: the metadata of the host's aggregates
//! meets the flavor's extra specs.

use super::by_aggregates::{ByAggregates, SetRule};
use crate::extra_specs::Requirement;
use crate::fault::Fault;
use crate::filter::{Filter, Predicate, Runs};
use crate::reason::Reason;
use crate::request::RequestCx;
use crate::table::AggregateSet;

/// The scope of extra specs meant for host aggregates.
const SCOPE: &str = "aggregate_instance_extra_specs";

/// Fails hosts whose aggregates have no metadata for an extra spec, or none
/// that meets it. Specs of other scopes are let pass; those without a scope
/// are not.
#[derive(Clone, Copy, Debug, Default)]
pub struct AggregateInstanceExtraSpecsFilter;

impl Filter for AggregateInstanceExtraSpecsFilter {
    fn name(&self) -> &'static str {
        "AggregateInstanceExtraSpecsFilter"
    }

    fn runs(&self) -> Runs {
        Runs { once_per_request: true, on_rebuild: false }
    }

    fn prepare(&self, cx: &RequestCx<'_>) -> Result<Option<Box<dyn Predicate>>, Fault> {
        let specs = cx.request.request().flavor.extra_specs.iter();
        let wanted: Vec<Wanted> = specs
            .filter_map(|(spec, value)| {
                let key = match spec.split_once(':') {
                    None => spec,
                    Some((SCOPE, key)) => key,
                    Some(_) => return None,
                };
                Some(Wanted {
                    spec: spec.to_owned(),
                    key: key.to_owned(),
                    requirement: Requirement::parse(value),
                })
            })
            .collect();
        if wanted.is_empty() {
            return Ok(None);
        }
        Ok(Some(ByAggregates::prepare(cx.view, Specs(wanted))))
    }
}

/// One extra spec that concerns host aggregates.
struct Wanted {
    spec: String,
    key: String,
    requirement: Requirement,
}

/// In the order of the request: the first that fails decides, and those after
/// it are not looked at.
struct Specs(Vec<Wanted>);

impl SetRule for Specs {
    fn objection(&self, set: &AggregateSet) -> Result<Option<Reason>, Fault> {
        for wanted in &self.0 {
            let values = set.merged_values(&wanted.key);
            if values.is_empty() {
                return Ok(Some(Reason::MetadataMissing { spec: wanted.spec.clone() }));
            }
            let mut fault = None;
            let met = values.iter().any(|value| {
                wanted.requirement.holds(value).unwrap_or_else(|found| {
                    fault.get_or_insert(found);
                    false
                })
            });
            // Where one value meets it the others are not needed.
            if met {
                continue;
            }
            if let Some(fault) = fault {
                return Err(Fault::new(fault.kind, format!("{}: {fault}", wanted.spec)));
            }
            return Ok(Some(Reason::MetadataDiffers {
                spec: wanted.spec.clone(),
                wanted: wanted.requirement.text().to_owned(),
                has: values.into_iter().map(str::to_owned).collect(),
            }));
        }
        Ok(None)
    }
}
