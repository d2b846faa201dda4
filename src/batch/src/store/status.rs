//! What a cycle says of jobs, as far as it is news.

use super::phases::{Draft, min_available};
use crate::life::{JobPhase, phase_of};
use crate::session::{Condition, ConditionKind, Verdict};
use serde::Deserialize;
use stowplan_ledger::rows::JobRow;
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::Micros;

/// How long a condition stands before other words for the same reason are
/// written: on a busy cloud its numbers change all the time.
const WORDS_STAND: i64 = 5 * Micros::PER_SECOND;

/// Of what a cycle says, what is news: the writer shall not look at all jobs.
#[must_use]
pub fn news(image: &Image, verdicts: Vec<Verdict>, now: Micros) -> Vec<Verdict> {
    let is_news = |verdict: &Verdict| {
        let one = std::slice::from_ref(verdict);
        !record_verdicts(image, one, now).records.is_empty()
    };
    verdicts.into_iter().filter(is_news).collect()
}

/// Writes phases and conditions that have changed. A quiet cloud writes
/// nothing.
#[must_use]
pub fn record_verdicts(image: &Image, verdicts: &[Verdict], now: Micros) -> Change {
    let mut change = Change::new("job.status");
    let draft = Draft::new(image, now);
    for verdict in verdicts {
        let Some(row) = image.batch.jobs.get(verdict.job) else { continue };
        let Some(phase) = JobPhase::named(&row.phase).filter(|phase| phase.is_scheduled()) else {
            continue;
        };
        let phase = new_phase(&draft, row, phase, verdict);
        let conditions = new_condition(row, verdict.condition.as_ref(), now);
        if phase.as_str() == row.phase && conditions.is_none() {
            continue;
        }
        let conditions = conditions.unwrap_or_else(|| row.conditions.clone());
        let phase = phase.as_str().to_owned();
        let row = JobRow { phase, conditions, updated: now, ..JobRow::clone(row) };
        change.push(Record::Job(Box::new(row)));
    }
    change
}

/// The phase by the tasks as they are now: they may have moved on since the
/// cycle looked at them.
fn new_phase(draft: &Draft<'_>, row: &JobRow, phase: JobPhase, verdict: &Verdict) -> JobPhase {
    if phase == verdict.phase {
        return phase;
    }
    let admitted = verdict.phase == JobPhase::Inqueue && phase == JobPhase::Pending;
    let from = if admitted { JobPhase::Inqueue } else { phase };
    let starved = verdict
        .condition
        .as_ref()
        .is_some_and(|condition| condition.kind == ConditionKind::Unschedulable);
    phase_of(from, &draft.counts(row.id), min_available(row), starved)
}

/// The list of conditions to be written, if that is news.
pub(super) fn new_condition(
    row: &JobRow,
    condition: Option<&Condition>,
    now: Micros,
) -> Option<serde_json::Value> {
    let before = Vec::<Condition>::deserialize(&row.conditions).unwrap_or_default();
    let is_news = match (before.as_slice(), condition) {
        ([], None) => false,
        ([old], Some(new)) if old.kind == new.kind && old.reason == new.reason => {
            old.message != new.message && now.since(row.updated) >= WORDS_STAND
        }
        _ => true,
    };
    let list: Vec<&Condition> = condition.into_iter().collect();
    is_news.then(|| serde_json::to_value(list).unwrap_or_default())
}
