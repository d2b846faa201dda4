//! How many tasks of a job may be taken off their hosts by others.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// How many tasks: a number, or a part of all tasks of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "CountText", into = "String")]
pub enum TaskCount {
    /// So many.
    Number(u32),
    /// So many in a hundred, rounded up.
    Percent(u32),
}

/// A count as JSON may have it: `2`, `"2"` or `"20%"`.
#[derive(Deserialize)]
#[serde(untagged)]
enum CountText {
    Number(u32),
    Text(String),
}

/// What a count of tasks is written like.
pub const TASK_COUNT: &str = "a number of tasks such as 2, or a part of all such as 20%";

impl TryFrom<CountText> for TaskCount {
    type Error = String;

    fn try_from(text: CountText) -> Result<Self, String> {
        match text {
            CountText::Number(number) => Ok(Self::Number(number)),
            CountText::Text(text) => text.parse(),
        }
    }
}

impl FromStr for TaskCount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected {TASK_COUNT}");
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
        match text.trim().strip_suffix('%') {
            Some(part) => number(part).map(Self::Percent),
            None => number(text).map(Self::Number),
        }
    }
}

impl fmt::Display for TaskCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Percent(part) => write!(f, "{part}%"),
        }
    }
}

impl From<TaskCount> for String {
    fn from(count: TaskCount) -> Self {
        count.to_string()
    }
}

impl TaskCount {
    /// How many of so many tasks.
    #[must_use]
    pub const fn of(self, tasks: u32) -> u32 {
        match self {
            Self::Number(number) => number,
            Self::Percent(part) => (part as u64 * tasks as u64).div_ceil(100) as u32,
        }
    }
}

/// A job's disruption budget: how many of its tasks others may take off their
/// hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// So many may be without a host at a time, for whatever reason.
    MaxUnavailable(TaskCount),
    /// So many must go on running.
    MinAvailable(TaskCount),
}

/// The annotations of a job that state a budget; the first wins.
pub const BUDGET_KEYS: [&str; 2] =
    ["volcano.sh/jdb-min-available", "volcano.sh/jdb-max-unavailable"];

impl Budget {
    /// The budget that annotations state; none where there is none or it cannot
    /// be read.
    #[must_use]
    pub fn of_annotations(annotations: &BTreeMap<String, String>) -> Option<Self> {
        let read = |key: &str| annotations.get(key).map(|text| text.parse().ok());
        match BUDGET_KEYS.map(read) {
            [Some(least), _] => least.map(Self::MinAvailable),
            [None, most] => most.flatten().map(Self::MaxUnavailable),
        }
    }

    /// How many tasks may leave, of a job with so many tasks in all, of which
    /// so many run and so many have ended.
    #[must_use]
    pub const fn allows(self, all: u32, running: u32, ended: u32) -> u32 {
        match self {
            Self::MaxUnavailable(most) => {
                let missing = all.saturating_sub(ended).saturating_sub(running);
                most.of(all).saturating_sub(missing)
            }
            Self::MinAvailable(least) => running.saturating_sub(least.of(all)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Budget::{MaxUnavailable, MinAvailable};
    use TaskCount::{Number, Percent};

    #[test]
    fn counts_are_numbers_or_parts() {
        assert_eq!("2".parse(), Ok(Number(2)));
        assert_eq!(" 20% ".parse(), Ok(Percent(20)));
        assert_eq!(serde_json::from_str::<TaskCount>("3").ok(), Some(Number(3)));
        assert_eq!(serde_json::to_string(&Percent(5)).ok(), Some("\"5%\"".to_owned()));
        for wrong in ["", "-1", "half", "1.5", "%"] {
            assert!(wrong.parse::<TaskCount>().is_err(), "{wrong:?}");
        }
        assert_eq!(Percent(34).of(10), 4);
    }

    #[test]
    fn what_a_budget_allows() {
        for (budget, all, running, ended, allowed) in [
            (MaxUnavailable(Number(2)), 10, 10, 0, 2),
            (MaxUnavailable(Number(2)), 10, 9, 0, 1),
            (MaxUnavailable(Number(2)), 10, 7, 0, 0),
            (MaxUnavailable(Number(2)), 10, 7, 3, 2),
            (MaxUnavailable(Percent(25)), 10, 10, 0, 3),
            (MinAvailable(Number(8)), 10, 10, 0, 2),
            (MinAvailable(Number(8)), 10, 7, 0, 0),
            (MinAvailable(Percent(50)), 10, 6, 4, 1),
        ] {
            assert_eq!(budget.allows(all, running, ended), allowed, "{budget:?} {running}/{all}");
        }
    }
}
