//! What each requirement of a query leaves of the roots.

use super::Requirement;
use crate::candidates::{
    Search,
    query::{CandidateQuery, GroupPolicy, RequestGroup},
    reach::Reach,
};
use stowplan_ledger::{
    Image,
    image::{names::Ix, providers::At},
};
use stowplan_model::{Inventory, Uuid};

/// The nearest that an amount came to fitting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearestMiss {
    /// Units wanted.
    pub wanted: i64,
    /// The most that is free for one allocation at any provider that the
    /// requirements before it left: capacity less use, and no more than
    /// `max_unit`. Negative where more is in use than there is.
    pub largest_free: i64,
    /// That provider.
    pub provider: Uuid,
    /// What that provider has of the class: its unit rules may refuse an
    /// amount that is free.
    pub inventory: Inventory,
    /// What is in use of it.
    pub used: i64,
}

/// What a requirement leaves of the roots.
#[derive(Clone, Debug, PartialEq)]
pub struct RequirementLoss {
    /// The requirement.
    pub requirement: Requirement,
    /// Roots before it.
    pub before: usize,
    /// Roots after it.
    pub after: usize,
    /// For a resource: how near it came; none if no provider left has the
    /// class at all.
    pub nearest: Option<NearestMiss>,
}

/// A root that is still in, with the providers that can still serve the group
/// in work.
struct Left {
    root: At,
    tree: Vec<At>,
    /// Providers for the group in work; for a class of the group without a
    /// suffix, for any class.
    able: Vec<At>,
}

/// The roots of an image on their way through a query's requirements.
pub(super) struct Funnel<'a> {
    image: &'a Image,
    left: Vec<Left>,
    losses: Vec<RequirementLoss>,
}

fn is_root(image: &Image, at: At) -> bool {
    image.providers.get(at).is_some_and(|provider| provider.root == at)
}

impl<'a> Funnel<'a> {
    pub fn new(image: &'a Image) -> Self {
        let roots = image.providers.iter().filter(|at| is_root(image, *at));
        let left = roots.map(|root| {
            let tree = image.providers.tree_of(root).to_vec();
            Left { root, tree, able: Vec::new() }
        });
        Self { image, left: left.collect(), losses: Vec::new() }
    }

    /// What each requirement of a query leaves. A name that does not exist is
    /// one that no provider has.
    pub fn losses_of(mut self, query: &CandidateQuery) -> Vec<RequirementLoss> {
        let image = self.image;
        for name in &query.root_required {
            let requirement = Requirement::RootRequired { name: name.clone() };
            self.roots(requirement, |root| has_trait(image, root, name));
        }
        for name in &query.root_forbidden {
            let requirement = Requirement::RootForbidden { name: name.clone() };
            self.roots(requirement, |root| !has_trait(image, root, name));
        }
        let reach = Reach::of(image);
        for group in &query.groups {
            self.group(&reach, group);
        }
        self.together(query);
        self.losses
    }

    /// A requirement on roots alone.
    fn roots(&mut self, requirement: Requirement, mut keep: impl FnMut(At) -> bool) {
        let before = self.left.len();
        self.left.retain(|left| keep(left.root));
        self.note(requirement, before, None);
    }

    /// A requirement on the providers of the group in work.
    fn providers(&mut self, requirement: Requirement, keep: impl Fn(&Left, At) -> bool) {
        let before = self.left.len();
        for left in &mut self.left {
            let mut able = std::mem::take(&mut left.able);
            able.retain(|at| keep(left, *at));
            left.able = able;
        }
        self.left.retain(|left| !left.able.is_empty());
        self.note(requirement, before, None);
    }

    fn note(&mut self, requirement: Requirement, before: usize, nearest: Option<NearestMiss>) {
        let after = self.left.len();
        self.losses.push(RequirementLoss { requirement, before, after, nearest });
    }

    fn group(&mut self, reach: &Reach, wanted: &RequestGroup) {
        let image = self.image;
        let granular = wanted.is_granular();
        let group = || wanted.suffix.clone();
        if !wanted.asks() {
            self.roots(Requirement::Wish { group: group() }, |_| false);
        }
        for left in &mut self.left {
            left.able.clone_from(&left.tree);
            if granular || wanted.in_tree.is_none() {
                left.able.extend(reach.outside(image, &left.tree));
            }
        }
        // Groups without resources are not held to their tree (as in the search).
        if let Some(provider) = wanted.in_tree.filter(|_| !wanted.resources.is_empty()) {
            let root_of = |at| image.providers.get(at).map(|provider| provider.root);
            let root = image.providers.find(provider).and_then(root_of);
            let requirement = Requirement::InTree { group: group(), provider };
            self.providers(requirement, |_, at| root.is_some() && root_of(at) == root);
        }
        self.aggregates(wanted);
        self.traits(wanted);
        for (class, amount) in &wanted.resources {
            let wanted = *amount;
            let requirement =
                Requirement::Resource { group: group(), class: class.clone(), wanted };
            self.resource(requirement, granular, image.classes.ix(class), wanted);
        }
    }

