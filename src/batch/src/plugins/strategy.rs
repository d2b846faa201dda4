//! `resource-strategy-fit`: each dimension is packed or spread for itself, and
//! hosts with scarce devices are kept for those who need them.

use super::proportional::{Proportional, ProportionalCheck};
use super::{ArgumentFault, Arguments, PluginFault, Setup};
use crate::amounts::{DimIx, Dims};
use crate::session::{NodePredicate, Plugin, Point, Score, Shape, ShapeIx, State};
use crate::world::{Kind, World};
use std::collections::BTreeMap;
use stowplan_engine::HostIx;
use stowplan_engine::fault::Fault;
use stowplan_engine::weigher::LocalScore;

/// The best score before a weight.
const MAX_SCORE: f64 = 100.0;
/// The arguments of the proportional check.
const PROPORTIONAL: [&str; 3] =
    ["proportional.enable", "proportional.resources", "proportional.resourceProportion."];
/// Annotations by which a task sets its own strategy: one for all dimensions
/// that the weights name, as in `{"cpu": 2}`.
const OWN_TYPE: &str = "volcano.sh/resource-strategy-scoring-type";
const OWN_WEIGHTS: &str = "volcano.sh/resource-strategy-weight";

/// Which hosts are better in a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strategy {
    /// Those that would be fuller.
    Most,
    /// Those that would be emptier.
    Least,
}

impl Strategy {
    fn named(name: &str) -> Option<Self> {
        match name {
            "MostAllocated" => Some(Self::Most),
            "LeastAllocated" => Some(Self::Least),
            _ => None,
        }
    }
}

/// Strategies with their weights, by number of the dimension.
type Rules = Vec<Option<(Strategy, i64)>>;

/// Hosts without scarce resources come first.
#[derive(Clone, Debug, Default)]
struct Scarcity {
    weight: i64,
    /// Scarce resources with their weights.
    resources: BTreeMap<String, i64>,
}

/// Scores hosts dimension by dimension, as `[batch:resource-strategy-fit]` or
/// the task itself says; and keeps cpu and memory for idle devices.
#[derive(Clone, Debug)]
pub struct ResourceStrategyFit {
    weight: i64,
    /// By name, or by `prefix*`.
    strategies: BTreeMap<String, (Strategy, i64)>,
    scarcity: Scarcity,
    proportional: Option<Proportional>,
    rules: Rules,
    /// Scarce resources by dimension, and the sum of all their weights.
    scarce: (Vec<(DimIx, i64)>, i64),
    /// What tasks with these annotations want; none where it cannot be read.
    own: BTreeMap<BTreeMap<String, String>, Option<Rules>>,
}

impl ResourceStrategyFit {
    /// With `resourceStrategyFitWeight` (10), `resources.<name>.type`
    /// (LeastAllocated) and `.weight` (1), `sra.*` and `proportional.*`. Without
    /// any resources, cpu and memory, LeastAllocated.
    ///
    /// # Errors
    /// An argument that is not of its kind, or a pattern of names that has more
    /// than one `*` at its end.
    pub fn new(setup: &Setup<'_>) -> Result<Self, PluginFault> {
        let arguments = &setup.arguments;
        Ok(Self {
            weight: arguments.weight("resourceStrategyFitWeight", 10)?,
            strategies: strategies(arguments)?,
            scarcity: scarcity(arguments)?,
            proportional: Proportional::new(arguments, PROPORTIONAL)?,
            rules: Rules::new(),
            scarce: (Vec::new(), 0),
            own: BTreeMap::new(),
        })
    }

    /// The strategy of a dimension: by its name, else by the longest prefix.
    fn strategy(&self, name: &str) -> Option<(Strategy, i64)> {
        let prefixes = self.strategies.iter().filter_map(|(pattern, strategy)| {
            let prefix = pattern.strip_suffix('*').filter(|prefix| name.starts_with(prefix))?;
            Some((prefix.len(), *strategy))
        });
        let longest = || prefixes.max_by_key(|(length, _)| *length).map(|(_, strategy)| strategy);
        self.strategies.get(name).copied().or_else(longest)
    }

    fn fit(&self, rules: &Rules, world: &World, host: HostIx, shape: &Shape) -> f64 {
        let (mut sum, mut weights) = (0.0, 0);
        for (dim, request) in shape.request.positive() {
            let Some((strategy, weight)) = rules.get(dim.index()).copied().flatten() else {
                continue;
            };
            weights += weight;
            let all = world.amount(Kind::Allocatable, dim, host);
            if all == 0 || weight == 0 {
                continue;
            }
            let filled = request + world.amount(Kind::Used, dim, host);
            if filled > all {
                return 0.0;
            }
            let part = if strategy == Strategy::Most { filled } else { all - filled };
            sum += part as f64 * weight as f64 / all as f64;
        }
        if weights == 0 { 0.0 } else { sum / weights as f64 * MAX_SCORE * self.weight as f64 }
    }

