//! Which roles of a job are to be near each other, and which apart.

use std::collections::{BTreeMap, BTreeSet};

const AFFINITY: &str = "volcano.sh/task-topology-affinity";
const ANTI_AFFINITY: &str = "volcano.sh/task-topology-anti-affinity";
const ORDER: &str = "volcano.sh/task-topology-task-order";

/// The annotations that say so: lists of roles with `,` between them, in the
/// first two several ones with `;`.
const KEYS: [&str; 3] = [AFFINITY, ANTI_AFFINITY, ORDER];

/// Ranks of roles by the kinds of rules that they are in: those that are kept
/// apart among themselves first.
const SELF_APART: u32 = 4;
const NEAR_OTHERS: u32 = 3;
const SELF_NEAR: u32 = 2;
const APART_FROM_OTHERS: u32 = 1;

/// Roles by their numbers in the job.
type Pairs = BTreeSet<(u32, u32)>;

/// What the annotations of a job say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rules {
    /// Pairs of roles, both ways; a role with itself for its own tasks.
    near: Pairs,
    apart: Pairs,
    /// The order that the job gives itself, higher first.
    order: BTreeMap<u32, usize>,
    ranks: BTreeMap<u32, u32>,
}

impl Rules {
    /// Of a job with these annotations and roles; none when they say nothing.
    ///
    /// # Errors
    /// The annotation that names a role that the job has not, or one twice, and
    /// what was expected.
    pub(super) fn read(
        annotations: &BTreeMap<String, String>,
        roles: &[&str],
    ) -> Result<Option<Self>, (&'static str, String)> {
        if !KEYS.iter().any(|key| annotations.contains_key(*key)) {
            return Ok(None);
        }
        let mut rules = Self::default();
        for list in lists(annotations, AFFINITY, roles)? {
            rules.add(&list, true);
        }
        for list in lists(annotations, ANTI_AFFINITY, roles)? {
            rules.add(&list, false);
        }
        if let Some(text) = annotations.get(ORDER) {
            let list = list(ORDER, text, roles)?;
            let count = list.len();
            rules.order =
                list.into_iter().enumerate().map(|(at, role)| (role, count - at)).collect();
        }
        Ok(Some(rules))
    }

    fn add(&mut self, list: &[u32], near: bool) {
        let pairs = if near { &mut self.near } else { &mut self.apart };
        let (alone, others) =
            if near { (SELF_NEAR, NEAR_OTHERS) } else { (SELF_APART, APART_FROM_OTHERS) };
        if let [role] = list {
            pairs.insert((*role, *role));
        } else {
            for a in list {
                pairs.extend(list.iter().filter(|b| *b != a).map(|b| (*a, *b)));
            }
        }
        let rank = if list.len() == 1 { alone } else { others };
        for role in list {
            let known = self.ranks.entry(*role).or_default();
            *known = rank.max(*known);
        }
    }

    /// Whether a role is in any rule; the order alone makes none.
    pub(super) fn concern(&self, role: u32) -> bool {
        self.ranks.contains_key(&role)
    }

    /// Which tasks of a bucket come first: of the higher role.
    pub(super) fn rank(&self, role: u32) -> (usize, u32) {
        let order = self.order.get(&role).copied().unwrap_or_default();
        (order, self.ranks.get(&role).copied().unwrap_or_default())
    }

    /// How many tasks among these, counted by role, a role is to be near, less
    /// those that it is to be apart from.
    pub(super) fn pull(&self, role: u32, among: &BTreeMap<u32, i64>) -> i64 {
        let near = |other: &u32| i64::from(self.near.contains(&(role, *other)));
        let all = among.iter().map(|(other, count)| near(other) * count);
        all.sum::<i64>() - self.push(role, among)
    }

    /// How many of these tasks a role is to be apart from.
    pub(super) fn push(&self, role: u32, among: &BTreeMap<u32, i64>) -> i64 {
        let apart = among.iter().filter(|(other, _)| self.apart.contains(&(role, **other)));
        apart.map(|(_, count)| count).sum()
    }
}

fn lists(
    annotations: &BTreeMap<String, String>,
    key: &'static str,
    roles: &[&str],
) -> Result<Vec<Vec<u32>>, (&'static str, String)> {
    let Some(text) = annotations.get(key) else { return Ok(Vec::new()) };
    text.split(';').map(|part| list(key, part, roles)).collect()
}

fn list(key: &'static str, text: &str, roles: &[&str]) -> Result<Vec<u32>, (&'static str, String)> {
    let mut list = Vec::new();
    for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let Some(role) = roles.iter().position(|role| *role == name) else {
            return Err((key, format!("roles of the job ({})", roles.join(", "))));
        };
        if list.contains(&(role as u32)) {
            return Err((key, format!("each role once in a list, {name} is there twice")));
        }
        list.push(role as u32);
    }
    Ok(list)
}

/// What is wrong with such annotations of a job: the annotation, and what was
/// expected of it.
#[must_use]
pub fn topology_fault(
    annotations: &BTreeMap<String, String>,
    roles: &[&str],
) -> Option<(&'static str, String)> {
    Rules::read(annotations, roles).err()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn read(given: &[(&str, &str)]) -> Result<Option<Rules>, (&'static str, String)> {
        let given = given.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned()));
        Rules::read(&given.collect(), &["ps", "worker", "chief"])
    }

    #[test]
    fn lists_make_pairs_and_ranks() {
        let rules = read(&[(AFFINITY, "ps,worker;chief"), (ANTI_AFFINITY, "ps")]).unwrap().unwrap();
        assert_eq!(rules.near, [(0, 1), (1, 0), (2, 2)].into());
        assert_eq!(rules.apart, [(0, 0)].into());
        assert_eq!([0, 1, 2].map(|role| rules.rank(role)), [(0, 4), (0, 3), (0, 2)]);
        let among = [(0, 2), (1, 3)].into();
        assert_eq!((rules.pull(0, &among), rules.push(0, &among)), (1, 2));
        assert_eq!(rules.pull(2, &among), 0);
    }

    #[test]
    fn an_order_alone_concerns_nobody() {
        let rules = read(&[(ORDER, "worker,ps")]).unwrap().unwrap();
        assert!(!rules.concern(1) && rules.rank(1) > rules.rank(0));
        assert_eq!(read(&[("other", "x")]), Ok(None));
    }

    #[test]
    fn roles_must_be_there_and_once() {
        assert_eq!(read(&[(AFFINITY, "ps,wroker")]).unwrap_err().0, AFFINITY);
        assert_eq!(read(&[(ORDER, "ps,ps")]).unwrap_err().0, ORDER);
    }
}
