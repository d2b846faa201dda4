//! Dominant shares along a tree of weights.

use crate::amounts::{Amounts, DimIx};
use crate::plugins::quota::held_by_jobs;
use crate::session::{JobIx, QueueIx, State};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Queues as inner nodes by their paths, jobs as leaves.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// The root is the first.
    nodes: Vec<Node>,
    /// The leaf of each job, by number of the job.
    leaves: Vec<Option<usize>>,
    total: Amounts,
    allocated: Amounts,
}

#[derive(Clone, Debug, Default)]
struct Node {
    weight: f64,
    children: BTreeMap<String, usize>,
    leaf: Option<Leaf>,
    /// What counts as allocated, by dimension of the total.
    allocated: Vec<f64>,
    share: f64,
    saturated: bool,
}

/// What a job asks for in all and has.
#[derive(Clone, Debug, Default)]
struct Leaf {
    request: Amounts,
    held: Amounts,
}

impl Node {
    fn inner(weight: f64) -> Self {
        Self { weight, ..Self::default() }
    }
}

impl Tree {
    /// The tree of all queues that have jobs.
    pub(super) fn new(state: &State, total: &Amounts) -> Self {
        let mut tree = Self {
            nodes: vec![Node::inner(1.0)],
            leaves: vec![None; state.job_count()],
            total: total.clone(),
            allocated: Amounts::new(),
        };
        let held = held_by_jobs(state);
        for job in state.jobs() {
            let (at, held) = (&state[job], &held[job.index()]);
            let mut request = Amounts::new();
            at.tasks.iter().for_each(|task| request.add(&state.shape_of(*task).request));
            tree.allocated.add(held);
            let leaf = Leaf { request, held: held.clone() };
            let above = tree.place(state, at.queue);
            let place = tree.nodes.len();
            tree.nodes.push(Node { weight: 1.0, leaf: Some(leaf), ..Node::default() });
            // No part of a path has a slash in it, every name of a job has.
            tree.nodes[above].children.insert(at.name.clone(), place);
            tree.leaves[job.index()] = Some(place);
        }
        tree.settle();
        tree
    }

    /// The node of a queue, made with all above it where it is missing.
    fn place(&mut self, state: &State, queue: QueueIx) -> usize {
        let queue = &state[queue];
        let mut weights = queue.hierarchy_weights.split('/').skip(1);
        let mut at = 0;
        for part in queue.hierarchy.split('/').skip(1) {
            let weight = weights.next().and_then(|text| text.parse().ok());
            let weight: f64 = weight.filter(|weight| *weight >= 1.0).unwrap_or(1.0);
            at = match self.nodes[at].children.get(part) {
                Some(known) => *known,
                None => {
                    let new = self.nodes.len();
                    self.nodes.push(Node::inner(weight));
                    self.nodes[at].children.insert(part.to_owned(), new);
                    new
                }
            };
        }
        at
    }

    /// Tells what a job holds now; [`Tree::settle`] makes it count.
    pub(super) fn set(&mut self, job: JobIx, held: &Amounts) {
        let Some(place) = self.leaves.get(job.index()).copied().flatten() else { return };
        if let Some(leaf) = &mut self.nodes[place].leaf {
            self.allocated.sub(&leaf.held);
            self.allocated.add(held);
            leaf.held.clone_from(held);
        }
    }

    /// Computes all shares anew.
    pub(super) fn settle(&mut self) {
        let free = self.total.positive().filter(|(dim, all)| self.allocated.get(*dim) < *all);
        let demanding: Vec<DimIx> = free.map(|(dim, _)| dim).collect();
        self.settle_node(0, &demanding);
    }

    fn settle_node(&mut self, at: usize, demanding: &[DimIx]) {
        if let Some(leaf) = &self.nodes[at].leaf {
            let saturated = leaf.is_saturated(demanding);
            let dims = self.total.positive();
            let allocated = dims.map(|(dim, _)| leaf.held.get(dim) as f64).collect();
            let node = &mut self.nodes[at];
            (node.allocated, node.saturated) = (allocated, saturated);
            return self.share(at);
        }
        let children: Vec<usize> = self.nodes[at].children.values().copied().collect();
        children.iter().for_each(|child| self.settle_node(*child, demanding));
        let children: Vec<&Node> = children.iter().map(|child| &self.nodes[*child]).collect();
        let holding = children.iter().filter(|child| child.share != 0.0);
        let growing = holding.clone().filter(|child| !child.saturated);
        let least = growing.map(|child| child.share).fold(1.0, f64::min);
        let mut allocated = vec![0.0; self.total.positive().count()];
        for child in holding {
            let scale = if child.saturated { 1.0 } else { least / child.share };
            for (sum, part) in allocated.iter_mut().zip(&child.allocated) {
                *sum += part * scale;
            }
        }
        let saturated = children.iter().all(|child| child.saturated);
        let node = &mut self.nodes[at];
        (node.allocated, node.saturated) = (allocated, saturated);
        self.share(at);
    }

    fn share(&mut self, at: usize) {
        let parts = self.nodes[at].allocated.iter().zip(self.total.positive());
        self.nodes[at].share = parts.map(|(part, (_, all))| part / all as f64).fold(0.0, f64::max);
    }

    /// Which of two queues is served first: where their paths part, the one
    /// that could still take something, then the one with the smaller share for
    /// its weight.
    pub(super) fn compare(&self, state: &State, a: QueueIx, b: QueueIx) -> Ordering {
        let paths = (state[a].hierarchy.split('/'), state[b].hierarchy.split('/'));
        let (mut left, mut right) = (self.nodes.first(), self.nodes.first());
        for (place, (l, r)) in paths.0.zip(paths.1).enumerate() {
            if place > 0 {
                left = left.and_then(|node| self.nodes.get(*node.children.get(l)?));
                right = right.and_then(|node| self.nodes.get(*node.children.get(r)?));
            }
            let (Some(left), Some(right)) = (left, right) else { return Ordering::Equal };
            let part = |node: &Node| node.share / node.weight;
            let order = left.saturated.cmp(&right.saturated);
            let order = order.then_with(|| part(left).total_cmp(&part(right)));
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    }
}

impl Leaf {
    /// Whether a job has all that it asks for of something, or asks for
    /// something of which nothing is left.
    fn is_saturated(&self, demanding: &[DimIx]) -> bool {
        self.held.positive().any(|(dim, held)| {
            let asked = self.request.get(dim);
            asked != 0 && (held >= asked || !demanding.contains(&dim))
        })
    }
}
