//! How many NUMA cells a task may be spread over, and which it gets.

use super::cells::Cell;

/// The annotation of a task that says so.
pub const NUMA_POLICY: &str = "volcano.sh/numa-topology-policy";

/// Cells of a host up to which all sets of them are looked at; beyond, the
/// freest are taken one after the other.
const FEW: usize = 8;

/// What a task asks of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    /// As few as are free; where even all are not enough, anything.
    BestEffort,
    /// Not more than an empty host would need.
    Restricted,
    /// One.
    Single,
}

/// What is asked for and what there is: cpu and memory, in quanta.
pub(super) type Pair = [i64; 2];

/// What comes of looking for cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// These, by place.
    Cells(Vec<usize>),
    /// The task goes anywhere on the host.
    Anywhere,
    /// Not now; others leaving may help.
    NotNow,
    /// Never on this host.
    Never,
}

impl Policy {
    /// The policy of a text; an outer none for one that does not exist, an inner
    /// one for `none`.
    pub(super) fn named(text: &str) -> Option<Option<Self>> {
        match text {
            "" | "none" => Some(None),
            "best-effort" => Some(Some(Self::BestEffort)),
            "restricted" => Some(Some(Self::Restricted)),
            "single-numa-node" => Some(Some(Self::Single)),
            _ => None,
        }
    }

    /// Looks for cells that hold a request together.
    pub(super) fn choose(self, cells: &[Cell], request: Pair) -> Choice {
        let ever = fewest(cells, request, |cell| cell.all).map(|set| set.len());
        let now = fewest(cells, request, Cell::free);
        let most = match self {
            Self::Single => 1,
            Self::Restricted => ever.unwrap_or(0),
            Self::BestEffort => usize::MAX,
        };
        match now {
            Some(set) if set.len() <= most => Choice::Cells(set),
            _ if self == Self::BestEffort => Choice::Anywhere,
            _ if ever.is_some_and(|count| count <= most) => Choice::NotNow,
            _ => Choice::Never,
        }
    }
}

/// Whether a policy exists.
#[must_use]
pub fn is_numa_policy(text: &str) -> bool {
    Policy::named(text).is_some()
}

fn holds(cells: &[Cell], set: &[usize], request: Pair, amount: &impl Fn(&Cell) -> Pair) -> bool {
    let sum = |kind: usize| -> i64 { set.iter().map(|at| amount(&cells[*at])[kind]).sum() };
    (0..2).all(|kind| sum(kind) >= request[kind])
}

/// The smallest set of cells that holds a request; of equals the one that leaves
/// least cpu, then the first.
fn fewest(cells: &[Cell], request: Pair, amount: impl Fn(&Cell) -> Pair) -> Option<Vec<usize>> {
    if cells.len() > FEW {
        return freest(cells, request, &amount);
    }
    let set =
        |mask: u32| -> Vec<usize> { (0..cells.len()).filter(|at| mask >> at & 1 == 1).collect() };
    let sets = (1..1u32 << cells.len()).map(set);
    let holding = sets.filter(|set| holds(cells, set, request, &amount));
    let cpu = |set: &[usize]| -> i64 { set.iter().map(|at| amount(&cells[*at])[0]).sum() };
    holding.min_by_key(|set| (set.len(), cpu(set), set.clone()))
}

/// The freest cells, as many as it takes.
fn freest(cells: &[Cell], request: Pair, amount: &impl Fn(&Cell) -> Pair) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = (0..cells.len()).collect();
    order.sort_by_key(|at| {
        let [cpu, memory] = amount(&cells[*at]);
        (-cpu, -memory, *at)
    });
    let mut sets = (1..=order.len()).map(|count| &order[..count]);
    let mut set = sets.find(|set| holds(cells, set, request, amount))?.to_vec();
    set.sort_unstable();
    Some(set)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Choice::{Anywhere, Cells, Never, NotNow};
    use Policy::{BestEffort, Restricted, Single};

    fn cells(free: &[i64]) -> Vec<Cell> {
        let cell =
            |(id, free): (usize, &i64)| Cell { id: id as i64, all: [8, 80], used: [8 - free, 0] };
        free.iter().enumerate().map(cell).collect()
    }

    #[test]
    fn policies() {
        for (policy, free, cpu, choice) in [
            (Single, &[8, 4][..], 4, Cells(vec![1])),
            (Single, &[8, 4], 6, Cells(vec![0])),
            (Single, &[4, 4], 6, NotNow),
            (Single, &[8, 8], 9, Never),
            (Restricted, &[8, 8], 9, Cells(vec![0, 1])),
            (Restricted, &[4, 4], 6, NotNow),
            (Restricted, &[8, 8], 17, Never),
            (BestEffort, &[4, 4], 6, Cells(vec![0, 1])),
            (BestEffort, &[1, 1], 6, Anywhere),
            (BestEffort, &[8, 5, 5], 5, Cells(vec![1])),
        ] {
            assert_eq!(policy.choose(&cells(free), [cpu, 1]), choice, "{policy:?} {free:?} {cpu}");
        }
    }

    #[test]
    fn memory_counts_too() {
        assert_eq!(Single.choose(&cells(&[8, 8]), [1, 81]), Never);
        assert_eq!(Restricted.choose(&cells(&[8, 8]), [1, 81]), Cells(vec![0, 1]));
    }

    #[test]
    fn many_cells_are_taken_freest_first() {
        let many = cells(&[1, 2, 3, 4, 5, 6, 7, 8, 1, 1]);
        assert_eq!(BestEffort.choose(&many, [15, 1]), Cells(vec![6, 7]));
    }

    #[test]
    fn names() {
        assert_eq!(Policy::named("none"), Some(None));
        assert_eq!(Policy::named("single-numa-node"), Some(Some(Single)));
        assert!(!is_numa_policy("strict") && is_numa_policy("best-effort"));
    }
}
