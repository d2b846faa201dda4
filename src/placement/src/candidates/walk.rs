//! The candidates of one root, one by one.

use super::{
    dead::DeadEnds,
    feasible::{Chosen, Rules},
    plan::Plan,
    query::{Candidate, Share},
    space::Space,
};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use smallvec::SmallVec;
use std::sync::Arc;
use stowplan_ledger::image::providers::At;

/// A walk over the choices of one tree. It can be left and taken up again, and
/// costs what its steps cost.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    plan: Arc<Plan>,
    space: Space,
    rules: Rules,
    /// For each slot its members in the order in which they are tried.
    choices: Vec<SmallVec<[u32; 8]>>,
    /// For each slot reached, the next choice to try.
    next: Vec<usize>,
    chosen: Chosen,
    started: bool,
    dead: DeadEnds,
    /// How many of the slots reached have led to a candidate with what they
    /// were reached by.
    fruitful: usize,
}

impl Walk {
    pub fn new(plan: Arc<Plan>, space: Space, random: Option<&mut ChaCha8Rng>) -> Self {
        let mut choices: Vec<_> = (0..plan.slots.len()).map(|slot| space.choices(slot)).collect();
        if let Some(random) = random {
            choices.iter_mut().for_each(|choices| choices.shuffle(random));
        }
        let rules = Rules::of(&plan, &space);
        Self {
            plan,
            space,
            rules,
            choices,
            next: vec![0],
            chosen: Chosen::default(),
            started: false,
            dead: DeadEnds::default(),
            fruitful: 0,
        }
    }

    /// Tries providers of a lower rank first; before the walk begins.
    pub fn try_first<R: Ord>(&mut self, rank: impl Fn(At) -> R) {
        let members = &self.space.members;
        for choices in &mut self.choices {
            choices.sort_by_key(|member| rank(members[*member as usize]));
        }
    }

    /// Whether the walk has only one end: then its first candidate is its last.
    pub fn single(&self) -> bool {
        self.choices.iter().all(|choices| choices.len() == 1)
    }

    /// Whether all providers of the last candidate share: only such a
    /// candidate can turn up under another root too.
    pub fn all_shared(&self) -> bool {
        !self.space.shares.is_empty()
            && self.chosen.members.iter().all(|member| self.space.shares[*member])
    }

    /// The providers of the last candidate, slot by slot.
    pub fn providers(&self) -> SmallVec<[At; 4]> {
        self.chosen.members.iter().map(|member| self.space.members[*member]).collect()
    }

    /// Goes to the next complete choice. False at the end.
    fn advance(&mut self) -> bool {
        let slots = self.plan.slots.len();
        let binding = self.rules.bind();
        if !self.started {
            self.started = true;
            if slots == 0
                || (binding && !self.rules.completable(&self.plan, &self.space, &self.chosen))
            {
                self.next.clear();
                return false;
            }
        } else if self.chosen.pop(&self.plan).is_none() {
            return false;
        }
        while let Some(place) = self.next.last_mut() {
            let slot = self.chosen.members.len();
            let Some(&member) = self.choices[slot].get(*place) else {
                self.leave(binding);
                continue;
            };
            *place += 1;
            let member = member as usize;
            if binding && !self.rules.admit(&self.plan, &self.space, &self.chosen, member) {
                continue;
            }
            self.chosen.push(&self.plan, member);
            if binding && !self.goes_on() {
                self.chosen.pop(&self.plan);
                continue;
            }
            if slot + 1 == slots {
                self.fruitful = slots;
                return true;
            }
            self.next.push(0);
        }
        false
    }

    /// Whether what is chosen can still be completed, as far as is known.
    fn goes_on(&mut self) -> bool {
        let Self { rules, plan, space, chosen, dead, .. } = self;
        !dead.has(rules, plan, space, chosen) && rules.completable(plan, space, chosen)
    }

    /// Goes back from a slot whose choices are used up.
    fn leave(&mut self, binding: bool) {
        self.next.pop();
        if binding && self.next.len() >= self.fruitful {
            self.dead.add(&self.rules, &self.plan, &self.space, &self.chosen);
        }
        self.fruitful = self.fruitful.min(self.next.len());
        self.chosen.pop(&self.plan);
    }

    fn candidate(&self) -> Candidate {
        let mut allocations: SmallVec<[Share; 4]> = SmallVec::new();
        let mut mappings: SmallVec<[SmallVec<[At; 2]>; 2]> =
            SmallVec::from_elem(SmallVec::new(), self.plan.groups.len());
        for (slot, member) in self.plan.slots.iter().zip(&self.chosen.members) {
            let provider = self.space.members[*member];
            if !mappings[slot.group].contains(&provider) {
                mappings[slot.group].push(provider);
            }
            for (class, amount) in &slot.needs {
                add(&mut allocations, Share { provider, class: *class, amount: *amount });
            }
        }
        Candidate { root: self.space.root, allocations, mappings }
    }
}

/// Adds a share: to what is taken of the class there, else behind what is
/// taken there, else at the end.
fn add(allocations: &mut SmallVec<[Share; 4]>, share: Share) {
    let same = |have: &&mut Share| have.provider == share.provider && have.class == share.class;
    if let Some(have) = allocations.iter_mut().find(same) {
        have.amount = have.amount.saturating_add(share.amount);
        return;
    }
    let last = allocations.iter().rposition(|have| have.provider == share.provider);
    allocations.insert(last.map_or(allocations.len(), |last| last + 1), share);
}

impl Iterator for Walk {
    type Item = Candidate;

    fn next(&mut self) -> Option<Candidate> {
        self.advance().then(|| self.candidate())
    }
}
