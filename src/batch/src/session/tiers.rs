//! Plugins in tiers, and the orders and answers that they make together.

use super::cells::CellShare;
use super::objects::{DomainIx, GroupIx, JobIx, QueueIx, ShapeIx, TaskIx};
use super::places::Occupied;
use super::plugin::{DomainScore, NodePredicate, Objection, Plugin, Score, SetScore};
use super::point::Point;
use super::state::State;
use super::votes::Disagreement;
use std::cmp::Ordering;
use stowplan_engine::HostIx;
use stowplan_engine::fault::Fault;

/// A plugin in its tier, with the points at which it is asked.
pub struct Seat {
    pub(super) plugin: Box<dyn Plugin>,
    granted: u32,
    points: u32,
}

impl Seat {
    /// A plugin that is asked wherever it wants to be and `on` lets it.
    #[must_use]
    pub fn new(plugin: Box<dyn Plugin>, on: impl Fn(Point) -> bool) -> Self {
        let granted = Point::ALL.iter().filter(|point| on(**point));
        let granted = granted.fold(0, |set, point| set | 1 << *point as u32);
        let wanted = plugin.points().iter().fold(0, |set, point| set | 1 << *point as u32);
        Self { plugin, granted, points: wanted & granted }
    }

    pub(super) fn is_on(&self, point: Point) -> bool {
        self.points >> point as u32 & 1 == 1
    }
}

/// All plugins of a session, tier by tier.
#[derive(Default)]
pub struct Tiers {
    pub(super) seats: Vec<Vec<Seat>>,
    pub(super) disagreement: Disagreement,
}

impl Tiers {
    /// Plugins in these tiers.
    #[must_use]
    pub fn new(seats: Vec<Vec<Seat>>) -> Self {
        Self { seats, disagreement: Disagreement::default() }
    }

    /// The same, with another rule for voters that cannot agree on a victim.
    #[must_use]
    pub fn with(self, disagreement: Disagreement) -> Self {
        Self { disagreement, ..self }
    }

    fn all(&self) -> impl Iterator<Item = &dyn Plugin> {
        self.seats.iter().flatten().map(|seat| seat.plugin.as_ref())
    }

    pub(super) fn at(&self, point: Point) -> impl Iterator<Item = &dyn Plugin> {
        let seats = self.seats.iter().flatten().filter(move |seat| seat.is_on(point));
        seats.map(|seat| seat.plugin.as_ref())
    }

