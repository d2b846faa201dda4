//! Memory pages of a host's cell.

use stowplan_model::host_devices::{MemoryPages, NumaCell};

use super::cell::CellMisfit;

/// KiB in a MiB.
const KB_PER_MB: i64 = 1024;

/// Page sizes that a request gives by kind rather than in KiB.
const SMALLEST: i64 = -1;
const LARGE: i64 = -2;
const ANY: i64 = -3;

/// The page size, KiB, in which a host's cell holds that much memory (MiB) for
/// a request's page size.
///
/// # Errors
/// No size that is asked for is there, or none has room.
pub(super) fn choose(cell: &NumaCell, wanted: i64, memory: i64) -> Result<i64, CellMisfit> {
    let mut sizes: Vec<i64> = cell.mempages.iter().map(|pages| pages.size_kb).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let split = sizes.len().saturating_sub(1);
    let allowed = match wanted {
        SMALLEST => &sizes[split..],
        LARGE => &sizes[..split],
        ANY => &sizes[..],
        _ => std::slice::from_ref(&wanted),
    };
    let fits =
        |size: &i64| pages_of(cell, *size).is_some_and(|pages| has_room(pages, memory, true));
    allowed.iter().copied().find(fits).ok_or_else(|| {
        let free = |size: &i64| pages_of(cell, *size).map_or(0, |pages| kb(pages, true));
        let free_kb = allowed.iter().map(free).max().unwrap_or(0);
        CellMisfit::Pages { wanted, wanted_kb: memory.saturating_mul(KB_PER_MB), free_kb }
    })
}

/// Whether the smallest pages of a cell hold that much memory (MiB): those that
/// are free, or for memory that may be promised more than once all of them.
/// `None` for a cell that lists no pages.
pub(super) fn smallest_hold(cell: &NumaCell, memory: i64, free: bool) -> Option<bool> {
    let pages = smallest(cell)?;
    Some(has_room(pages, memory, free))
}

/// The smallest pages of a cell.
pub(super) fn smallest(cell: &NumaCell) -> Option<&MemoryPages> {
    cell.mempages.iter().min_by_key(|pages| pages.size_kb)
}

/// Pages that memory (MiB) takes, begun ones left out.
pub(super) fn count(pages: &MemoryPages, memory: i64) -> i64 {
    memory.saturating_mul(KB_PER_MB).checked_div(pages.size_kb).unwrap_or(0)
}

/// KiB in pages: free ones, or all.
pub(super) const fn kb(pages: &MemoryPages, free: bool) -> i64 {
    let count = if free { pages.free() } else { pages.total };
    count.saturating_mul(pages.size_kb)
}

fn pages_of(cell: &NumaCell, size: i64) -> Option<&MemoryPages> {
    cell.mempages.iter().find(|pages| pages.size_kb == size)
}

fn has_room(pages: &MemoryPages, memory: i64, free: bool) -> bool {
    let wanted = memory.saturating_mul(KB_PER_MB);
    wanted <= kb(pages, free) && wanted.checked_rem(pages.size_kb) == Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell() -> NumaCell {
        let pages = |size_kb, total, used| MemoryPages { size_kb, total, used, reserved: 0 };
        NumaCell {
            mempages: vec![pages(4, 1_000, 0), pages(2048, 4, 1), pages(1_048_576, 1, 1)],
            ..NumaCell::default()
        }
    }

    #[test]
    fn kinds_of_page_sizes() {
        let chosen = |wanted, memory| choose(&cell(), wanted, memory).ok();
        assert_eq!(chosen(-1, 3), Some(4));
        assert_eq!(chosen(-2, 4), Some(2048));
        assert_eq!(chosen(-3, 4), Some(2048));
        assert_eq!(chosen(-3, 3), Some(4));
        assert_eq!(chosen(2048, 6), Some(2048));
        // Not divisible, too much, not there.
        assert_eq!(chosen(2048, 5), None);
        assert_eq!(chosen(-1, 4), None);
        assert_eq!(chosen(64, 1), None);
        assert_eq!(choose(&NumaCell::default(), -1, 1).ok(), None);
        assert_eq!(choose(&NumaCell::default(), -3, 1).ok(), None);
    }

    #[test]
    fn memory_without_a_page_size_goes_to_the_smallest() {
        assert_eq!(smallest_hold(&cell(), 3, true), Some(true));
        assert_eq!(smallest_hold(&cell(), 4, false), Some(false));
        assert_eq!(smallest_hold(&NumaCell::default(), 4, true), None);
    }
}