    fn spare(&self, world: &World, host: HostIx, shape: &Shape) -> f64 {
        let has = |dim| world.amount(Kind::Allocatable, dim, host) > 0;
        let (scarce, sum) = &self.scarce;
        if self.scarcity.weight == 0 || !shape.request.positive().all(|(dim, _)| has(dim)) {
            return 0.0;
        }
        let there: i64 = scarce.iter().filter(|(dim, _)| has(*dim)).map(|(_, weight)| weight).sum();
        let part = if *sum > 0 { 1.0 - there as f64 / *sum as f64 } else { 0.0 };
        part * MAX_SCORE * self.scarcity.weight as f64
    }
}

fn strategies(arguments: &Arguments) -> Result<BTreeMap<String, (Strategy, i64)>, ArgumentFault> {
    let mut strategies = BTreeMap::new();
    for rest in arguments.names_under("resources.") {
        let key = format!("resources.{rest}");
        let Some(name) = rest.strip_suffix(".type").or_else(|| rest.strip_suffix(".weight")) else {
            return Err(arguments.fault(&key, "a name that ends in .type or .weight"));
        };
        let stem = name.strip_suffix('*').unwrap_or(name);
        if stem.is_empty() || stem.contains('*') {
            return Err(arguments.fault(&key, "a resource, or the beginning of one and *"));
        }
        let kind = format!("resources.{name}.type");
        let strategy = match arguments.text(&kind) {
            None => Strategy::Least,
            Some(text) => Strategy::named(text)
                .ok_or_else(|| arguments.fault(&kind, "MostAllocated or LeastAllocated"))?,
        };
        let weight = match arguments.weight(&format!("resources.{name}.weight"), 1)? {
            0 => 1,
            weight => weight,
        };
        strategies.insert(name.to_owned(), (strategy, weight));
    }
    if strategies.is_empty() {
        let spread = |name: &str| (name.to_owned(), (Strategy::Least, 1));
        strategies.extend(["cpu", "memory"].map(spread));
    }
    Ok(strategies)
}

fn scarcity(arguments: &Arguments) -> Result<Scarcity, ArgumentFault> {
    let mut scarcity =
        Scarcity { weight: arguments.weight("sra.weight", 0)?, ..Scarcity::default() };
    for name in arguments.list("sra.resources") {
        let weight = arguments.weight(&format!("sra.resourceWeight.{name}"), 1)?;
        scarcity.resources.insert(name.to_owned(), weight);
    }
    let on = arguments.switch("sra.enable", false)?;
    Ok(if on { scarcity } else { Scarcity::default() })
}

/// The rules that a task sets itself; an outer none where it sets none, an inner
/// one where they cannot be read.
fn own_rules(notes: &BTreeMap<String, String>, dims: &Dims) -> Option<Option<Rules>> {
    let kind = notes.get(OWN_TYPE).filter(|kind| !kind.is_empty())?;
    let weights = notes.get(OWN_WEIGHTS).map(|text| read_weights(text));
    let (strategy, Some(Ok(weights))) = (Strategy::named(kind), weights) else {
        return Some(None);
    };
    let rule = |name: &str| {
        let weight = weights.get(name).copied().filter(|weight| *weight >= 0)?;
        Some((strategy?, weight))
    };
    Some(Some(dims.iter().map(|(_, dim)| rule(&dim.name)).collect()))
}

fn read_weights(text: &str) -> Result<BTreeMap<String, i64>, serde_json::Error> {
    serde_json::from_str(text)
}

/// What is wrong with the strategy that a task sets itself: the annotation, and
/// what is expected of it.
#[must_use]
pub fn own_strategy_fault(
    annotations: &BTreeMap<String, String>,
) -> Option<(&'static str, &'static str)> {
    const WEIGHTS: &str = r#"weights of 0 or more by resource, as in {"cpu": 2, "memory": 1}"#;
    let kind = annotations.get(OWN_TYPE);
    let weights = annotations.get(OWN_WEIGHTS).map(|text| read_weights(text));
    match (kind, weights) {
        (Some(kind), _) if Strategy::named(kind).is_none() => {
            Some((OWN_TYPE, "MostAllocated or LeastAllocated"))
        }
        (_, Some(Err(_))) => Some((OWN_WEIGHTS, WEIGHTS)),
        (_, Some(Ok(weights))) if weights.values().any(|weight| *weight < 0) => {
            Some((OWN_WEIGHTS, WEIGHTS))
        }
        (Some(_), None) => Some((OWN_WEIGHTS, WEIGHTS)),
        _ => None,
    }
}

