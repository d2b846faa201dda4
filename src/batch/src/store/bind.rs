//! One statement of a session becomes one mutation: allocations of all its
//! tasks, their states, the job's phase and the decision, or nothing of it
//! (rule 9).

use super::detail::TaskDetail;
use super::hints::Allowed;
use super::lead::Superseded;
use super::phases::{Draft, has_place, state_of};
use crate::life::{JobPhase, TaskState};
use crate::session::{Bind, Evict, Plan};
use crate::spec::JobSpec;
use serde_json::json;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use stowplan_engine::table::StateFlags;
use stowplan_engine::{Figure, HostView};
use stowplan_ledger::rows::{DecisionRow, JobRow, Origin, OriginKind, TaskRow};
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::{Micros, Uuid};
use stowplan_placement::PlacementError;
use stowplan_placement::claims::{
    ConsumerClaim, ConsumerGeneration, ProviderClaim, allocation_records,
};
use thiserror::Error;

/// The consumer type of tasks.
pub(super) const CONSUMER_TYPE: &str = "BATCH_TASK";
/// Tasks that the header of a decision lists at most.
const LISTED: usize = 100;

/// Why a statement does not hold on the newest image.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum BindRefusal {
    /// The job is gone or has ended.
    #[error("the job has ended")]
    JobEnded,
    /// The job was suspended.
    #[error("the job is suspended")]
    JobSuspended,
    /// The job's queue is not open any more.
    #[error("queue {0:?} is not open any more")]
    QueueClosed(String),
    /// Another process leads cycles.
    #[error("{0}")]
    Superseded(#[from] Superseded),
    /// A task has changed since it was looked at.
    #[error("task {0} has changed")]
    TaskChanged(Uuid),
    /// The job would be left with fewer tasks than its minimum.
    #[error("{ready} tasks would have a place, the job needs {needed}")]
    BelowMinimum {
        /// Tasks that would have a place.
        ready: u32,
        /// The minimum, of the job or of a role.
        needed: u32,
    },
    /// A host is gone or takes no tasks any more.
    #[error("host {0} is gone or takes no tasks any more")]
    HostClosed(Uuid),
    /// The hint of the task has been changed since.
    #[error("the hint of task {task} does not let it go to host {host} any more")]
    HintChanged {
        /// The task.
        task: Uuid,
        /// The host.
        host: Uuid,
    },
    /// Somebody else was faster.
    #[error("{0}")]
    Claim(#[from] PlacementError),
}

impl BindRefusal {
    /// Whether it makes sense to look for other hosts.
    #[must_use]
    pub const fn may_retry(&self) -> bool {
        matches!(self, Self::HostClosed(_) | Self::Claim(_) | Self::BelowMinimum { .. })
    }
}

/// What evictions follow, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BindTerms {
    /// How long room that is left to a nominated task is kept.
    pub keep: i64,
    /// Evictions of one task that are no further apart count as a loop.
    pub loop_window: i64,
}

/// On what terms a cycle binds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The ledger's sequence number that the cycle started from.
    pub cycle: i64,
    /// What the journal knows the cycle by.
    pub request_id: Arc<str>,
    /// What evictions follow.
    pub evictions: BindTerms,
}

