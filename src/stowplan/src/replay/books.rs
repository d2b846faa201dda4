//! Books of our own: what is taken of every node and GPU, kept without asking
//! the server, so that its answers can be checked against them.

use super::openb::{Node, Task, WHOLE_GPU};
use anyhow::{anyhow, bail};

/// Where a task is, and what it holds there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The node, by its place in the list.
    pub node: usize,
    /// Thousandths of a CPU.
    pub cpu_milli: i64,
    /// Memory in MiB.
    pub memory_mib: i64,
    /// Thousandths of GPUs, by their number on the node.
    pub gpus: Vec<(usize, i64)>,
}

/// What is free of one node.
#[derive(Clone, Debug)]
struct Free {
    cpu_milli: i64,
    memory_mib: i64,
    gpus: Vec<i64>,
}

/// How much of the whole cluster is meant: thousandths of a CPU, MiB,
/// thousandths of a GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts {
    /// Thousandths of a CPU.
    pub cpu_milli: i64,
    /// Memory in MiB.
    pub memory_mib: i64,
    /// Thousandths of a GPU.
    pub gpu_milli: i64,
}

/// The books of a cluster.
#[derive(Clone, Debug)]
pub struct Books {
    nodes: Vec<Node>,
    free: Vec<Free>,
    used: Amounts,
}

impl Books {
    /// Of empty nodes.
    pub fn new(nodes: Vec<Node>) -> Self {
        let free = |node: &Node| Free {
            cpu_milli: node.cpu_milli,
            memory_mib: node.memory_mib,
            gpus: vec![WHOLE_GPU; node.gpus],
        };
        Self { free: nodes.iter().map(free).collect(), nodes, used: Amounts::default() }
    }

    /// The nodes, in the order in which [`Place::node`] counts them.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// What is taken of all nodes.
    pub fn used(&self) -> Amounts {
        self.used
    }

    /// What all nodes have.
    pub fn total(&self) -> Amounts {
        self.nodes.iter().fold(Amounts::default(), |sum, node| Amounts {
            cpu_milli: sum.cpu_milli + node.cpu_milli,
            memory_mib: sum.memory_mib + node.memory_mib,
            gpu_milli: sum.gpu_milli + WHOLE_GPU * i64::try_from(node.gpus).unwrap_or(0),
        })
    }

    /// What is taken of one node, and of each of its GPUs.
    pub fn used_of(&self, node: usize) -> Option<Place> {
        let (has, free) = (self.nodes.get(node)?, self.free.get(node)?);
        Some(Place {
            node,
            cpu_milli: has.cpu_milli - free.cpu_milli,
            memory_mib: has.memory_mib - free.memory_mib,
            gpus: free.gpus.iter().map(|free| WHOLE_GPU - free).enumerate().collect(),
        })
    }

    /// Enters a task where the server has put it.
    ///
    /// # Errors
    /// When it is not what the task asked for, or more than there is.
    pub fn take(&mut self, task: &Task, place: &Place) -> anyhow::Result<()> {
        let node = self.nodes.get(place.node).ok_or_else(|| anyhow!("no node {}", place.node))?;
        let at = format!("{} on {}", task.name, node.name);
        if (place.cpu_milli, place.memory_mib) != (task.cpu_milli, task.memory_mib) {
            bail!(
                "{at}: was given {} of CPU and {} MiB, asked for {} and {}",
                place.cpu_milli,
                place.memory_mib,
                task.cpu_milli,
                task.memory_mib
            );
        }
        let mut numbers: Vec<usize> = place.gpus.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let shares_fit = place.gpus.iter().all(|(_, share)| *share == task.gpu_milli);
        if numbers.len() != task.gpus || place.gpus.len() != task.gpus || !shares_fit {
            bail!(
                "{at}: was given GPUs {:?}, asked for {} of {} each",
                place.gpus,
                task.gpus,
                task.gpu_milli
            );
        }
        if task.gpus > 0 && !task.accepts(&node.model) {
            bail!("{at}: was given GPUs of model {}, asked for {:?}", node.model, task.models);
        }
        self.enter(place, 1);
        let over = self.free.get(place.node).is_none_or(|free| {
            free.cpu_milli < 0
                || free.memory_mib < 0
                || free.gpus.iter().any(|gpu| *gpu < 0)
                || numbers.last().is_some_and(|last| *last >= free.gpus.len())
        });
        if over {
            bail!("{at}: the node is above its capacity: {:?}", self.used_of(place.node));
        }
        Ok(())
    }

