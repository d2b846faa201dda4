//! `network-topology-aware`: tasks of a job near to each other, in domains that
//! they fill.

mod used;

use super::{PluginFault, Setup};
use crate::amounts::{Amounts, DimIx};
use crate::session::{
    CellIx, DomainIx, DomainScore, GroupIx, JobIx, Occupied, Plugin, Point, State, TaskIx,
};
use std::collections::BTreeMap;
use used::Used;

/// The best score, before `weight`.
const MAX_SCORE: f64 = 100.0;
/// Domains that are looked at for evictions, unless something else is said.
const MAX_DOMAINS: i64 = 8;
/// What a tier counts against the one below it for tasks that ask for no
/// topology, unless something else is said.
const FADING: f64 = 0.8;

/// Scores domains by how full a job would make them, hosts by how near they are
/// to those that the job has already, and for tasks without a topology by how
/// full their domains are.
#[derive(Clone, Debug)]
pub struct NetworkTopologyAware {
    weight: f64,
    /// Weights by name of the dimension; others do not count.
    weights: BTreeMap<String, i64>,
    /// Whether tasks without a topology are scored, and how much less each tier
    /// counts than the one below it.
    fading: Option<f64>,
    most_domains: usize,
    used: Used,
}

impl NetworkTopologyAware {
    /// With the arguments of `[batch:network-topology-aware]`: `weight`,
    /// `hypernode.binpack.cpu`, `.memory`, `.resources` and `.resources.<name>`,
    /// `hypernode.binpack.normal-pod.enable` and `.fading`, and
    /// `hypernode.gradient.evict.max-hypernodes`.
    ///
    /// # Errors
    /// An argument that cannot be used.
    pub fn new(setup: &Setup<'_>) -> Result<Self, PluginFault> {
        let arguments = &setup.arguments;
        let weight = |name: &str| -> Result<i64, PluginFault> {
            let weight = arguments.number(name, 1)?;
            Ok(if weight < 0 { 1 } else { weight })
        };
        let mut weights = BTreeMap::new();
        for dimension in ["cpu", "memory"] {
            weights
                .insert(dimension.to_owned(), weight(&format!("hypernode.binpack.{dimension}"))?);
        }
        for name in arguments.list("hypernode.binpack.resources") {
            let key = format!("hypernode.binpack.resources.{name}");
            weights.insert(name.to_owned(), weight(&key)?);
        }
        let fading = arguments.decimal("hypernode.binpack.normal-pod.fading", FADING)?;
        let fading = if fading < 0.0 { FADING } else { fading };
        let scores_others = arguments.switch("hypernode.binpack.normal-pod.enable", true)?;
        let most = arguments.number("hypernode.gradient.evict.max-hypernodes", MAX_DOMAINS)?;
        Ok(Self {
            weight: weight("weight")? as f64,
            weights,
            fading: scores_others.then_some(fading),
            most_domains: usize::try_from(if most > 0 { most } else { MAX_DOMAINS })
                .unwrap_or(usize::MAX),
            used: Used::default(),
        })
    }

    /// How full a domain would be, from 0 to 1: the weighted mean of (used +
    /// request) / allocatable; 0 for one that would be too full.
    fn fill(&self, state: &State, domain: DomainIx, request: &Amounts) -> f64 {
        let (mut sum, mut weights) = (0.0, 0);
        for (dim, asked) in request.positive() {
            let Some(weight) = self.weight_of(state, dim) else { continue };
            let allocatable = self.used.allocatable(domain, dim);
            let filled = self.used.get(domain, dim) + asked;
            if filled > allocatable {
                return 0.0;
            }
            sum += weight as f64 * (filled as f64 / allocatable as f64);
            weights += weight;
        }
        if weights == 0 { 0.0 } else { sum / weights as f64 }
    }

    fn weight_of(&self, state: &State, dim: DimIx) -> Option<i64> {
        self.weights.get(state.world.dims().name(dim)).copied()
    }

