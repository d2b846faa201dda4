//! `MetricsFilter`: the host reports every metric that is weighed.

use crate::fault::{Fault, FaultKind};
use crate::filter::{Filter, Predicate, Runs, Verdict};
use crate::finding::Finding;
use crate::offers::{Offers, Survivors};
use crate::reason::Reason;
use crate::request::RequestCx;
use crate::table::HostIx;
use crate::view::HostView;
use crate::weighted_names::WeightedNames;

/// Fails hosts that lack one of the metrics of `[metrics] weight_setting`, so
/// that MetricsWeigher finds them all.
#[derive(Clone, Copy, Debug, Default)]
pub struct MetricsFilter;

impl Filter for MetricsFilter {
    fn name(&self) -> &'static str {
        "MetricsFilter"
    }

    fn runs(&self) -> Runs {
        Runs { once_per_request: false, on_rebuild: false }
    }

    fn prepare(&self, cx: &RequestCx<'_>) -> Result<Option<Box<dyn Predicate>>, Fault> {
        let setting =
            WeightedNames::read("metrics.weight_setting", &cx.config.metrics.weight_setting);
        let mut names: Vec<String> = setting.items.into_iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        names.dedup();
        Ok(Some(Box::new(Reported { names, findings: setting.findings })))
    }
}

struct Reported {
    names: Vec<String>,
    findings: Vec<Finding>,
}

impl Predicate for Reported {
    fn judge(
        &self,
        view: &dyn HostView,
        host: HostIx,
        _offers: &Offers,
        _left: &Survivors,
    ) -> Result<Verdict, Fault> {
        let facts = view.facts(host);
        let metrics = facts.metrics.as_ref().ok_or_else(|| {
            Fault::new(
                FaultKind::Type,
                format!("metrics of host {} are null: expected a list", facts.host),
            )
        })?;
        let missing = self.names.iter().filter(|name| metrics.iter().all(|m| m.name != **name));
        let missing: Vec<String> = missing.cloned().collect();
        Ok(if missing.is_empty() {
            Verdict::Pass
        } else {
            Verdict::Fail(Reason::MetricsMissing { missing })
        })
    }

    fn findings(&self) -> Vec<Finding> {
        self.findings.clone()
    }
}
