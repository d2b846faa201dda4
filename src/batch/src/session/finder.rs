//! Hosts for a shape.
//!
//! Per shape the finder keeps the score of every host on which it fits now,
//! and how far in the world's log of changes it has looked. Where predicates
//! and scores depend on one host each, only changed hosts are judged again; the
//! answer is the very host that a full scan would give. All other shapes are
//! looked at host by host.

use super::hint::{First, try_preferred};
use super::index::Index;
use super::objects::{ShapeIx, TaskIx};
use super::plugin::{HostVerdict, NodePredicate};
use super::scoring::{best_of, score};
use super::state::State;
use super::tiers::Tiers;
use foldhash::{HashMap, HashMapExt};
use std::collections::hash_map;
use stowplan_engine::fault::Fault;
use stowplan_engine::hint::HintOutcome;
use stowplan_engine::{HostIx, HostSet, HostView};

/// A host for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It has room now.
    Now(HostIx),
    /// It will have room once others have left.
    Later(HostIx),
}

/// What came of looking for a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The host, if there is one.
    pub(super) place: Option<Place>,
    /// What became of the task's hint, if it has one.
    pub(super) hint: Option<HintOutcome>,
}

/// Hosts in groups, the first to be tried first; with each group, whether it
/// has room now.
pub(super) type Candidates = [(Vec<HostIx>, bool); 4];

/// What is known of hosts, by shape.
#[derive(Default)]
pub struct Finder {
    entries: HashMap<ShapeIx, Judged>,
}

/// What is known of all hosts for one shape.
pub(super) struct Judged {
    predicates: Vec<Box<dyn NodePredicate>>,
    /// Hosts that no change of this session makes pass or fail.
    passing: HostSet,
    /// Best hosts, where they can be kept up to date host by host.
    index: Option<Index>,
}

impl Finder {
    /// Without any shape.
    #[must_use]
    pub fn new() -> Self {
        Self { entries: HashMap::new() }
    }

    /// The host for a task: the planned one, the nominated one, the
    /// first preferred one with room now, or else the best of all.
    ///
    /// # Errors
    /// A shape or host that cannot be judged.
    pub(super) fn find(
        &mut self,
        state: &State,
        tiers: &Tiers,
        task: TaskIx,
        first: First,
    ) -> Result<Found, Fault> {
        let shape = state[task].shape;
        let entry = self.entry(state, tiers, shape)?;
        let hint = state[shape].hint.as_deref();
        let inside =
            |host: &HostIx| first.within.is_none_or(|domain| state.domains.contains(domain, *host));
        if let Some(host) = first.planned.filter(inside) {
            let place = entry.place_on(state, shape, host)?;
            return Ok(Found { place, hint: hint.map(|_| HintOutcome::Planned) });
        }
        if let Some(host) = first.nominated.filter(inside)
            && let Some(place) = entry.place_on(state, shape, host)?
        {
            return Ok(Found { place: Some(place), hint: None });
        }
        let mut outcome = None;
        if let Some(hint) = hint {
            let takes = |host| Ok(inside(&host) && entry.takes_now(state, shape, host)?);
            let most = first.max_hint_nodes;
            let (host, came) = try_preferred(&state.world, hint, most, &entry.passing, takes)?;
            outcome = Some(came);
            if let Some(host) = host {
                return Ok(Found { place: Some(Place::Now(host)), hint: outcome });
            }
        }
        let place = match first.within {
            None if !tiers.scores_places(state) => entry.best(state, tiers, task)?,
            within => {
                let domain = within.unwrap_or(state.domains.top());
                self.best_in(state, tiers, task, domain)?
            }
        };
        Ok(Found { place, hint: outcome })
    }

