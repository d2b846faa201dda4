//! One tree as a search sees it: its providers under local numbers, and which
//! of them can serve which slot.

use super::{masks::MaskCache, plan::Plan, set::Set, sharing::Sharing};
use crate::places::parts;
use foldhash::{HashMap, HashMapExt};
use smallvec::SmallVec;
use stowplan_ledger::{
    Image,
    image::{names::Ix, providers::At},
};

/// One choice of providers for a root: who can serve what, and what binds the
/// choices to each other.
#[derive(Clone, Debug)]
pub(super) struct Space {
    pub root: At,
    /// The providers in play: those of the tree, then those that share with it.
    pub members: Vec<At>,
    /// For each slot the members that can serve it by themselves.
    pub options: Vec<Set>,
    /// What a member can take of a class that several slots ask for, in all.
    pub room: HashMap<(usize, Ix), i64>,
    /// Which sets of required traits each member meets, for the group without
    /// a suffix, when it has more than one slot.
    pub covers: Vec<Set>,
    /// For each member those above it, itself included, when subtrees matter.
    pub above: Vec<Set>,
    /// For each member those below it, itself included, when subtrees matter.
    pub below: Vec<Set>,
    /// The root of each member's own tree, when only one provider of a tree
    /// may be taken from.
    pub trees: Vec<At>,
    /// Whether each member shares; empty when nobody does.
    pub shares: Vec<bool>,
}

impl Space {
    /// The space of a root; nothing if some slot has no provider at all.
    pub fn of(
        image: &Image,
        plan: &Plan,
        sharing: &Sharing,
        cache: &mut MaskCache,
        root: At,
    ) -> Option<Self> {
        let tree = image.providers.tree_of(root);
        if !in_roots(image, plan, cache, root) {
            return None;
        }
        let sharers = if sharing.is_empty() { Vec::new() } else { sharing.with_tree(image, tree) };
        let bound = tree.len() + sharers.len();
        let mut options = vec![Set::none(bound); plan.slots.len()];
        let (root_block, root_inside) = parts(root);
        let of_root = cache.block(image, plan, root_block);
        let root_is_inside = of_root.inside.has(root_inside);
        let root_is_outcast = of_root.outcast.has(root_inside);
        for (local, at) in tree.iter().enumerate() {
            let (number, inside) = parts(*at);
            let masks = cache.block(image, plan, number);
            let spread_may = (root_is_inside || masks.inside.has(inside))
                && !(root_is_outcast || masks.outcast.has(inside));
            for (slot, (mask, options)) in masks.slots.iter().zip(&mut options).enumerate() {
                if mask.has(inside) && (plan.slots[slot].granular || spread_may) {
                    options.insert(local);
                }
            }
        }
        for (place, sharer) in sharers.iter().enumerate() {
            let spread_may = !(root_is_outcast || sharer.outcast);
            for (slot, options) in options.iter_mut().enumerate() {
                if sharer.slots[slot] && (plan.slots[slot].granular || spread_may) {
                    options.insert(tree.len() + place);
                }
            }
        }
        if options.iter().any(Set::is_empty) {
            return None;
        }
        let mut members = tree.to_vec();
        members.extend(sharers.iter().map(|sharer| sharer.at));
        let mut space = Self {
            root,
            options,
            room: HashMap::new(),
            covers: Vec::new(),
            above: Vec::new(),
            below: Vec::new(),
            trees: Vec::new(),
            shares: Vec::new(),
            members,
        };
        space.measure_room(image, plan);
        space.measure_cover(image, plan);
        if !plan.subtrees.is_empty() {
            space.measure_lineage(image);
        }
        if !plan.nested {
            let root_of = |at: &At| image.providers.get(*at).map_or(*at, |provider| provider.root);
            space.trees = space.members.iter().map(root_of).collect();
        }
        if !sharing.is_empty() {
            let shares = |at: &At| sharing.shares(image, *at);
            space.shares = space.members.iter().map(shares).collect();
        }
        space.options.iter().all(|options| !options.is_empty()).then_some(space)
    }

    fn measure_room(&mut self, image: &Image, plan: &Plan) {
        for &class in &plan.summed {
            for (local, at) in self.members.iter().enumerate() {
                let Some(inventory) = image.providers.inventory(*at, class) else { continue };
                let free = inventory.capacity() - image.providers.used(*at, class);
                self.room.insert((local, class), free.min(inventory.max_unit));
            }
        }
    }

    /// The traits of the group without a suffix are met by its providers
    /// together; with one provider it has all of them to meet.
    fn measure_cover(&mut self, image: &Image, plan: &Plan) {
        let Some(group) = plan.spread.map(|number| &plan.groups[number]) else { return };
        if group.required.is_empty() {
            return;
        }
        let all = Set::all(group.required.len());
        let cover = |at: &At| {
            let mut met = Set::none(group.required.len());
            for (number, set) in group.required.iter().enumerate() {
                if set.iter().any(|name| image.providers.has_trait(*at, *name)) {
                    met.insert(number);
                }
            }
            met
        };
        self.covers = self.members.iter().map(cover).collect();
        if group.resources.len() == 1 {
            // The first slot is the group's only one.
            for local in 0..self.members.len() {
                if self.covers[local] != all {
                    self.options[0].remove(local);
                }
            }
            self.covers.clear();
        }
    }

    fn measure_lineage(&mut self, image: &Image) {
        let bound = self.members.len();
        let local: HashMap<At, usize> =
            self.members.iter().enumerate().map(|(local, at)| (*at, local)).collect();
        let up = |at: &At| image.providers.get(*at).and_then(|provider| provider.parent);
        self.above = vec![Set::none(bound); bound];
        self.below = vec![Set::none(bound); bound];
        for (member, at) in self.members.iter().enumerate() {
            for ancestor in std::iter::successors(Some(*at), up) {
                if let Some(&ancestor) = local.get(&ancestor) {
                    self.above[member].insert(ancestor);
                    self.below[ancestor].insert(member);
                }
            }
        }
    }

    /// The members' numbers of a slot, as a list.
    pub fn choices(&self, slot: usize) -> SmallVec<[u32; 8]> {
        let number = |local| u32::try_from(local).unwrap_or(u32::MAX);
        self.options[slot].iter().map(number).collect()
    }
}

/// Whether a root has the traits that roots must have.
pub(super) fn in_roots(image: &Image, plan: &Plan, cache: &mut MaskCache, root: At) -> bool {
    let (number, inside) = parts(root);
    cache.block(image, plan, number).roots.has(inside)
}
