//! `MetricsWeigher`: a sum of what the host's monitors report.

use stowplan_config::WeightNormalization;

use crate::config::EngineConfig;
use crate::fault::{Fault, FaultKind};
use crate::finding::Finding;
use crate::multiplier::Multipliers;
use crate::request::RequestCx;
use crate::table::{HostFacts, HostIx};
use crate::view::HostView;
use crate::weigher::{Bounds, MultiplierRule, RawScore, Weigher};
use crate::weighted_names::WeightedNames;

/// The sum of metric x ratio over `[metrics] weight_setting`. A host without
/// one of the metrics fails the request (`required`) or gets
/// `weight_of_unavailable`; one whose ratio or multiplier is 0 is left out.
#[derive(Clone, Copy, Debug, Default)]
pub struct MetricsWeigher;

impl Weigher for MetricsWeigher {
    fn name(&self) -> &'static str {
        "MetricsWeigher"
    }

    fn multiplier(&self, config: &EngineConfig) -> MultiplierRule {
        MultiplierRule {
            option: "metrics.weight_multiplier",
            key: "metrics_weight_multiplier",
            configured: config.metrics.weight_multiplier,
            negated: false,
        }
    }

    fn bounds(&self, _normalisation: WeightNormalization) -> Bounds {
        Bounds::NONE
    }

    fn prepare(
        &self,
        cx: &RequestCx<'_>,
        multipliers: &Multipliers,
    ) -> Result<Box<dyn RawScore>, Fault> {
        let metrics = &cx.config.metrics;
        Ok(Box::new(Reported {
            setting: WeightedNames::read("metrics.weight_setting", &metrics.weight_setting),
            required: metrics.required,
            unavailable: metrics.weight_of_unavailable,
            multipliers: multipliers.clone(),
        }))
    }
}

struct Reported {
    setting: WeightedNames,
    required: bool,
    unavailable: f64,
    multipliers: Multipliers,
}

impl RawScore for Reported {
    fn one(&self, view: &dyn HostView, host: HostIx) -> Result<f64, Fault> {
        let facts = view.facts(host);
        let mut sum = 0.0;
        for (name, ratio) in &self.setting.items {
            match value(facts, name) {
                Some(value) => sum += value as f64 * ratio,
                None if self.required => {
                    return Err(Fault::new(
                        FaultKind::MissingMetric,
                        format!(
                            "host {} (node {}) does not report metric {name}, which \
                             metrics.weight_setting weighs and metrics.required asks for",
                            facts.host, facts.node
                        ),
                    ));
                }
                None if ratio * self.multipliers.of_host(view, host) != 0.0 => {
                    return Ok(self.unavailable);
                }
                None => {}
            }
        }
        Ok(sum)
    }

    fn constant(&self) -> Option<f64> {
        self.setting.items.is_empty().then_some(0.0)
    }

    fn findings(&self) -> Vec<Finding> {
        self.setting.findings.clone()
    }
}

/// The value of a metric; of several under one name the last counts.
fn value(facts: &HostFacts, name: &str) -> Option<i64> {
    let metrics = facts.metrics.as_deref().unwrap_or_default();
    metrics.iter().rev().find(|metric| metric.name == name).map(|metric| metric.value)
}
