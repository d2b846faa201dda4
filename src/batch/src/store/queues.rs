//! Queues are made, changed, opened, closed, drained and deleted.

use super::detail::Cause;
use super::phases::{Draft, state_of};
use super::totals::physical;
use super::tree::Tree;
use super::{DEFAULT_QUEUE, ROOT_QUEUE};
use crate::amounts::{Amounts, Dims};
use crate::error::BatchError;
use crate::spec::{QueueRequest, QueueSpec, check_queue, check_queue_name, units};
use serde_json::Value;
use std::sync::Arc;
use stowplan_ledger::rows::{JobRow, QueueRow};
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::Micros;
use stowplan_scheduler::fields::FieldErrors;

/// How many things a refusal names at most.
const NAMED: usize = 5;

/// What an operator wants of a queue that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueState {
    /// It takes jobs, and its tasks are placed.
    Open,
    /// It takes no jobs any more, and none of its tasks is placed; what runs
    /// may end.
    Closed,
    /// Closed, and what runs has to leave.
    Drained,
}

/// Makes a queue.
///
/// # Errors
/// Fields that cannot be, or a name that is taken.
pub fn create_queue(
    image: &Image,
    request: &QueueRequest,
    dims: &Dims,
    now: Micros,
) -> Result<(Change, ()), BatchError> {
    let name = check_queue_name(request)?;
    if image.batch.queue(name).is_some() {
        return Err(BatchError::QueueExists(name.to_owned()));
    }
    let above = QueueSpec { parent: Some(ROOT_QUEUE.to_owned()), ..QueueSpec::default() };
    let spec = above.updated(request);
    admit(image, name, &spec, None, dims)?;
    let mut change = Change::new("queue.create");
    change.push(Record::Queue(QueueRow {
        id: image.batch.next_queue_id(),
        name: name.to_owned(),
        spec: serde_json::to_value(spec).unwrap_or_default(),
        state: "Open".to_owned(),
        generation: 0,
        created: now,
        updated: now,
    }));
    Ok((change, ()))
}

/// Changes a queue; with `generation`, only if it is still at that one.
///
/// # Errors
/// No such queue, fields that cannot be, or another generation.
pub fn update_queue(
    image: &Image,
    name: &str,
    request: &QueueRequest,
    generation: Option<i64>,
    dims: &Dims,
    now: Micros,
) -> Result<(Change, ()), BatchError> {
    let row = find(image, name)?;
    if let Some(expected) = generation.filter(|expected| *expected != row.generation) {
        let queue = name.to_owned();
        return Err(BatchError::QueueMoved { queue, expected, generation: row.generation });
    }
    let before = QueueSpec::read(&row.spec);
    check_fixed(name, request)?;
    let spec = before.clone().updated(request);
    if spec == before {
        return Ok((Change::nothing(), ()));
    }
    admit(image, name, &spec, Some(&before), dims)?;
    let spec = serde_json::to_value(spec).unwrap_or_default();
    let generation = row.generation + 1;
    let row = QueueRow { spec, generation, updated: now, ..QueueRow::clone(row) };
    let mut change = Change::new("queue.update");
    change.push(Record::Queue(row));
    Ok((change, ()))
}

/// Deletes a queue that nothing hangs on.
///
/// # Errors
/// No such queue, `root` and `default`, or one with queues or jobs.
pub fn delete_queue(image: &Image, name: &str) -> Result<(Change, ()), BatchError> {
    find(image, name)?;
    let in_use = |why: String| Err(BatchError::QueueInUse { queue: name.to_owned(), why });
    if [ROOT_QUEUE, DEFAULT_QUEUE].contains(&name) {
        return in_use("it always exists".to_owned());
    }
    let tree = Tree::of(image);
    let children: Vec<&str> = tree.children(name).collect();
    if !children.is_empty() {
        return in_use(format!("it has queues below it: {}", listed(&children)));
    }
    let tasks: Vec<String> = jobs_of(image, name)
        .flat_map(|job| image.batch.tasks_of(job.id).map(move |task| (job, task)))
        .filter(|(_, task)| state_of(task).holds())
        .map(|(job, task)| format!("{}/{}/{}", job.name, task.role, task.index))
        .collect();
    if !tasks.is_empty() {
        return in_use(format!("its tasks hold room on hosts: {}", listed(&tasks)));
    }
    let jobs: Vec<&str> = open_jobs_of(image, name).map(|job| job.name.as_str()).collect();
    if !jobs.is_empty() {
        return in_use(format!("jobs wait in it: {}", listed(&jobs)));
    }
    let mut change = Change::new("queue.delete");
    change.push(Record::QueueGone(name.to_owned()));
    Ok((change, ()))
}

/// Opens, closes or drains a queue. Doing it again changes nothing.
///
/// # Errors
/// No such queue.
pub fn set_queue_state(
    image: &Image,
    name: &str,
    state: QueueState,
    now: Micros,
) -> Result<(Change, ()), BatchError> {
    let row = find(image, name)?;
    let (word, kind) = match state {
        QueueState::Open => ("Open", "queue.open"),
        QueueState::Closed => ("Closed", "queue.close"),
        QueueState::Drained => ("Closed", "queue.drain"),
    };
    let mut change = Change::new(kind);
    if row.state != word {
        let generation = row.generation + 1;
        let state = word.to_owned();
        let row = QueueRow { state, generation, updated: now, ..QueueRow::clone(row) };
        change.push(Record::Queue(row));
    }
    if state == QueueState::Drained {
        let mut draft = Draft::new(image, now);
        let tree = Tree::of(image);
        for job in super::open_jobs(image) {
            if tree.path(&job.queue).contains(&name) {
                draft.send_away(job.id, Cause::Drained);
            }
        }
        change.records.extend(draft.records());
    }
    Ok((change, ()))
}

