//! A query with its names resolved and its choices laid out.

use super::query::{CandidateQuery, GroupPolicy, RequestGroup, Strategy};
use crate::error::PlacementError;
use smallvec::SmallVec;
use stowplan_ledger::{
    Image,
    image::{names::Ix, providers::At},
};
use stowplan_model::Uuid;

/// Sets of which one element each is wanted.
pub(super) type AnyOf = Vec<Vec<Ix>>;

/// A group, resolved.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub granular: bool,
    pub resources: Vec<(Ix, i64)>,
    pub required: AnyOf,
    pub forbidden: Vec<Ix>,
    pub member_of: AnyOf,
    pub forbidden_aggregates: Vec<Ix>,
    /// Root of the tree that must meet the group.
    pub tree: Option<At>,
}

/// One choice of a provider: for a class of the group without a suffix, or for
/// a whole group with one.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    /// Number of the group in the query.
    pub group: usize,
    /// What is taken from the chosen provider.
    pub needs: SmallVec<[(Ix, i64); 2]>,
    /// Whether the slot is a group with a suffix.
    pub granular: bool,
}

/// A query, resolved.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub groups: Vec<Group>,
    /// First the classes of the group without a suffix, then the others.
    pub slots: Vec<Slot>,
    /// Number of the group without a suffix.
    pub spread: Option<usize>,
    /// Whether groups with a suffix need providers of their own, and there are
    /// several of them.
    pub isolate: bool,
    /// Sets of two or more slots whose providers must stand under one of them.
    pub subtrees: Vec<Vec<usize>>,
    /// Classes that several slots ask for.
    pub summed: Vec<Ix>,
    pub root_required: Vec<Ix>,
    pub root_forbidden: Vec<Ix>,
    pub limit: Option<usize>,
    pub strategy: Strategy,
    pub seed: Option<u64>,
    pub nested: bool,
}

/// A resolved query, or word that nothing can meet it.
pub(super) type Resolved = Option<Plan>;

impl Plan {
    /// Resolves a query. Nothing, if no provider can meet some group whatever
    /// is free.
    ///
    /// `alone` tells whether a plan has any candidate: a name that does not
    /// exist is an error only if all groups before it have some, because the
    /// peer stops at the first group that nothing meets.
    pub fn resolve(
        image: &Image,
        query: &CandidateQuery,
        alone: impl Fn(Self) -> bool,
    ) -> Result<Resolved, PlacementError> {
        let root_required = traits(image, &query.root_required)?;
        let root_forbidden = traits(image, &query.root_forbidden)?;
        let mut groups = Vec::with_capacity(query.groups.len());
        let plan = |groups: Vec<Group>| {
            Self::lay_out(query, groups, root_required.clone(), root_forbidden.clone())
        };
        for wanted in &query.groups {
            match Group::resolve(image, wanted) {
                Ok(Some(group)) => groups.push(group),
                Ok(None) => return Ok(None),
                Err(error) => {
                    let asks_for_roots = !(root_required.is_empty() && root_forbidden.is_empty());
                    let mut dead =
                        asks_for_roots && !any_root(image, &root_required, &root_forbidden);
                    for group in groups {
                        dead = dead || !alone(plan(vec![group]));
                    }
                    return if dead { Ok(None) } else { Err(error) };
                }
            }
        }
        Ok(Some(plan(groups)))
    }

    /// Whether nothing below a root can serve any slot: nothing stands there,
    /// or each slot asks for a class that nothing there has. (A slot without
    /// classes may be served by anything.)
    pub fn is_of_roots(&self, image: &Image) -> bool {
        let providers = &image.providers;
        let of_roots =
            |slot: &Slot| slot.needs.iter().any(|(class, _)| providers.children_with(*class) == 0);
        providers.children() == 0 || self.slots.iter().all(of_roots)
    }