    /// Names of the plugins, tier after tier.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.all().map(Plugin::name)
    }

    /// Whether a plugin is there and one of these points is not switched off
    /// for it, be it one at which it says something or not.
    #[must_use]
    pub fn grants(&self, plugin: &str, points: &[Point]) -> bool {
        let mask = points.iter().fold(0, |set, point| set | 1 << *point as u32);
        let mut seats = self.seats.iter().flatten().filter(|seat| seat.plugin.name() == plugin);
        seats.any(|seat| seat.granted & mask != 0)
    }

    /// Opens every plugin.
    pub fn open(&mut self, state: &State) {
        self.seats.iter_mut().flatten().for_each(|seat| seat.plugin.open(state));
    }

    /// Closes every plugin.
    pub fn close(&mut self, state: &State) {
        self.seats.iter_mut().flatten().for_each(|seat| seat.plugin.close(state));
    }

    /// Which of two queues is served first: then the older, then by name.
    #[must_use]
    pub fn queue_order(&self, state: &State, a: QueueIx, b: QueueIx) -> Ordering {
        first(self.at(Point::QueueOrder).map(|plugin| plugin.queue_order(state, a, b)))
            .then_with(|| state[a].created.cmp(&state[b].created))
            .then_with(|| state[a].name.cmp(&state[b].name))
    }

    /// Of two queues, from which tasks are evicted first: as plugins say, else
    /// from the one that is served last.
    #[must_use]
    pub fn victim_queue_order(
        &self,
        state: &State,
        a: QueueIx,
        b: QueueIx,
        preemptor: QueueIx,
    ) -> Ordering {
        let asked = self.at(Point::VictimQueueOrder);
        first(asked.map(|plugin| plugin.victim_queue_order(state, a, b, preemptor)))
            .then_with(|| self.queue_order(state, b, a))
    }

    /// Which of two jobs is served first: then the older, then by name.
    #[must_use]
    pub fn job_order(&self, state: &State, a: JobIx, b: JobIx) -> Ordering {
        self.job_preference(state, a, b)
            .then_with(|| state[a].created.cmp(&state[b].created))
            .then_with(|| state[a].name.cmp(&state[b].name))
    }

    /// The same, where plugins have an opinion.
    #[must_use]
    pub fn job_preference(&self, state: &State, a: JobIx, b: JobIx) -> Ordering {
        first(self.at(Point::JobOrder).map(|plugin| plugin.job_order(state, a, b)))
    }

    /// Which of two tasks is placed first: then the one with the smaller
    /// number at the end of its name; then the older; then by name and id.
    #[must_use]
    pub fn task_order(&self, state: &State, a: TaskIx, b: TaskIx) -> Ordering {
        let (left, right) = (&state[a], &state[b]);
        let number = |number: Option<u64>| number.map_or((1, 0), |number| (0, number));
        first(self.at(Point::TaskOrder).map(|plugin| plugin.task_order(state, a, b)))
            .then_with(|| number(left.number).cmp(&number(right.number)))
            .then_with(|| left.created.cmp(&right.created))
            .then_with(|| left.name.cmp(&right.name))
            .then_with(|| left.uuid.cmp(&right.uuid))
    }

    /// Why a job cannot be placed whatever room there is.
    #[must_use]
    pub fn job_objection(&self, state: &State, job: JobIx) -> Option<Objection> {
        self.at(Point::JobValid).find_map(|plugin| plugin.job_valid(state, job))
    }

    /// Whether a job has its minimum: all agree.
    #[must_use]
    pub fn job_ready(&self, state: &State, job: JobIx) -> bool {
        self.at(Point::JobReady).all(|plugin| plugin.job_ready(state, job))
    }

    /// Which of two sub-groups of a job is placed first: then by their order,
    /// then by name.
    #[must_use]
    pub fn group_order(&self, state: &State, job: JobIx, a: GroupIx, b: GroupIx) -> Ordering {
        let groups = &state[job].groups;
        let (left, right) = (&groups[a.index()], &groups[b.index()]);
        first(self.at(Point::GroupOrder).map(|plugin| plugin.group_order(state, job, a, b)))
            .then_with(|| left.order.cmp(&right.order))
            .then_with(|| left.name.cmp(&right.name))
            .then_with(|| a.cmp(&b))
    }

    /// Whether a sub-group has its minimum: all agree. Without policies it is
    /// the job.
    #[must_use]
    pub fn group_ready(&self, state: &State, job: JobIx, group: GroupIx) -> bool {
        if state[job].policies.is_empty() {
            return self.job_ready(state, job);
        }
        self.at(Point::GroupReady).all(|plugin| plugin.group_ready(state, job, group))
    }

    /// Whether others may be evicted for a job: all of the first tier that has
    /// a say agree; without any, no.
    #[must_use]
    pub fn job_starving(&self, state: &State, job: JobIx) -> bool {
        for tier in &self.seats {
            let mut asked = tier.iter().filter(|seat| seat.is_on(Point::JobStarving)).peekable();
            if asked.peek().is_some() {
                return asked.all(|seat| seat.plugin.job_starving(state, job));
            }
        }
        false
    }

    /// Whether a queue has all that it deserves.
    #[must_use]
    pub fn overused(&self, state: &State, queue: QueueIx) -> bool {
        self.at(Point::Overused).any(|plugin| plugin.overused(state, queue))
    }

    /// Whether a queue may take what a task asks for.
    #[must_use]
    pub fn allocatable(&self, state: &State, queue: QueueIx, task: TaskIx) -> bool {
        self.at(Point::Allocatable).all(|plugin| plugin.allocatable(state, queue, task))
    }

    /// Why a queue may not take what a task asks for, in words.
    #[must_use]
    pub fn queue_objection(&self, state: &State, queue: QueueIx, task: TaskIx) -> String {
        let mut against =
            self.at(Point::Allocatable).filter(|plugin| !plugin.allocatable(state, queue, task));
        let why = against.find_map(|plugin| plugin.queue_objection(state, queue, task));
        why.unwrap_or_else(|| format!("queue {} takes no more", state[queue].name))
    }

    /// Whether a queue may take from others for tasks, for all of them
    /// together.
    #[must_use]
    pub fn preemptive(&self, state: &State, queue: QueueIx, tasks: &[TaskIx]) -> bool {
        self.at(Point::Preemptive).all(|plugin| plugin.preemptive(state, queue, tasks))
    }

    /// A job was admitted.
    pub fn job_enqueued(&mut self, state: &State, job: JobIx) {
        let asked = self.seats.iter_mut().flatten().filter(|seat| seat.is_on(Point::JobEnqueued));
        asked.for_each(|seat| seat.plugin.job_enqueued(state, job));
    }

    /// The host that a plan for the whole job gives a task: of the first plugin
    /// that has one.
    #[must_use]
    pub fn planned(&self, state: &State, task: TaskIx) -> Option<HostIx> {
        self.all().find_map(|plugin| plugin.planned(state, task))
    }

    /// The predicates that judge hosts for a shape.
    ///
    /// # Errors
    /// A shape that cannot be judged.
    pub fn predicates(
        &self,
        state: &State,
        shape: ShapeIx,
    ) -> Result<Vec<Box<dyn NodePredicate>>, Fault> {
        // A hint holds whatever plugins there are.
        let hinted = super::hint::required(&state.world, &state[shape]);
        let mut predicates: Vec<_> = hinted.into_iter().collect();
        for plugin in self.at(Point::Predicate) {
            predicates.extend(plugin.predicates(state, shape)?);
        }
        Ok(predicates)
    }

    /// The scores of hosts that depend on one host each.
    pub fn scores(&self) -> impl Iterator<Item = &Score> {
        self.at(Point::NodeOrder).filter_map(Plugin::score)
    }

    /// The scores of hosts for a shape that depend on all that are compared.
    #[must_use]
    pub fn set_scores(&self, state: &State, shape: ShapeIx) -> Vec<Box<dyn SetScore>> {
        self.at(Point::NodeOrder).flat_map(|plugin| plugin.set_scores(state, shape)).collect()
    }

    /// The scores of hosts that are for one task alone.
    pub fn task_scores(
        &self,
        state: &State,
        task: TaskIx,
    ) -> impl Iterator<Item = Box<dyn SetScore>> {
        self.at(Point::NodeOrder).filter_map(move |plugin| plugin.task_score(state, task))
    }

    /// The NUMA cells that a task was given by the first plugin that gives any.
    #[must_use]
    pub fn cells(&self, task: TaskIx) -> Vec<CellShare> {
        let mut given = self.all().map(|plugin| plugin.cells(task));
        given.find(|cells| !cells.is_empty()).unwrap_or_default()
    }

    /// How well domains suit a sub-group, one after the other.
    #[must_use]
    pub fn domain_scores(
        &self,
        state: &State,
        job: JobIx,
        group: GroupIx,
        domains: &[DomainIx],
    ) -> Vec<DomainScore> {
        let mut sums = vec![DomainScore::default(); domains.len()];
        let asked = self.at(Point::DomainOrder);
        for scores in asked.filter_map(|it| it.domain_scores(state, job, group, domains)) {
            for (sum, score) in sums.iter_mut().zip(scores) {
                sum.score += score.score;
                sum.among_equals += score.among_equals;
            }
        }
        sums
    }

    /// How many domains are looked at in vain before evictions are given up, if
    /// anybody says.
    #[must_use]
    pub fn most_domains(&self) -> Option<usize> {
        self.at(Point::DomainGradient).find_map(Plugin::most_domains)
    }

    /// Whether scores of hosts depend on where they are.
    #[must_use]
    pub fn scores_places(&self, state: &State) -> bool {
        state.domains.has_any() && self.at(Point::NodeOrder).any(Plugin::scores_places)
    }

    /// What the place of hosts adds to their scores for a task, cell after
    /// cell, plugin by plugin.
    pub fn place_scores(
        &self,
        state: &State,
        task: TaskIx,
        cells: &[Occupied],
    ) -> impl Iterator<Item = Vec<f64>> {
        self.at(Point::NodeOrder).filter_map(move |it| it.place_scores(state, task, cells))
    }

    /// Tells every plugin that a task has got a host.
    pub fn allocated(&mut self, state: &State, task: TaskIx) {
        self.seats.iter_mut().flatten().for_each(|seat| seat.plugin.allocated(state, task));
    }

    /// Tells every plugin that a task has lost its host.
    pub fn deallocated(&mut self, state: &State, task: TaskIx) {
        self.seats.iter_mut().flatten().for_each(|seat| seat.plugin.deallocated(state, task));
    }

    /// Tells every plugin that hosts were read anew.
    pub fn refreshed(&mut self, state: &State) {
        self.seats.iter_mut().flatten().for_each(|seat| seat.plugin.refreshed(state));
    }

    /// What of the sums that plugins keep differs from counting afresh.
    #[must_use]
    pub fn audit(&self, state: &State) -> Option<String> {
        self.all().find_map(|plugin| Some(format!("{}: {}", plugin.name(), plugin.audit(state)?)))
    }
}

fn first(mut answers: impl Iterator<Item = Ordering>) -> Ordering {
    answers.find(|answer| answer.is_ne()).unwrap_or(Ordering::Equal)
}

/// The whole number at the end of a name of at least three parts, which tasks
/// of a job are numbered by: `job-role-7`, `namespace/job/role/7`.
#[must_use]
pub fn task_number(name: &str) -> Option<u64> {
    let mut parts = name.rsplit('-');
    let number = parts.next()?.parse().ok()?;
    (parts.count() >= 2).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_numbered_by_their_names() {
        assert_eq!(task_number("ns/train-worker-12"), Some(12));
        assert_eq!(task_number("worker-12"), None);
        assert_eq!(task_number("train-worker-é"), None);
    }
}
