//! A trace in the form of openb: a folder with
//!
//! * `openb_node_list_gpu_node.csv`: `sn,cpu_milli,memory_mib,gpu,model`;
//! * `openb_pod_list_<list>.csv`: `name,cpu_milli,memory_mib,num_gpu,gpu_milli`
//!   and, where the list has them, `gpu_spec` (`A|B`: any of these models) and
//!   more;
//! * `order/<list>.txt`: a line per run, the tasks in order of arrival as row
//!   numbers of the list, from 0;
//! * `published_by_seed.csv`, if there are published outcomes:
//!   `list,policy,seed,at_80,at_90,at_100,at_110,at_120,at_130`, the seeds of a
//!   policy in the order of the runs.

use crate::node::{Node, Task, WHOLE};
use crate::replay::Outcome;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceFault {
    /// A file that cannot be read.
    #[error("{}: {fault}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        fault: std::io::Error,
    },
    /// A value that is none.
    #[error("{}, line {line}: {what} is {value:?}, expected {expected}", path.display())]
    Value {
        /// In which file.
        path: PathBuf,
        /// In which line, from 1.
        line: usize,
        /// Of which column.
        what: &'static str,
        /// The value.
        value: String,
        /// What it should be.
        expected: &'static str,
    },
}

/// A folder with a trace.
#[derive(Clone, Debug)]
pub struct Trace {
    folder: PathBuf,
    /// Its nodes, in order of their names.
    pub nodes: Vec<Node>,
}

/// A list of tasks, and the orders in which they arrive.
#[derive(Clone, Debug)]
pub struct List {
    /// What tasks ask for.
    pub shapes: Vec<Task>,
    /// The tasks of the list, by numbers of their shapes.
    pub tasks: Vec<usize>,
    /// The tasks of each run, by numbers of their shapes.
    pub orders: Vec<Vec<usize>>,
}

/// A line of a file, for what is said of it.
struct Line<'a> {
    path: &'a Path,
    number: usize,
    fields: Vec<&'a str>,
}

impl Line<'_> {
    fn text(&self, at: usize) -> &str {
        self.fields.get(at).copied().unwrap_or_default().trim()
    }

    fn fault(&self, what: &'static str, value: &str, expected: &'static str) -> TraceFault {
        let (path, value) = (self.path.to_owned(), value.to_owned());
        TraceFault::Value { path, line: self.number, what, value, expected }
    }

    fn number<T: FromStr + PartialOrd + Default>(
        &self,
        at: usize,
        what: &'static str,
    ) -> Result<T, TraceFault> {
        let number = self.text(at).parse().ok().filter(|number| *number >= T::default());
        number.ok_or_else(|| self.fault(what, self.text(at), "a number from 0 on"))
    }
}

fn read(path: &Path) -> Result<String, TraceFault> {
    std::fs::read_to_string(path).map_err(|fault| TraceFault::File { path: path.to_owned(), fault })
}

/// The lines of a table, without its heading.
fn rows<'a>(path: &'a Path, text: &'a str) -> impl Iterator<Item = Line<'a>> {
    let lines = text.lines().enumerate().skip(1).filter(|(_, line)| !line.is_empty());
    lines.map(move |(at, line)| Line { path, number: at + 1, fields: line.split(',').collect() })
}

impl Trace {
    /// The trace in a folder.
    ///
    /// # Errors
    /// A node list that is missing or cannot be read.
    pub fn open(folder: &Path) -> Result<Self, TraceFault> {
        let path = folder.join("openb_node_list_gpu_node.csv");
        let text = read(&path)?;
        let node = |line: Line<'_>| {
            Ok(Node {
                cpu: line.number(1, "cpu_milli")?,
                memory: line.number(2, "memory_mib")?,
                gpus: vec![WHOLE; line.number(3, "gpu")?],
                model: line.text(4).to_owned(),
            })
        };
        let nodes = rows(&path, &text).map(node).collect::<Result<_, TraceFault>>()?;
        Ok(Self { folder: folder.to_owned(), nodes })
    }

    /// One of its lists.
    ///
    /// # Errors
    /// A file that is missing or cannot be read.
    pub fn list(&self, name: &str) -> Result<List, TraceFault> {
        let path = self.folder.join(format!("openb_pod_list_{name}.csv"));
        let text = read(&path)?;
        let (mut shapes, mut tasks) = (Vec::new(), Vec::new());
        let mut known: BTreeMap<Task, usize> = BTreeMap::new();
        for line in rows(&path, &text) {
            let task = Task {
                cpu: line.number(1, "cpu_milli")?,
                memory: line.number(2, "memory_mib")?,
                gpus: line.number(3, "num_gpu")?,
                share: line.number(4, "gpu_milli")?,
                models: line
                    .text(5)
                    .split('|')
                    .filter(|m| !m.is_empty())
                    .map(str::to_owned)
                    .collect(),
            };
            let new = *known.entry(task.clone()).or_insert(shapes.len());
            if new == shapes.len() {
                shapes.push(task);
            }
            tasks.push(new);
        }
        let path = self.folder.join(format!("order/{name}.txt"));
        let text = read(&path)?;
        let mut orders = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let line =
                Line { path: &path, number: at + 1, fields: line.split_whitespace().collect() };
            let shape = |row: &&str| {
                let shape = row.parse::<usize>().ok().and_then(|row| tasks.get(row));
                shape.copied().ok_or_else(|| line.fault("a task", row, "a row of the list"))
            };
            orders.push(line.fields.iter().map(shape).collect::<Result<_, TraceFault>>()?);
        }
        Ok(List { shapes, tasks, orders })
    }

    /// The published outcomes of a policy on a list, run by run; empty where
    /// there are none.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn published(&self, list: &str, policy: &str) -> Result<Vec<Outcome>, TraceFault> {
        let path = self.folder.join("published_by_seed.csv");
        if !path.exists() {
            return Ok(Vec::new());
        }
        let text = read(&path)?;
        let wanted =
            rows(&path, &text).filter(|line| line.text(0) == list && line.text(1) == policy);
        let outcome = |line: Line<'_>| {
            Ok(Outcome { at_full: line.number(5, "at_100")?, at_end: line.number(8, "at_130")? })
        };
        wanted.map(outcome).collect()
    }
}