    /// Hosts that a shape could go to if others left them, in order of name.
    ///
    /// # Errors
    /// A shape or host that cannot be judged.
    pub fn after_evictions(
        &mut self,
        state: &State,
        tiers: &Tiers,
        shape: ShapeIx,
    ) -> Result<Vec<HostIx>, Fault> {
        let entry = self.entry(state, tiers, shape)?;
        let mut hosts = Vec::new();
        for &host in state.world.order() {
            let passes = entry.passing.contains(host);
            if passes && entry.judge(state, host)? != HostVerdict::Unresolvable {
                hosts.push(host);
            }
        }
        Ok(hosts)
    }

    /// What predicates say of a host for a shape as things stand, room apart.
    ///
    /// # Errors
    /// A shape or host that cannot be judged.
    pub fn verdict(
        &mut self,
        state: &State,
        tiers: &Tiers,
        shape: ShapeIx,
        host: HostIx,
    ) -> Result<HostVerdict, Fault> {
        let entry = self.entry(state, tiers, shape)?;
        if !entry.passing.contains(host) {
            return Ok(HostVerdict::Unresolvable);
        }
        entry.judge(state, host)
    }

    /// Whether those predicates let a shape on a host that are looked at.
    ///
    /// # Errors
    /// A shape or host that cannot be judged.
    pub fn passes(
        &mut self,
        state: &State,
        tiers: &Tiers,
        (shape, host): (ShapeIx, HostIx),
        looked_at: impl Fn(&dyn NodePredicate) -> bool,
    ) -> Result<bool, Fault> {
        let entry = self.entry(state, tiers, shape)?;
        for predicate in entry.predicates.iter().filter(|p| looked_at(p.as_ref())) {
            if predicate.judge(state, host)? != HostVerdict::Passes {
                return Ok(false);
            }
        }
        Ok(entry.passing.contains(host))
    }

    /// What a shape scores on those of these hosts that have room for it now;
    /// none where that cannot be kept host by host.
    ///
    /// # Errors
    /// A shape or host that cannot be judged.
    pub(super) fn scored(
        &mut self,
        state: &State,
        tiers: &Tiers,
        shape: ShapeIx,
        hosts: &[HostIx],
    ) -> Result<Option<Vec<(HostIx, f64)>>, Fault> {
        let entry = self.entry(state, tiers, shape)?;
        let Some(mut index) = entry.index.take() else { return Ok(None) };
        let caught_up = index.catch_up(state, |host| entry.score_now(state, tiers, shape, host));
        let with_room = hosts.iter().filter_map(|host| {
            let score = index.score(state.world.rank(*host))?;
            Some((*host, score))
        });
        let scored = with_room.collect();
        entry.index = Some(index);
        caught_up?;
        Ok(Some(scored))
    }

    /// Those of these hosts that can take a shape.
    ///
    /// # Errors
    /// A shape or host that cannot be judged.
    pub(super) fn candidates_in(
        &mut self,
        state: &State,
        tiers: &Tiers,
        shape: ShapeIx,
        hosts: &[HostIx],
    ) -> Result<Candidates, Fault> {
        self.entry(state, tiers, shape)?.candidates(state, shape, hosts)
    }

    fn entry(
        &mut self,
        state: &State,
        tiers: &Tiers,
        shape: ShapeIx,
    ) -> Result<&mut Judged, Fault> {
        match self.entries.entry(shape) {
            hash_map::Entry::Occupied(known) => Ok(known.into_mut()),
            hash_map::Entry::Vacant(place) => Ok(place.insert(Judged::new(state, tiers, shape)?)),
        }
    }
}

impl Judged {
    fn new(state: &State, tiers: &Tiers, shape: ShapeIx) -> Result<Self, Fault> {
        let predicates = tiers.predicates(state, shape)?;
        let mut passing = state.world.live().clone();
        let shard = state.shard.as_ref();
        if let Some(shard) = shard.filter(|shard| shard.hard) {
            passing.retain(|host| shard.hosts.contains(host));
        }
        for predicate in &predicates {
            predicate.narrow(&state.world, &mut passing)?;
        }
        let local = predicates.iter().all(|predicate| predicate.is_local())
            && tiers.set_scores(state, shape).is_empty()
            && shard.is_none_or(|shard| shard.hard);
        let index = local.then(|| Index::new(state));
        Ok(Self { predicates, passing, index })
    }

