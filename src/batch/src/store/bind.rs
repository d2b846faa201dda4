//! One statement of a session becomes one mutation: allocations of all its
//! tasks, their states, the job's phase and the decision, or nothing of it
//! (rule 9).

use super::phases::{Draft, state_of};
use crate::life::{JobPhase, TaskState};
use crate::session::{Bind, Plan};
use crate::spec::JobSpec;
use serde_json::json;
use smallvec::SmallVec;
use std::collections::BTreeMap;
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
const CONSUMER_TYPE: &str = "BATCH_TASK";
/// Tasks that the header of a decision lists at most.
const LISTED: usize = 100;

/// Why a statement does not hold on the newest image.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum BindRefusal {
    /// The job is gone or has ended.
    #[error("the job has ended")]
    JobEnded,
    /// Others would have to leave for it.
    #[error("{0} other tasks would have to leave, and the ledger keeps no nominations yet")]
    Evictions(usize),
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

/// Binds the tasks of a statement.
///
/// # Errors
/// Anything that does not hold any more; nothing is changed then.
pub fn bind(
    image: &Image,
    plan: &Plan,
    request_id: &str,
    now: Micros,
) -> Result<(Change, ()), BindRefusal> {
    if !plan.evicts.is_empty() {
        return Err(BindRefusal::Evictions(plan.evicts.len()));
    }
    let job = image.batch.jobs.get(plan.job).ok_or(BindRefusal::JobEnded)?;
    let phase = JobPhase::named(&job.phase).filter(|phase| !phase.is_final());
    let phase = phase.ok_or(BindRefusal::JobEnded)?;
    let spec = JobSpec::read(&job.spec).map_err(|_| BindRefusal::JobEnded)?;
    let decision = Uuid::new_v5(&job.uuid, &image.next_seq().to_be_bytes());
    let mut draft = Draft::new(image, now);
    let mut claims = Vec::with_capacity(plan.binds.len());
    for bind in &plan.binds {
        let task =
            image.batch.tasks.get(bind.task).filter(|task| {
                state_of(task) == TaskState::Pending && task.attempt == bind.attempt
            });
        let task = task.ok_or(BindRefusal::TaskChanged(bind.task))?;
        check_host(image, bind.host)?;
        claims.push(claim(image, job, &spec, bind, decision));
        draft.put(TaskRow {
            state: TaskState::Bound.as_str().to_owned(),
            attempt: task.attempt + 1,
            host: Some(bind.host),
            reason: None,
            ..TaskRow::clone(task)
        });
    }
    if phase != JobPhase::Running {
        check_minimum(&draft, job, &spec)?;
    }
    let mut change = Change::new("job.bind");
    change.records = allocation_records(image, &claims, now)?;
    change.records.extend(draft.settle(job).map(|row| Record::Job(Box::new(row))));
    change.push(header(image, job, plan, decision, request_id, now));
    change.records.extend(draft.records());
    Ok((change, ()))
}

fn check_host(image: &Image, uuid: Uuid) -> Result<(), BindRefusal> {
    const CLOSED: i64 = StateFlags::DISABLED | StateFlags::FORCED_DOWN | StateFlags::UNSCHEDULABLE;
    let host = image.hosts.get(uuid).ok_or(BindRefusal::HostClosed(uuid))?;
    let flags = image.hosts.table().figure(Figure::StateFlags, host.ix);
    if flags & CLOSED == 0 { Ok(()) } else { Err(BindRefusal::HostClosed(uuid)) }
}

/// The gang holds once this is committed, whatever else of it was refused.
fn check_minimum(draft: &Draft<'_>, job: &JobRow, spec: &JobSpec) -> Result<(), BindRefusal> {
    let mut ready: BTreeMap<&str, u32> = BTreeMap::new();
    for row in draft.image.batch.tasks_of(job.id) {
        let row = draft.tasks.get(&row.uuid).unwrap_or(row);
        let Some(role) = spec.role(&row.role) else { continue };
        let counts = match state_of(row) {
            TaskState::Bound | TaskState::Running | TaskState::Succeeded => true,
            TaskState::Pending => role.is_best_effort(),
            _ => false,
        };
        *ready.entry(&role.role).or_default() += u32::from(counts);
    }
    let below = |ready: u32, needed: u32| BindRefusal::BelowMinimum { ready, needed };
    let all: u32 = ready.values().sum();
    if all < spec.min_available {
        return Err(below(all, spec.min_available));
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

fn header(
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
            })
        })
        .collect();
    Record::Decision(Box::new(DecisionRow {
        id: decision,
        request_id: request_id.to_owned(),
        seq: image.next_seq(),
        seed: 0,
        kind: "job".to_owned(),
        outcome: "placed".to_owned(),
        header: json!({
            "job": job.uuid,
            "namespace": job.namespace,
            "name": job.name,
            "queue": job.queue,
            "count": plan.binds.len(),
            "tasks": placed,
        }),
        created: now,
    }))
}
