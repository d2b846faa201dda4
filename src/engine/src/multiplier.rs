//! Multipliers: the option's, or what a host's aggregates make of it.

use std::cmp::Ordering;
use std::sync::Arc;

use smallvec::SmallVec;
use stowplan_model::pytext;

use crate::overrides::{Overridable, Override, Source};
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
    sets: Arc<Vec<Option<Override<f64>>>>,
    /// The values alone: what the sum over hosts looks up.
    values: Arc<Vec<f64>>,
}

impl Multipliers {
    /// Resolves the multipliers of each rule in one pass over the sets of host
    /// aggregates in use.
    pub(crate) fn resolve(view: &dyn HostView, rules: Vec<MultiplierRule>) -> Vec<Self> {
        let pool = view.aggregate_sets();
        let mut sets: Vec<Vec<Option<Override<f64>>>> = vec![Vec::new(); rules.len()];
        for (id, set) in pool.iter() {
            for place in named_by(set, &rules) {
                if let Some(found) = override_of(set, &rules[place]) {
                    sets[place].resize(pool.len(), None);
                    sets[place][id as usize] = Some(found);
                }
            }
        }
        let rows = rules.into_iter().zip(sets).map(|(rule, sets)| {
            let plain = signed(&rule, rule.configured);
            let value = |set: &Option<Override<f64>>| set.as_ref().map_or(plain, |o| o.value);
            let values = Arc::new(sets.iter().map(value).collect());
            Self { rule, plain, sets: Arc::new(sets), values }
        });
        rows.collect()
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
        self.values.get(set as usize).copied().unwrap_or(self.plain)
    }

    /// The multiplier of one host.
    #[must_use]
    pub fn of_host(&self, view: &dyn HostView, host: HostIx) -> f64 {
        self.of_set(view.classes(Class::Aggregates).value(host))
    }

    /// Where the multiplier of hosts in that set comes from.
    #[must_use]
    pub fn source(&self, set: PoolId) -> Source {
        match self.sets.get(set as usize) {
            Some(Some(found)) => found.source.clone(),
            _ => Source::Option { option: self.rule.option },
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
        self.sets.iter().flatten().filter_map(|found| found.source.warning())
    }

    /// How far the multiplier reaches, whatever its sign: the largest one in
    /// use, NaN counting as none.
    #[must_use]
    pub fn reach(&self) -> f64 {
        let overrides = self.sets.iter().flatten().map(|found| found.value.abs());
        overrides.fold(self.plain.abs(), f64::max)
    }
}

/// Places of the rules whose keys a set of host aggregates has. Most sets have
/// few keys, so that looking through them is less than asking for each rule's.
fn named_by(set: &AggregateSet, rules: &[MultiplierRule]) -> SmallVec<[usize; 4]> {
    let mut places = SmallVec::new();
    for key in set.iter().flat_map(|aggregate| aggregate.metadata.keys()) {
        for (place, _) in rules.iter().enumerate().filter(|(_, rule)| rule.key == *key) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }
    places
}

/// What a set of host aggregates makes of a rule.
fn override_of(set: &AggregateSet, rule: &MultiplierRule) -> Option<Override<f64>> {
    let option = Overridable { option: rule.option, key: rule.key, configured: rule.configured };
    let mut found = option.on(set, pytext::float, |a, b| order(a, b).is_lt())?;
    found.value = signed(rule, found.value);
    Some(found)
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
