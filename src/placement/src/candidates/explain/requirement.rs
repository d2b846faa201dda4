//! The requirements that a query is made of, and queries without one of them.

use crate::candidates::query::{CandidateQuery, GroupPolicy, RequestGroup};
use std::fmt;
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
    /// A group without resources asks for a trait or an aggregate: one that
    /// does not is met by no provider.
    Wish {
        /// The group.
        group: String,
    },
    /// All groups are met at once in one tree, where amounts add up.
    Together,
    /// The providers that the group without a suffix takes from have, among
    /// them, the traits that it requires.
    TraitsTogether,
    /// Each group with a suffix has a provider of its own.
    Isolate,
    /// The providers of these groups stand under one of them.
    SameSubtree {
        /// The groups.
        groups: Vec<String>,
    },
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed =
            |uuids: &[Uuid]| uuids.iter().map(Uuid::to_string).collect::<Vec<_>>().join(" or ");
        match self {
            Self::RootRequired { name } => write!(f, "trait {name} of the host")?,
            Self::RootForbidden { name } => write!(f, "no trait {name} of the host")?,
            Self::InTree { provider, .. } => write!(f, "in the tree of provider {provider}")?,
            Self::MemberOf { any_of, .. } => write!(f, "member of aggregate {}", listed(any_of))?,
            Self::ForbiddenAggregates { none_of, .. } => {
                write!(f, "no member of aggregate {}", listed(none_of))?;
            }
            Self::Required { any_of, .. } => write!(f, "trait {}", any_of.join(" or "))?,
            Self::Forbidden { name, .. } => write!(f, "no trait {name}")?,
            Self::Resource { class, wanted, .. } => write!(f, "{wanted} {class}")?,
            Self::Wish { .. } => f.write_str("a trait or an aggregate to ask for")?,
            Self::Together => f.write_str("all amounts at once in one tree")?,
            Self::TraitsTogether => {
                f.write_str("the required traits among the providers that are taken from")?;
            }
            Self::Isolate => f.write_str("a provider of its own for each group")?,
            Self::SameSubtree { groups } => {
                write!(f, "groups {} under one of their providers", groups.join(", "))?;
            }
        }
        match self.group() {
            None | Some("") => Ok(()),
            Some(group) => write!(f, " (group {group})"),
        }
    }
}

impl Requirement {
    /// The suffix of the group that the requirement belongs to; nothing for
    /// those of roots and of several groups.
    #[must_use]
    pub fn group(&self) -> Option<&str> {
        match self {
            Self::InTree { group, .. }
            | Self::MemberOf { group, .. }
            | Self::ForbiddenAggregates { group, .. }
            | Self::Required { group, .. }
            | Self::Forbidden { group, .. }
            | Self::Resource { group, .. }
            | Self::Wish { group } => Some(group),
            Self::RootRequired { .. }
            | Self::RootForbidden { .. }
            | Self::Together
            | Self::TraitsTogether
            | Self::Isolate
            | Self::SameSubtree { .. } => None,
        }
    }
}

impl CandidateQuery {
    /// The query without one of its requirements; nothing where it would ask
    /// for nothing at all, and for a requirement that others make up.
    ///
    /// A group's last class goes by its amount: what else the group asks of a
    /// provider stays. A group that says nothing any more goes whole.
    #[must_use]
    pub fn without(&self, requirement: &Requirement) -> Option<Self> {
        let mut left = self.clone();
        match requirement {
            Requirement::RootRequired { name } => remove(&mut left.root_required, name),
            Requirement::RootForbidden { name } => remove(&mut left.root_forbidden, name),
            Requirement::Isolate => left.group_policy = GroupPolicy::None,
            Requirement::SameSubtree { groups } => remove(&mut left.same_subtree, groups),
            Requirement::Together | Requirement::TraitsTogether => return None,
            Requirement::Wish { group } => left.drop_group(group),
            Requirement::InTree { group, .. }
            | Requirement::MemberOf { group, .. }
            | Requirement::ForbiddenAggregates { group, .. }
            | Requirement::Required { group, .. }
            | Requirement::Forbidden { group, .. }
            | Requirement::Resource { group, .. } => {
                let of = left.groups.iter_mut().find(|one| one.suffix == *group)?;
                let wished = of.asks();
                of.lose(requirement);
                if wished && of.says_nothing() && self.groups.len() > 1 {
                    left.drop_group(group);
                }
            }
        }
        (!left.groups.is_empty()).then_some(left)
    }

    fn drop_group(&mut self, suffix: &String) {
        self.groups.retain(|group| group.suffix != *suffix);
        self.same_subtree.iter_mut().for_each(|set| set.retain(|member| member != suffix));
    }
}

impl RequestGroup {
    fn lose(&mut self, requirement: &Requirement) {
        match requirement {
            Requirement::InTree { .. } => self.in_tree = None,
            Requirement::MemberOf { any_of, .. } => remove(&mut self.member_of, any_of),
            Requirement::ForbiddenAggregates { .. } => self.forbidden_aggregates.clear(),
            Requirement::Required { any_of, .. } => remove(&mut self.required, any_of),
            Requirement::Forbidden { name, .. } => remove(&mut self.forbidden, name),
            Requirement::Resource { class, .. } => match self.resources.as_mut_slice() {
                [(_, amount)] => *amount = 0,
                _ => self.resources.retain(|(name, _)| name != class),
            },
            _ => (),
        }
    }

    /// Whether there is anything that a provider must have to meet the group.
    pub(super) fn asks(&self) -> bool {
        let wishes = !(self.required.is_empty() && self.member_of.is_empty());
        !self.resources.is_empty() || (self.is_granular() && wishes)
    }

    /// Whether any provider at all would meet the group.
    fn says_nothing(&self) -> bool {
        let Self {
            suffix: _,
            resources,
            required,
            forbidden,
            member_of,
            forbidden_aggregates,
            in_tree,
        } = self;
        resources.iter().all(|(_, amount)| *amount == 0)
            && required.is_empty()
            && forbidden.is_empty()
            && member_of.is_empty()
            && forbidden_aggregates.is_empty()
            && in_tree.is_none()
    }
}

/// Removes the first item that equals this one.
fn remove<T: PartialEq>(from: &mut Vec<T>, item: &T) {
    if let Some(place) = from.iter().position(|one| one == item) {
        from.remove(place);
    }
}
