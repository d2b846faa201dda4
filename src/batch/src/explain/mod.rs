//! Why jobs wait: what the limits of their queues leave, what hosts lack, and
//! who is before them. Answered from an image with the plugins of a cycle;
//! nothing is placed.

mod hints;
mod limits;

use crate::driver::{Plant, PlantFault};
use crate::life::{JobPhase, TaskState};
use crate::session::{Condition, JobIx, State, Tiers};
use crate::spec::JobSpec;
use crate::store::{SpecCache, TaskDetail, is_open, load, queue_state, quota};
use crate::views::Standing;
pub use hints::{RoleHint, TriedHost};
pub use limits::QueueLimit;
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use stowplan_config::Settings;
use stowplan_ledger::Image;
use stowplan_ledger::rows::{JobRow, TaskRow};
use stowplan_model::{Micros, Uuid};
use utoipa::ToSchema;

/// The plugin that holds projects to their quotas.
const RESOURCE_QUOTA: &str = "resourcequota";

/// One reason why a job waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Reason {
    /// A word for it: `suspended`, `queue_closed`, `queue_limit`, `quota`,
    /// `not_admitted`, `invalid`, `gang`, `no_host`, `waits_for_room`,
    /// `back_off` or `behind`.
    pub kind: &'static str,
    /// In words, with numbers.
    pub text: String,
}

impl Reason {
    fn new(kind: &'static str, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }
}

/// Why a job waits, if it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct JobExplanation {
    /// The job.
    pub job: Uuid,
    /// Its namespace and name.
    pub name: String,
    /// Its queue.
    pub queue: String,
    /// Its phase.
    pub phase: JobPhase,
    /// Its place among the jobs of its queue that wait, from 1; none when it
    /// waits for nothing.
    pub position: Option<usize>,
    /// How many jobs of its queue wait.
    pub waiting: usize,
    /// Why it waits, what decides first.
    pub reasons: Vec<Reason>,
    /// What becomes of the hints of its roles, of those that have any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<RoleHint>,
}

/// What holds a queue's jobs up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct QueueExplanation {
    /// The queue.
    pub queue: String,
    /// `Open`, `Closing` or `Closed`.
    pub state: String,
    /// Its limits and those of the queues above it, by resource class.
    pub limits: Vec<QueueLimit>,
    /// Its jobs that wait, in the order in which they are served; of very many
    /// the first 1000.
    pub waiting: Vec<JobExplanation>,
    /// How many more wait.
    pub more: usize,
}

/// Jobs of a queue that are explained one by one.
const EXPLAINED: usize = 1000;

/// Explains a queue; none when there is none of this name.
///
/// # Errors
/// Settings that no cycle can run with.
pub fn queue(
    image: &Image,
    settings: &Settings,
    name: &str,
    now: Micros,
) -> Result<Option<QueueExplanation>, PlantFault> {
    if image.batch.queue(name).is_none() {
        return Ok(None);
    }
    let inquiry = Inquiry::open(image, settings, now)?;
    let waiting = inquiry.waiting(name);
    let explain = |at: usize| inquiry.explain(waiting[at], Some((at, &waiting)));
    Ok(Some(QueueExplanation {
        queue: name.to_owned(),
        state: queue_state(image, name).to_owned(),
        limits: inquiry.limits(name),
        waiting: (0..waiting.len().min(EXPLAINED)).map(explain).collect(),
        more: waiting.len().saturating_sub(EXPLAINED),
    }))
}

/// Explains a job; none when there is no such job.
///
/// # Errors
/// Settings that no cycle can run with.
pub fn job(
    image: &Image,
    settings: &Settings,
    uuid: Uuid,
    now: Micros,
) -> Result<Option<JobExplanation>, PlantFault> {
    let Some(row) = image.batch.jobs.get(uuid) else { return Ok(None) };
    let inquiry = Inquiry::open(image, settings, now)?;
    let waiting = inquiry.waiting(&row.queue);
    let place = waiting.iter().position(|job| job.uuid == uuid);
    Ok(Some(inquiry.explain(row, place.map(|at| (at, waiting.as_slice())))))
}