/// Binds the tasks of a statement, and tells others to leave for those that it
/// nominates.
///
/// # Errors
/// Anything that does not hold any more; nothing is changed then.
pub fn bind(
    image: &Image,
    plan: &Plan,
    terms: &Terms,
    now: Micros,
) -> Result<(Change, ()), BindRefusal> {
    let job = image.batch.jobs.get(plan.job).ok_or(BindRefusal::JobEnded)?;
    if plan.is_shuffle() {
        return super::shuffle::send_off(image, job, plan, &terms.request_id, now);
    }
    let phase = JobPhase::named(&job.phase).filter(|phase| !phase.is_final());
    let phase = phase.ok_or(BindRefusal::JobEnded)?;
    if phase == JobPhase::Suspended {
        return Err(BindRefusal::JobSuspended);
    }
    if !super::is_open(image, &job.queue) {
        return Err(BindRefusal::QueueClosed(job.queue.clone()));
    }
    let spec = JobSpec::read(&job.spec).map_err(|_| BindRefusal::JobEnded)?;
    let decision = Uuid::new_v5(&job.uuid, &image.next_seq().to_be_bytes());
    let mut draft = Draft::new(image, now);
    let mut allowed = Allowed::by(image, &spec);
    let mut claims = Vec::with_capacity(plan.binds.len());
    for bind in &plan.binds {
        let task = waiting(image, bind.task, bind.attempt)?;
        check_host(image, &mut allowed, task, bind.host)?;
        claims.push(claim(image, job, &spec, bind, decision));
        draft.put(TaskRow {
            state: TaskState::Bound.as_str().to_owned(),
            attempt: task.attempt + 1,
            host: Some(bind.host),
            reason: None,
            detail: TaskDetail {
                hint: bind.hint,
                numa_cells: bind.cells.clone(),
                ..TaskDetail::of(task).anew()
            }
            .value(),
            ..TaskRow::clone(task)
        });
    }
    if phase != JobPhase::Running && !plan.binds.is_empty() {
        check_minimum(&draft, job, &spec)?;
    }
    evict(&mut draft, plan, &mut allowed, terms.evictions)?;
    let mut change = Change::new(if plan.evicts.is_empty() { "job.bind" } else { "job.preempt" });
    change.records = allocation_records(image, &claims, now)?;
    if !plan.nominations.is_empty() {
        draft.hand_over(job, &mut change);
    }
    change.push(header(image, job, plan, decision, &terms.request_id, now));
    draft.say_scheduled(job, terms.cycle);
    Ok((draft.finish(change, BTreeSet::from([job.id])), ()))
}

/// Tells tasks to leave for those that are nominated for their hosts.
fn evict(
    draft: &mut Draft<'_>,
    plan: &Plan,
    allowed: &mut Allowed<'_>,
    terms: BindTerms,
) -> Result<(), BindRefusal> {
    let image = draft.image;
    let deadline = Micros(draft.now.0.saturating_add(terms.keep));
    for nomination in &plan.nominations {
        let task = waiting(image, nomination.task, nomination.attempt)?;
        check_host(image, allowed, task, nomination.host)?;
        draft.nominate(task, nomination.host, deadline);
    }
    for evict in &plan.evicts {
        let row = placed(image, evict)?;
        let same_host = plan.nominations.iter().find(|nomination| nomination.host == evict.host);
        // A gang that goes whole leaves other hosts too.
        let heir = same_host.or(plan.nominations.first()).map(|nomination| nomination.task);
        let heir = heir.ok_or(BindRefusal::TaskChanged(evict.task))?;
        draft.evict_for(TaskRow::clone(row), heir, terms.loop_window);
    }
    Ok(())
}

/// A task that waits, as it was looked at.
fn waiting(image: &Image, task: Uuid, attempt: i64) -> Result<&TaskRow, BindRefusal> {
    let row = image.batch.tasks.get(task);
    let row = row.filter(|row| state_of(row) == TaskState::Pending && row.attempt == attempt);
    row.map(AsRef::as_ref).ok_or(BindRefusal::TaskChanged(task))
}

/// A task that has its place, as it was looked at.
pub(super) fn placed<'i>(image: &'i Image, evict: &Evict) -> Result<&'i TaskRow, BindRefusal> {
    let row = image.batch.tasks.get(evict.task).filter(|row| {
        has_place(&row.state) && row.attempt == evict.attempt && row.host == Some(evict.host)
    });
    row.map(AsRef::as_ref).ok_or(BindRefusal::TaskChanged(evict.task))
}

/// That a host takes tasks, and this one's hint lets it go there.
fn check_host(
    image: &Image,
    allowed: &mut Allowed<'_>,
    task: &TaskRow,
    uuid: Uuid,
) -> Result<(), BindRefusal> {
    const CLOSED: i64 = StateFlags::DISABLED | StateFlags::FORCED_DOWN | StateFlags::UNSCHEDULABLE;
    let host = image.hosts.get(uuid).ok_or(BindRefusal::HostClosed(uuid))?;
    let flags = image.hosts.table().figure(Figure::StateFlags, host.ix);
    if flags & CLOSED != 0 {
        return Err(BindRefusal::HostClosed(uuid));
    }
    let lets = allowed.lets(&task.role, host.ix);
    if lets { Ok(()) } else { Err(BindRefusal::HintChanged { task: task.uuid, host: uuid }) }
}

