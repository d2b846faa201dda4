//! The search itself: over all roots, or root by root.

use super::{
    feasible::Rules,
    flat::Flat,
    masks::{MaskCache, Trees},
    plan::Plan,
    query::{Candidate, CandidateQuery, Strategy},
    roots::Roots,
    sharing::Sharing,
    space::Space,
    walk::Walk,
};
use crate::error::PlacementError;
use foldhash::{HashSet, HashSetExt};
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use smallvec::SmallVec;
use std::{collections::VecDeque, sync::Arc};
use stowplan_ledger::{Image, image::providers::At};

/// A query on one image, prepared: names resolved, bits computed as needed.
pub struct Search<'a> {
    image: &'a Image,
    ways: Option<Ways>,
}

/// A query prepared on an image that is handed in anew with each question, for
/// whoever keeps both together. It must be the same image.
pub struct Finder(Option<Ways>);

impl Finder {
    /// Prepares a query.
    ///
    /// # Errors
    /// A resource class or trait that does not exist.
    pub fn new(image: &Image, query: &CandidateQuery) -> Result<Self, PlacementError> {
        Ok(Self(Search::new(image, query)?.ways))
    }

    /// The first candidate that belongs to one root.
    pub fn first_of_root(&mut self, image: &Image, root: At) -> Option<Candidate> {
        self.0.as_mut()?.of_root(image, root)?.next()
    }
}

/// What is left of a query once it is known that something may meet it.
struct Ways {
    plan: Arc<Plan>,
    random: Option<ChaCha8Rng>,
    kind: Kind,
}

enum Kind {
    /// A root must meet everything by itself.
    Flat(Flat),
    /// Providers of a tree, and those that share with it, may meet it together.
    Trees { cache: MaskCache, sharing: Sharing, roots: Roots },
}

impl<'a> Search<'a> {
    /// Prepares a query.
    ///
    /// # Errors
    /// A resource class or trait that does not exist.
    pub fn new(image: &'a Image, query: &CandidateQuery) -> Result<Self, PlacementError> {
        let alone = |plan| Ways::new(image, plan).next_root(image).is_some();
        let plan = Plan::resolve(image, query, alone)?;
        Ok(Self { image, ways: plan.map(|plan| Ways::new(image, plan)) })
    }

    /// The candidates that belong to one root, lazily: those of a host, by the
    /// place of its root provider.
    pub fn of_root(&mut self, root: At) -> RootCandidates {
        let walk = self.ways.as_mut().and_then(|ways| ways.of_root(self.image, root));
        walk.unwrap_or(RootCandidates { first: None, rest: None })
    }

    /// The same in another order: for each choice providers of a lower rank are
    /// tried first.
    pub fn of_root_by<R: Ord>(&mut self, root: At, rank: impl Fn(At) -> R) -> RootCandidates {
        let mut found = self.of_root(root);
        if let Some(walk) = &mut found.rest {
            walk.try_first(rank);
        }
        found
    }

    /// The next root that has a candidate, with its candidates; each root
    /// once. A caller that wants one candidate of each pays for no second.
    pub fn next_root(&mut self) -> Option<(At, RootCandidates)> {
        self.ways.as_mut()?.next_root(self.image)
    }

    /// Whether a root has a candidate.
    pub fn is_viable(&mut self, root: At) -> bool {
        self.ways.as_mut().is_some_and(|ways| ways.is_viable(self.image, root))
    }

    /// The next root that has a candidate; each root once. For callers that
    /// want no candidate yet: fewer of them are made.
    pub fn next_viable(&mut self) -> Option<At> {
        self.ways.as_mut()?.next_viable(self.image)
    }