    fn traits(&mut self, wanted: &RequestGroup) {
        let image = self.image;
        for set in &wanted.required {
            let has = |at: At| set.iter().any(|name| has_trait(image, at, name));
            let requirement =
                Requirement::Required { group: wanted.suffix.clone(), any_of: set.clone() };
            if wanted.is_granular() {
                self.providers(requirement, |_, at| has(at));
            } else {
                // One of the providers together is enough.
                let before = self.left.len();
                self.left.retain(|left| left.able.iter().any(|at| has(*at)));
                self.note(requirement, before, None);
            }
        }
        for name in &wanted.forbidden {
            let requirement =
                Requirement::Forbidden { group: wanted.suffix.clone(), name: name.clone() };
            self.providers(requirement, |_, at| !has_trait(image, at, name));
        }
    }

    fn aggregates(&mut self, wanted: &RequestGroup) {
        let image = self.image;
        let granular = wanted.is_granular();
        let inside = |at: At, uuids: &[Uuid]| {
            let provider = image.providers.get(at);
            let is_in = |one: &Ix| uuids.contains(&image.aggregates.uuid(*one));
            provider.is_some_and(|provider| provider.aggregates.iter().any(is_in))
        };
        for (number, set) in wanted.member_of.iter().enumerate() {
            // One provider, or for the group without a suffix its root, is in
            // all sets.
            let sets = &wanted.member_of[..=number];
            let in_all = |at: At| sets.iter().all(|set| inside(at, set));
            let requirement =
                Requirement::MemberOf { group: wanted.suffix.clone(), any_of: set.clone() };
            self.providers(requirement, |left, at| {
                let own = left.tree.contains(&at);
                in_all(at) || (!granular && own && in_all(left.root))
            });
        }
        if !wanted.forbidden_aggregates.is_empty() {
            let none_of = wanted.forbidden_aggregates.clone();
            let requirement =
                Requirement::ForbiddenAggregates { group: wanted.suffix.clone(), none_of };
            let uuids = &wanted.forbidden_aggregates;
            self.providers(requirement, |left, at| {
                !inside(at, uuids) && (granular || !inside(left.root, uuids))
            });
        }
    }

    fn resource(
        &mut self,
        requirement: Requirement,
        granular: bool,
        class: Option<Ix>,
        wanted: i64,
    ) {
        let providers = &self.image.providers;
        let before = self.left.len();
        let stock = |at: At| {
            let inventory = class.and_then(|class| providers.inventory(at, class))?;
            Some((*inventory, class.map_or(0, |class| providers.used(at, class))))
        };
        let mut nearest: Option<NearestMiss> = None;
        for at in self.left.iter().flat_map(|left| &left.able) {
            let Some((inventory, used)) = stock(*at) else { continue };
            let largest_free = (inventory.capacity() - used).min(inventory.max_unit);
            if nearest.is_none_or(|nearest| largest_free > nearest.largest_free) {
                let provider = providers.uuid(*at);
                nearest = Some(NearestMiss { wanted, largest_free, provider, inventory, used });
            }
        }
        let fits = |at: At| {
            stock(at).is_some_and(|(inventory, used)| {
                inventory.unit_fault(wanted).is_none()
                    && used.saturating_add(wanted) <= inventory.capacity()
            })
        };
        if granular {
            self.left.iter_mut().for_each(|left| left.able.retain(|at| fits(*at)));
            self.left.retain(|left| !left.able.is_empty());
        } else {
            self.left.retain(|left| left.able.iter().any(|at| fits(*at)));
        }
        self.note(requirement, before, nearest);
    }

    /// What binds groups to each other, one rule after the other: each step
    /// searches for a candidate of the query without the rules to come.
    fn together(&mut self, query: &CandidateQuery) {
        let mut part = query.clone();
        let spread = part.groups.iter_mut().find(|group| !group.is_granular());
        let traits = spread.map(|group| std::mem::take(&mut group.required)).unwrap_or_default();
        part.group_policy = GroupPolicy::None;
        part.same_subtree.clear();
        self.searched(Requirement::Together, &part);
        if !traits.is_empty() {
            if let Some(group) = part.groups.iter_mut().find(|group| !group.is_granular()) {
                group.required = traits;
            }
            self.searched(Requirement::TraitsTogether, &part);
        }
        let several = query.groups.iter().filter(|group| group.is_granular()).count() > 1;
        if several && query.group_policy == GroupPolicy::Isolate {
            part.group_policy = GroupPolicy::Isolate;
            self.searched(Requirement::Isolate, &part);
        }
        for groups in &query.same_subtree {
            part.same_subtree.push(groups.clone());
            self.searched(Requirement::SameSubtree { groups: groups.clone() }, &part);
        }
    }

    fn searched(&mut self, requirement: Requirement, query: &CandidateQuery) {
        let image = self.image;
        let some_left = !self.left.is_empty();
        // A name that does not exist has left no root before this.
        let mut search = some_left.then(|| Search::new(image, query).ok()).flatten();
        self.roots(requirement, |root| {
            search.as_mut().is_some_and(|search| search.of_root(root).next().is_some())
        });
    }
}

fn has_trait(image: &Image, at: At, name: &str) -> bool {
    image.traits.ix(name).is_some_and(|ix| image.providers.has_trait(at, ix))
}
