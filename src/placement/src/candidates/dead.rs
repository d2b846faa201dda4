//! What a walk has found to lead nowhere.
//!
//! The tests on the way ([`super::feasible`]) are exact for one kind of rule at
//! a time; where several bind, or amounts of many sizes are to be packed, a
//! walk can still run into dead ends. It remembers them by what the rest of the
//! walk depends on, with like members taken for each other, so that it does not
//! come to the same end by another order of the same choices.

use super::{
    feasible::{Chosen, Rules},
    plan::Plan,
    set::Set,
    space::Space,
};
use foldhash::{HashMap, HashMapExt, HashSet};
use smallvec::SmallVec;

/// Dead ends of one walk.
#[derive(Clone, Debug, Default)]
pub(super) struct DeadEnds {
    /// For each member which of them are like it; made when the first is found.
    kinds: Vec<usize>,
    known: HashSet<State>,
}

/// All that the rest of a walk depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    /// How many slots are chosen.
    chosen: usize,
    /// The sets of required traits that are met, while some may not be.
    met: Option<Set>,
    /// What stands at members, sorted.
    at: Vec<Standing>,
    /// Members of slots whose subtree is not complete.
    standing: Vec<usize>,
}

/// What stands at a member: its kind, whether a slot with a suffix has it,
/// whether anything is taken from it, and the sums of tight classes.
type Standing = (usize, bool, bool, SmallVec<[i64; 2]>);

impl DeadEnds {
    /// Whether this is one of them.
    pub fn has(&self, rules: &Rules, plan: &Plan, space: &Space, chosen: &Chosen) -> bool {
        !self.known.is_empty() && self.known.contains(&self.state(rules, plan, space, chosen))
    }

    /// Remembers that nothing comes of what is chosen.
    pub fn add(&mut self, rules: &Rules, plan: &Plan, space: &Space, chosen: &Chosen) {
        if self.kinds.is_empty() {
            self.kinds = kinds(rules, space);
        }
        self.known.insert(self.state(rules, plan, space, chosen));
    }

    fn state(&self, rules: &Rules, plan: &Plan, space: &Space, chosen: &Chosen) -> State {
        let count = chosen.members.len();
        let mut members: SmallVec<[usize; 16]> = chosen.members.iter().copied().collect();
        members.sort_unstable();
        members.dedup();
        let at = |member: usize| {
            let isolated = chosen.taken(plan).any(|one| one == member);
            let mut slots = plan.slots.iter().zip(&chosen.members);
            let gives = slots.any(|(slot, one)| *one == member && !slot.needs.is_empty());
            let sums = rules.tight.iter().map(|class| chosen.sum(member, *class)).collect();
            (self.kinds[member], isolated, gives, sums)
        };
        let mut at: Vec<_> = members.into_iter().map(at).collect();
        at.sort_unstable();
        let open = plan.subtrees.iter().filter(|set| set.iter().any(|slot| *slot >= count));
        let standing =
            open.flatten().filter(|slot| **slot < count).map(|slot| chosen.members[*slot]);
        let standing = standing.collect();
        State { chosen: count, met: rules.met(space, chosen), at, standing }
    }
}

/// The kind of each member. Where it matters in which tree or under whom a
/// member stands, each is a kind of its own.
fn kinds(rules: &Rules, space: &Space) -> Vec<usize> {
    if rules.minds_places() {
        return (0..space.members.len()).collect();
    }
    let mut known: HashMap<_, usize> = HashMap::new();
    let kind = |member: usize| {
        let serves: Vec<bool> = space.options.iter().map(|options| options.has(member)).collect();
        let room = |class| space.room.get(&(member, class)).copied();
        let rooms: Vec<Option<i64>> = rules.tight.iter().map(|class| room(*class)).collect();
        let next = known.len();
        *known.entry((serves, rooms, space.covers.get(member).cloned())).or_insert(next)
    };
    (0..space.members.len()).map(kind).collect()
}
