//! Whether what has been chosen can still be completed.
//!
//! Each test asks a necessary condition; for one kind of rule at a time the
//! tests are exact, so that a search does not visit arrangements that end
//! nowhere.

use super::{matching::fits, plan::Plan, set::Set, space::Space};
use foldhash::{HashMap, HashSet, HashSetExt};
use stowplan_ledger::image::names::Ix;

/// Which rules bind the choices of a tree to each other. Where none does,
/// every combination is a candidate and nothing is tested on the way.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    cover: bool,
    isolate: bool,
    subtrees: bool,
    /// Classes of which some member cannot take all that is asked for.
    pub tight: Vec<Ix>,
    trees: bool,
    /// States of the cover test that lead nowhere: slot and what is met.
    hopeless: HashSet<(usize, Set)>,
    spread: usize,
    required: usize,
}

/// What has been chosen: a member for each of the first slots.
#[derive(Clone, Debug, Default)]
pub(super) struct Chosen {
    pub members: Vec<usize>,
    sums: HashMap<(usize, Ix), i64>,
}

impl Chosen {
    pub fn push(&mut self, plan: &Plan, member: usize) {
        let slot = &plan.slots[self.members.len()];
        self.members.push(member);
        for (class, amount) in slot.needs.iter().filter(|need| plan.summed.contains(&need.0)) {
            *self.sums.entry((member, *class)).or_insert(0) += amount;
        }
    }

    pub fn pop(&mut self, plan: &Plan) -> Option<usize> {
        let member = self.members.pop()?;
        let slot = &plan.slots[self.members.len()];
        for (class, amount) in slot.needs.iter().filter(|need| plan.summed.contains(&need.0)) {
            *self.sums.entry((member, *class)).or_insert(0) -= amount;
        }
        Some(member)
    }

    pub fn sum(&self, member: usize, class: Ix) -> i64 {
        self.sums.get(&(member, class)).copied().unwrap_or(0)
    }

    /// Members that slots with a suffix have taken.
    pub fn taken<'a>(&'a self, plan: &'a Plan) -> impl Iterator<Item = usize> + 'a {
        let granular = |(slot, _): &(usize, &usize)| plan.slots[*slot].granular;
        self.members.iter().enumerate().filter(granular).map(|(_, member)| *member)
    }
}

impl Rules {
    pub fn of(plan: &Plan, space: &Space) -> Self {
        let asked = |class: Ix| -> i64 {
            let needs = plan.slots.iter().flat_map(|slot| &slot.needs);
            needs.filter(|need| need.0 == class).map(|need| need.1).sum()
        };
        let tight = |class: &&Ix| {
            let all = asked(**class);
            let mut rooms = space.room.iter().filter(|((_, of), _)| of == *class);
            rooms.any(|(_, room)| *room < all)
        };
        let spread = plan.slots.iter().filter(|slot| !slot.granular).count();
        Self {
            cover: !space.covers.is_empty(),
            isolate: plan.isolate,
            subtrees: !plan.subtrees.is_empty(),
            tight: plan.summed.iter().filter(tight).copied().collect(),
            trees: !space.trees.is_empty(),
            hopeless: HashSet::new(),
            required: plan.spread.map_or(0, |number| plan.groups[number].required.len()),
            spread,
        }
    }

    /// Whether any rule binds the choices.
    pub fn bind(&self) -> bool {
        self.cover || self.isolate || self.subtrees || self.trees || !self.tight.is_empty()
    }

    /// Whether it matters where a member stands, beside what it has.
    pub fn minds_places(&self) -> bool {
        self.subtrees || self.trees
    }

    /// The sets of required traits that are met, as long as more can be.
    pub fn met(&self, space: &Space, chosen: &Chosen) -> Option<Set> {
        (self.cover && chosen.members.len() <= self.spread).then(|| {
            let mut met = Set::none(self.required);
            chosen.members.iter().for_each(|member| met.add(&space.covers[*member]));
            met
        })
    }

    /// Whether the next slot may take a member, beside what is chosen.
    pub fn admit(&self, plan: &Plan, space: &Space, chosen: &Chosen, member: usize) -> bool {
        let slot = chosen.members.len();
        if self.isolate && plan.slots[slot].granular && chosen.taken(plan).any(|m| m == member) {
            return false;
        }
        if self.trees && !plan.slots[slot].needs.is_empty() {
            // Slots that take nothing are free to stand anywhere.
            let takes = plan.slots.iter().map(|slot| !slot.needs.is_empty());
            let clash = |(other, takes): (&usize, bool)| {
                takes && *other != member && space.trees[*other] == space.trees[member]
            };
            if chosen.members.iter().zip(takes).any(clash) {
                return false;
            }
        }
        self.has_room(plan, space, chosen, slot, member)
    }

    fn has_room(
        &self,
        plan: &Plan,
        space: &Space,
        chosen: &Chosen,
        slot: usize,
        member: usize,
    ) -> bool {
        plan.slots[slot].needs.iter().filter(|need| self.tight.contains(&need.0)).all(|need| {
            let room = space.room.get(&(member, need.0)).copied().unwrap_or(0);
            chosen.sum(member, need.0) + need.1 <= room
        })
    }

    /// Whether the slots after those chosen can still be filled.
    pub fn completable(&mut self, plan: &Plan, space: &Space, chosen: &Chosen) -> bool {
        self.can_cover(space, chosen)
            && self.can_isolate(plan, space, chosen)
            && self.can_sum(plan, space, chosen)
            && (!self.subtrees
                || plan.subtrees.iter().all(|set| self.can_stand(plan, space, chosen, set)))
    }