    /// All candidates in the order that the query asks for.
    #[must_use]
    pub fn candidates(self) -> Candidates<'a> {
        let Self { image, ways } = self;
        let plan = ways.as_ref().map(|ways| &ways.plan);
        let limit = plan.and_then(|plan| plan.limit);
        let breadth = plan.is_some_and(|plan| plan.strategy == Strategy::BreadthFirst);
        let all = plan.filter(|plan| plan.limit.is_none());
        let shuffle = all.and_then(|plan| plan.seed).map(ChaCha8Rng::seed_from_u64);
        Candidates {
            image,
            ways,
            breadth,
            left: limit.unwrap_or(usize::MAX),
            turns: VecDeque::new(),
            seen: HashSet::new(),
            shuffle,
            shuffled: Vec::new(),
        }
    }
}

impl Ways {
    fn new(image: &Image, plan: Plan) -> Self {
        let trees = Trees::of(image, &plan);
        let mut cache = MaskCache::new(image, trees.clone());
        let sharing = Sharing::of(image, &plan, &mut cache);
        let mut random = plan.seed.map(ChaCha8Rng::seed_from_u64);
        let kind = if sharing.is_empty() && plan.is_of_roots(image) {
            Kind::Flat(Flat::new(image, &plan, trees, random.as_mut()))
        } else {
            let roots = Roots::new(image, &plan, &sharing, &mut cache, random.as_mut());
            Kind::Trees { cache, sharing, roots }
        };
        Self { plan: Arc::new(plan), random, kind }
    }

    fn of_root(&mut self, image: &Image, root: At) -> Option<RootCandidates> {
        match &mut self.kind {
            Kind::Flat(flat) => {
                let first = flat.meets(image, &self.plan, root).then(|| flat.candidate(root));
                Some(RootCandidates { first, rest: None })
            }
            Kind::Trees { cache, sharing, .. } => {
                let space = Space::of(image, &self.plan, sharing, cache, root)?;
                let walk = Walk::new(self.plan.clone(), space, self.random.as_mut());
                Some(RootCandidates { first: None, rest: Some(Box::new(walk)) })
            }
        }
    }

    fn is_viable(&mut self, image: &Image, root: At) -> bool {
        match &mut self.kind {
            Kind::Flat(flat) => flat.meets(image, &self.plan, root),
            Kind::Trees { cache, sharing, .. } => {
                let space = Space::of(image, &self.plan, sharing, cache, root);
                // Where nothing binds the choices to each other any will do.
                space.is_some_and(|space| {
                    !self.plan.slots.is_empty() && !Rules::of(&self.plan, &space).bind()
                        || Walk::new(self.plan.clone(), space, None).next().is_some()
                })
            }
        }
    }

    fn next_viable(&mut self, image: &Image) -> Option<At> {
        loop {
            let root = match &mut self.kind {
                Kind::Flat(flat) => {
                    return flat.next_root(image, &self.plan, self.random.as_mut());
                }
                Kind::Trees { cache, roots, .. } => {
                    roots.next(image, &self.plan, cache, self.random.as_mut())?
                }
            };
            if self.is_viable(image, root) {
                return Some(root);
            }
        }
    }

    fn next_root(&mut self, image: &Image) -> Option<(At, RootCandidates)> {
        loop {
            let root = match &mut self.kind {
                Kind::Flat(flat) => {
                    let root = flat.next_root(image, &self.plan, self.random.as_mut())?;
                    let first = Some(flat.candidate(root));
                    return Some((root, RootCandidates { first, rest: None }));
                }
                Kind::Trees { cache, roots, .. } => {
                    roots.next(image, &self.plan, cache, self.random.as_mut())?
                }
            };
            let Some(mut found) = self.of_root(image, root) else { continue };
            found.peek();
            if found.first.is_some() {
                return Some((root, found));
            }
        }
    }
}

/// The candidates of one root, made as they are asked for.
#[derive(Clone, Debug)]
pub struct RootCandidates {
    first: Option<Candidate>,
    rest: Option<Box<Walk>>,
}

impl RootCandidates {
    /// The providers of the candidate that stands ready, slot by slot, if all
    /// of them share: then it can turn up under other roots too.
    fn shared(&self) -> Option<SmallVec<[At; 4]>> {
        let walk = self.rest.as_ref()?;
        (self.first.is_some() && walk.all_shared()).then(|| walk.providers())
    }

