//! Best fit as the published simulator has it: the node with the least cpu and
//! GPU left, each by the most that any node has.

use crate::node::{Node, Task};
use crate::replay::Policy;
use crate::scored::Scores;

/// The most cpu and GPU that a node of that simulator has.
const MOST: (f64, f64) = (128_000.0, 8_000.0);

/// Best fit.
#[derive(Debug)]
pub struct BestFit<'a> {
    shapes: &'a [Task],
    scores: Scores,
}

impl<'a> BestFit<'a> {
    /// For tasks of these shapes.
    #[must_use]
    pub fn new(shapes: &'a [Task]) -> Self {
        Self { shapes, scores: Scores::default() }
    }
}

impl Policy for BestFit<'_> {
    fn place(&mut self, nodes: &[Node], shape: usize) -> Option<(usize, usize)> {
        let task = &self.shapes[shape];
        self.scores.best(nodes, (shape, task), |node| {
            let cpu = (node.cpu - task.cpu) as f64 / MOST.0;
            let gpu = (node.free() - task.asked()) as f64 / MOST.1;
            ((100.0 * (1.0 - 0.5 * cpu - 0.5 * gpu)) as i64, node.tightest(task))
        })
    }

    fn changed(&mut self, node: usize) {
        self.scores.forget(node);
    }
}
