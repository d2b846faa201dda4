//! Multipliers: the option's, or what a host's aggregates make of it.

use std::cmp::Ordering;
use std::sync::Arc;

use serde::Serialize;
use stowplan_model::pytext;

use crate::table::{AggregateSet, Class, HostIx, PoolId};
use crate::view::HostView;
use crate::weigher::MultiplierRule;

/// The multipliers of one weigher for one request: one for each set of host
/// aggregates that overrides the option.
#[derive(Clone, Debug)]
pub struct Multipliers {
    rule: MultiplierRule,
    plain: f64,
    /// By the number of the aggregate set; empty when nothing overrides.
    sets: Arc<Vec<Option<Override>>>,
}

/// What a set of host aggregates makes of a multiplier.
#[derive(Clone, Debug)]
struct Override {
    value: f64,
    source: MultiplierSource,
}

/// Where a host's multiplier came from.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum MultiplierSource {
    /// The option.
    Option {
        /// As `section.name`.
        option: &'static str,
    },
    /// The lowest value among the host's aggregates.
    Aggregate {
        /// Id of the host aggregate.
        id: i64,
        /// Its name.
        name: String,
        /// Metadata key.
        key: &'static str,
    },
    /// The option, because a value that is no number cancels the overrides.
    Cancelled {
        /// As `section.name`.
        option: &'static str,
        /// Id of the host aggregate with the bad value.
        id: i64,
        /// Its name.
        name: String,
        /// Metadata key.
        key: &'static str,
        /// The bad value.
        value: String,
    },
}

impl Multipliers {
    /// Resolves the multipliers of each rule in one pass over the sets of host
    /// aggregates in use.
    pub(crate) fn resolve(view: &dyn HostView, rules: Vec<MultiplierRule>) -> Vec<Self> {
        let pool = view.aggregate_sets();
        let mut sets: Vec<Vec<Option<Override>>> = vec![Vec::new(); rules.len()];
        for (id, set) in pool.iter() {
            for (rule, sets) in rules.iter().zip(&mut sets) {
                if let Some(found) = override_of(set, rule) {
                    sets.resize(pool.len(), None);
                    sets[id as usize] = Some(found);
                }
            }
        }
        rules
            .into_iter()
            .zip(sets)
            .map(|(rule, sets)| Self {
                plain: signed(&rule, rule.configured),
                rule,
                sets: Arc::new(sets),
            })
            .collect()
    }

    /// The option's value before any sign is turned.
    #[must_use]
    pub const fn configured(&self) -> f64 {
        self.rule.configured
    }

    /// The multiplier of every host that no aggregate overrides.
    #[must_use]
    pub const fn plain(&self) -> f64 {
        self.plain
    }

    /// Whether some set of aggregates overrides the option.
    #[must_use]
    pub fn has_overrides(&self) -> bool {
        !self.sets.is_empty()
    }

    /// The multiplier of hosts in that set of aggregates.
    #[must_use]
    pub fn of_set(&self, set: PoolId) -> f64 {
        match self.sets.get(set as usize) {
            Some(Some(found)) => found.value,
            _ => self.plain,
        }
    }

    /// The multiplier of one host.
    #[must_use]
    pub fn of_host(&self, view: &dyn HostView, host: HostIx) -> f64 {
        self.of_set(view.classes(Class::Aggregates).value(host))
    }

    /// Where the multiplier of hosts in that set comes from.
    #[must_use]
    pub fn source(&self, set: PoolId) -> MultiplierSource {
        match self.sets.get(set as usize) {
            Some(Some(found)) => found.source.clone(),
            _ => MultiplierSource::Option { option: self.rule.option },
        }
    }

    /// Whether every multiplier is a finite number: only then may a weigher
    /// whose values are all equal be left out of the sum.
    #[must_use]
    pub fn all_finite(&self) -> bool {
        self.plain.is_finite() && self.sets.iter().flatten().all(|o| o.value.is_finite())
    }

    /// One sentence for each value in use that is no number.
    pub fn warnings(&self) -> impl Iterator<Item = String> + '_ {
        self.sets.iter().flatten().filter_map(|o| match &o.source {
            MultiplierSource::Cancelled { option, id, name, key, value } => Some(format!(
                "host aggregate {id} ({name}) sets {key} to \"{value}\", which is no number: \
                 its hosts take {option}"
            )),
            _ => None,
        })
    }
}

/// What a set of host aggregates makes of a rule: the lowest of its values;
/// one that is no number cancels all.
fn override_of(set: &AggregateSet, rule: &MultiplierRule) -> Option<Override> {
    let mut lowest: Option<Override> = None;
    for (aggregate, text) in set.values(rule.key) {
        let Some(value) = pytext::float(text) else {
            return Some(Override {
                value: signed(rule, rule.configured),
                source: MultiplierSource::Cancelled {
                    option: rule.option,
                    id: aggregate.id,
                    name: aggregate.name.clone(),
                    key: rule.key,
                    value: text.to_owned(),
                },
            });
        };
        if lowest.as_ref().is_none_or(|low| order(value, low.value).is_lt()) {
            lowest = Some(Override {
                value,
                source: MultiplierSource::Aggregate {
                    id: aggregate.id,
                    name: aggregate.name.clone(),
                    key: rule.key,
                },
            });
        }
    }
    let mut lowest = lowest?;
    lowest.value = signed(rule, lowest.value);
    Some(lowest)
}

fn signed(rule: &MultiplierRule, value: f64) -> f64 {
    if rule.negated { -value } else { value }
}

/// The order of weights and multipliers: NaN is the smallest and equal to
/// itself, the two zeros are equal.
#[must_use]
pub fn order(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| b.is_nan().cmp(&a.is_nan()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_the_smallest() {
        let mut values = [1.0, f64::NAN, -1.0, f64::NEG_INFINITY];
        values.sort_by(|a, b| order(*a, *b));
        assert!(values[0].is_nan());
        assert_eq!(values[1..], [f64::NEG_INFINITY, -1.0, 1.0]);
        assert_eq!(order(0.0, -0.0), Ordering::Equal);
        assert_eq!(order(f64::NAN, f64::NAN), Ordering::Equal);
    }
}
