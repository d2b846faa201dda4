//! 256 providers: columns of what they have and use, bitsets of what they are.
//!
//! A block is copied when it is first written after a publication, and each
//! column in it stands behind an `Arc` of its own, so that a claim copies the
//! columns of used amounts and generations that it touches and nothing else.

use super::{mask::Mask, names::Ix, providers::Provider};
use std::sync::Arc;
use stowplan_model::Inventory;

/// Providers in a block.
pub const BLOCK: usize = 256;

/// One column of amounts.
pub type Column = [i64; BLOCK];

/// What the providers of a block have of one resource class.
#[derive(Clone, Debug)]
pub struct Stock {
    /// Places that have an inventory of the class.
    pub present: Mask,
    /// The inventories as they were given.
    inventory: [Option<Inventory>; BLOCK],
    /// `(total - reserved) x allocation_ratio`; where nothing is present, the
    /// lowest number, so that no amount ever fits.
    capacity: Column,
    min_unit: Column,
    max_unit: Column,
    /// Whether some inventory of the column has a step above 1: only then is
    /// the step looked at.
    stepped: bool,
}

impl Stock {
    fn empty() -> Self {
        Self {
            present: Mask::NONE,
            inventory: [None; BLOCK],
            capacity: [i64::MIN; BLOCK],
            min_unit: [0; BLOCK],
            max_unit: [0; BLOCK],
            stepped: false,
        }
    }

    fn put(&mut self, at: usize, inventory: Inventory) {
        self.present.set(at);
        self.inventory[at] = Some(inventory);
        self.capacity[at] = inventory.capacity();
        self.min_unit[at] = inventory.min_unit;
        self.max_unit[at] = inventory.max_unit;
        self.stepped |= inventory.step_size > 1;
    }

    fn remove(&mut self, at: usize) {
        self.present.clear(at);
        self.inventory[at] = None;
        self.capacity[at] = i64::MIN;
    }
}

/// One class of a block: its stock and what is used of it.
#[derive(Clone, Debug)]
pub struct ClassColumn {
    /// The class.
    pub class: Ix,
    stock: Arc<Stock>,
    used: Arc<Column>,
}

impl ClassColumn {
    /// The inventory at a place.
    #[must_use]
    pub fn inventory(&self, at: usize) -> Option<&Inventory> {
        self.stock.inventory[at].as_ref()
    }

    /// Units in use at a place.
    #[must_use]
    pub fn used(&self, at: usize) -> i64 {
        self.used[at]
    }

    /// What may be allocated in all at a place that has an inventory.
    #[must_use]
    pub fn capacity(&self, at: usize) -> Option<i64> {
        self.stock.present.has(at).then(|| self.stock.capacity[at])
    }

    /// Places that have an inventory.
    #[must_use]
    pub fn present(&self) -> Mask {
        self.stock.present
    }

    /// Places where one allocation of `amount` more fits: capacity, unit
    /// bounds and step.
    #[must_use]
    pub fn fitting(&self, amount: i64) -> Mask {
        let stock = &*self.stock;
        let mut fit = Mask::NONE;
        for word in 0..4 {
            if stock.present.0[word] == 0 {
                continue;
            }
            let mut bits = 0u64;
            for bit in 0..64 {
                let at = word * 64 + bit;
                // An absent place holds the lowest capacity and fails here.
                let fits = self.used[at].saturating_add(amount) <= stock.capacity[at]
                    && amount >= stock.min_unit[at]
                    && amount <= stock.max_unit[at];
                bits |= u64::from(fits) << bit;
            }
            fit.0[word] = bits & stock.present.0[word];
        }
        if stock.stepped {
            for at in fit.iter() {
                if self.inventory(at).is_some_and(|i| i.step_size > 1 && amount % i.step_size != 0)
                {
                    fit.clear(at);
                }
            }
        }
        fit
    }
}

/// A block of providers.
#[derive(Clone, Debug)]
pub struct Block {
    rows: Arc<Vec<Option<Arc<Provider>>>>,
    generations: Arc<Column>,
    live: Mask,
    roots: Mask,
    classes: Vec<ClassColumn>,
    traits: Arc<Vec<(Ix, Mask)>>,
    aggregates: Arc<Vec<(Ix, Mask)>>,
}

impl Block {
    pub(super) fn empty() -> Self {
        Self {
            rows: Arc::new(vec![None; BLOCK]),
            generations: Arc::new([0; BLOCK]),
            live: Mask::NONE,
            roots: Mask::NONE,
            classes: Vec::new(),
            traits: Arc::default(),
            aggregates: Arc::default(),
        }
    }

    /// The provider at a place.
    #[must_use]
    pub fn row(&self, at: usize) -> Option<&Arc<Provider>> {
        self.rows[at].as_ref()
    }

    /// The generation of the provider at a place.
    #[must_use]
    pub fn generation(&self, at: usize) -> i64 {
        self.generations[at]
    }

    /// Places that hold a provider.
    #[must_use]
    pub fn live(&self) -> Mask {
        self.live
    }

    /// Places that hold the root of a tree.
    #[must_use]
    pub fn roots(&self) -> Mask {
        self.roots
    }