    /// The best host for a task of the shape: of those with room now, else of
    /// those that will have room; the first by name of equals.
    fn best(&mut self, state: &State, tiers: &Tiers, task: TaskIx) -> Result<Option<Place>, Fault> {
        let shape = state[task].shape;
        // What is scored for this task alone is not what the shape is indexed by.
        let alike = tiers.task_scores(state, task).next().is_none();
        if alike && let Some(mut index) = self.index.take() {
            let caught_up = index.catch_up(state, |host| self.score_now(state, tiers, shape, host));
            let best = index.first_best().and_then(|rank| state.world.order().get(rank).copied());
            self.index = Some(index);
            caught_up?;
            if let Some(host) = best {
                return Ok(Some(Place::Now(host)));
            }
            if !state.world.is_releasing() {
                return Ok(None);
            }
        }
        for (hosts, now) in self.candidates(state, shape, state.world.order())? {
            if let Some(host) = best_of(state, tiers, task, &hosts) {
                return Ok(Some(if now { Place::Now(host) } else { Place::Later(host) }));
            }
        }
        Ok(None)
    }

    /// One host, now or later; none where it does not take the shape.
    fn place_on(
        &self,
        state: &State,
        shape: ShapeIx,
        host: HostIx,
    ) -> Result<Option<Place>, Fault> {
        if !self.takes(state, shape, host)? {
            return Ok(None);
        }
        let now = state.world.fits_idle(host, state[shape].ask());
        Ok(Some(if now { Place::Now(host) } else { Place::Later(host) }))
    }

    fn judge(&self, state: &State, host: HostIx) -> Result<HostVerdict, Fault> {
        let mut verdict = HostVerdict::Passes;
        for predicate in &self.predicates {
            match predicate.judge(state, host)? {
                HostVerdict::Passes => {}
                HostVerdict::Unschedulable => verdict = HostVerdict::Unschedulable,
                HostVerdict::Unresolvable => return Ok(HostVerdict::Unresolvable),
            }
        }
        Ok(verdict)
    }

    /// Whether a shape can be given or promised room on a host.
    fn takes(&self, state: &State, shape: ShapeIx, host: HostIx) -> Result<bool, Fault> {
        Ok(self.passing.contains(host)
            && state.world.fits_future(host, state[shape].ask())
            && self.judge(state, host)? == HostVerdict::Passes)
    }

    /// Whether a shape can be given room on a host now.
    fn takes_now(&self, state: &State, shape: ShapeIx, host: HostIx) -> Result<bool, Fault> {
        Ok(state.world.fits_idle(host, state[shape].ask()) && self.takes(state, shape, host)?)
    }

    /// The score of a host with room now; none for all others.
    fn score_now(
        &self,
        state: &State,
        tiers: &Tiers,
        shape: ShapeIx,
        host: HostIx,
    ) -> Result<Option<f64>, Fault> {
        Ok(self.takes_now(state, shape, host)?.then(|| score(state, tiers, shape, host)))
    }

    /// Those of these hosts that can take a shape, in the groups in which they
    /// are tried: room now before room later, and in each the own shard first.
    fn candidates(
        &self,
        state: &State,
        shape: ShapeIx,
        hosts: &[HostIx],
    ) -> Result<Candidates, Fault> {
        let mut groups = [(vec![], true), (vec![], true), (vec![], false), (vec![], false)];
        for &host in hosts {
            if self.takes(state, shape, host)? {
                let later = !state.world.fits_idle(host, state[shape].ask());
                let own = state.shard.as_ref().is_none_or(|shard| shard.hosts.contains(host));
                groups[usize::from(later) * 2 + usize::from(!own)].0.push(host);
            }
        }
        Ok(groups)
    }
}
