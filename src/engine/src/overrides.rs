//! What the metadata of host aggregates makes of an option.
//!
//! Of several values the lowest counts; one that cannot be read cancels all
//! overrides of its key on the hosts concerned, as at the peer.

use serde::Serialize;

use crate::table::AggregateSet;

/// Where a value in force on a host came from.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum Source {
    /// The option.
    Option {
        /// As `section.name`.
        option: &'static str,
    },
    /// The lowest value among the host's aggregates.
    Aggregate {
        /// Id of the host aggregate.
        id: i64,
        /// Its name.
        name: String,
        /// Metadata key.
        key: &'static str,
    },
    /// The option, because a value that is no number cancels the overrides.
    Cancelled {
        /// As `section.name`.
        option: &'static str,
        /// Id of the host aggregate with the bad value.
        id: i64,
        /// Its name.
        name: String,
        /// Metadata key.
        key: &'static str,
        /// The bad value.
        value: String,
    },
}

impl Source {
    /// One sentence about a value that is no number.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        match self {
            Self::Cancelled { option, id, name, key, value } => Some(format!(
                "host aggregate {id} ({name}) sets {key} to \"{value}\", which is no number: \
                 its hosts take {option}"
            )),
            _ => None,
        }
    }
}

/// An option that host aggregates override.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Overridable<T> {
    /// The option, as `section.name`.
    pub option: &'static str,
    /// The metadata key.
    pub key: &'static str,
    /// The option's value.
    pub configured: T,
}

/// What a set of host aggregates makes of an option.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Override<T> {
    pub value: T,
    pub source: Source,
}

impl<T: Copy> Overridable<T> {
    /// The lowest value that a set of host aggregates has for the option, or
    /// the option's own where one value cannot be read; `None` when the set
    /// says nothing of it.
    pub(crate) fn on(
        &self,
        set: &AggregateSet,
        read: impl Fn(&str) -> Option<T>,
        is_lower: impl Fn(T, T) -> bool,
    ) -> Option<Override<T>> {
        let mut lowest: Option<Override<T>> = None;
        for (aggregate, text) in set.values(self.key) {
            let (id, key) = (aggregate.id, self.key);
            let Some(value) = read(text) else {
                return Some(Override {
                    value: self.configured,
                    source: Source::Cancelled {
                        option: self.option,
                        id,
                        name: aggregate.name.clone(),
                        key,
                        value: text.to_owned(),
                    },
                });
            };
            if lowest.as_ref().is_none_or(|low| is_lower(value, low.value)) {
                let source = Source::Aggregate { id, name: aggregate.name.clone(), key };
                lowest = Some(Override { value, source });
            }
        }
        lowest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use stowplan_model::host::HostAggregate;
    use stowplan_model::pytext;

    const LIMIT: Overridable<i64> =
        Overridable { option: "filter_scheduler.limit", key: "limit", configured: 8 };

    fn set(values: &[&str]) -> AggregateSet {
        let aggregates = values.iter().zip(1..).map(|(value, id)| {
            Arc::new(HostAggregate {
                id,
                name: format!("a{id}"),
                uuid: None,
                metadata: [("limit".to_owned(), (*value).to_owned())].into(),
            })
        });
        AggregateSet::new(aggregates.collect())
    }

    fn on(values: &[&str]) -> Option<Override<i64>> {
        LIMIT.on(&set(values), pytext::int, |a, b| a < b)
    }

    #[test]
    fn the_lowest_counts() {
        let found = on(&["5", " 2 ", "2"]);
        let source = Source::Aggregate { id: 2, name: "a2".to_owned(), key: "limit" };
        assert_eq!(found, Some(Override { value: 2, source }));
        assert_eq!(on(&[]), None);
    }

    #[test]
    fn one_bad_value_cancels_the_others() {
        let found = on(&["1", "many"]);
        assert_eq!(found.as_ref().map(|found| found.value), Some(8));
        assert_eq!(
            found.and_then(|found| found.source.warning()).as_deref(),
            Some(
                "host aggregate 2 (a2) sets limit to \"many\", which is no number: its hosts take \
                 filter_scheduler.limit"
            )
        );
    }
}
