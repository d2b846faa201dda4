//! The format `openb`: nodes and tasks of a GPU cluster as two CSV files.
//!
//! Nodes: `sn, cpu_milli, memory_mib, gpu, model`. Tasks: `name, cpu_milli,
//! memory_mib, num_gpu, gpu_milli, gpu_spec, qos, pod_phase, creation_time,
//! deletion_time, scheduled_time`, of which lists without times have the first
//! five alone.

use anyhow::{Context as _, anyhow, bail};
use serde::Deserialize;
use std::path::Path;

/// Thousandths of a GPU, all of them.
pub const WHOLE_GPU: i64 = 1000;

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Thousandths of a CPU.
    pub cpu_milli: i64,
    /// Memory in MiB.
    pub memory_mib: i64,
    /// How many GPUs it has.
    pub gpus: usize,
    /// Their model; empty without any.
    pub model: String,
}

/// A task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its name.
    pub name: String,
    /// Thousandths of a CPU.
    pub cpu_milli: i64,
    /// Memory in MiB.
    pub memory_mib: i64,
    /// How many GPUs it needs.
    pub gpus: usize,
    /// Thousandths of each of them: [`WHOLE_GPU`], or less of a single one.
    pub gpu_milli: i64,
    /// The models that will do; empty: any.
    pub models: Vec<String>,
    /// When it is asked for, in seconds of the recording.
    pub created: i64,
    /// When it ends; none: it stays.
    pub deleted: Option<i64>,
}

impl Task {
    /// Whether GPUs of this model will do.
    pub fn accepts(&self, model: &str) -> bool {
        self.models.is_empty() || self.models.iter().any(|one| one == model)
    }
}

#[derive(Deserialize)]
struct NodeRow {
    sn: String,
    cpu_milli: i64,
    memory_mib: i64,
    gpu: i64,
    #[serde(default)]
    model: String,
}

#[derive(Deserialize)]
struct TaskRow {
    name: String,
    cpu_milli: i64,
    memory_mib: i64,
    num_gpu: i64,
    gpu_milli: i64,
    #[serde(default)]
    gpu_spec: String,
    #[serde(default)]
    creation_time: Option<i64>,
    #[serde(default)]
    deletion_time: Option<i64>,
}

/// Reads the nodes.
///
/// # Errors
/// With file, line and column where something is not as the format says.
pub fn nodes(path: &Path) -> anyhow::Result<Vec<Node>> {
    rows(path, |_, row: NodeRow| {
        bounded("cpu_milli", row.cpu_milli, 1)?;
        bounded("memory_mib", row.memory_mib, 1)?;
        let gpus = count("gpu", row.gpu)?;
        if gpus > 0 && row.model.is_empty() {
            bail!("model is empty: expected the model of the GPUs");
        }
        Ok(Node {
            name: row.sn,
            cpu_milli: row.cpu_milli,
            memory_mib: row.memory_mib,
            gpus,
            model: row.model,
        })
    })
}

/// Reads the tasks, in order of creation; without times, in that of the file.
///
/// # Errors
/// With file, line and column where something is not as the format says.
pub fn tasks(path: &Path) -> anyhow::Result<Vec<Task>> {
    let mut tasks = rows(path, |place, row: TaskRow| {
        bounded("cpu_milli", row.cpu_milli, 0)?;
        bounded("memory_mib", row.memory_mib, 0)?;
        let gpus = count("num_gpu", row.num_gpu)?;
        bounded("gpu_milli", row.gpu_milli, i64::from(gpus > 0))?;
        if row.gpu_milli > WHOLE_GPU || (gpus > 1 && row.gpu_milli != WHOLE_GPU) {
            bail!("gpu_milli is {}: expected {WHOLE_GPU}, or less of one GPU", row.gpu_milli);
        }
        let models = row.gpu_spec.split('|').filter(|model| !model.is_empty());
        Ok(Task {
            name: row.name,
            cpu_milli: row.cpu_milli,
            memory_mib: row.memory_mib,
            gpus,
            gpu_milli: if gpus == 0 { 0 } else { row.gpu_milli },
            models: models.map(str::to_owned).collect(),
            created: row.creation_time.unwrap_or(i64::try_from(place)?),
            deleted: row.deletion_time,
        })
    })?;
    tasks.sort_by_key(|task| task.created);
    Ok(tasks)
}

