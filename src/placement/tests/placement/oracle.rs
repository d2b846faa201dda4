//! The rules of allocation candidates said in the plainest way: try every
//! provider for everything, and keep what breaks no rule.

use std::collections::{BTreeMap, BTreeSet};
use stowplan_ledger::{Image, image::providers::At};
use stowplan_model::Uuid;
use stowplan_placement::candidates::{Candidate, CandidateQuery, GroupPolicy, RequestGroup};

/// A candidate by names: what is taken, and who meets which group.
pub type Found = (BTreeMap<(Uuid, String), i64>, Vec<BTreeSet<Uuid>>);

/// A candidate of the search, by names.
pub fn by_names(image: &Image, candidate: &Candidate) -> Found {
    let uuid = |at: &At| image.providers.uuid(*at);
    let shares = candidate.allocations.iter().map(|share| {
        ((uuid(&share.provider), image.classes.name(share.class).to_owned()), share.amount)
    });
    let mappings = candidate.mappings.iter().map(|of| of.iter().map(uuid).collect());
    (shares.collect(), mappings.collect())
}

struct Oracle<'a> {
    image: &'a Image,
    query: &'a CandidateQuery,
    all: Vec<At>,
}

/// All candidates of a query whose names exist.
pub fn candidates(image: &Image, query: &CandidateQuery) -> BTreeSet<Found> {
    let oracle = Oracle { image, query, all: image.providers.iter().collect() };
    let roots = oracle.all.iter().filter(|at| oracle.root(**at) == **at);
    roots.flat_map(|root| oracle.of_root(*root)).collect()
}

/// One decision: class or whole group, and who takes it.
type Choice = Vec<(usize, Needs, At)>;

/// Class names with units.
type Needs = Vec<(String, i64)>;

