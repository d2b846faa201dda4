//! What time brings about: limits that are over, hosts that are lost, jobs to
//! be forgotten (rules 14, 17 to 19).

use super::detail::{Cause, TaskDetail};
use super::devices::HELD_DEVICE_LOST;
use super::load::nominated;
use super::phases::{Draft, is_final, state_of};
use crate::life::TaskState;
use serde_json::Value;
use std::collections::BTreeSet;
use stowplan_ledger::image::hosts::Host;
use stowplan_ledger::rows::TaskRow;
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::Micros;

/// How long things may take, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// From the bind of a task to the report that it runs.
    pub bind: i64,
    /// From the word that a task has to leave to the report that it has left:
    /// then the word is given again.
    pub release: i64,
}

/// Works out what is over by now; with nothing over the change is empty.
/// `is_lost` tells whether a host is down for so long that nobody knows what
/// became of its tasks.
#[must_use]
pub fn sweep(
    image: &Image,
    deadlines: Deadlines,
    is_lost: impl Fn(&Host) -> bool,
    now: Micros,
) -> Change {
    let mut draft = Draft::new(image, now);
    for host in image.hosts.iter() {
        let mut tasks = image.batch.tasks_on(host.row.uuid).peekable();
        if tasks.peek().is_none() {
            continue;
        }
        let lost = is_lost(host);
        for task in tasks {
            draft.look(task, &host.row.node, lost, deadlines);
        }
        draft.leave_devices(host);
    }
    let mut change = Change::new("batch.sweep");
    let mut jobs = BTreeSet::new();
    let nominated: BTreeSet<i64> = nominated(image).map(|task| task.job).collect();
    for job in nominated.into_iter().filter_map(|job| image.batch.jobs.by_id(job)) {
        match draft.end_of_nominations(job.id, &is_lost) {
            Some(why) => draft.end_nominations(job.id, why),
            None => draft.hand_over(job, &mut change),
        }
        jobs.insert(job.id);
    }
    change.records.extend(forgotten(image, now));
    draft.finish(change, jobs)
}

impl Draft<'_> {
    fn look(&mut self, task: &TaskRow, node: &str, lost: bool, deadlines: Deadlines) {
        let passed = |since: Micros, limit: i64| self.now.since(since) >= limit;
        match state_of(task) {
            TaskState::Bound | TaskState::Running if lost => {
                let state = TaskState::Unknown.as_str().to_owned();
                let reason = Some(format!("host {node} is down"));
                self.put(TaskRow { state, reason, ..task.clone() });
            }
            TaskState::Bound if passed(task.updated, deadlines.bind) => {
                self.evict(task.clone(), Cause::BindTimeout, None);
            }
            TaskState::Running => {
                let Some(limit) = self.run_limit(task) else { return };
                let started = TaskDetail::of(task).started.unwrap_or(task.updated);
                if passed(started, limit) {
                    self.evict(task.clone(), Cause::RunLimit, None);
                }
            }
            TaskState::Releasing => {
                let mut detail = TaskDetail::of(task);
                let Some(leaving) = &mut detail.leaving else { return };
                if passed(leaving.since, deadlines.release) {
                    leaving.since = self.now;
                    self.put(TaskRow { detail: detail.value(), ..task.clone() });
                }
            }
            _ => {}
        }
    }

    /// Why the nominations of a job end, if they do.
    fn end_of_nominations(
        &self,
        job: i64,
        is_lost: &impl Fn(&Host) -> bool,
    ) -> Option<&'static str> {
        for task in self.tasks_of(job) {
            let Some(nomination) = TaskDetail::of(&task).nomination else { continue };
            let host = self.image.hosts.get(nomination.host);
            if host.is_none_or(|host| is_lost(host)) {
                return Some("the host that others were to leave for it is lost");
            }
            if self.holds_lost_device(&task, nomination.host) {
                return Some(HELD_DEVICE_LOST);
            }
            if nomination.deadline <= self.now {
                return Some("others did not leave within [batch] nomination_timeout");
            }
        }
        None
    }

    /// How long a task may run.
    fn run_limit(&self, task: &TaskRow) -> Option<i64> {
        let job = self.image.batch.jobs.by_id(task.job)?;
        // Not the whole specification: this is asked of every task.
        let seconds = job.spec.get("run_limit_s").and_then(Value::as_i64)?;
        Some(seconds.saturating_mul(Micros::PER_SECOND))
    }
}

/// Jobs that have ended, hold nothing and have been kept long enough.
fn forgotten(image: &Image, now: Micros) -> impl Iterator<Item = Record> {
    let is_over = move |spec: &Value, ended: Micros| {
        let seconds = spec.get("ttl_after_finished_s").and_then(Value::as_i64);
        seconds.is_some_and(|s| now.since(ended) >= s.saturating_mul(Micros::PER_SECOND))
    };
    let ended = image.batch.jobs.iter().filter(move |job| {
        is_final(&job.phase)
            && is_over(&job.spec, job.updated)
            && !image.batch.tasks_of(job.id).any(|task| state_of(task).holds())
    });
    ended.map(|job| Record::JobGone(job.uuid))
}
