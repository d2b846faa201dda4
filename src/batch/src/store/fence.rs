//! A host is fenced: somebody made sure that nothing runs on it any more, so
//! what it held is free without its word (rules 17 and 18).

use super::detail::TaskDetail;
use super::phases::{Draft, state_of};
use crate::life::TaskState;
use std::collections::BTreeSet;
use stowplan_ledger::rows::TaskRow;
use stowplan_ledger::{Change, Image};
use stowplan_model::{Micros, Uuid};

/// What a fence has freed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fenced {
    /// The tasks that were on the hosts.
    pub tasks: Vec<Uuid>,
}

/// Takes all tasks off hosts (uuids of compute nodes): they wait again, unless
/// their jobs have ended. The same tasks keep the time of their creation, and
/// reports of what they were are stale once they are bound again.
#[must_use]
pub fn fence(image: &Image, hosts: &[Uuid], now: Micros) -> (Change, Fenced) {
    let mut draft = Draft::new(image, now);
    let mut jobs = BTreeSet::new();
    let mut fenced = Fenced::default();
    for host in hosts {
        let node = image.hosts.get(*host).map_or("", |host| host.row.node.as_str());
        for row in image.batch.tasks_on(*host).filter(|row| state_of(row).holds()) {
            let state = draft.after_release(row);
            let mut detail = TaskDetail::of(row).anew();
            if state.is_final() {
                detail.ended = Some(now);
            }
            let task = TaskRow {
                state: state.as_str().to_owned(),
                host: None,
                reason: Some(format!("host {node} was fenced")),
                detail: detail.value(),
                ..TaskRow::clone(row)
            };
            let task = match state {
                TaskState::Failed => draft.fail(task, false),
                _ => task,
            };
            draft.put(task);
            jobs.insert(row.job);
            fenced.tasks.push(row.uuid);
        }
    }
    let change = draft.finish(Change::new("host.fence"), jobs);
    (change, fenced)
}