impl Plugin for ResourceStrategyFit {
    fn name(&self) -> &'static str {
        "resource-strategy-fit"
    }

    fn points(&self) -> &'static [Point] {
        &[Point::Predicate, Point::NodeOrder]
    }

    fn open(&mut self, state: &State) {
        let dims = state.world.dims();
        self.rules = dims.iter().map(|(_, dim)| self.strategy(&dim.name)).collect();
        let scarce = self.scarcity.resources.iter();
        let known = scarce.filter_map(|(name, weight)| Some((dims.ix(name)?, *weight)));
        self.scarce = (known.collect(), self.scarcity.resources.values().sum());
        for shape in state.all_shapes() {
            if let Some(rules) = own_rules(&shape.notes, dims) {
                self.own.insert(BTreeMap::clone(&shape.notes), rules);
            }
        }
    }

    fn predicates(
        &self,
        state: &State,
        shape: ShapeIx,
    ) -> Result<Vec<Box<dyn NodePredicate>>, Fault> {
        let rules = self.proportional.as_ref();
        let check = rules.and_then(|rules| ProportionalCheck::new(rules, state, &state[shape]));
        Ok(check.into_iter().map(|check| Box::new(check) as _).collect())
    }

    fn score(&self) -> Option<&Score> {
        (self.weight > 0 || self.scarcity.weight > 0).then_some(self as &Score)
    }
}

impl LocalScore<World, Shape> for ResourceStrategyFit {
    fn name(&self) -> &'static str {
        "resource-strategy-fit"
    }

    fn score(&self, world: &World, host: HostIx, shape: &Shape) -> f64 {
        let own = if shape.notes.is_empty() { None } else { self.own.get(&*shape.notes) };
        let rules = own.map_or(Some(&self.rules), Option::as_ref);
        let fit = rules.map_or(0.0, |rules| self.fit(rules, world, host, shape));
        fit + self.spare(world, host, shape)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use stowplan_engine::config::EngineConfig;

    fn plugin(given: &[(&str, &str)]) -> Result<ResourceStrategyFit, String> {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let arguments = Arguments::new("resource-strategy-fit", given.collect());
        let engine = EngineConfig::from(&stowplan_config::Settings::default());
        let outside = crate::plugins::Outside::default();
        let setup = Setup { engine: &engine, arguments, hierarchy: false, outside };
        ResourceStrategyFit::new(&setup).map_err(|fault| fault.to_string())
    }

    #[test]
    fn a_name_wins_over_a_prefix_and_a_longer_prefix_over_a_shorter() {
        let given = [
            ("resources.nvidia.*.type", "LeastAllocated"),
            ("resources.nvidia.com/*.type", "MostAllocated"),
            ("resources.nvidia.com/gpu.weight", "7"),
        ];
        let plugin = plugin(&given).unwrap();
        assert_eq!(plugin.strategy("nvidia.com/gpu"), Some((Strategy::Least, 7)));
        assert_eq!(plugin.strategy("nvidia.com/mig"), Some((Strategy::Most, 1)));
        assert_eq!(plugin.strategy("nvidia.net/x"), Some((Strategy::Least, 1)));
        assert_eq!(plugin.strategy("cpu"), None);
    }

    #[test]
    fn what_cannot_be_is_named() {
        for (name, value, part) in [
            ("resources.cpu.type", "Most", "MostAllocated or LeastAllocated"),
            ("resources.cpu.wieght", "1", "ends in .type or .weight"),
            ("resources.*.weight", "1", "the beginning of one"),
            ("resources.a*b.weight", "1", "the beginning of one"),
            ("resourceStrategyFitWeight", "-1", "0 or more"),
            ("sra.enable", "maybe", "true or false"),
        ] {
            let fault = plugin(&[(name, value)]).err().unwrap();
            assert!(fault.contains(name) && fault.contains(part), "{fault}");
        }
    }

    #[test]
    fn a_task_may_set_its_own_strategy() {
        let notes = |kind: &str, weights: Option<&str>| -> BTreeMap<String, String> {
            let weights = weights.map(|text| (OWN_WEIGHTS.to_owned(), text.to_owned()));
            [(OWN_TYPE.to_owned(), kind.to_owned())].into_iter().chain(weights).collect()
        };
        for (kind, weights, faulty) in [
            ("MostAllocated", Some(r#"{"cpu": 2}"#), None),
            ("MostAllocated", None, Some(OWN_WEIGHTS)),
            ("MostAllocated", Some(r#"{"cpu": -2}"#), Some(OWN_WEIGHTS)),
            ("MostAllocated", Some("cpu"), Some(OWN_WEIGHTS)),
            ("Most", Some(r#"{"cpu": 2}"#), Some(OWN_TYPE)),
        ] {
            let fault = own_strategy_fault(&notes(kind, weights)).map(|(key, _)| key);
            assert_eq!(fault, faulty, "{kind} {weights:?}");
        }
        assert_eq!(own_strategy_fault(&BTreeMap::new()), None);
    }
}
