//! The engine's own policy: bid prices, from the mix of the tasks that have
//! arrived so far.

use crate::node::{Node, Task, WHOLE};
use crate::replay::Policy;
use std::collections::BTreeMap;
use stowplan_engine::fragment::{Kind, Learner, Need, Room};

/// What `fragmentation` does.
#[derive(Debug)]
pub struct Fragmentation<'a> {
    shapes: &'a [Task],
    models: Vec<String>,
    kinds: Vec<Kind>,
    learner: Learner<usize>,
    /// By shape and node; forgotten with new prices.
    wastes: Vec<Vec<Option<f64>>>,
}

impl<'a> Fragmentation<'a> {
    /// For tasks of these shapes on these nodes, all empty. Nothing is known yet
    /// of how often which shape arrives.
    #[must_use]
    pub fn new(shapes: &'a [Task], nodes: &[Node]) -> Self {
        let mut kinds: BTreeMap<&String, Kind> = BTreeMap::new();
        for node in nodes {
            let kind = kinds.entry(&node.model).or_insert(Kind {
                size: WHOLE,
                worth: WHOLE as f64,
                market: 0,
                devices: 0,
                sides: [0; 2],
            });
            kind.devices += node.gpus.len() as i64;
            kind.sides[0] += node.cpu;
            kind.sides[1] += node.memory;
        }
        let (models, kinds) = kinds.into_iter().map(|(name, kind)| (name.clone(), kind)).unzip();
        Self { shapes, models, kinds, learner: Learner::default(), wastes: Vec::new() }
    }

    fn room(&self, node: &Node) -> Room {
        Room {
            kind: self.models.iter().position(|model| *model == node.model).unwrap_or(usize::MAX),
            free: node.gpus.iter().copied().collect(),
            sides: [node.cpu, node.memory],
        }
    }
}

fn need(task: &Task) -> Need {
    Need { devices: task.gpus as u16, share: task.share, sides: [task.cpu, task.memory] }
}

impl Policy for Fragmentation<'_> {
    fn arrives(&mut self, nodes: &[Node], shape: usize) {
        self.learner.mix.observe(shape, 1);
        if self.learner.is_due() {
            let rooms: Vec<Room> = nodes.iter().map(|node| self.room(node)).collect();
            let (shapes, models) = (self.shapes, &self.models);
            self.learner.learn(&self.kinds, rooms, |shape, kind| {
                let task = &shapes[*shape];
                task.takes(&models[kind]).then(|| need(task))
            });
            self.wastes = vec![vec![None; nodes.len()]; self.shapes.len()];
        }
    }

    fn place(&mut self, nodes: &[Node], shape: usize) -> Option<(usize, usize)> {
        let task = &self.shapes[shape];
        if self.wastes.is_empty() {
            self.wastes = vec![vec![None; nodes.len()]; self.shapes.len()];
        }
        let mut best: Option<(f64, usize)> = None;
        for (at, node) in nodes.iter().enumerate().filter(|(_, node)| node.fits(task)) {
            let waste = match self.wastes[shape][at] {
                Some(waste) => waste,
                None => self.learner.prices().waste(&self.room(node), &need(task))?,
            };
            self.wastes[shape][at] = Some(waste);
            if best.is_none_or(|best| waste < best.0) {
                best = Some((waste, at));
            }
        }
        best.map(|(_, at)| (at, nodes[at].tightest(task)))
    }

    fn changed(&mut self, node: usize) {
        self.wastes.iter_mut().for_each(|wastes| wastes[node] = None);
    }
}
