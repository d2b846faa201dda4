//! Sums of what is in use: by provider, project, user, consumer type.

use std::{collections::BTreeMap, sync::Arc};
use stowplan_ledger::{
    Image,
    image::{consumers::Consumer, names::Ix, providers::At},
};

/// How a consumer without a type is shown.
pub const UNKNOWN_TYPE: &str = "unknown";

/// Units in use of each class that a provider has, in order of the classes.
pub fn provider_usages(image: &Image, at: At) -> impl Iterator<Item = (Ix, i64)> {
    let classes = image.providers.get(at).map(|provider| provider.classes.clone());
    let classes: Arc<[Ix]> = classes.unwrap_or_default();
    (0..classes.len()).map(move |i| (classes[i], image.providers.used(at, classes[i])))
}

/// Units that the consumers of a project (and user) hold, by class.
#[must_use]
pub fn project_usages(image: &Image, project: &str, user: Option<&str>) -> BTreeMap<Ix, i64> {
    let mut usages = BTreeMap::new();
    for consumer in of_user(image, project, user) {
        add(&mut usages, consumer);
    }
    usages
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

    /// The group that a consumer counts in; none if it does not count.
    fn group<'a>(&self, consumer: &'a Consumer) -> Option<&'a str> {
        let own = consumer.consumer_type.as_deref();
        match self {
            Self::ByType => Some(own.unwrap_or(UNKNOWN_TYPE)),
            Self::All => Some("all"),
            Self::Unknown => own.is_none().then_some(UNKNOWN_TYPE),
            Self::Named(name) => own.filter(|own| own == name),
        }
    }
}

/// What the consumers of one group hold together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeUsage {
    /// How many consumers there are.
    pub consumers: i64,
    /// Units by class.
    pub usages: BTreeMap<Ix, i64>,
}

/// Units that the consumers of a project (and user) hold, by consumer type.
#[must_use]
pub fn type_usages(
    image: &Image,
    project: &str,
    user: Option<&str>,
    filter: &ConsumerTypeFilter,
) -> BTreeMap<String, TypeUsage> {
    let mut groups: BTreeMap<String, TypeUsage> = BTreeMap::new();
    for consumer in of_user(image, project, user) {
        let Some(group) = filter.group(consumer) else { continue };
        if !groups.contains_key(group) {
            groups.insert(group.to_owned(), TypeUsage::default());
        }
        if let Some(group) = groups.get_mut(group) {
            group.consumers += 1;
            add(&mut group.usages, consumer);
        }
    }
    groups
}

fn of_user<'a>(
    image: &'a Image,
    project: &str,
    user: Option<&'a str>,
) -> impl Iterator<Item = &'a Arc<Consumer>> {
    let mut consumers: Vec<&Arc<Consumer>> = image.consumers.of_project(project).collect();
    consumers.retain(|consumer| user.is_none_or(|user| *consumer.user == *user));
    consumers.into_iter()
}

fn add(usages: &mut BTreeMap<Ix, i64>, consumer: &Consumer) {
    for held in &consumer.allocations {
        *usages.entry(held.class).or_default() += held.used;
    }
}