/// The jobs of a queue that wait, in the order in which they are served; none
/// when there is no such queue.
///
/// # Errors
/// Settings that no cycle can run with.
pub fn positions(
    image: &Image,
    settings: &Settings,
    name: &str,
    now: Micros,
) -> Result<Option<Vec<Uuid>>, PlantFault> {
    if image.batch.queue(name).is_none() {
        return Ok(None);
    }
    let inquiry = Inquiry::open(image, settings, now)?;
    Ok(Some(inquiry.waiting(name).into_iter().map(|job| job.uuid).collect()))
}

/// A session that places nothing.
struct Inquiry<'a> {
    image: &'a Image,
    plant: Plant,
    state: State,
    jobs: BTreeMap<Uuid, JobIx>,
    now: Micros,
    /// How queues stand, once somebody asks: that looks at all jobs.
    standing: OnceCell<Standing<'a>>,
}

impl<'a> Inquiry<'a> {
    fn open(image: &'a Image, settings: &Settings, now: Micros) -> Result<Self, PlantFault> {
        let mut plant = Plant::new(settings)?;
        let mut cache = SpecCache::default();
        let mut state = load(image, &plant.load, &mut cache, now).state;
        state.locate_all();
        plant.tiers.open(&state);
        let jobs = state.jobs().map(|job| (state[job].uuid, job)).collect();
        Ok(Self { image, plant, state, jobs, now, standing: OnceCell::new() })
    }

