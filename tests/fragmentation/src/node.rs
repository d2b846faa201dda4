//! Nodes and tasks as the trace has them.

/// What a whole GPU has, in thousandths.
pub const WHOLE: i64 = 1000;

/// What is left of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Free cpu in thousandths of a core.
    pub cpu: i64,
    /// Free memory in MiB.
    pub memory: i64,
    /// What is free of each GPU, in thousandths.
    pub gpus: Vec<i64>,
    /// The model of its GPUs.
    pub model: String,
}

/// What a task asks for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Task {
    /// Cpu in thousandths of a core.
    pub cpu: i64,
    /// Memory in MiB.
    pub memory: i64,
    /// How many GPUs.
    pub gpus: usize,
    /// How much of each, in thousandths.
    pub share: i64,
    /// The models that will do; none: any.
    pub models: Vec<String>,
}

impl Task {
    /// What it asks of GPUs in all, in thousandths.
    #[must_use]
    pub fn asked(&self) -> i64 {
        self.gpus as i64 * self.share
    }

    /// Whether a model will do. Where no GPU is asked for, any will.
    #[must_use]
    pub fn takes(&self, model: &str) -> bool {
        self.gpus == 0 || self.models.is_empty() || self.models.iter().any(|one| one == model)
    }
}

impl Node {
    /// What is free of all its GPUs, in thousandths.
    #[must_use]
    pub fn free(&self) -> i64 {
        self.gpus.iter().sum()
    }

    /// Whether a task may go there.
    #[must_use]
    pub fn fits(&self, task: &Task) -> bool {
        let enough = self.gpus.iter().filter(|free| **free >= task.share).count() >= task.gpus;
        self.cpu >= task.cpu && self.memory >= task.memory && task.takes(&self.model) && enough
    }

    /// The GPUs that could be the one that a task takes: one of each amount that
    /// is left. For tasks of several GPUs or none there is one choice.
    #[must_use]
    pub fn choices(&self, task: &Task) -> Vec<usize> {
        if task.gpus != 1 {
            return vec![0];
        }
        let fits = |at: &usize| self.gpus[*at] >= task.share;
        let is_new = |at: &usize| !self.gpus[..*at].contains(&self.gpus[*at]);
        (0..self.gpus.len()).filter(fits).filter(is_new).collect()
    }

    /// The GPU with the least left that suffices, the first of equals.
    #[must_use]
    pub fn tightest(&self, task: &Task) -> usize {
        self.choices(task).into_iter().min_by_key(|at| self.gpus.get(*at)).unwrap_or_default()
    }

    /// The node once a task has gone there. `gpu` is the one that it takes if it
    /// takes one; several are the first with enough left.
    #[must_use]
    pub fn with(&self, task: &Task, gpu: usize) -> Self {
        let mut node = self.clone();
        node.cpu -= task.cpu;
        node.memory -= task.memory;
        let first = if task.gpus == 1 { gpu } else { 0 };
        let fitting = node.gpus.iter_mut().skip(first).filter(|free| **free >= task.share);
        fitting.take(task.gpus).for_each(|free| *free -= task.share);
        node
    }
}
