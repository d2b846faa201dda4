//! Resource providers: trees, inventories, traits, aggregates, what is used.

use super::{
    Map,
    block::{BLOCK, Block},
    names::{Aggregates, Ix, Names},
};
use crate::rows::{Inventories, ProviderRow};
use std::sync::Arc;
use stowplan_model::{Inventory, Micros, Uuid};

/// A provider's place in one image.
///
/// Places are given in order of creation and are not used twice, so that a scan
/// meets providers in the order of every answer, and the same cloud gives the
/// same answers before and after a restart. A restart closes the gaps: whatever
/// is kept longer than an image names the provider by uuid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct At(pub u32);

impl At {
    fn block(self) -> usize {
        self.0 as usize / BLOCK
    }

    fn inside(self) -> usize {
        self.0 as usize % BLOCK
    }

    /// The place number `inside` of a block.
    #[must_use]
    pub fn of(block: usize, inside: usize) -> Self {
        Self(u32::try_from(block * BLOCK + inside).unwrap_or(u32::MAX))
    }
}

/// What of a provider changes seldom.
#[derive(Clone, Debug)]
pub struct Provider {
    /// Durable integer id, in order of creation: the order of every answer.
    pub id: i64,
    /// Its uuid.
    pub uuid: Uuid,
    /// Its name.
    pub name: Arc<str>,
    /// The provider above it.
    pub parent: Option<At>,
    /// The root of its tree.
    pub root: At,
    /// All providers of its tree in order of creation, itself included; empty
    /// unless it is a root.
    pub tree: Arc<[At]>,
    /// The classes that it has inventories of, in order of their numbers.
    pub classes: Arc<[Ix]>,
    /// Its traits, in order of their numbers.
    pub traits: Arc<[Ix]>,
    /// Its aggregates, in order of their numbers.
    pub aggregates: Arc<[Ix]>,
    /// When it was created.
    pub created: Micros,
    /// When its row was last changed.
    pub updated: Micros,
}

/// All resource providers.
#[derive(Clone, Debug, Default)]
pub struct Providers {
    blocks: Vec<Arc<Block>>,
    by_uuid: Map<Uuid, At>,
    by_name: Map<Arc<str>, At>,
    by_id: imbl::OrdMap<i64, At>,
    /// How many providers are no roots.
    children: u32,
    /// How many of them have an inventory of each class, by its number.
    below_roots: Arc<Vec<u32>>,
    places: usize,
    last_id: i64,
}

impl Providers {
    /// The blocks, for scans. Place `i` of block `b` is `At::of(b, i)`.
    #[must_use]
    pub fn blocks(&self) -> &[Arc<Block>] {
        &self.blocks
    }

