//! What the least part of a job that may run asks for (rule 20).

use super::RoleSpec;
use crate::amounts::TASK_CLASS;
use std::collections::BTreeMap;

/// The sum of the first `min_available` tasks by priority; the minima of roles
/// come first, where their sum is no larger.
pub(crate) fn of(
    tasks: &[RoleSpec],
    min_available: u32,
    minima: &BTreeMap<String, u32>,
) -> BTreeMap<String, i64> {
    let mut left = min_available;
    let mut taken: Vec<u32> = vec![0; tasks.len()];
    let sum: u32 = minima.values().sum();
    if sum <= min_available {
        for (role, taken) in tasks.iter().zip(&mut taken) {
            *taken = minima.get(&role.role).copied().unwrap_or(0);
            left -= *taken;
        }
    }
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(tasks[*at].priority));
    for at in order {
        let more = left.min(tasks[at].count - taken[at]);
        taken[at] += more;
        left -= more;
    }
    let mut least = BTreeMap::new();
    for (role, taken) in tasks.iter().zip(taken).filter(|(_, taken)| *taken > 0) {
        for (class, amount) in role.charged.iter().filter(|(class, _)| *class != TASK_CLASS) {
            let sum: &mut i64 = least.entry(class.clone()).or_default();
            *sum = sum.saturating_add(amount.saturating_mul(i64::from(taken)));
        }
    }
    least
}