    /// The column of a class, if any provider here has or had it.
    #[must_use]
    pub fn class(&self, class: Ix) -> Option<&ClassColumn> {
        self.classes.iter().find(|column| column.class == class)
    }

    /// Places with a trait.
    #[must_use]
    pub fn with_trait(&self, name: Ix) -> Mask {
        find(&self.traits, name)
    }

    /// Places in an aggregate.
    #[must_use]
    pub fn in_aggregate(&self, aggregate: Ix) -> Mask {
        find(&self.aggregates, aggregate)
    }

    pub(super) fn put_row(&mut self, at: usize, row: Arc<Provider>, is_root: bool) {
        self.live.set(at);
        if is_root {
            self.roots.set(at);
        } else {
            self.roots.clear(at);
        }
        Arc::make_mut(&mut self.rows)[at] = Some(row);
    }

    pub(super) fn clear(&mut self, at: usize) {
        self.live.clear(at);
        self.roots.clear(at);
        Arc::make_mut(&mut self.rows)[at] = None;
        for column in &mut self.classes {
            if column.stock.present.has(at) {
                Arc::make_mut(&mut column.stock).remove(at);
            }
            if column.used[at] != 0 {
                Arc::make_mut(&mut column.used)[at] = 0;
            }
        }
        self.set_traits(at, &[]);
        self.set_aggregates(at, &[]);
    }

    pub(super) fn set_generation(&mut self, at: usize, generation: i64) {
        if self.generations[at] != generation {
            Arc::make_mut(&mut self.generations)[at] = generation;
        }
    }

    pub(super) fn set_inventory(&mut self, at: usize, class: Ix, inventory: Option<Inventory>) {
        if inventory.is_none() && self.class(class).is_none() {
            return;
        }
        let stock = Arc::make_mut(&mut self.column(class).stock);
        match inventory {
            Some(inventory) => stock.put(at, inventory),
            None => stock.remove(at),
        }
    }

    pub(super) fn add_used(&mut self, at: usize, class: Ix, delta: i64) {
        let used = Arc::make_mut(&mut self.column(class).used);
        used[at] += delta;
    }

    pub(super) fn set_traits(&mut self, at: usize, traits: &[Ix]) {
        assign(&mut self.traits, at, traits);
    }

    pub(super) fn set_aggregates(&mut self, at: usize, aggregates: &[Ix]) {
        assign(&mut self.aggregates, at, aggregates);
    }

    fn column(&mut self, class: Ix) -> &mut ClassColumn {
        let place = self.classes.iter().position(|column| column.class == class);
        let place = place.unwrap_or_else(|| {
            let (stock, used) = (Arc::new(Stock::empty()), Arc::new([0; BLOCK]));
            self.classes.push(ClassColumn { class, stock, used });
            self.classes.len() - 1
        });
        &mut self.classes[place]
    }
}

/// The mask of a number; masks stand in the order of their numbers.
fn find(masks: &[(Ix, Mask)], of: Ix) -> Mask {
    masks.binary_search_by_key(&of, |(ix, _)| *ix).map_or(Mask::NONE, |place| masks[place].1)
}

/// Makes `at` a place of exactly the masks of `of`, which ascend.
fn assign(masks: &mut Arc<Vec<(Ix, Mask)>>, at: usize, of: &[Ix]) {
    let there = masks.iter().filter(|(_, mask)| mask.has(at)).map(|(ix, _)| ix);
    if there.eq(of) {
        return;
    }
    let masks = Arc::make_mut(masks);
    let (mut wanted, mut new) = (of.iter().copied().peekable(), Vec::new());
    let only = |ix| {
        let mut mask = Mask::NONE;
        mask.set(at);
        (ix, mask)
    };
    for (ix, mask) in masks.iter_mut() {
        new.extend(std::iter::from_fn(|| wanted.next_if(|wanted| *wanted < *ix)).map(only));
        if wanted.next_if_eq(ix).is_some() {
            mask.set(at);
        } else {
            mask.clear(at);
        }
    }
    new.extend(wanted.map(only));
    masks.retain(|(_, mask)| !mask.is_empty());
    if !new.is_empty() {
        masks.extend(new);
        // Two runs that ascend: a stable sort joins them in one pass.
        masks.sort_by_key(|(ix, _)| *ix);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn masks_are_those_of_the_last_assignments() {
        let mut masks: Arc<Vec<(Ix, Mask)>> = Arc::default();
        let mut model: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
        let mut chance = 7_u32;
        let mut draw = |below: u32| {
            chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (chance >> 8) % below
        };
        for _ in 0..500 {
            let at = draw(8) as usize;
            let of: BTreeSet<u32> = (0..draw(40)).map(|_| draw(300)).collect();
            let ascending: Vec<Ix> = of.iter().copied().map(Ix).collect();
            assign(&mut masks, at, &ascending);
            model.insert(at, of);
            assert!(masks.is_sorted_by(|(a, _), (b, _)| a < b));
            assert!(masks.iter().all(|(_, mask)| !mask.is_empty()));
            for ix in 0..300 {
                let mask = find(&masks, Ix(ix));
                for (at, of) in &model {
                    assert_eq!(mask.has(*at), of.contains(&ix), "{at} {ix}");
                }
            }
        }
    }
}