    /// How many providers there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_uuid.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_uuid.is_empty()
    }

    /// The place of a provider.
    #[must_use]
    pub fn find(&self, uuid: Uuid) -> Option<At> {
        self.by_uuid.get(&uuid).copied()
    }

    /// The place of the provider with this name, exactly.
    #[must_use]
    pub fn find_name(&self, name: &str) -> Option<At> {
        self.by_name.get(name).copied()
    }

    /// The provider at a place that this image gave.
    #[must_use]
    pub fn get(&self, at: At) -> Option<&Arc<Provider>> {
        self.blocks.get(at.block())?.row(at.inside())
    }

    /// The uuid of the provider at a place; nil for an empty place.
    #[must_use]
    pub fn uuid(&self, at: At) -> Uuid {
        self.get(at).map_or(Uuid::nil(), |provider| provider.uuid)
    }

    /// All places, in order of creation.
    pub fn iter(&self) -> impl Iterator<Item = At> {
        self.by_id.values().copied()
    }

    /// All providers of the tree that a provider is in, in order of creation.
    #[must_use]
    pub fn tree_of(&self, at: At) -> &[At] {
        self.get(at).and_then(|p| self.get(p.root)).map_or(&[], |root| &root.tree)
    }

    /// The generation of a provider.
    #[must_use]
    pub fn generation(&self, at: At) -> i64 {
        self.blocks.get(at.block()).map_or(0, |block| block.generation(at.inside()))
    }

    /// A provider's inventory of a class.
    #[must_use]
    pub fn inventory(&self, at: At, class: Ix) -> Option<&Inventory> {
        self.blocks.get(at.block())?.class(class)?.inventory(at.inside())
    }

    /// What may be allocated in all of a class at a provider that has it.
    #[must_use]
    pub fn capacity(&self, at: At, class: Ix) -> Option<i64> {
        self.blocks.get(at.block())?.class(class)?.capacity(at.inside())
    }

    /// Units of a class in use at a provider.
    #[must_use]
    pub fn used(&self, at: At, class: Ix) -> i64 {
        let column = self.blocks.get(at.block()).and_then(|block| block.class(class));
        column.map_or(0, |column| column.used(at.inside()))
    }

    /// Whether a provider has a trait.
    #[must_use]
    pub fn has_trait(&self, at: At, name: Ix) -> bool {
        self.blocks.get(at.block()).is_some_and(|b| b.with_trait(name).has(at.inside()))
    }

    /// How many providers are no roots.
    #[must_use]
    pub fn children(&self) -> u32 {
        self.children
    }

    /// How many providers that are no roots have an inventory of a class.
    #[must_use]
    pub fn children_with(&self, class: Ix) -> u32 {
        self.below_roots.get(class.0 as usize).copied().unwrap_or(0)
    }

    /// The id that the next new provider takes.
    #[must_use]
    pub fn next_id(&self) -> i64 {
        self.last_id + 1
    }

    pub(super) fn last_id(&self) -> i64 {
        self.last_id
    }

    pub(super) fn raise_id(&mut self, last: i64) {
        self.last_id = self.last_id.max(last);
    }

    /// Puts a provider's row in place. A parent or root that is not there is
    /// read as none: the rules above never write one.
    pub(super) fn put(&mut self, row: &ProviderRow) {
        self.last_id = self.last_id.max(row.id);
        let at = self.find(row.uuid).unwrap_or_else(|| self.take_place());
        let before = self.get(at).cloned();
        self.tally(at, false);
        let root = if row.root == row.uuid { at } else { self.find(row.root).unwrap_or(at) };
        if let Some(before) = &before {
            self.forget_name(&before.name, at);
            if before.root != root {
                self.leave_tree(before.root, at);
            }
        }
        let name: Arc<str> = row.name.as_str().into();
        // Members may have come to a tree before the row that makes its root.
        let tree = self.get(at).map_or_else(Arc::default, |provider| provider.tree.clone());
        let kept = before.as_deref();
        let provider = Provider {
            id: row.id,
            uuid: row.uuid,
            name: name.clone(),
            parent: row.parent.and_then(|uuid| self.find(uuid)),
            root,
            tree,
            classes: kept.map_or_else(Arc::default, |k| k.classes.clone()),
            traits: kept.map_or_else(Arc::default, |k| k.traits.clone()),
            aggregates: kept.map_or_else(Arc::default, |k| k.aggregates.clone()),
            created: row.created,
            updated: row.updated,
        };
        self.by_uuid.insert(row.uuid, at);
        self.by_name.insert(name, at);
        self.by_id.insert(row.id, at);
        let block = self.block(at);
        block.put_row(at.inside(), Arc::new(provider), root == at);
        block.set_generation(at.inside(), row.generation);
        self.tally(at, true);
        self.join_tree(root, at);
    }

    pub(super) fn remove(&mut self, uuid: Uuid) {
        let Some(at) = self.by_uuid.remove(&uuid) else { return };
        self.tally(at, false);
        if let Some(provider) = self.get(at).cloned() {
            self.forget_name(&provider.name, at);
            self.by_id.remove(&provider.id);
            if provider.root != at {
                self.leave_tree(provider.root, at);
            }
        }
        self.block(at).clear(at.inside());
        if self.block(at).live().is_empty() {
            self.blocks[at.block()] = Arc::new(Block::empty());
        }
    }

    pub(super) fn set_generation(&mut self, uuid: Uuid, generation: i64) {
        if let Some(at) = self.find(uuid) {
            self.block(at).set_generation(at.inside(), generation);
        }
    }

    pub(super) fn set_inventories(
        &mut self,
        uuid: Uuid,
        inventories: &Inventories,
        classes: &Names,
    ) {
        let Some(at) = self.find(uuid) else { return };
        let Some(provider) = self.get(at).cloned() else { return };
        let mut now: Vec<Ix> = Vec::with_capacity(inventories.len());
        for (name, inventory) in inventories {
            if let Some(class) = classes.ix(name) {
                now.push(class);
                self.block(at).set_inventory(at.inside(), class, Some(*inventory));
            }
        }
        for &class in provider.classes.iter().filter(|class| !now.contains(class)) {
            self.block(at).set_inventory(at.inside(), class, None);
        }
        now.sort_unstable();
        self.tally(at, false);
        self.edit(at, |provider| provider.classes = now.into());
        self.tally(at, true);
    }

    pub(super) fn set_traits(&mut self, uuid: Uuid, traits: &[String], names: &Names) {
        let Some(at) = self.find(uuid) else { return };
        let mut now: Vec<Ix> = traits.iter().filter_map(|name| names.ix(name)).collect();
        now.sort_unstable();
        now.dedup();
        self.block(at).set_traits(at.inside(), &now);
        self.edit(at, |provider| provider.traits = now.into());
    }

    pub(super) fn set_aggregates(&mut self, uuid: Uuid, uuids: &[Uuid], known: &mut Aggregates) {
        let Some(at) = self.find(uuid) else { return };
        let mut now: Vec<Ix> = uuids.iter().map(|uuid| known.intern(*uuid)).collect();
        now.sort_unstable();
        now.dedup();
        self.block(at).set_aggregates(at.inside(), &now);
        self.edit(at, |provider| provider.aggregates = now.into());
    }

    pub(super) fn add_used(&mut self, at: At, class: Ix, delta: i64) {
        self.block(at).add_used(at.inside(), class, delta);
    }

    /// Counts a provider that stands at a place among those that are no roots,
    /// or takes it out.
    fn tally(&mut self, at: At, comes: bool) {
        let Some(provider) = self.get(at).filter(|provider| provider.root != at).cloned() else {
            return;
        };
        let count = |count: &mut u32| {
            *count = count.saturating_add_signed(if comes { 1 } else { -1 });
        };
        count(&mut self.children);
        let counts = Arc::make_mut(&mut self.below_roots);
        for class in provider.classes.iter().map(|class| class.0 as usize) {
            if counts.len() <= class {
                counts.resize(class + 1, 0);
            }
            count(&mut counts[class]);
        }
    }

    /// Takes a provider's name out, unless another provider bears it by now.
    fn forget_name(&mut self, name: &Arc<str>, at: At) {
        if self.by_name.get(name) == Some(&at) {
            self.by_name.remove(name);
        }
    }

    fn take_place(&mut self) -> At {
        if self.places == self.blocks.len() * BLOCK {
            self.blocks.push(Arc::new(Block::empty()));
        }
        self.places += 1;
        At::of(0, self.places - 1)
    }

    fn block(&mut self, at: At) -> &mut Block {
        Arc::make_mut(&mut self.blocks[at.block()])
    }

    fn edit(&mut self, at: At, change: impl FnOnce(&mut Provider)) {
        if let Some(provider) = self.get(at) {
            let (mut provider, is_root) = (Provider::clone(provider), provider.root == at);
            change(&mut provider);
            self.block(at).put_row(at.inside(), Arc::new(provider), is_root);
        }
    }

    fn join_tree(&mut self, root: At, at: At) {
        if self.get(root).is_some_and(|root| root.tree.contains(&at)) {
            return;
        }
        let mut tree = self.get(root).map_or_else(Vec::new, |root| root.tree.to_vec());
        tree.push(at);
        tree.sort_unstable_by_key(|&at| self.get(at).map(|provider| provider.id));
        self.edit(root, |root| root.tree = tree.into());
    }

    fn leave_tree(&mut self, root: At, at: At) {
        self.edit(root, |root| {
            root.tree = root.tree.iter().copied().filter(|&member| member != at).collect();
        });
    }
}
