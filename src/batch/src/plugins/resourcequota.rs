//! `resourcequota`: projects stay within their quotas.

use super::quota::{held_by_jobs, promised};
use crate::amounts::{Amounts, Missing};
use crate::session::{JobIx, Plugin, Point, QueueIx, Quota, State, TaskIx, Vote};
use std::collections::BTreeMap;

/// Admits a job when its least resources fit into the quotas of its project
/// beside what the project's tasks hold, what its admitted jobs still need for
/// their minima, and what was admitted in this cycle. Beyond minima, no task
/// gets a host that would take its project above a quota.
#[derive(Clone, Debug, Default)]
pub struct ResourceQuota {
    /// By quota: what counts when a job is to be admitted.
    counted: Vec<Amounts>,
    /// By quota: what the project's tasks hold, promises of this cycle
    /// included.
    held: Vec<Amounts>,
}

/// What projects with quotas hold: the sums over their jobs of what `of` says.
fn by_project(state: &State, of: impl Fn(JobIx) -> Amounts) -> Vec<Amounts> {
    let mut sums: BTreeMap<&str, Amounts> = BTreeMap::new();
    for quota in &state.quotas {
        sums.entry(&quota.project).or_default();
    }
    if !sums.is_empty() {
        for job in state.jobs() {
            if let Some(sum) = sums.get_mut(state[job].namespace()) {
                sum.add(&of(job));
            }
        }
    }
    let of_quota = |quota: &Quota| sums.get(quota.project.as_str()).cloned().unwrap_or_default();
    state.quotas.iter().map(of_quota).collect()
}

/// By quota: what tasks hold, those that were promised room included.
fn held(state: &State) -> Vec<Amounts> {
    let held = held_by_jobs(state);
    by_project(state, |job| held[job.index()].clone())
}

/// By quota: what counts against it when a session begins.
fn counted(state: &State, held: &[Amounts]) -> Vec<Amounts> {
    let mut all = by_project(state, |job| promised(&state[job]).unwrap_or_default());
    for ((counted, held), quota) in all.iter_mut().zip(held).zip(&state.quotas) {
        match &quota.used {
            Some(used) => counted.clone_from(used),
            None => counted.add(held),
        }
    }
    all
}

/// In what a quota leaves too little, in words.
fn too_much(state: &State, quota: &Quota, counted: &Amounts, asked: &Amounts) -> Option<String> {
    let over = |(dim, most): &&(_, i64)| {
        let own = asked.get(*dim);
        own > 0 && counted.get(*dim).saturating_add(own) > *most
    };
    let (dim, most) = quota.hard.iter().find(over)?;
    let (name, project) = (state.world.dims().name(*dim), &quota.project);
    let sum = counted.get(*dim).saturating_add(asked.get(*dim));
    Some(format!("project {project} would hold {sum} {name}, its quota is {most}"))
}

impl ResourceQuota {
    fn change(&mut self, state: &State, task: TaskIx, change: fn(&mut Amounts, &Amounts)) {
        let project = state[state[task].job].namespace();
        let quotas = state.quotas.iter().zip(&mut self.held);
        for (_, held) in quotas.filter(|(quota, _)| quota.project == project) {
            change(held, &state.shape_of(task).request);
        }
    }

    fn objection(
        &self,
        state: &State,
        sums: &[Amounts],
        job: JobIx,
        asked: &Amounts,
    ) -> Option<String> {
        let project = state[job].namespace();
        let quotas = state.quotas.iter().zip(sums).filter(|(quota, _)| quota.project == project);
        quotas.into_iter().find_map(|(quota, sum)| too_much(state, quota, sum, asked))
    }
}

impl Plugin for ResourceQuota {
    fn name(&self) -> &'static str {
        "resourcequota"
    }

    fn points(&self) -> &'static [Point] {
        &[Point::JobEnqueued, Point::Allocatable]
    }

    fn open(&mut self, state: &State) {
        self.held = held(state);
        self.counted = counted(state, &self.held);
    }

    fn job_enqueueable(&self, state: &State, job: JobIx) -> Vote {
        match self.enqueue_objection(state, job) {
            Some(_) => Vote::Reject,
            None => Vote::Permit,
        }
    }

    fn enqueue_objection(&self, state: &State, job: JobIx) -> Option<String> {
        let least = state[job].min_resources.as_ref()?;
        self.objection(state, &self.counted, job, least)
    }

    fn job_enqueued(&mut self, state: &State, job: JobIx) {
        let Some(least) = &state[job].min_resources else { return };
        let project = state[job].namespace();
        let quotas = state.quotas.iter().zip(&mut self.counted);
        for (_, counted) in quotas.filter(|(quota, _)| quota.project == project) {
            counted.add(least);
        }
    }

    fn allocatable(&self, state: &State, queue: QueueIx, task: TaskIx) -> bool {
        state.quotas.is_empty() || self.queue_objection(state, queue, task).is_none()
    }

    fn queue_objection(&self, state: &State, _: QueueIx, task: TaskIx) -> Option<String> {
        self.objection(state, &self.held, state[task].job, &state.shape_of(task).request)
    }

    fn allocated(&mut self, state: &State, task: TaskIx) {
        self.change(state, task, Amounts::add);
    }

    fn deallocated(&mut self, state: &State, task: TaskIx) {
        self.change(state, task, Amounts::sub);
    }

    fn audit(&self, state: &State) -> Option<String> {
        let (quotas, fresh) = (&state.quotas, held(state));
        let mut sums = quotas.iter().zip(&self.held).zip(&fresh);
        let differs = |was: &Amounts, is: &Amounts| !was.equals(is, Missing::Zero);
        let ((quota, was), is) = sums.find(|((_, was), is)| differs(was, is))?;
        Some(format!("project {} holds {is:?} and not {was:?}", quota.project))
    }
}
