//! Fragmentation gradient descent as the published simulator has it: the node
//! where the GPU that classes of tasks cannot use grows least.

use crate::node::{Node, Task};
use crate::replay::Policy;
use crate::scored::Scores;
use std::collections::BTreeMap;

/// The part of all tasks that the classes cover.
const COVERED: f64 = 0.95;

/// Fragmentation gradient descent, with the mix of tasks known beforehand.
#[derive(Debug)]
pub struct Fgd<'a> {
    shapes: &'a [Task],
    /// Classes, most frequent first, and how frequent.
    classes: Vec<(Task, f64)>,
    scores: Scores,
}

impl<'a> Fgd<'a> {
    /// For a list of tasks, by numbers of their shapes. Memory makes no class.
    #[must_use]
    pub fn new(shapes: &'a [Task], list: &[usize]) -> Self {
        // Classes of equal count stay in the order in which the list has them.
        let mut counts: BTreeMap<Task, (usize, usize)> = BTreeMap::new();
        for (place, shape) in list.iter().enumerate() {
            let mut class = Task { memory: 0, ..shapes[*shape].clone() };
            if class.gpus == 0 {
                class.models.clear();
            }
            counts.entry(class).or_insert((0, place)).0 += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, (count, place))| (usize::MAX - count, *place));
        let (mut classes, mut sum) = (Vec::new(), 0.0);
        for (class, (count, _)) in counts {
            if sum >= COVERED {
                break;
            }
            let part = count as f64 / list.len() as f64;
            classes.push((class, part));
            sum += part;
        }
        Self { shapes, classes, scores: Scores::default() }
    }
}

/// The GPU of a node that tasks of these classes cannot use, on average.
fn fragmentation(classes: &[(Task, f64)], node: &Node) -> f64 {
    let lost = |class: &Task| {
        if class.gpus == 0 || !node.fits(class) {
            return node.free();
        }
        node.gpus.iter().filter(|free| **free < class.share).sum()
    };
    classes.iter().map(|(class, part)| part * lost(class) as f64).sum()
}

impl Policy for Fgd<'_> {
    fn place(&mut self, nodes: &[Node], shape: usize) -> Option<(usize, usize)> {
        let (task, classes) = (&self.shapes[shape], &self.classes);
        self.scores.best(nodes, (shape, task), |node| {
            let before = fragmentation(classes, node);
            let mut best = (-1, 0);
            for gpu in node.choices(task) {
                let grown = fragmentation(classes, &node.with(task, gpu)) - before;
                let score = (100.0 / (1.0 + (grown / 1000.0).exp())) as i64;
                if score > best.0 {
                    best = (score, gpu);
                }
            }
            best
        })
    }

    fn changed(&mut self, node: usize) {
        self.scores.forget(node);
    }
}