    /// How near cells are to what a sub-group has already, from 0 to 1; among
    /// the nearest, those with most of its tasks.
    fn nearness(
        &self,
        state: &State,
        (job, group): (JobIx, GroupIx),
        near: DomainIx,
        cells: &[Occupied],
    ) -> Vec<f64> {
        let domains = &state.domains;
        let narrowest =
            |cell: CellIx| domains.around(cell).first().copied().unwrap_or(domains.top());
        let (lowest, highest) = domains.tiers();
        let by_tier = |tier: i64| match highest == lowest {
            true => 1.0,
            false => (highest - tier) as f64 / (highest - lowest) as f64,
        };
        let score = |cell: CellIx| match narrowest(cell) {
            own if own == near => 1.0,
            own => by_tier(domains.get(domains.common(own, near)).tier),
        };
        let mut scores: Vec<f64> = cells.iter().map(|(cell, _)| score(*cell)).collect();
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sharing = cells.iter().zip(&scores).filter(|(_, score)| **score == best);
        if sharing.map(|((_, hosts), _)| hosts).sum::<usize>() > 1 {
            let all = state[job].group(group).map_or(0, |group| group.census.all());
            for ((cell, _), score) in cells.iter().zip(&mut scores) {
                if *score == best && all > 0 {
                    let inside = state.members_in(job, group, narrowest(*cell));
                    *score += inside as f64 / f64::from(all);
                }
            }
        }
        scores
    }

    /// How full the domains of cells would be, tier by tier; a tier in which
    /// there is none counts as full.
    fn fullness(&self, state: &State, fading: f64, task: TaskIx, cells: &[Occupied]) -> Vec<f64> {
        let domains = &state.domains;
        let request = &state.shape_of(task).request;
        let (lowest, highest) = domains.tiers();
        let weight = |tier: i64| fading.powi(i32::try_from(tier - 1).unwrap_or(i32::MAX));
        let all: f64 = (lowest..=highest).map(weight).sum();
        let mut known: BTreeMap<DomainIx, f64> = BTreeMap::new();
        let mut fill = |domain: DomainIx| {
            *known.entry(domain).or_insert_with(|| self.fill(state, domain, request))
        };
        let mut score = |cell: CellIx| -> f64 {
            let around = domains.around(cell);
            let in_tier = |tier| around.iter().find(|it| domains.get(**it).tier == tier);
            let by_tier = (lowest..=highest)
                .map(|tier| weight(tier) * in_tier(tier).map_or(1.0, |domain| fill(*domain)));
            by_tier.sum::<f64>() / all
        };
        cells.iter().map(|(cell, _)| score(*cell)).collect()
    }
}

impl Plugin for NetworkTopologyAware {
    fn name(&self) -> &'static str {
        "network-topology-aware"
    }

    fn points(&self) -> &'static [Point] {
        &[Point::DomainGradient, Point::DomainOrder, Point::NodeOrder]
    }

    fn open(&mut self, state: &State) {
        self.used = Used::of(state);
    }

    fn most_domains(&self) -> Option<usize> {
        Some(self.most_domains)
    }

    fn domain_scores(
        &self,
        state: &State,
        job: JobIx,
        group: GroupIx,
        domains: &[DomainIx],
    ) -> Option<Vec<DomainScore>> {
        let own = || state[job].tasks.iter().filter(|task| state[**task].group == group);
        let request = state.asked_by(own());
        let is_placed = own().any(|task| state[*task].host.is_some());
        let all = own().count();
        let scale = MAX_SCORE * self.weight;
        let score = |domain: &DomainIx| {
            let inside = if is_placed { state.members_in(job, group, *domain) } else { 0 };
            DomainScore {
                score: scale * self.fill(state, *domain, &request),
                among_equals: scale * inside as f64 / all.max(1) as f64,
            }
        };
        Some(domains.iter().map(score).collect())
    }

    fn scores_places(&self) -> bool {
        self.weight > 0.0
    }

    fn place_scores(&self, state: &State, task: TaskIx, cells: &[Occupied]) -> Option<Vec<f64>> {
        let (job, group) = (state[task].job, state[task].group);
        let at = state[job].group(group).filter(|group| group.topology.is_some());
        let mut scores = match at {
            Some(at) => self.nearness(state, (job, group), at.near?, cells),
            None => self.fullness(state, self.fading?, task, cells),
        };
        scores.iter_mut().for_each(|score| *score *= MAX_SCORE * self.weight);
        Some(scores)
    }

    fn allocated(&mut self, state: &State, _: TaskIx) {
        self.used.catch_up(state);
    }

    fn deallocated(&mut self, state: &State, _: TaskIx) {
        self.used.catch_up(state);
    }

    fn refreshed(&mut self, state: &State) {
        self.used = Used::of(state);
    }

    fn audit(&self, state: &State) -> Option<String> {
        (self.used != Used::of(state)).then(|| "what domains have in use is wrong".to_owned())
    }
}