impl Oracle<'_> {
    fn root(&self, at: At) -> At {
        self.image.providers.get(at).map_or(at, |provider| provider.root)
    }

    fn has_trait(&self, at: At, name: &str) -> bool {
        let provider = self.image.providers.get(at);
        provider.is_some_and(|p| p.traits.iter().any(|t| self.image.traits.name(*t) == name))
    }

    fn in_aggregate(&self, at: At, uuid: Uuid) -> bool {
        let provider = self.image.providers.get(at);
        provider
            .is_some_and(|p| p.aggregates.iter().any(|a| self.image.aggregates.uuid(*a) == uuid))
    }

    fn in_all(&self, at: At, sets: &[Vec<Uuid>]) -> bool {
        sets.iter().all(|set| set.iter().any(|uuid| self.in_aggregate(at, *uuid)))
    }

    fn in_any(&self, at: At, uuids: &[Uuid]) -> bool {
        uuids.iter().any(|uuid| self.in_aggregate(at, *uuid))
    }

    fn fits(&self, at: At, class: &str, amount: i64) -> bool {
        if amount == 0 {
            return true;
        }
        let Some(class) = self.image.classes.ix(class) else { return false };
        let Some(inventory) = self.image.providers.inventory(at, class) else { return false };
        let capacity = (inventory.total - inventory.reserved) as f64 * inventory.allocation_ratio;
        (self.image.providers.used(at, class) + amount) as f64 <= capacity
            && amount >= inventory.min_unit
            && amount <= inventory.max_unit
            && amount % inventory.step_size == 0
    }

    /// Whether a provider outside a tree shares with it.
    fn shares_with(&self, at: At, root: At) -> bool {
        let Some(provider) = self.image.providers.get(at) else { return false };
        self.has_trait(at, "MISC_SHARES_VIA_AGGREGATE")
            && self.all.iter().any(|member| {
                self.root(*member) == root
                    && provider
                        .aggregates
                        .iter()
                        .any(|a| self.in_aggregate(*member, self.image.aggregates.uuid(*a)))
            })
    }

    fn tree(&self, group: &RequestGroup) -> Option<Option<At>> {
        group.in_tree.map(|uuid| self.image.providers.find(uuid).map(|at| self.root(at)))
    }

    fn may_take_class(&self, group: &RequestGroup, root: At, at: At, need: &(String, i64)) -> bool {
        let own = self.root(at) == root;
        let inside =
            self.in_all(at, &group.member_of) || (own && self.in_all(root, &group.member_of));
        (own || (group.in_tree.is_none() && self.shares_with(at, root)))
            && self.tree(group).is_none_or(|tree| tree == Some(root))
            && self.fits(at, &need.0, need.1)
            && !group.forbidden.iter().any(|name| self.has_trait(at, name))
            && inside
            && !self.in_any(at, &group.forbidden_aggregates)
            && !self.in_any(root, &group.forbidden_aggregates)
    }

    fn may_take_group(&self, group: &RequestGroup, root: At, at: At) -> bool {
        let wants = !(group.required.is_empty() && group.member_of.is_empty());
        let tree = self.tree(group);
        (self.root(at) == root || self.shares_with(at, root))
            && if group.resources.is_empty() {
                wants && tree != Some(None)
            } else {
                tree.is_none_or(|tree| tree == Some(self.root(at)))
            }
            && group.resources.iter().all(|(class, amount)| self.fits(at, class, *amount))
            && self.meets(&[at], group)
            && !group.forbidden.iter().any(|name| self.has_trait(at, name))
            && self.in_all(at, &group.member_of)
            && !self.in_any(at, &group.forbidden_aggregates)
    }

    /// Whether providers together have one trait of each set.
    fn meets(&self, providers: &[At], group: &RequestGroup) -> bool {
        group
            .required
            .iter()
            .all(|set| providers.iter().any(|at| set.iter().any(|name| self.has_trait(*at, name))))
    }

    fn of_root(&self, root: At) -> Vec<Found> {
        let fits_root = self.query.root_required.iter().all(|name| self.has_trait(root, name))
            && !self.query.root_forbidden.iter().any(|name| self.has_trait(root, name));
        if !fits_root {
            return Vec::new();
        }
        let mut found: Vec<Choice> = vec![Vec::new()];
        for (number, group) in self.query.groups.iter().enumerate() {
            let mut steps: Vec<(Needs, Vec<At>)> = Vec::new();
            let takers = |may: &dyn Fn(At) -> bool| -> Vec<At> {
                self.all.iter().copied().filter(|at| may(*at)).collect()
            };
            if group.suffix.is_empty() {
                for need in &group.resources {
                    let may = |at| self.may_take_class(group, root, at, need);
                    steps.push((vec![need.clone()], takers(&may)));
                }
            } else {
                let may = |at| self.may_take_group(group, root, at);
                steps.push((group.resources.clone(), takers(&may)));
            }
            for (mut needs, takers) in steps {
                needs.retain(|need| need.1 > 0);
                let longer = |choice: Choice| {
                    let needs = needs.clone();
                    let with = move |at: &At| {
                        let mut choice = choice.clone();
                        choice.push((number, needs.clone(), *at));
                        choice
                    };
                    takers.iter().map(with).collect::<Vec<_>>()
                };
                found = found.into_iter().flat_map(longer).collect();
            }
        }
        found.retain(|choice| self.holds(choice));
        found.iter().map(|choice| self.say(choice)).collect()
    }

    fn holds(&self, choice: &Choice) -> bool {
        let groups = &self.query.groups;
        let providers_of = |number: usize| -> Vec<At> {
            choice.iter().filter(|step| step.0 == number).map(|step| step.2).collect()
        };
        let spread = groups.iter().position(|group| group.suffix.is_empty());
        if spread.is_some_and(|number| !self.meets(&providers_of(number), &groups[number])) {
            return false;
        }
        let granular: Vec<At> = (0..groups.len())
            .filter(|number| !groups[*number].suffix.is_empty())
            .flat_map(providers_of)
            .collect();
        let distinct: BTreeSet<At> = granular.iter().copied().collect();
        if self.query.group_policy == GroupPolicy::Isolate && distinct.len() < granular.len() {
            return false;
        }
        let subtrees = self.query.same_subtree.iter().all(|suffixes| {
            let of = |suffix: &String| groups.iter().position(|group| group.suffix == *suffix);
            let under: Vec<At> = suffixes.iter().filter_map(of).flat_map(providers_of).collect();
            under.is_empty()
                || under.iter().any(|top| under.iter().all(|at| self.is_under(*at, *top)))
        });
        let room = self.say(choice).0.iter().all(|((uuid, class), amount)| {
            let (at, class) = (self.image.providers.find(*uuid), self.image.classes.ix(class));
            at.zip(class).is_some_and(|(at, class)| {
                let inventory = self.image.providers.inventory(at, class);
                inventory.is_some_and(|inventory| {
                    self.image.providers.used(at, class) + amount <= inventory.capacity()
                        && *amount <= inventory.max_unit
                })
            })
        });
        let mut trees: BTreeMap<At, BTreeSet<At>> = BTreeMap::new();
        for (_, _, at) in choice.iter().filter(|step| !step.1.is_empty()) {
            trees.entry(self.root(*at)).or_default().insert(*at);
        }
        let single = self.query.nested || trees.values().all(|used| used.len() == 1);
        subtrees && room && single
    }

    fn is_under(&self, at: At, top: At) -> bool {
        let up = |at: &At| self.image.providers.get(*at).and_then(|provider| provider.parent);
        std::iter::successors(Some(at), up).any(|above| above == top)
    }

    fn say(&self, choice: &Choice) -> Found {
        let mut taken = BTreeMap::new();
        let mut mappings = vec![BTreeSet::new(); self.query.groups.len()];
        for (number, needs, at) in choice {
            let uuid = self.image.providers.uuid(*at);
            mappings[*number].insert(uuid);
            for (class, amount) in needs {
                *taken.entry((uuid, class.clone())).or_insert(0) += amount;
            }
        }
        (taken, mappings)
    }
}