    fn standing(&self) -> &Standing<'a> {
        self.standing.get_or_init(|| Standing::of(self.image, self.plant.load.dims.clone()))
    }

    fn tiers(&self) -> &Tiers {
        &self.plant.tiers
    }

    /// The jobs of a queue that wait, in the order in which they are served;
    /// suspended ones last.
    fn waiting(&self, queue: &str) -> Vec<&'a JobRow> {
        let waits =
            |row: &&JobRow| row.queue == queue && self.tasks(row).any(|task| task.state == PENDING);
        let open = crate::store::open_jobs(self.image).map(AsRef::as_ref);
        let mut jobs: Vec<&JobRow> = open.filter(waits).collect();
        jobs.sort_by(|a, b| match (self.jobs.get(&a.uuid), self.jobs.get(&b.uuid)) {
            (Some(a), Some(b)) => self.tiers().job_order(&self.state, *a, *b),
            (left, right) => right.is_some().cmp(&left.is_some()).then_with(|| a.id.cmp(&b.id)),
        });
        jobs
    }

    fn tasks(&self, row: &JobRow) -> impl Iterator<Item = &'a TaskRow> {
        self.image.batch.tasks_of(row.id).map(AsRef::as_ref)
    }

    fn explain(&self, row: &JobRow, place: Option<(usize, &[&JobRow])>) -> JobExplanation {
        let phase = JobPhase::named(&row.phase).unwrap_or(JobPhase::Unknown);
        let waits = place.is_some() && !phase.is_final();
        let spec = JobSpec::read(&row.spec).ok();
        JobExplanation {
            job: row.uuid,
            name: full_name(row),
            queue: row.queue.clone(),
            phase,
            position: place.map(|(at, _)| at + 1),
            waiting: place.map_or(0, |(_, all)| all.len()),
            reasons: if waits { self.reasons(row, phase, place) } else { Vec::new() },
            hints: spec.map(|spec| self.hints(row, &spec)).unwrap_or_default(),
        }
    }

    fn reasons(
        &self,
        row: &JobRow,
        phase: JobPhase,
        place: Option<(usize, &[&JobRow])>,
    ) -> Vec<Reason> {
        let mut reasons = Vec::new();
        if phase == JobPhase::Suspended {
            reasons.push(Reason::new("suspended", "it is held back until it is resumed"));
        }
        if !is_open(self.image, &row.queue) {
            let state = queue_state(self.image, &row.queue);
            let text = format!("queue {} is {state}: it is opened by :open", row.queue);
            reasons.push(Reason::new("queue_closed", text));
        }
        if let Ok(spec) = JobSpec::read(&row.spec) {
            self.add_limits(row, &spec, phase, &mut reasons);
        }
        self.add_session(row, phase, &mut reasons);
        self.add_tasks(row, &mut reasons);
        let conditions = Vec::<Condition>::deserialize(&row.conditions).unwrap_or_default();
        // What was not admitted has been told already, as things are now.
        for condition in conditions.into_iter().filter(|it| it.reason != "NotAdmitted") {
            let kind = if condition.reason == "NotEnoughResources" { "no_host" } else { "gang" };
            reasons.push(Reason::new(kind, condition.message));
        }
        if let Some((at, all)) = place
            && at > 0
        {
            let text = format!(
                "{at} of the {} jobs that wait in queue {} come before it, the last of them {}",
                all.len(),
                row.queue,
                full_name(all[at - 1])
            );
            reasons.push(Reason::new("behind", text));
        }
        reasons
    }

    /// What the limits of its queues and the quota of its project leave.
    fn add_limits(&self, row: &JobRow, spec: &JobSpec, phase: JobPhase, reasons: &mut Vec<Reason>) {
        let standing = self.standing();
        let asked = match phase {
            JobPhase::Pending => spec.min_resources.clone().unwrap_or_default(),
            _ => self.next_task(row, spec),
        };
        let admitted = phase == JobPhase::Pending;
        let texts =
            limits::shortfalls(standing, &self.plant.load.dims, &row.queue, &asked, admitted);
        reasons.extend(texts.into_iter().map(|text| Reason::new("queue_limit", text)));
        let enforced = self.tiers().names().any(|plugin| plugin == RESOURCE_QUOTA);
        if enforced && let Ok(quota) = quota(self.image, &row.namespace) {
            let texts = limits::over_quota(self.image, &self.plant.load.dims, &quota, &asked);
            reasons.extend(texts.into_iter().map(|text| Reason::new("quota", text)));
        }
    }

    /// What the first task that waits asks for.
    fn next_task(&self, row: &JobRow, spec: &JobSpec) -> BTreeMap<String, i64> {
        let task = self.tasks(row).find(|task| task.state == PENDING);
        let role = task.and_then(|task| spec.role(&task.role));
        role.map(|role| role.charged.clone()).unwrap_or_default()
    }

    /// What the plugins of a cycle say.
    fn add_session(&self, row: &JobRow, phase: JobPhase, reasons: &mut Vec<Reason>) {
        let Some(job) = self.jobs.get(&row.uuid).copied() else { return };
        if let Some(objection) = self.tiers().job_objection(&self.state, job) {
            reasons.push(Reason::new("invalid", objection.message));
        }
        let asks = self.state[job].min_resources.is_some();
        if phase == JobPhase::Pending && asks {
            for (plugin, why) in self.tiers().rejecting(&self.state, job) {
                let text = match why {
                    Some(why) => format!("plugin {plugin} does not admit it yet: {why}"),
                    None => format!("plugin {plugin} does not admit it yet"),
                };
                reasons.push(Reason::new("not_admitted", text));
            }
        }
        let at = &self.state[job];
        let (ready, needs) = (at.census.ready(), at.min_available);
        if needs > 1 && ready < needs {
            let text = format!("{ready} of the {needs} tasks of its gang have a place");
            reasons.push(Reason::new("gang", text));
        }
    }

    /// What single tasks wait for.
    fn add_tasks(&self, row: &JobRow, reasons: &mut Vec<Reason>) {
        let waits = self.tasks(row).filter(|task| task.state == PENDING && !task.detail.is_null());
        for task in waits {
            let detail = TaskDetail::of(task);
            let name = format!("{}/{}", task.role, task.index);
            if let Some(time) = detail.not_before.filter(|time| *time > self.now) {
                let seconds = time.since(self.now) / Micros::PER_SECOND;
                let text = format!("task {name} failed and is tried again in {seconds} s");
                reasons.push(Reason::new("back_off", text));
            }
            let host = detail.nomination.and_then(|it| self.image.hosts.get(it.host));
            if let Some(host) = host {
                let text = format!("task {name} waits for others to leave {}", host.row.host);
                reasons.push(Reason::new("waits_for_room", text));
            }
        }
    }
}

/// The word of tasks that wait.
const PENDING: &str = TaskState::Pending.as_str();

fn full_name(row: &JobRow) -> String {
    format!("{}/{}", row.namespace, row.name)
}
