//! Which of the preferred names are tried.

/// Preferred names, sorted out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order<'n> {
    /// Those to be tried, in their order.
    pub to_try: Vec<&'n str>,
    /// Those that are no candidates.
    pub outside: Vec<&'n str>,
    /// Those beyond the limit, whether candidates or not.
    pub beyond: &'n [String],
}

/// Sorts out preferred names. The list is cut to `max` first, so a name beyond
/// the limit does not move up for one that is no candidate.
#[must_use]
pub fn order(preferred: &[String], max: usize, is_candidate: impl Fn(&str) -> bool) -> Order<'_> {
    let (within, beyond) = preferred.split_at(max.min(preferred.len()));
    let (to_try, outside) = within.iter().map(String::as_str).partition(|name| is_candidate(name));
    Order { to_try, outside, beyond }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_before_candidates_are_looked_for() {
        let names = ["a", "b", "c", "d"].map(str::to_owned);
        let sorted = order(&names, 3, |name| ["d", "c", "a"].contains(&name));
        assert_eq!(sorted.to_try, ["a", "c"]);
        assert_eq!(sorted.outside, ["b"]);
        assert_eq!(sorted.beyond, ["d"]);
        assert_eq!(order(&names, 100, |_| true).to_try.len(), 4);
    }
}
