//! How scores are compared by the policies of the published simulator.

use crate::node::{Node, Task};

/// A score of the published simulator, and the GPU that it is for.
pub type Scored = (i64, usize);

/// Scores of nodes by shape of task, remembered until a node changes.
#[derive(Debug, Default)]
pub struct Scores(Vec<Vec<Option<Scored>>>);

impl Scores {
    /// The node with the best score: scores are spread over 0 to 100 and cut to
    /// whole numbers before they are compared, and the first of equals is taken.
    pub fn best(
        &mut self,
        nodes: &[Node],
        task: (usize, &Task),
        score: impl Fn(&Node) -> Scored,
    ) -> Option<(usize, usize)> {
        let (shape, task) = task;
        if self.0.len() <= shape {
            self.0.resize(shape + 1, Vec::new());
        }
        let known = &mut self.0[shape];
        known.resize(nodes.len(), None);
        let fitting = nodes.iter().enumerate().filter(|(_, node)| node.fits(task));
        let scored: Vec<(usize, Scored)> =
            fitting.map(|(at, node)| (at, *known[at].get_or_insert_with(|| score(node)))).collect();
        let lowest = scored.iter().map(|one| one.1.0).min()?;
        let range = scored.iter().map(|one| one.1.0).max()? - lowest;
        let spread = |score: i64| if range > 0 { (score - lowest) * 100 / range } else { 0 };
        let mut best: Option<(i64, usize, usize)> = None;
        for (at, (score, gpu)) in scored {
            if best.is_none_or(|best| spread(score) > best.0) {
                best = Some((spread(score), at, gpu));
            }
        }
        best.map(|(_, at, gpu)| (at, gpu))
    }

    /// Forgets what is known of a node.
    pub fn forget(&mut self, node: usize) {
        self.0.iter_mut().filter_map(|known| known.get_mut(node)).for_each(|known| *known = None);
    }
}