/// Every row of a file; `read` gets its place too.
fn rows<R, T>(path: &Path, read: impl Fn(usize, R) -> anyhow::Result<T>) -> anyhow::Result<Vec<T>>
where
    R: for<'de> Deserialize<'de>,
{
    let mut reader =
        csv::Reader::from_path(path).with_context(|| format!("cannot read {}", path.display()))?;
    let headers = reader.headers().with_context(|| path.display().to_string())?.clone();
    let mut out = Vec::new();
    for (place, record) in reader.records().enumerate() {
        let record = record.with_context(|| path.display().to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let row = record.deserialize(Some(&headers)).map_err(|error| explain(&headers, &error));
        let row = row.and_then(|row| read(place, row));
        out.push(row.with_context(|| format!("{}:{line}", path.display()))?);
    }
    if out.is_empty() {
        bail!("{} holds no row", path.display());
    }
    Ok(out)
}

/// Names the column that a row was not understood at.
fn explain(headers: &csv::StringRecord, error: &csv::Error) -> anyhow::Error {
    match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => {
            let column = err.field().and_then(|at| headers.get(usize::try_from(at).ok()?));
            match column {
                Some(column) => anyhow!("{column}: {}", err.kind()),
                None => anyhow!("{}", err.kind()),
            }
        }
        _ => anyhow!("{error}"),
    }
}

fn bounded(column: &str, value: i64, lowest: i64) -> anyhow::Result<()> {
    if value < lowest {
        bail!("{column} is {value}: expected {lowest} or more");
    }
    Ok(())
}

fn count(column: &str, value: i64) -> anyhow::Result<usize> {
    usize::try_from(value).map_err(|_| anyhow!("{column} is {value}: expected 0 or more"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use std::io::Write as _;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file
    }

    #[test]
    fn nodes_and_tasks_are_read() {
        let text = "sn,cpu_milli,memory_mib,gpu,model\na,32000,1024,0,\nb,8000,512,2,T4\n";
        let nodes = nodes(file(text).path()).unwrap();
        assert_eq!((nodes[0].gpus, nodes[1].gpus, nodes[1].model.as_str()), (0, 2, "T4"));
        let text = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,\
                    creation_time,deletion_time,scheduled_time\n\
                    late,1000,1,1,500,T4|A10,LS,Running,7,9,7\n\
                    early,1500,2,0,0,,LS,Pending,3,,\n";
        let tasks = tasks(file(text).path()).unwrap();
        assert_eq!(tasks[0].name, "early");
        assert_eq!((tasks[0].created, tasks[0].deleted), (3, None));
        assert!(tasks[1].accepts("A10") && !tasks[1].accepts("P100") && tasks[0].accepts(""));
    }

    #[test]
    fn lists_without_times_keep_their_order() {
        let text = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\nb,1,1,0,0\na,1,1,0,0\n";
        let tasks = tasks(file(text).path()).unwrap();
        assert_eq!(tasks.iter().map(|task| task.created).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(tasks[0].name, "b");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let head = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\nx,1,1,0,0\n";
        for (row, said) in [
            ("y,one,1,0,0", ":3: cpu_milli: invalid digit"),
            ("y,-1,1,0,0", ":3: cpu_milli is -1: expected 0 or more"),
            ("y,1,1,2,500", ":3: gpu_milli is 500: expected 1000"),
            ("y,1,1,1,1001", ":3: gpu_milli is 1001"),
            ("y,1,1,1,0", ":3: gpu_milli is 0: expected 1 or more"),
        ] {
            let error = tasks(file(&format!("{head}{row}\n")).path()).unwrap_err();
            assert!(format!("{error:#}").contains(said), "{error:#}");
        }
        let error = nodes(file("sn,cpu_milli\n").path()).unwrap_err();
        assert!(error.to_string().contains("holds no row"));
    }
}