    /// Makes the next candidate stand ready.
    fn peek(&mut self) {
        if self.first.is_none() {
            self.first = self.rest.as_mut().and_then(|walk| walk.next());
        }
    }

    /// Whether nothing can follow the candidate that stands ready.
    fn is_last(&self) -> bool {
        self.rest.as_ref().is_none_or(|walk| walk.single())
    }
}

impl Iterator for RootCandidates {
    type Item = Candidate;

    fn next(&mut self) -> Option<Candidate> {
        self.peek();
        self.first.take()
    }
}

/// Candidates, made as they are asked for.
pub struct Candidates<'a> {
    image: &'a Image,
    ways: Option<Ways>,
    breadth: bool,
    /// How many may still be given.
    left: usize,
    /// Roots with more to give: breadth first all that were met, depth first
    /// the one in work.
    turns: VecDeque<RootCandidates>,
    /// Choices of sharing providers alone that have been given: they turn up
    /// under every root that they share with.
    seen: HashSet<SmallVec<[At; 4]>>,
    /// For all candidates in random order: they are made before the first is
    /// given, and mixed.
    shuffle: Option<ChaCha8Rng>,
    shuffled: Vec<Candidate>,
}

impl Candidates<'_> {
    fn make(&mut self) -> Option<Candidate> {
        if self.breadth { self.make_breadth_first() } else { self.make_depth_first() }
    }

    fn make_depth_first(&mut self) -> Option<Candidate> {
        loop {
            while let Some(turn) = self.turns.front_mut() {
                if let Some(candidate) = take(&mut self.seen, turn) {
                    return Some(candidate);
                }
                self.turns.pop_front();
            }
            let (_, found) = self.ways.as_mut()?.next_root(self.image)?;
            self.turns.push_back(found);
        }
    }

    fn make_breadth_first(&mut self) -> Option<Candidate> {
        while let Some(ways) = &mut self.ways {
            let Some((_, mut found)) = ways.next_root(self.image) else {
                self.ways = None;
                break;
            };
            let last = found.is_last();
            if let Some(candidate) = take(&mut self.seen, &mut found) {
                if !last {
                    self.turns.push_back(found);
                }
                return Some(candidate);
            }
        }
        while let Some(mut turn) = self.turns.pop_front() {
            if let Some(candidate) = take(&mut self.seen, &mut turn) {
                self.turns.push_back(turn);
                return Some(candidate);
            }
        }
        None
    }
}

/// The next candidate of a root that has not been given under another.
fn take(seen: &mut HashSet<SmallVec<[At; 4]>>, turn: &mut RootCandidates) -> Option<Candidate> {
    loop {
        turn.peek();
        let fresh = turn.shared().is_none_or(|providers| seen.insert(providers));
        let candidate = turn.first.take()?;
        if fresh {
            return Some(candidate);
        }
    }
}

impl Iterator for Candidates<'_> {
    type Item = Candidate;

    fn next(&mut self) -> Option<Candidate> {
        if self.left == 0 {
            return None;
        }
        if let Some(mut random) = self.shuffle.take() {
            self.shuffled = std::iter::from_fn(|| self.make()).collect();
            self.shuffled.shuffle(&mut random);
        }
        self.left -= 1;
        self.shuffled.pop().or_else(|| self.make())
    }
}

/// All candidates of a query, lazily and in the order that it asks for.
///
/// # Errors
/// A resource class or trait that does not exist.
pub fn candidates<'a>(
    image: &'a Image,
    query: &CandidateQuery,
) -> Result<Candidates<'a>, PlacementError> {
    Ok(Search::new(image, query)?.candidates())
}

/// The candidates whose root is `root`: those that a host with that compute
/// node can be given. A caller with many hosts keeps a [`Search`] and asks
/// [`Search::of_root`] or [`Search::next_root`].
///
/// # Errors
/// A resource class or trait that does not exist.
pub fn candidates_for_host(
    image: &Image,
    query: &CandidateQuery,
    root: At,
) -> Result<RootCandidates, PlacementError> {
    Ok(Search::new(image, query)?.of_root(root))
}
