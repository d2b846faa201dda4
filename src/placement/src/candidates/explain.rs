//! Why a query has no candidates, or few: what each requirement leaves.

use super::{
    Search,
    query::{CandidateQuery, RequestGroup},
    reach::Reach,
};
use crate::error::PlacementError;
use stowplan_ledger::{
    Image,
    image::{names::Ix, providers::At},
};
use stowplan_model::Uuid;

/// One requirement of a query. `group` is the suffix of its group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// The root has a trait.
    RootRequired {
        /// The trait.
        name: String,
    },
    /// The root has not a trait.
    RootForbidden {
        /// The trait.
        name: String,
    },
    /// The group is met in the tree of a provider.
    InTree {
        /// The group.
        group: String,
        /// The provider.
        provider: Uuid,
    },
    /// The group's providers are in one of these aggregates.
    MemberOf {
        /// The group.
        group: String,
        /// The aggregates.
        any_of: Vec<Uuid>,
    },
    /// The group's providers are in none of these aggregates.
    ForbiddenAggregates {
        /// The group.
        group: String,
        /// The aggregates.
        none_of: Vec<Uuid>,
    },
    /// The group's providers have one of these traits.
    Required {
        /// The group.
        group: String,
        /// The traits.
        any_of: Vec<String>,
    },
    /// No provider of the group has a trait.
    Forbidden {
        /// The group.
        group: String,
        /// The trait.
        name: String,
    },
    /// An amount of a class fits.
    Resource {
        /// The group.
        group: String,
        /// The class.
        class: String,
        /// Units wanted.
        wanted: i64,
    },
    /// All groups are met at once: amounts add up, group policy and subtrees
    /// hold, traits are met by the providers that are taken from.
    Together,
}

/// The nearest that an amount came to fitting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NearestMiss {
    /// Units wanted.
    pub wanted: i64,
    /// The most that one allocation could take of the class at any provider
    /// that the requirements before it left.
    pub largest_free: i64,
    /// That provider.
    pub provider: Uuid,
}

/// What a requirement leaves of the roots.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// Takes a query apart: its requirements in a fixed order (roots; then group by
/// group tree, aggregates, traits, resources; last all together), each with the
/// roots before and after it. Not for the hot path: it looks at every root.
///
/// # Errors
/// A resource class or trait that does not exist.
pub fn explain(
    image: &Image,
    query: &CandidateQuery,
) -> Result<Vec<RequirementLoss>, PlacementError> {
    let reach = Reach::of(image);
    let roots = image.providers.iter().filter(|at| is_root(image, *at));
    let left = roots.map(|root| {
        let tree = image.providers.tree_of(root).to_vec();
        Left { root, tree, able: Vec::new() }
    });
    let mut funnel = Funnel { image, left: left.collect(), losses: Vec::new() };
    for name in &query.root_required {
        let ix = trait_ix(image, name)?;
        let requirement = Requirement::RootRequired { name: name.clone() };
        funnel.roots(requirement, |root| image.providers.has_trait(root, ix));
    }
    for name in &query.root_forbidden {
        let ix = trait_ix(image, name)?;
        let requirement = Requirement::RootForbidden { name: name.clone() };
        funnel.roots(requirement, |root| !image.providers.has_trait(root, ix));
    }
    for group in &query.groups {
        funnel.group(&reach, group)?;
    }
    let mut search = Search::new(image, query)?;
    funnel.roots(Requirement::Together, |root| search.of_root(root).next().is_some());
    Ok(funnel.losses)
}

fn is_root(image: &Image, at: At) -> bool {
    image.providers.get(at).is_some_and(|provider| provider.root == at)
}

fn trait_ix(image: &Image, name: &str) -> Result<Ix, PlacementError> {
    let unknown = || PlacementError::CandidateTrait { name: name.to_owned() };
    image.traits.ix(name).ok_or_else(unknown)
}

struct Funnel<'a> {
    image: &'a Image,
    left: Vec<Left>,
    losses: Vec<RequirementLoss>,
}

impl Funnel<'_> {
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

    fn group(&mut self, reach: &Reach, wanted: &RequestGroup) -> Result<(), PlacementError> {
        let image = self.image;
        let granular = wanted.is_granular();
        let name = || wanted.suffix.clone();
        for left in &mut self.left {
            left.able.clone_from(&left.tree);
            if granular || wanted.in_tree.is_none() {
                left.able.extend(reach.outside(image, &left.tree));
            }
        }
        // Groups without resources are not held to their tree (as in the search).
        if let Some(provider) = wanted.in_tree.filter(|_| !wanted.resources.is_empty()) {
            let place = image.providers.find(provider).and_then(|at| image.providers.get(at));
            let root = place.map(|provider| provider.root);
            let requirement = Requirement::InTree { group: name(), provider };
            let root_of = |at| image.providers.get(at).map(|provider| provider.root);
            self.providers(requirement, |_, at| root.is_some() && root_of(at) == root);
        }
        self.aggregates(wanted);
        for set in &wanted.required {
            let names = set.iter().map(|name| trait_ix(image, name));
            let names = names.collect::<Result<Vec<Ix>, _>>()?;
            let has = |at: At| names.iter().any(|name| image.providers.has_trait(at, *name));
            let requirement = Requirement::Required { group: name(), any_of: set.clone() };
            if granular {
                self.providers(requirement, |_, at| has(at));
            } else {
                // One of the providers together is enough.
                let before = self.left.len();
                self.left.retain(|left| left.able.iter().any(|at| has(*at)));
                self.note(requirement, before, None);
            }
        }
        for forbidden in &wanted.forbidden {
            let ix = trait_ix(image, forbidden)?;
            let requirement = Requirement::Forbidden { group: name(), name: forbidden.clone() };
            self.providers(requirement, |_, at| !image.providers.has_trait(at, ix));
        }
        for (class, amount) in &wanted.resources {
            let ix = image.classes.ix(class);
            let ix = ix.ok_or_else(|| PlacementError::QueryClass { class: class.clone() })?;
            let wanted = *amount;
            let requirement = Requirement::Resource { group: name(), class: class.clone(), wanted };
            self.resource(requirement, granular, ix, wanted);
        }
        Ok(())
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

    fn resource(&mut self, requirement: Requirement, granular: bool, class: Ix, wanted: i64) {
        let providers = &self.image.providers;
        let before = self.left.len();
        let mut nearest: Option<NearestMiss> = None;
        for at in self.left.iter().flat_map(|left| &left.able) {
            let Some(inventory) = providers.inventory(*at, class) else { continue };
            let free = inventory.capacity() - providers.used(*at, class);
            let largest_free = free.min(inventory.max_unit);
            if nearest.is_none_or(|nearest| largest_free > nearest.largest_free) {
                let provider = providers.uuid(*at);
                nearest = Some(NearestMiss { wanted, largest_free, provider });
            }
        }
        let fits = |at: At| {
            let Some(inventory) = providers.inventory(at, class) else { return false };
            inventory.unit_fault(wanted).is_none()
                && providers.used(at, class).saturating_add(wanted) <= inventory.capacity()
        };
        if granular {
            self.left.iter_mut().for_each(|left| left.able.retain(|at| fits(*at)));
            self.left.retain(|left| !left.able.is_empty());
        } else {
            self.left.retain(|left| left.able.iter().any(|at| fits(*at)));
        }
        self.note(requirement, before, nearest);
    }
}
