//! `overcommit`: not more jobs are admitted than a bit more than everything
//! could hold.

use super::quota::remaining_need;
use super::{PluginFault, Setup};
use crate::amounts::Amounts;
use crate::life::JobPhase;
use crate::session::{Job, JobIx, Plugin, Point, State, Status, Vote};

const FACTOR: &str = "overcommit-factor";
/// The factor in millionths, where none that can be is given.
const DEFAULT: i64 = 1_200_000;
const MILLION: i128 = 1_000_000;

/// Admits a job when its least resources, and those that admitted jobs still
/// wait for, are within `overcommit-factor` times the total less what is used.
#[derive(Clone, Debug)]
pub struct Overcommit {
    millionths: i64,
    idle: Amounts,
    inqueue: Amounts,
}

impl Overcommit {
    /// With `[batch:overcommit] overcommit-factor` (1.2; below 1 is 1.2).
    ///
    /// # Errors
    /// No number.
    pub fn new(setup: &Setup<'_>) -> Result<Self, PluginFault> {
        let factor = setup.arguments.decimal(FACTOR, 1.2)?;
        let millionths = (factor * MILLION as f64).round() as i64;
        // The check of the configuration warns of this.
        let too_small = i128::from(millionths) < MILLION;
        let millionths = if too_small { DEFAULT } else { millionths };
        Ok(Self { millionths, idle: Amounts::new(), inqueue: Amounts::new() })
    }

    fn times(&self, total: &Amounts) -> Amounts {
        let mut more = Amounts::new();
        for (dim, value) in total.iter() {
            let exact = i128::from(value) * i128::from(self.millionths) / MILLION;
            more.set(dim, i64::try_from(exact).unwrap_or(i64::MAX));
        }
        more
    }
}

/// What a job that was admitted before still waits for.
fn waits_for(job: &Job) -> Option<Amounts> {
    let least = job.min_resources.as_ref()?;
    let allocated: u32 = [Status::Allocated, Status::Binding, Status::Bound, Status::Running]
        .iter()
        .map(|status| job.census.get(*status))
        .sum();
    match job.phase {
        JobPhase::Inqueue => Some(least.clone()),
        JobPhase::Running if allocated >= job.min_available => {
            Some(remaining_need(least, &job.allocated))
        }
        _ => None,
    }
}

impl Plugin for Overcommit {
    fn name(&self) -> &'static str {
        "overcommit"
    }

    fn points(&self) -> &'static [Point] {
        &[Point::JobEnqueued]
    }

    fn open(&mut self, state: &State) {
        self.idle = self.times(&state.total());
        self.idle.sub(&state.used());
        self.inqueue = Amounts::new();
        for job in state.jobs() {
            if let Some(need) = waits_for(&state[job]) {
                self.inqueue.add(&need);
            }
        }
    }

    fn job_enqueueable(&self, state: &State, job: JobIx) -> Vote {
        let Some(least) = &state[job].min_resources else { return Vote::Permit };
        let sum = |dim| self.inqueue.get(dim).saturating_add(least.get(dim));
        let fits = least.asked().all(|dim| sum(dim) <= self.idle.get(dim));
        if fits { Vote::Permit } else { Vote::Reject }
    }

    fn job_enqueued(&mut self, state: &State, job: JobIx) {
        if let Some(least) = &state[job].min_resources {
            self.inqueue.add(least);
        }
    }
}
