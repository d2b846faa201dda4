//! Queues as readers see them.

use crate::amounts::{Amounts, DimIx, Dims};
use crate::life::JobPhase;
use crate::spec::{JobSpec, QueueSpec, units};
use crate::store::{ROOT_QUEUE, Tree, has_place, open_jobs, physical};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use stowplan_ledger::Image;
use stowplan_ledger::rows::{JobRow, QueueRow};
use stowplan_model::Micros;
use utoipa::ToSchema;

/// A queue.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct QueueView {
    /// Its name.
    pub name: String,
    /// Its specification.
    #[serde(flatten)]
    pub spec: QueueSpec,
    /// Counts the changes of its specification.
    pub generation: i64,
    /// How it stands.
    pub status: QueueStatus,
    /// When it was created, microseconds since the epoch.
    #[schema(value_type = i64)]
    pub created: Micros,
}

/// How a queue stands, with all queues below it. Amounts are units by resource
/// class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct QueueStatus {
    /// `Open`; `Closed`; or `Closing` as long as it has jobs that have not
    /// ended. A queue below a closed one is closed.
    pub state: String,
    /// What its bound and running tasks hold.
    pub allocated: BTreeMap<String, i64>,
    /// What its admitted jobs still need for their minima.
    pub inqueue: BTreeMap<String, i64>,
    /// Its share: what its specification says it deserves, at least its
    /// guarantee and at most what it may hold.
    pub deserved: BTreeMap<String, i64>,
    /// What it may hold at most: what all hosts have, less what is guaranteed
    /// to others, and no more than it or a queue above it is capable of.
    pub real_capability: BTreeMap<String, i64>,
    /// What it holds above its share.
    pub borrowed: BTreeMap<String, i64>,
    /// The largest part that it holds of any resource of its share; 0 without
    /// a share.
    pub share: f64,
    /// Its jobs that have not ended, by phase; phases of no job are left out.
    pub counts: BTreeMap<String, u32>,
    /// What there is to say of it.
    pub conditions: Vec<QueueCondition>,
}

/// Something to know of a queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct QueueCondition {
    /// What it says: `Clamped`, there is less than its specification promises,
    /// and its limits are held to what there is.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Always true: a condition that does not hold is not there.
    pub status: bool,
    /// A word for the cause: `LessThanPromised`.
    pub reason: &'static str,
    /// The cause in words, with numbers.
    pub message: String,
}

/// How all queues of an image stand.
pub struct Standing<'a> {
    image: &'a Image,
    dims: Arc<Dims>,
    tree: Tree,
    held: BTreeMap<String, Held>,
    limits: BTreeMap<String, Limits>,
}

/// What queues hold, with those below them.
#[derive(Clone, Debug, Default)]
struct Held {
    allocated: Amounts,
    inqueue: Amounts,
    counts: BTreeMap<JobPhase, u32>,
}

/// What a queue may hold.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// At most.
    pub real_capability: Amounts,
    /// Its share.
    pub deserved: Amounts,
    /// What it is promised and cannot have, in words.
    pub broken: Vec<String>,
}

impl<'a> Standing<'a> {
    /// Looks at all jobs that have not ended, and their tasks.
    #[must_use]
    pub fn of(image: &'a Image, dims: Arc<Dims>) -> Self {
        let mut standing = Self {
            image,
            dims,
            tree: Tree::of(image),
            held: BTreeMap::new(),
            limits: BTreeMap::new(),
        };
        for job in open_jobs(image) {
            standing.count(job);
        }
        let total = physical(image, &standing.dims);
        let limits = Limits { real_capability: total.clone(), deserved: total, broken: Vec::new() };
        standing.limit(ROOT_QUEUE, limits);
        standing
    }

    fn count(&mut self, job: &JobRow) {
        let phase = JobPhase::named(&job.phase).unwrap_or(JobPhase::Unknown);
        let spec = JobSpec::read(&job.spec).ok();
        let allocated = spec
            .as_ref()
            .map_or_else(Amounts::new, |spec| allocated(self.image, job, spec, &self.dims));
        let mut inqueue = Amounts::new();
        let admitted = matches!(phase, JobPhase::Inqueue | JobPhase::Running | JobPhase::Unknown);
        let needs = spec.as_ref().and_then(|spec| spec.min_resources.as_ref());
        if let Some(needs) = needs.filter(|_| admitted) {
            let needs = self.dims.from_classes(needs).unwrap_or_default();
            for (at, amount) in needs.positive() {
                inqueue.set(at, (amount - allocated.get(at)).max(0));
            }
        }
        let path: Vec<String> = self.tree.path(&job.queue).into_iter().map(str::to_owned).collect();
        for name in path {
            let held = self.held.entry(name).or_default();
            held.allocated.add(&allocated);
            held.inqueue.add(&inqueue);
            *held.counts.entry(phase).or_default() += 1;
        }
    }