/// How a queue stands: what its row says is what is wanted of it; it is
/// closing as long as jobs are left. A queue below a closed one is closed.
#[must_use]
pub fn queue_state(image: &Image, name: &str) -> &'static str {
    if is_open(image, name) {
        return "Open";
    }
    let tree = Tree::of(image);
    let has_jobs = super::open_jobs(image).any(|job| tree.path(&job.queue).contains(&name));
    if has_jobs { "Closing" } else { "Closed" }
}

/// Whether a queue and all above it are open.
#[must_use]
pub fn is_open(image: &Image, name: &str) -> bool {
    let mut at = Some(name.to_owned());
    // As many steps as there are queues: a circle ends too.
    for _ in 0..=image.batch.queues().count() {
        let Some(name) = at else { return true };
        let Some(row) = image.batch.queue(&name).filter(|row| row.state == "Open") else {
            return false;
        };
        at = row.spec.get("parent").and_then(Value::as_str).map(str::to_owned);
    }
    false
}

fn find<'a>(image: &'a Image, name: &str) -> Result<&'a Arc<QueueRow>, BatchError> {
    image.batch.queue(name).ok_or_else(|| BatchError::NoQueue(name.to_owned()))
}

/// What no update may touch.
fn check_fixed(name: &str, request: &QueueRequest) -> Result<(), BatchError> {
    let mut errors = FieldErrors::default();
    if let Some(other) = request.name.as_deref().filter(|other| *other != name) {
        errors.add("name", other, format!("{name:?}: the name of a queue stays"));
    }
    if name == ROOT_QUEUE {
        let resources = [
            ("capability", request.capability.is_some()),
            ("deserved", request.deserved.is_some()),
            ("guarantee", request.guarantee.is_some()),
            ("parent", request.parent.is_some()),
        ];
        for (field, _) in resources.iter().filter(|(_, given)| *given) {
            errors.add(*field, "given", "no such field: the root has what all hosts have");
        }
    }
    Ok(errors.into_result(())?)
}

/// The rules of admission (rule 20).
fn admit(
    image: &Image,
    name: &str,
    spec: &QueueSpec,
    before: Option<&QueueSpec>,
    dims: &Dims,
) -> Result<(), BatchError> {
    check_queue(spec, dims)?;
    let mut errors = FieldErrors::default();
    let mut tree = Tree::of(image);
    tree.put(name, spec.clone());
    tree.check(name, &mut errors);
    if let Some(parent) = &spec.parent
        && before.is_none_or(|before| before.parent != spec.parent)
    {
        let jobs: Vec<&str> = open_jobs_of(image, parent).map(|job| job.name.as_str()).collect();
        if !jobs.is_empty() {
            let expected = format!("a queue without jobs; it has {}", listed(&jobs));
            errors.add("parent", parent, expected);
        }
    }
    if before.is_none_or(|before| before.guarantee != spec.guarantee) {
        check_total(image, &tree, spec, dims, &mut errors);
    }
    Ok(errors.into_result(())?)
}

/// All guarantees together are no more than all hosts have (rule 5).
fn check_total(
    image: &Image,
    tree: &Tree,
    spec: &QueueSpec,
    dims: &Dims,
    errors: &mut FieldErrors,
) {
    if spec.guarantee.resource.is_empty() {
        return;
    }
    let has = physical(image, dims);
    let promised = promised(tree, dims, ROOT_QUEUE);
    for (at, dim) in dims.iter() {
        let Some(quantity) = spec.guarantee.resource.get(&dim.name) else { continue };
        if promised.get(at) > has.get(at) {
            let class = dim.class.as_deref().unwrap_or_default();
            let expected = format!(
                "so much that all guarantees are at most what the hosts have: {} {class}, not {}",
                has.get(at),
                promised.get(at)
            );
            errors.add(format!("guarantee.resource.{}", dim.name), quantity, expected);
        }
    }
}

/// What a queue and those below it are guaranteed: the larger of its own and
/// the sum of its children's.
fn promised(tree: &Tree, dims: &Dims, name: &str) -> Amounts {
    let mut below = Amounts::new();
    for child in tree.children(name) {
        below.add(&promised(tree, dims, child));
    }
    let own = tree.spec(name).map(|spec| units(&spec.guarantee.resource, dims)).unwrap_or_default();
    for (at, amount) in own.positive() {
        if amount > below.get(at) {
            below.set(at, amount);
        }
    }
    below
}

fn jobs_of<'a>(image: &'a Image, queue: &'a str) -> impl Iterator<Item = &'a Arc<JobRow>> {
    image.batch.jobs.iter().filter(move |job| job.queue == queue)
}

fn open_jobs_of<'a>(image: &'a Image, queue: &'a str) -> impl Iterator<Item = &'a Arc<JobRow>> {
    super::open_jobs(image).filter(move |job| job.queue == queue)
}

fn listed<T: AsRef<str>>(names: &[T]) -> String {
    let shown: Vec<&str> = names.iter().take(NAMED).map(AsRef::as_ref).collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
