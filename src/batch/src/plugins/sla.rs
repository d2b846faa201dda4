//! `sla`: jobs that have waited long enough come first and in.

use super::duration::duration;
use super::{PluginFault, Setup};
use crate::session::{Job, JobIx, Plugin, Point, State, Vote};
use std::cmp::Ordering;
use stowplan_model::Micros;

/// The argument, and the annotation of a job that wins over it.
const WAITING_TIME: &str = "sla-waiting-time";

/// Orders jobs by when their waiting limit ends; lets a job in, and lets it
/// wait for hosts, once it has waited as long as its limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sla {
    limit: Option<i64>,
}

impl Sla {
    /// With `[batch:sla] sla-waiting-time`, a duration such as `1h30m`; none
    /// when it is missing or is none.
    ///
    /// # Errors
    /// None: what is no duration sets no limit.
    pub fn new(setup: &Setup<'_>) -> Result<Self, PluginFault> {
        Ok(Self { limit: setup.arguments.text(WAITING_TIME).and_then(limit) })
    }

    /// When a job's limit ends.
    fn deadline(&self, job: &Job) -> Option<Micros> {
        let own = job.annotations.get(WAITING_TIME).and_then(|text| limit(text));
        own.or(self.limit).map(|limit| Micros(job.created.0.saturating_add(limit)))
    }

    fn is_over(&self, state: &State, job: JobIx) -> Vote {
        match self.deadline(&state[job]) {
            Some(deadline) if state.now >= deadline => Vote::Permit,
            _ => Vote::Abstain,
        }
    }
}

/// A limit in microseconds, if it is one above 0.
fn limit(text: &str) -> Option<i64> {
    duration(text).filter(|micros| *micros > 0)
}

impl Plugin for Sla {
    fn name(&self) -> &'static str {
        "sla"
    }

    fn points(&self) -> &'static [Point] {
        &[Point::JobOrder, Point::JobEnqueued, Point::JobPipelined]
    }

    fn job_order(&self, state: &State, a: JobIx, b: JobIx) -> Ordering {
        let end = |job: JobIx| self.deadline(&state[job]).map_or((1, 0), |end| (0, end.0));
        end(a).cmp(&end(b))
    }

    fn job_enqueueable(&self, state: &State, job: JobIx) -> Vote {
        self.is_over(state, job)
    }

    fn job_pipelined(&self, state: &State, job: JobIx) -> Vote {
        self.is_over(state, job)
    }
}
