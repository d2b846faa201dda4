//! Room that tasks leave goes to those they left for (rules 13 and 14).
//!
//! Evictions come with a nomination of each task that they are made for. What
//! is free on its host, at once or later, goes to it as a hold, a consumer like
//! any other, so that no virtual machine and no other task takes it. When all
//! nominated tasks of a job have their holds, these become the tasks' own
//! allocations in the same mutation.

use super::bind::{CONSUMER_TYPE, check_minimum};
use super::detail::{Nomination, TaskDetail};
use super::hold::{Parts, grow, held};
use super::phases::{Draft, is_final, state_of};
use crate::life::{JobPhase, TaskState};
use crate::spec::JobSpec;
use foldhash::HashSet;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};
use stowplan_ledger::rows::{JobRow, Origin, OriginKind, TaskRow};
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::{Micros, Uuid};
use stowplan_placement::claims::{
    ConsumerClaim, ConsumerGeneration, ProviderClaim, allocation_records,
};

/// The consumer type of holds.
pub(super) const HOLD_TYPE: &str = "BATCH_HOLD";

/// The consumer that holds room for a task.
pub(super) fn hold_of(task: Uuid) -> Uuid {
    Uuid::new_v5(&task, b"hold")
}

impl Draft<'_> {
    /// Nominates a task for a host.
    pub(super) fn nominate(&mut self, task: &TaskRow, host: Uuid, deadline: Micros) {
        let mut detail = TaskDetail::of(task);
        detail.nomination = Some(Nomination { host, deadline });
        let node = self.image.hosts.get(host).map_or("a host", |host| host.row.node.as_str());
        let reason = Some(format!("waits for others to leave {node}"));
        self.put(TaskRow { reason, detail: detail.value(), ..task.clone() });
    }

    /// Ends the nominations of a job's tasks, with the reason for it. What was
    /// held for them is free.
    pub(super) fn end_nominations(&mut self, job: i64, why: &str) {
        for row in self.tasks_of(job) {
            let mut detail = TaskDetail::of(&row);
            if detail.nomination.take().is_some() {
                let reason = Some(why.to_owned());
                self.put(TaskRow { reason, detail: detail.value(), ..row });
            }
        }
    }

    /// The nominated tasks of a job, in order of creation.
    fn nominated(&self, job: i64) -> Vec<(TaskRow, Nomination)> {
        let tasks = self.tasks_of(job).into_iter();
        let waiting = tasks.filter(|row| state_of(row) == TaskState::Pending);
        waiting.filter_map(|row| Some((row.clone(), TaskDetail::of(&row).nomination?))).collect()
    }

    /// Who leaves a host for a task.
    fn leaving_for(&self, host: Uuid, task: Uuid) -> Vec<Uuid> {
        let here = self.image.batch.tasks_on(host);
        let here = here.map(|row| self.tasks.get(&row.uuid).unwrap_or(row));
        let leaving = here.filter(|row| {
            TaskDetail::of(row).leaving.is_some_and(|leaving| leaving.leaves_to == Some(task))
        });
        leaving.map(|row| row.uuid).collect()
    }

    /// Gives the nominated tasks of a job what is free on their hosts, counting
    /// what the change has freed so far; if that is all that they need, they
    /// are bound.
    pub(super) fn hand_over(&mut self, job: &JobRow, change: &mut Change) {
        let nominated = self.nominated(job.id);
        let spec = match JobSpec::read(&job.spec) {
            Ok(spec) if !nominated.is_empty() => spec,
            _ => return,
        };
        let is_held_back = job.phase == JobPhase::Suspended.as_str();
        if is_final(&job.phase) || is_held_back || !super::is_open(self.image, &job.queue) {
            return self.end_nominations(job.id, "the job is not placed any more");
        }
        let mut after = Image::clone(self.image);
        after.apply(change);
        let mut holds = Vec::with_capacity(nominated.len());
        let mut is_complete = true;
        for (task, nomination) in &nominated {
            let Some(role) = spec.role(&task.role) else { return };
            let mut hold = held(&after, hold_of(task.uuid));
            let leaving = self.leaving_for(nomination.host, task.uuid);
            let (grew, full) = grow(&after, nomination.host, &leaving, role, &mut hold);
            is_complete &= full;
            if grew {
                let claim =
                    self.claim(job, &spec, hold_of(task.uuid), HOLD_TYPE, nomination, &hold);
                if !take(&mut after, &claim, self.now, change) {
                    return;
                }
            }
            holds.push(hold);
        }
        if is_complete {
            self.bind_held(job, &spec, nominated, &holds, after, change);
        }
    }

    /// Turns holds into allocations of their tasks.
    fn bind_held(
        &mut self,
        job: &JobRow,
        spec: &JobSpec,
        nominated: Vec<(TaskRow, Nomination)>,
        holds: &[Parts],
        mut after: Image,
        change: &mut Change,
    ) {
        let before = self.tasks.clone();
        for (task, nomination) in &nominated {
            self.put(TaskRow {
                state: TaskState::Bound.as_str().to_owned(),
                attempt: task.attempt + 1,
                host: Some(nomination.host),
                reason: None,
                detail: TaskDetail::of(task).anew().value(),
                ..task.clone()
            });
        }
        // The job may have lost tasks meanwhile: no gang is placed in part.
        if check_minimum(self, job, spec).is_err() {
            self.tasks = before;
            return self.end_nominations(job.id, "the job would not have its minimum");
        }
        let mut bound = Change { kind: String::new(), records: Vec::new() };
        for ((task, nomination), hold) in nominated.iter().zip(holds) {
            let gone = Change {
                kind: String::new(),
                records: vec![Record::ConsumerGone(hold_of(task.uuid))],
            };
            after.apply(&gone);
            bound.records.extend(gone.records);
            let claim = self.claim(job, spec, task.uuid, CONSUMER_TYPE, nomination, hold);
            // A host may have shrunk under what was held there.
            if !take(&mut after, &claim, self.now, &mut bound) {
                self.tasks = before;
                return self.end_nominations(job.id, "what was held for it is no longer there");
            }
        }
        change.records.extend(bound.records);
    }

    fn claim(
        &self,
        job: &JobRow,
        spec: &JobSpec,
        consumer: Uuid,
        consumer_type: &str,
        nomination: &Nomination,
        parts: &Parts,
    ) -> ConsumerClaim {
        let part = |(provider, amounts): (&Uuid, &BTreeMap<String, i64>)| ProviderClaim {
            provider: *provider,
            resources: amounts
                .iter()
                .map(|(class, amount)| (class.clone(), *amount))
                .collect::<SmallVec<_>>(),
        };
        ConsumerClaim {
            consumer,
            generation: ConsumerGeneration::Unchecked,
            project: job.namespace.clone(),
            user: spec.user.clone(),
            consumer_type: Some(consumer_type.to_owned()),
            allocations: parts.iter().map(part).collect(),
            origin: Some(Origin {
                kind: OriginKind::BatchTask,
                host: nomination.host,
                seq: self.image.next_seq(),
                decision: None,
                group: None,
                lease: None,
            }),
        }
    }

    /// The holds of tasks that are nominated no more, those that this change has
    /// made included, as far as it does not free them already.
    fn dropped_holds(&self, change: &Change) -> Vec<Record> {
        let made: HashSet<Uuid> = change
            .records
            .iter()
            .filter_map(|record| match record {
                Record::Consumer(row) if row.consumer_type.as_deref() == Some(HOLD_TYPE) => {
                    Some(row.uuid)
                }
                _ => None,
            })
            .collect();
        let was = |row: &&TaskRow| {
            let before = self.image.batch.tasks.get(row.uuid);
            TaskDetail::of(row).nomination.is_none()
                && (before.is_some_and(|before| TaskDetail::of(before).nomination.is_some())
                    || (!made.is_empty() && made.contains(&hold_of(row.uuid))))
        };
        let mut dropped: Vec<&TaskRow> = self.tasks.values().filter(was).collect();
        dropped.sort_by_key(|row| row.id);
        let holds = dropped.into_iter().map(|row| Record::ConsumerGone(hold_of(row.uuid)));
        let there = |record: &Record| match record {
            Record::ConsumerGone(hold) => {
                made.contains(hold) || self.image.consumers.get(*hold).is_some()
            }
            _ => false,
        };
        holds.filter(|record| there(record) && !change.records.contains(record)).collect()
    }

    /// The jobs that the changed tasks have left their hosts for.
    fn heirs(&self) -> BTreeSet<i64> {
        let left = self.tasks.values().filter(|row| !state_of(row).holds());
        let before = left.filter_map(|row| self.image.batch.tasks.get(row.uuid));
        let heirs = before.filter_map(|row| TaskDetail::of(row).leaving?.leaves_to);
        heirs.filter_map(|task| Some(self.image.batch.tasks.get(task)?.job)).collect()
    }

    /// Completes a change: what the changed tasks have left is free, or goes to
    /// those they left for; then follow the rows of these jobs and of those,
    /// and of the tasks.
    pub(super) fn finish(mut self, mut change: Change, mut jobs: BTreeSet<i64>) -> Change {
        let image = self.image;
        change.records.extend(self.freed());
        for heir in self.heirs() {
            if let Some(job) = image.batch.jobs.by_id(heir) {
                self.hand_over(job, &mut change);
            }
            jobs.insert(heir);
        }
        let rows = jobs.into_iter().filter_map(|job| image.batch.jobs.by_id(job));
        let rows: Vec<JobRow> = rows.filter_map(|job| self.settle(job)).collect();
        change.records.extend(self.dropped_holds(&change));
        change.records.extend(rows.into_iter().map(|row| Record::Job(Box::new(row))));
        change.records.extend(self.records());
        change
    }
}

/// Writes a claim, if it holds.
fn take(after: &mut Image, claim: &ConsumerClaim, now: Micros, change: &mut Change) -> bool {
    match allocation_records(after, std::slice::from_ref(claim), now) {
        Ok(records) => {
            let taken = Change { kind: String::new(), records };
            after.apply(&taken);
            change.records.extend(taken.records);
            true
        }
        Err(error) => {
            tracing::debug!(%error, "room that was left could not be held");
            false
        }
    }
}