    /// The traits that the group without a suffix requires.
    fn can_cover(&mut self, space: &Space, chosen: &Chosen) -> bool {
        match self.met(space, chosen) {
            Some(met) => self.cover_from(space, chosen.members.len(), met),
            None => true,
        }
    }

    fn cover_from(&mut self, space: &Space, slot: usize, met: Set) -> bool {
        if met.covers(&Set::all(self.required)) {
            return true;
        }
        if slot == self.spread || self.hopeless.contains(&(slot, met.clone())) {
            return false;
        }
        // Members that meet the same sets are alike here.
        let mut tried: HashSet<Set> = HashSet::new();
        for member in space.options[slot].iter() {
            let mut more = met.clone();
            more.add(&space.covers[member]);
            if tried.insert(more.clone()) && self.cover_from(space, slot + 1, more) {
                return true;
            }
        }
        self.hopeless.insert((slot, met));
        false
    }

    /// A provider of its own for each remaining slot with a suffix.
    fn can_isolate(&self, plan: &Plan, space: &Space, chosen: &Chosen) -> bool {
        if !self.isolate {
            return true;
        }
        let rows: Vec<Set> =
            granular_after(plan, chosen).map(|slot| self.left(plan, space, chosen, slot)).collect();
        fits(&rows, &vec![1; space.members.len()])
    }

    /// What a slot can still take.
    fn left(&self, plan: &Plan, space: &Space, chosen: &Chosen, slot: usize) -> Set {
        let mut left = space.options[slot].clone();
        if self.isolate && plan.slots[slot].granular {
            chosen.taken(plan).for_each(|member| left.remove(member));
        }
        if !self.tight.is_empty() {
            let mut room = left.clone();
            for member in left.iter().filter(|m| !self.has_room(plan, space, chosen, slot, *m)) {
                room.remove(member);
            }
            left = room;
        }
        left
    }

    /// Room for the remaining amounts of the classes that are tight: there must
    /// be as much of it as they are together, and for each amount, the slots
    /// that ask for at least that much must find room counted in it. Exact
    /// where all ask for the same.
    fn can_sum(&self, plan: &Plan, space: &Space, chosen: &Chosen) -> bool {
        self.tight.iter().all(|class| {
            let ask = |slot: usize| {
                let need = plan.slots[slot].needs.iter().find(|need| need.0 == *class);
                need.map(|need| (slot, need.1))
            };
            let asks: Vec<(usize, i64)> =
                (chosen.members.len()..plan.slots.len()).filter_map(ask).collect();
            let left: Vec<Set> =
                asks.iter().map(|ask| self.left(plan, space, chosen, ask.0)).collect();
            let room = |member: usize| {
                let room = space.room.get(&(member, *class)).copied().unwrap_or(0);
                (room - chosen.sum(member, *class)).max(0)
            };
            let mut takers = Set::none(space.members.len());
            left.iter().for_each(|left| takers.add(left));
            let volume = takers.iter().map(room).fold(0, i64::saturating_add);
            if asks.iter().map(|ask| ask.1).fold(0, i64::saturating_add) > volume {
                return false;
            }
            let mut amounts: Vec<i64> = asks.iter().map(|ask| ask.1).collect();
            amounts.sort_unstable();
            amounts.dedup();
            amounts.into_iter().all(|amount| {
                let large = asks.iter().zip(&left).filter(|(ask, _)| ask.1 >= amount);
                let rows: Vec<Set> = large.map(|(_, left)| left.clone()).collect();
                let count = |member: usize| {
                    usize::try_from(room(member) / amount).unwrap_or(usize::MAX).min(rows.len())
                };
                fits(&rows, &(0..space.members.len()).map(count).collect::<Vec<_>>())
            })
        })
    }

    /// Slots that must stand under one of them: there is a member that is, or
    /// can be, one of theirs and has the others below it.
    fn can_stand(&self, plan: &Plan, space: &Space, chosen: &Chosen, set: &[usize]) -> bool {
        let done = chosen.members.len();
        let mut tops = Set::all(space.members.len());
        let mut standing = Set::none(space.members.len());
        for member in set.iter().take_while(|slot| **slot < done).map(|slot| chosen.members[*slot])
        {
            tops.keep(&space.above[member]);
            standing.insert(member);
        }
        let open: Vec<usize> = set.iter().copied().filter(|slot| *slot >= done).collect();
        let able = |top: usize| {
            if standing.has(top) {
                return self.can_stand_under(plan, space, chosen, &open, top, None);
            }
            let mut takers = open.iter();
            takers.any(|slot| self.can_stand_under(plan, space, chosen, &open, top, Some(*slot)))
        };
        tops.iter().any(able)
    }

    /// Whether the open slots of a set can all be filled below `top`, which
    /// the slot `taker` is to take if it is not taken yet.
    fn can_stand_under(
        &self,
        plan: &Plan,
        space: &Space,
        chosen: &Chosen,
        open: &[usize],
        top: usize,
        taker: Option<usize>,
    ) -> bool {
        let row = |slot: usize| {
            let mut left = self.left(plan, space, chosen, slot);
            if open.contains(&slot) {
                left.keep(&space.below[top]);
            }
            if taker == Some(slot) {
                let mut only = Set::none(space.members.len());
                only.insert(top);
                left.keep(&only);
            }
            left
        };
        if self.isolate {
            let rows: Vec<Set> = granular_after(plan, chosen).map(row).collect();
            fits(&rows, &vec![1; space.members.len()])
        } else {
            open.iter().all(|slot| !row(*slot).is_empty())
        }
    }
}

fn granular_after<'a>(plan: &'a Plan, chosen: &Chosen) -> impl Iterator<Item = usize> + 'a {
    (chosen.members.len()..plan.slots.len()).filter(|slot| plan.slots[*slot].granular)
}