    /// Works limits out from above to below.
    fn limit(&mut self, name: &str, limits: Limits) {
        let real_capability = limits.real_capability.clone();
        let children: Vec<String> = self.tree.children(name).map(str::to_owned).collect();
        let mut promised = Amounts::new();
        for spec in children.iter().filter_map(|child| self.tree.spec(child)) {
            promised.add(&units(&spec.guarantee.resource, &self.dims));
        }
        let mut below = Vec::new();
        for child in children {
            let Some(spec) = self.tree.spec(&child) else { continue };
            let own = units(&spec.guarantee.resource, &self.dims);
            let capability = units(&spec.capability, &self.dims);
            let wanted = units(&spec.deserved, &self.dims);
            let mut limits = Limits::default();
            for (at, dim) in self.dims.iter() {
                let all = real_capability.get(at);
                let left = ((all - promised.get(at)).max(0) + own.get(at)).min(all);
                let most = match spec.capability.contains_key(&dim.name) {
                    true => left.min(capability.get(at)),
                    false => left,
                };
                let kept = own.get(at).min(most);
                limits.real_capability.set(at, most);
                limits.deserved.set(at, wanted.get(at).min(most).max(kept));
                let class = dim.class.as_deref().unwrap_or(&dim.name);
                for (amount, word) in [(own.get(at), "guaranteed"), (wanted.get(at), "deserved")] {
                    if amount > most {
                        let text = format!("{amount} {class} are {word}, {most} can be had");
                        limits.broken.push(text);
                    }
                }
            }
            below.push((child, limits));
        }
        self.limits.insert(name.to_owned(), limits);
        for (child, limits) in below {
            self.limit(&child, limits);
        }
    }

    /// What a queue may hold, by specification of it and the others.
    #[must_use]
    pub fn limits(&self, name: &str) -> Limits {
        self.limits.get(name).cloned().unwrap_or_default()
    }

    /// What the tasks of a queue hold, with those of queues below it.
    #[must_use]
    pub fn allocated(&self, name: &str) -> Amounts {
        self.held.get(name).map(|held| held.allocated.clone()).unwrap_or_default()
    }

    /// What admitted jobs of a queue still need for their minima.
    #[must_use]
    pub fn inqueue(&self, name: &str) -> Amounts {
        self.held.get(name).map(|held| held.inqueue.clone()).unwrap_or_default()
    }

    /// The queues from one up to the root.
    #[must_use]
    pub fn path<'b>(&'b self, name: &'b str) -> Vec<&'b str> {
        self.tree.path(name)
    }

    /// A queue as readers see it.
    #[must_use]
    pub fn view(&self, row: &QueueRow) -> QueueView {
        QueueView {
            name: row.name.clone(),
            spec: QueueSpec::read(&row.spec),
            generation: row.generation,
            status: self.status(&row.name),
            created: row.created,
        }
    }

    fn status(&self, name: &str) -> QueueStatus {
        let held = self.held.get(name).cloned().unwrap_or_default();
        let limits = self.limits(name);
        let borrowed = |at: DimIx| (held.allocated.get(at) - limits.deserved.get(at)).max(0);
        let mut above = Amounts::new();
        held.allocated.positive().for_each(|(at, _)| above.set(at, borrowed(at)));
        let jobs = !held.counts.is_empty();
        let clamped = (!limits.broken.is_empty()).then(|| QueueCondition {
            kind: "Clamped",
            status: true,
            reason: "LessThanPromised",
            message: limits.broken.join("; "),
        });
        QueueStatus {
            state: self.state(name, jobs).to_owned(),
            share: limits
                .deserved
                .positive()
                .map(|(at, share)| held.allocated.get(at) as f64 / share as f64)
                .fold(0.0, f64::max),
            allocated: self.dims.by_class(&held.allocated),
            inqueue: self.dims.by_class(&held.inqueue),
            deserved: self.dims.by_class(&limits.deserved),
            real_capability: self.dims.by_class(&limits.real_capability),
            borrowed: self.dims.by_class(&above),
            conditions: clamped.into_iter().collect(),
            counts: held
                .counts
                .into_iter()
                .map(|(phase, count)| (phase.as_str().to_owned(), count))
                .collect(),
        }
    }

    fn state(&self, name: &str, has_jobs: bool) -> &'static str {
        let open = |name: &&str| self.image.batch.queue(name).is_some_and(|q| q.state == "Open");
        match (self.tree.path(name).iter().all(open), has_jobs) {
            (true, _) => "Open",
            (false, true) => "Closing",
            (false, false) => "Closed",
        }
    }
}

/// What the tasks of a job hold.
fn allocated(image: &Image, job: &JobRow, spec: &JobSpec, dims: &Dims) -> Amounts {
    let mut placed: BTreeMap<&str, i64> = BTreeMap::new();
    for task in image.batch.tasks_of(job.id).filter(|task| has_place(&task.state)) {
        *placed.entry(&task.role).or_default() += 1;
    }
    let mut sum = Amounts::new();
    for (role, count) in placed {
        let charged = spec.role(role).and_then(|role| dims.from_classes(&role.charged).ok());
        for (at, amount) in charged.unwrap_or_default().positive() {
            sum.set(at, sum.get(at) + amount * count);
        }
    }
    sum
}

/// A queue.
#[must_use]
pub fn queue(image: &Image, dims: &Arc<Dims>, name: &str) -> Option<QueueView> {
    let row = image.batch.queue(name)?;
    Some(Standing::of(image, dims.clone()).view(row))
}

/// All queues, in order of their names.
#[must_use]
pub fn queues(image: &Image, dims: &Arc<Dims>) -> Vec<QueueView> {
    let standing = Standing::of(image, dims.clone());
    image.batch.queues().map(|row| standing.view(row)).collect()
}
