//! Sums of what is in use: by provider, project, user, consumer type.

use std::{collections::BTreeMap, sync::Arc};
use stowplan_ledger::{
    Image,
    image::{
        names::Ix,
        providers::At,
        usage::{OwnUsage, Usage},
    },
};

/// How a consumer without a type is shown.
pub const UNKNOWN_TYPE: &str = "unknown";

/// Units in use of each class that a provider has, in order of the classes.
pub fn provider_usages(image: &Image, at: At) -> impl Iterator<Item = (Ix, i64)> {
    let classes = image.providers.get(at).map(|provider| provider.classes.clone());
    let classes: Arc<[Ix]> = classes.unwrap_or_default();
    (0..classes.len()).map(move |i| (classes[i], image.providers.used(at, classes[i])))
}

/// What the consumers of a project (and user) hold together.
#[must_use]
pub fn project_usages(image: &Image, project: &str, user: Option<&str>) -> Usage {
    let mut sum = Usage::default();
    of_user(image, project, user).for_each(|own| sum.join(own.usage));
    sum
}

/// Which consumers `GET /usages` counts, and how it groups them (from 1.38 on).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConsumerTypeFilter {
    /// All, each type by itself.
    ByType,
    /// All, in one group of that name.
    All,
    /// Those without a type.
    Unknown,
    /// Those of this type.
    Named(String),
}

impl ConsumerTypeFilter {
    /// The filter of a `consumer_type` parameter; none if it was not given.
    #[must_use]
    pub fn of_parameter(value: Option<&str>) -> Self {
        match value {
            None => Self::ByType,
            Some("all") => Self::All,
            Some(UNKNOWN_TYPE) => Self::Unknown,
            Some(name) => Self::Named(name.to_owned()),
        }
    }

    /// The group that consumers of a type count in; none if they do not count.
    fn group<'a>(&self, own: Option<&'a str>) -> Option<&'a str> {
        match self {
            Self::ByType => Some(own.unwrap_or(UNKNOWN_TYPE)),
            Self::All => Some("all"),
            Self::Unknown => own.is_none().then_some(UNKNOWN_TYPE),
            Self::Named(name) => own.filter(|own| own == name),
        }
    }
}

/// What the consumers of a project (and user) hold, by consumer type.
#[must_use]
pub fn type_usages<'a>(
    image: &'a Image,
    project: &str,
    user: Option<&str>,
    filter: &ConsumerTypeFilter,
) -> BTreeMap<&'a str, Usage> {
    let mut groups: BTreeMap<&str, Usage> = BTreeMap::new();
    for own in of_user(image, project, user) {
        if let Some(group) = filter.group(own.consumer_type) {
            groups.entry(group).or_default().join(own.usage);
        }
    }
    groups
}

fn of_user<'a>(
    image: &'a Image,
    project: &str,
    user: Option<&str>,
) -> impl Iterator<Item = OwnUsage<'a>> {
    image.consumers.usages_of(project).filter(move |own| user.is_none_or(|user| own.user == user))
}