/// The gang holds once this is committed, whatever else of it was refused.
pub(super) fn check_minimum(
    draft: &Draft<'_>,
    job: &JobRow,
    spec: &JobSpec,
) -> Result<(), BindRefusal> {
    let mut ready: BTreeMap<&str, u32> = BTreeMap::new();
    let mut groups = vec![BTreeMap::new(); spec.sub_groups.len()];
    for row in draft.image.batch.tasks_of(job.id) {
        let row = draft.tasks.get(&row.uuid).unwrap_or(row);
        let Some(role) = spec.role(&row.role) else { continue };
        let counts = match state_of(row) {
            TaskState::Bound | TaskState::Running | TaskState::Succeeded => true,
            TaskState::Pending => role.is_best_effort(),
            _ => false,
        };
        *ready.entry(&role.role).or_default() += u32::from(counts);
        if let Some((policy, name)) = spec.sub_group(role, row.index).filter(|_| counts) {
            *groups[policy].entry(name).or_insert(0) += 1;
        }
    }
    let below = |ready: u32, needed: u32| BindRefusal::BelowMinimum { ready, needed };
    let all: u32 = ready.values().sum();
    if all < spec.min_available {
        return Err(below(all, spec.min_available));
    }
    for (policy, counts) in spec.sub_groups.iter().zip(&groups) {
        let complete = counts.values().filter(|count| **count >= policy.size()).count() as u32;
        if complete < policy.min_groups() {
            return Err(below(complete, policy.min_groups()));
        }
    }
    let minima: u32 = spec.min_task_member.values().sum();
    if spec.min_available < minima {
        return Ok(());
    }
    for (role, needed) in &spec.min_task_member {
        let has = ready.get(role.as_str()).copied().unwrap_or_default();
        if has < *needed {
            return Err(below(has, *needed));
        }
    }
    Ok(())
}

fn claim(
    image: &Image,
    job: &JobRow,
    spec: &JobSpec,
    bind: &Bind,
    decision: Uuid,
) -> ConsumerClaim {
    let mut by_provider: BTreeMap<Uuid, SmallVec<[(String, i64); 3]>> = BTreeMap::new();
    for take in &bind.takes {
        by_provider.entry(take.provider).or_default().push((take.class.clone(), take.amount));
    }
    let allocations = by_provider
        .into_iter()
        .map(|(provider, resources)| ProviderClaim { provider, resources })
        .collect();
    ConsumerClaim {
        consumer: bind.task,
        generation: ConsumerGeneration::New,
        project: job.namespace.clone(),
        user: spec.user.clone(),
        consumer_type: Some(CONSUMER_TYPE.to_owned()),
        allocations,
        origin: Some(Origin {
            kind: OriginKind::BatchTask,
            host: bind.host,
            seq: image.next_seq(),
            decision: Some(decision),
            group: None,
            lease: None,
        }),
    }
}

/// The header of the decision that a statement is.
pub(super) fn header(
    image: &Image,
    job: &JobRow,
    plan: &Plan,
    decision: Uuid,
    request_id: &str,
    now: Micros,
) -> Record {
    let placed: Vec<_> = plan
        .binds
        .iter()
        .take(LISTED)
        .map(|bind| {
            let host = image.hosts.get(bind.host);
            json!({
                "task": bind.task,
                "attempt": bind.attempt + 1,
                "host": host.map(|host| host.row.host.as_str()),
                "node": host.map(|host| host.row.node.as_str()),
                "hint": bind.hint,
            })
        })
        .collect();
    let evicted: Vec<Uuid> = plan.evicts.iter().take(LISTED).map(|it| it.task).collect();
    let nominated: Vec<Uuid> = plan.nominations.iter().take(LISTED).map(|it| it.task).collect();
    Record::Decision(Box::new(DecisionRow {
        id: decision,
        request_id: request_id.to_owned(),
        seq: image.next_seq(),
        seed: 0,
        kind: "job".to_owned(),
        outcome: plan.outcome().to_owned(),
        header: json!({
            "job": job.uuid,
            "namespace": job.namespace,
            "name": job.name,
            "queue": job.queue,
            "count": plan.binds.len(),
            "tasks": placed,
            "evicted": evicted,
            "nominated": nominated,
        }),
        created: now,
    }))
}
