//! One run: tasks in order, one try each, no departures.

use crate::node::{Node, Task, WHOLE};

/// Who decides where tasks go.
pub trait Policy {
    /// A task has arrived; it may or may not find a place.
    fn arrives(&mut self, _nodes: &[Node], _task: usize) {}

    /// The node and the GPU for a task of a shape, by numbers; none when it fits
    /// nowhere.
    fn place(&mut self, nodes: &[Node], shape: usize) -> Option<(usize, usize)>;

    /// A node has changed.
    fn changed(&mut self, _node: usize) {}
}

/// The part of all GPUs that tasks hold, in percent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// When the tasks so far have asked for all GPUs.
    pub at_full: f64,
    /// When all have arrived.
    pub at_end: f64,
}

/// Replays the tasks of `order`, by numbers of their shapes.
///
/// # Panics
/// When a policy chooses a node on which the task does not fit.
#[must_use]
pub fn replay(
    nodes: &[Node],
    shapes: &[Task],
    order: &[usize],
    policy: &mut dyn Policy,
) -> Outcome {
    let mut nodes = nodes.to_vec();
    let all = nodes.iter().map(|node| node.gpus.len() as i64 * WHOLE).sum::<i64>();
    let (mut asked, mut held) = (0, 0);
    let percent = |held: i64| held as f64 * 100.0 / all as f64;
    let mut at_full = None;
    for &shape in order {
        let task = &shapes[shape];
        policy.arrives(&nodes, shape);
        if let Some((node, gpu)) = policy.place(&nodes, shape) {
            assert!(nodes[node].fits(task), "{task:?} does not fit {:?}", nodes[node]);
            let after = nodes[node].with(task, gpu);
            assert_eq!(nodes[node].free() - after.free(), task.asked(), "GPUs of {task:?}");
            nodes[node] = after;
            held += task.asked();
            policy.changed(node);
        }
        asked += task.asked();
        if asked >= all && at_full.is_none() {
            at_full = Some(percent(held));
        }
    }
    Outcome { at_full: at_full.unwrap_or(percent(held)), at_end: percent(held) }
}