    /// Takes a task out again.
    pub fn give_back(&mut self, place: &Place) {
        self.enter(place, -1);
    }

    fn enter(&mut self, place: &Place, sign: i64) {
        let Some(free) = self.free.get_mut(place.node) else { return };
        free.cpu_milli -= sign * place.cpu_milli;
        free.memory_mib -= sign * place.memory_mib;
        self.used.cpu_milli += sign * place.cpu_milli;
        self.used.memory_mib += sign * place.memory_mib;
        for (number, share) in &place.gpus {
            if let Some(gpu) = free.gpus.get_mut(*number) {
                *gpu -= sign * share;
            }
            self.used.gpu_milli += sign * share;
        }
    }

    /// A node where the task would fit now, found by looking at every node and
    /// every GPU.
    pub fn somewhere(&self, task: &Task) -> Option<&Node> {
        let fits = |(node, free): &(&Node, &Free)| {
            free.cpu_milli >= task.cpu_milli
                && free.memory_mib >= task.memory_mib
                && (task.gpus == 0
                    || task.accepts(&node.model)
                        && free.gpus.iter().filter(|gpu| **gpu >= task.gpu_milli).count()
                            >= task.gpus)
        };
        self.nodes.iter().zip(&self.free).find(fits).map(|(node, _)| node)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn books() -> Books {
        let node = |name: &str, cpu_milli, gpus, model: &str| Node {
            name: name.to_owned(),
            cpu_milli,
            memory_mib: 100,
            gpus,
            model: model.to_owned(),
        };
        Books::new(vec![node("plain", 4000, 0, ""), node("gpu", 2000, 2, "T4")])
    }

    fn task(cpu_milli: i64, gpus: usize, gpu_milli: i64, models: &[&str]) -> Task {
        Task {
            name: "t".to_owned(),
            cpu_milli,
            memory_mib: 10,
            gpus,
            gpu_milli,
            models: models.iter().map(|model| (*model).to_owned()).collect(),
            created: 0,
            deleted: None,
        }
    }

    fn place(cpu_milli: i64, gpus: &[(usize, i64)]) -> Place {
        Place { node: 1, cpu_milli, memory_mib: 10, gpus: gpus.to_vec() }
    }

    #[test]
    fn every_node_and_gpu_is_looked_at() {
        let mut books = books();
        assert_eq!(books.somewhere(&task(3000, 0, 0, &[])).unwrap().name, "plain");
        assert!(books.somewhere(&task(3000, 1, 500, &[])).is_none());
        assert!(books.somewhere(&task(1, 1, 500, &["A10"])).is_none());
        books.take(&task(0, 1, 600, &[]), &place(0, &[(0, 600)])).unwrap();
        assert!(books.somewhere(&task(0, 1, 1000, &["T4"])).is_some());
        assert!(books.somewhere(&task(0, 2, 1000, &[])).is_none());
        books.give_back(&place(0, &[(0, 600)]));
        assert!(books.somewhere(&task(0, 2, 1000, &[])).is_some());
        assert_eq!(books.used(), Amounts::default());
    }

    #[test]
    fn what_was_not_asked_for_is_found_out() {
        for (given, said) in [
            (place(1, &[(0, 500)]), "asked for 0 and 10"),
            (place(0, &[(0, 400)]), "asked for 1 of 500"),
            (place(0, &[]), "asked for 1 of 500"),
            (place(0, &[(5, 500)]), "above its capacity"),
        ] {
            let error = books().take(&task(0, 1, 500, &[]), &given).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        let twice = books().take(&task(0, 2, 1000, &[]), &place(0, &[(1, 1000), (1, 1000)]));
        assert!(twice.unwrap_err().to_string().contains("asked for 2 of 1000"));
        let model = books().take(&task(0, 1, 500, &["A10"]), &place(0, &[(0, 500)]));
        assert!(model.unwrap_err().to_string().contains("of model T4"));
    }

    #[test]
    fn more_than_there_is_is_found_out() {
        let mut books = books();
        books.take(&task(1500, 0, 0, &[]), &place(1500, &[])).unwrap();
        let error = books.take(&task(600, 0, 0, &[]), &place(600, &[])).unwrap_err();
        assert!(error.to_string().contains("above its capacity"), "{error}");
    }
}
