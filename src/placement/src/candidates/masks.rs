//! Which places of a block can serve which slot: bits, computed once a block.

use super::plan::{AnyOf, Group, Plan};
use crate::places::parts;
use foldhash::{HashMap, HashMapExt};
use smallvec::SmallVec;
use stowplan_ledger::{
    Image,
    image::{block::Block, mask::Mask, names::Ix, providers::At},
};

/// The places of a block that are in one of each set.
pub(super) fn in_all(sets: &AnyOf, places: impl Fn(&Block, Ix) -> Mask) -> impl Fn(&Block) -> Mask {
    move |block| {
        sets.iter().fold(block.live(), |left, set| {
            left.and(set.iter().fold(Mask::NONE, |any, one| any.or(places(block, *one))))
        })
    }
}

/// The places of a block that are in none of these.
fn in_none(of: &[Ix], places: impl Fn(Ix) -> Mask) -> Mask {
    Mask::ALL.minus(of.iter().fold(Mask::NONE, |any, one| any.or(places(*one))))
}

/// The roots of a block with all required traits and no forbidden one.
pub(super) fn roots_with(block: &Block, required: &[Ix], forbidden: &[Ix]) -> Mask {
    let allowed = in_none(forbidden, |name| block.with_trait(name));
    let roots = block.roots().and(allowed);
    required.iter().fold(roots, |left, name| left.and(block.with_trait(*name)))
}

/// What a block offers to a plan.
#[derive(Clone, Debug)]
pub(super) struct BlockMasks {
    /// Places that can serve each slot, as far as they themselves decide it.
    pub slots: SmallVec<[Mask; 6]>,
    /// Places in the aggregates of the group without a suffix.
    pub inside: Mask,
    /// Places in forbidden aggregates of that group.
    pub outcast: Mask,
    /// Roots that a candidate may have.
    pub roots: Mask,
}

impl BlockMasks {
    fn of(plan: &Plan, trees: &Trees, number: usize, block: &Block) -> Self {
        let mut slots = SmallVec::with_capacity(plan.slots.len());
        for slot in &plan.slots {
            let group = &plan.groups[slot.group];
            let mut left = trees.places(group.tree, number).and(block.live());
            if slot.granular {
                left = left.and(alone(group, block));
            } else {
                left = left.and(in_none(&group.forbidden, |name| block.with_trait(name)));
            }
            slots.push(fitting(block, left, &slot.needs));
        }
        let (mut inside, mut outcast) = (Mask::ALL, Mask::NONE);
        if let Some(group) = plan.spread.map(|number| &plan.groups[number]) {
            inside = in_all(&group.member_of, |block, one| block.in_aggregate(one))(block);
            let allowed = in_none(&group.forbidden_aggregates, |one| block.in_aggregate(one));
            outcast = Mask::ALL.minus(allowed);
        }
        let roots = roots_with(block, &plan.root_required, &plan.root_forbidden);
        Self { slots, inside, outcast, roots }
    }
}

/// The places of a block that meet everything but the amounts of a group by
/// themselves.
fn alone(group: &Group, block: &Block) -> Mask {
    in_all(&group.required, |block, name| block.with_trait(name))(block)
        .and(in_all(&group.member_of, |block, one| block.in_aggregate(one))(block))
        .and(in_none(&group.forbidden, |name| block.with_trait(name)))
        .and(in_none(&group.forbidden_aggregates, |one| block.in_aggregate(one)))
}

/// Those of the places `left` where all amounts fit.
fn fitting(block: &Block, mut left: Mask, needs: &[(Ix, i64)]) -> Mask {
    for (class, amount) in needs {
        if left.is_empty() {
            break;
        }
        let fit = block.class(*class).map_or(Mask::NONE, |column| column.fitting(*amount));
        left = left.and(fit);
    }
    left
}

/// The roots of a block that meet the whole plan by themselves.
pub(super) fn flat(plan: &Plan, trees: &Trees, number: usize, block: &Block) -> Mask {
    let mut left = roots_with(block, &plan.root_required, &plan.root_forbidden);
    for group in &plan.groups {
        left = left.and(trees.places(group.tree, number)).and(alone(group, block));
    }
    for slot in &plan.slots {
        left = fitting(block, left, &slot.needs);
    }
    left
}

/// The places of the trees that groups are held to.
#[derive(Clone, Debug, Default)]
pub(super) struct Trees(HashMap<(At, usize), Mask>);

impl Trees {
    pub fn of(image: &Image, plan: &Plan) -> Self {
        let mut places: HashMap<(At, usize), Mask> = HashMap::new();
        for root in plan.groups.iter().filter_map(|group| group.tree) {
            for at in image.providers.tree_of(root) {
                let (block, inside) = parts(*at);
                places.entry((root, block)).or_default().set(inside);
            }
        }
        Self(places)
    }

    fn places(&self, tree: Option<At>, block: usize) -> Mask {
        match tree {
            None => Mask::ALL,
            Some(root) => self.0.get(&(root, block)).copied().unwrap_or(Mask::NONE),
        }
    }
}

/// The masks of the blocks that a search has come to.
#[derive(Clone, Debug)]
pub(super) struct MaskCache {
    trees: Trees,
    blocks: Vec<Option<Box<BlockMasks>>>,
}

impl MaskCache {
    pub fn new(image: &Image, trees: Trees) -> Self {
        Self { trees, blocks: vec![None; image.providers.blocks().len()] }
    }

    pub fn block(&mut self, image: &Image, plan: &Plan, number: usize) -> &BlockMasks {
        let (trees, blocks) = (&self.trees, image.providers.blocks());
        self.blocks[number]
            .get_or_insert_with(|| Box::new(BlockMasks::of(plan, trees, number, &blocks[number])))
    }
}