    fn lay_out(
        query: &CandidateQuery,
        groups: Vec<Group>,
        root_required: Vec<Ix>,
        root_forbidden: Vec<Ix>,
    ) -> Self {
        let spread = groups.iter().position(|group| !group.granular);
        let slot = |group: usize, needs: &[(Ix, i64)], granular: bool| {
            let needs = needs.iter().copied().filter(|need| need.1 > 0).collect();
            Slot { group, needs, granular }
        };
        let mut slots: Vec<Slot> = Vec::new();
        if let Some(number) = spread {
            let needs = groups[number].resources.chunks(1);
            slots.extend(needs.map(|need| slot(number, need, false)));
        }
        let granular = groups.iter().enumerate().filter(|(_, group)| group.granular);
        slots.extend(granular.map(|(number, group)| slot(number, &group.resources, true)));
        let mut classes: Vec<Ix> =
            slots.iter().flat_map(|slot| slot.needs.iter().map(|need| need.0)).collect();
        classes.sort_unstable();
        let mut summed: Vec<Ix> =
            classes.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        summed.dedup();
        // A plan of some of the query's groups has no rules between groups.
        let whole = groups.len() == query.groups.len();
        let slot_of = |suffix: &String| {
            let number = query.groups.iter().position(|group| group.suffix == *suffix)?;
            slots.iter().position(|slot| slot.granular && slot.group == number)
        };
        let subtree = |suffixes: &Vec<String>| {
            let mut members: Vec<usize> = suffixes.iter().filter_map(slot_of).collect();
            members.sort_unstable();
            members.dedup();
            (whole && members.len() > 1).then_some(members)
        };
        let mut subtrees: Vec<Vec<usize>> = query.same_subtree.iter().filter_map(subtree).collect();
        subtrees.extend(joined(&subtrees));
        let several = slots.iter().filter(|slot| slot.granular).count() > 1;
        Self {
            spread,
            isolate: several && query.group_policy == GroupPolicy::Isolate,
            subtrees,
            summed,
            root_required,
            root_forbidden,
            limit: query.limit,
            strategy: query.strategy,
            seed: query.seed,
            nested: query.nested,
            groups,
            slots,
        }
    }
}

/// What sets that overlap come to together. Their tops stand above a common
/// provider, hence on one line, and the higher one has all of them below it: a
/// rule that follows from the sets, and shows sooner that they cannot be met.
fn joined(sets: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut known: Vec<(Vec<usize>, usize)> = Vec::new();
    for set in sets {
        let (near, far): (Vec<_>, Vec<_>) =
            known.into_iter().partition(|(union, _)| union.iter().any(|slot| set.contains(slot)));
        known = far;
        let (mut union, mut count) = (set.clone(), 1);
        for (other, of) in near {
            union.extend(other);
            count += of;
        }
        union.sort_unstable();
        union.dedup();
        known.push((union, count));
    }
    known.into_iter().filter(|(_, count)| *count > 1).map(|(union, _)| union).collect()
}

impl Group {
    fn resolve(image: &Image, wanted: &RequestGroup) -> Result<Option<Self>, PlacementError> {
        let mut resources = Vec::with_capacity(wanted.resources.len());
        for (name, amount) in &wanted.resources {
            let class = image.classes.ix(name);
            let class = class.ok_or_else(|| PlacementError::QueryClass { class: name.clone() })?;
            resources.push((class, *amount));
        }
        let known = |uuids: &Vec<Uuid>| -> Vec<Ix> {
            uuids.iter().filter_map(|uuid| image.aggregates.ix(*uuid)).collect()
        };
        let member_of: AnyOf = wanted.member_of.iter().map(known).collect();
        if member_of.iter().any(Vec::is_empty) {
            return Ok(None);
        }
        let resolve = || {
            let required = wanted.required.iter().map(|set| traits(image, set));
            Ok((required.collect::<Result<AnyOf, _>>()?, traits(image, &wanted.forbidden)?))
        };
        let (required, forbidden) = match resolve() {
            Ok(found) => found,
            // Aggregates without providers are found empty before the names
            // of traits are looked at.
            Err(_) if !member_of.is_empty() && !any_member(image, &member_of) => return Ok(None),
            Err(error) => return Err(error),
        };
        let tree = match wanted.in_tree {
            None => None,
            Some(uuid) => match image.providers.find(uuid).and_then(|at| image.providers.get(at)) {
                None => return Ok(None),
                Some(provider) => Some(provider.root),
            },
        };
        // Without resources a group must have a suffix and at least say what it
        // wants: one that only forbids, or only names a tree, is met by
        // nothing (so the peer answers).
        let wants = wanted.is_granular() && !(required.is_empty() && member_of.is_empty());
        if resources.is_empty() && !wants {
            return Ok(None);
        }
        // The peer does not hold groups without resources to their tree.
        let tree = tree.filter(|_| !resources.is_empty());
        Ok(Some(Self {
            granular: wanted.is_granular(),
            resources,
            required,
            forbidden,
            member_of,
            forbidden_aggregates: known(&wanted.forbidden_aggregates),
            tree,
        }))
    }
}

fn traits(image: &Image, names: &[String]) -> Result<Vec<Ix>, PlacementError> {
    let find = |name: &String| {
        let unknown = || PlacementError::CandidateTrait { name: name.clone() };
        image.traits.ix(name).ok_or_else(unknown)
    };
    names.iter().map(find).collect()
}

fn any_member(image: &Image, member_of: &AnyOf) -> bool {
    let inside = super::masks::in_all(member_of, |block, one| block.in_aggregate(one));
    image.providers.blocks().iter().any(|block| !inside(block).is_empty())
}

fn any_root(image: &Image, required: &[Ix], forbidden: &[Ix]) -> bool {
    let mut blocks = image.providers.blocks().iter();
    blocks.any(|block| !super::masks::roots_with(block, required, forbidden).is_empty())
}
