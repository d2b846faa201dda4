//! Tasks leave their hosts for nobody in particular: they wait for another one
//! as soon as they are released.

use super::bind::{BindRefusal, header, placed};
use super::detail::Cause;
use super::phases::Draft;
use crate::session::Plan;
use std::collections::BTreeSet;
use stowplan_ledger::rows::{JobRow, TaskRow};
use stowplan_ledger::{Change, Image};
use stowplan_model::{Micros, Uuid};

/// Tells the tasks of a statement to leave. Whether their queue is open makes no
/// difference.
///
/// # Errors
/// A task that has changed since it was looked at; nothing is changed then.
pub(super) fn send_off(
    image: &Image,
    job: &JobRow,
    plan: &Plan,
    request_id: &str,
    now: Micros,
) -> Result<(Change, ()), BindRefusal> {
    let decision = Uuid::new_v5(&job.uuid, &image.next_seq().to_be_bytes());
    let mut draft = Draft::new(image, now);
    let mut jobs = BTreeSet::new();
    for evict in &plan.evicts {
        let row = placed(image, evict)?;
        jobs.insert(row.job);
        draft.evict(TaskRow::clone(row), Cause::Shuffled, None);
    }
    let mut change = Change::new("job.shuffle");
    change.push(header(image, job, plan, decision, request_id, now));
    Ok((draft.finish(change, jobs), ()))
}
