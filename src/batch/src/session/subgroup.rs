//! Sub-groups: parts of a job that are placed together, near to each other.

use super::census::Census;
use super::domains::Domains;
use super::objects::{DomainIx, GroupIx, Job};

/// How near to each other tasks have to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topology {
    /// In one domain of at most this tier, or not at all.
    Hard(Tier),
    /// In as narrow a domain as possible.
    Soft,
}

/// A tier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tier {
    /// By number.
    Number(i64),
    /// By name.
    Name(String),
}

/// What divides tasks of a job into sub-groups of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupPolicy {
    /// Its name.
    pub name: String,
    /// How many of its sub-groups must have a place for any task to be placed.
    pub min_groups: u32,
}

/// A sub-group.
#[derive(Clone, Debug)]
pub struct SubGroup {
    /// Its name, unique in the job.
    pub name: String,
    /// What made it, by number; none for the tasks that no policy takes.
    pub policy: Option<usize>,
    /// How many of its tasks must have a place for any to be placed.
    pub min: u32,
    /// Lower is placed first.
    pub order: i64,
    /// The highest priority among its tasks; not below 0.
    pub priority: i64,
    /// How near to each other its tasks have to be.
    pub topology: Option<Topology>,
    /// The highest tier that a domain for it may have; none: wherever.
    pub limit: Option<i64>,
    /// The narrowest domain that holds all of its tasks that have a place.
    pub placed: Option<DomainIx>,
    /// While its tasks are being placed: the same with those placed so far.
    pub near: Option<DomainIx>,
    /// Its tasks by state.
    pub census: Census,
}

impl SubGroup {
    /// A sub-group without tasks.
    #[must_use]
    pub fn new(name: impl Into<String>, policy: Option<usize>, min: u32) -> Self {
        Self {
            name: name.into(),
            policy,
            min,
            order: 0,
            priority: 0,
            topology: None,
            limit: None,
            placed: None,
            near: None,
            census: Census::default(),
        }
    }
}

impl Topology {
    /// The highest tier that it allows. A tier that nobody has declared allows
    /// nothing: rather does a job wait than lie scattered.
    fn limit(&self, domains: &Domains, softly: i64) -> i64 {
        match self {
            Self::Soft => softly,
            Self::Hard(Tier::Number(tier)) => *tier,
            Self::Hard(Tier::Name(name)) => domains.tier_named(name).unwrap_or(i64::MIN),
        }
    }
}

impl Job {
    /// The sub-groups of a job: one for all tasks that no policy takes, made
    /// here, comes first; none at all without a topology and without policies.
    pub fn divide(&mut self, topology: Option<Topology>, policies: Vec<GroupPolicy>) {
        self.groups.clear();
        if topology.is_some() || !policies.is_empty() {
            // Where there are policies, the others need nothing but each other.
            let min = if policies.is_empty() { self.min_available } else { 1 };
            let rest = SubGroup { topology: topology.clone(), ..SubGroup::new("", None, min) };
            self.groups.push(rest);
        }
        (self.topology, self.policies) = (topology, policies);
    }

    /// The sub-group of a policy with a name, made unless it is there.
    pub fn group_named(&mut self, policy: usize, name: &str, new: SubGroup) -> GroupIx {
        let known = |group: &SubGroup| group.policy == Some(policy) && group.name == name;
        let at = self.groups.iter().rposition(known).unwrap_or_else(|| {
            self.groups.push(new);
            self.groups.len() - 1
        });
        GroupIx(at as u32)
    }

    /// A sub-group.
    #[must_use]
    pub fn group(&self, group: GroupIx) -> Option<&SubGroup> {
        self.groups.get(group.index())
    }

    /// Its sub-groups by number.
    pub fn group_numbers(&self) -> impl Iterator<Item = GroupIx> + use<> {
        (0..self.groups.len() as u32).map(GroupIx)
    }

    /// Whether it is placed sub-group by sub-group, domain by domain.
    #[must_use]
    pub fn is_grouped(&self) -> bool {
        !self.groups.is_empty()
    }

    /// Whether it or one of its sub-groups has a topology.
    #[must_use]
    pub fn has_topology(&self) -> bool {
        self.topology.is_some() || self.groups.iter().any(|group| group.topology.is_some())
    }

    /// Whether it or one of its sub-groups may only go to domains up to a tier.
    #[must_use]
    pub fn is_bound_to_domains(&self) -> bool {
        let hard = |topology: &Option<Topology>| matches!(topology, Some(Topology::Hard(_)));
        hard(&self.topology) || self.groups.iter().any(|group| hard(&group.topology))
    }

    /// The highest tier that a domain for all of it may have; none: wherever.
    #[must_use]
    pub fn limit(&self, domains: &Domains) -> Option<i64> {
        let (_, top) = domains.tiers();
        self.topology.as_ref().map(|topology| topology.limit(domains, top))
    }

    /// Whether as many sub-groups of each policy as it needs pass a test.
    #[must_use]
    pub fn groups_reach(&self, passes: impl Fn(&SubGroup) -> bool) -> bool {
        self.short_policy(passes).is_none()
    }

    /// A policy of which too few sub-groups pass a test, with their number.
    #[must_use]
    pub fn short_policy(&self, passes: impl Fn(&SubGroup) -> bool) -> Option<(&GroupPolicy, u32)> {
        let count = |policy: usize| {
            let own = self.groups.iter().filter(|group| group.policy == Some(policy));
            own.filter(|group| passes(group)).count() as u32
        };
        let counted = self.policies.iter().enumerate().map(|(at, policy)| (policy, count(at)));
        counted.into_iter().find(|(policy, count)| *count < policy.min_groups)
    }

    /// Works out the limits of its sub-groups. What is to be near each other as
    /// far as possible stays within what the job as a whole has to keep to.
    pub(super) fn bound(&mut self, domains: &Domains) {
        let (_, top) = domains.tiers();
        let own = self.limit(domains);
        for group in &mut self.groups {
            group.limit = group.topology.as_ref().map(|it| it.limit(domains, own.unwrap_or(top)));
        }
    }
}
