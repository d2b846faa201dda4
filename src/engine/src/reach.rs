//! A weigher beside which all others together do not count.

use crate::finding::Finding;
use crate::score::Score;

/// How far one weigher can move a weight: by its largest multiplier, since
/// normalised values lie between 0 and 1. Weighers to which all hosts are
/// equal move none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reach {
    /// The weigher.
    pub weigher: &'static str,
    /// Its multiplier without sign.
    pub reach: f64,
}

/// The weigher that reaches further than all others together, if there is one
/// and the others count for anything.
pub(crate) fn outweighing(reaches: &[Reach]) -> Option<Finding> {
    let largest = reaches.iter().max_by(|a, b| a.reach.total_cmp(&b.reach))?;
    let others = reaches.iter().filter(|other| other.weigher != largest.weigher);
    let others: f64 = others.map(|other| other.reach).sum();
    (others > 0.0 && largest.reach > others).then_some(Finding::Outweighs {
        weigher: largest.weigher,
        reach: Score(largest.reach),
        others: Score(others),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reaches(list: &[(&'static str, f64)]) -> Vec<Reach> {
        list.iter().map(|(weigher, reach)| Reach { weigher, reach: *reach }).collect()
    }

    #[test]
    fn more_than_all_others_together() {
        let list = [("RAM", 1.0), ("Builds", 1_000_000.0), ("CPU", 1.0)];
        assert_eq!(
            outweighing(&reaches(&list)),
            Some(Finding::Outweighs {
                weigher: "Builds",
                reach: Score(1_000_000.0),
                others: Score(2.0)
            })
        );
        assert_eq!(outweighing(&reaches(&[("RAM", 2.0), ("Disk", 1.0), ("CPU", 1.0)])), None);
        // Alone it has nobody to outweigh.
        assert_eq!(outweighing(&reaches(&[("RAM", 5.0), ("CPU", 0.0)])), None);
        assert_eq!(outweighing(&[]), None);
    }
}
