//! Plugins in tiers, and how their answers are combined at each point.

use super::objects::{JobIx, QueueIx, ShapeIx, TaskIx};
use super::plugin::{NodePredicate, Objection, Plugin, Point, Score, Vote};
use super::state::State;
use std::cmp::Ordering;
use stowplan_engine::fault::Fault;

/// A plugin in its tier, with the points at which it is asked.
pub struct Seat {
    plugin: Box<dyn Plugin>,
    points: u32,
}

impl Seat {
    /// A plugin that is asked wherever it wants to be, but for `off`.
    #[must_use]
    pub fn new(plugin: Box<dyn Plugin>, off: &[Point]) -> Self {
        let wanted = plugin.points().iter().filter(|point| !off.contains(point));
        let points = wanted.fold(0, |set, point| set | 1 << *point as u32);
        Self { plugin, points }
    }

    fn is_on(&self, point: Point) -> bool {
        self.points >> point as u32 & 1 == 1
    }
}

/// All plugins of a session, tier by tier.
#[derive(Default)]
pub struct Tiers(Vec<Vec<Seat>>);

impl Tiers {
    /// Plugins in these tiers.
    #[must_use]
    pub fn new(tiers: Vec<Vec<Seat>>) -> Self {
        Self(tiers)
    }

    fn all(&self) -> impl Iterator<Item = &dyn Plugin> {
        self.0.iter().flatten().map(|seat| seat.plugin.as_ref())
    }

    fn at(&self, point: Point) -> impl Iterator<Item = &dyn Plugin> {
        let seats = self.0.iter().flatten().filter(move |seat| seat.is_on(point));
        seats.map(|seat| seat.plugin.as_ref())
    }

    /// Names of the plugins, tier after tier.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.all().map(Plugin::name)
    }

    /// Opens every plugin.
    pub fn open(&mut self, state: &State) {
        self.0.iter_mut().flatten().for_each(|seat| seat.plugin.open(state));
    }

    /// Which of two queues is served first: then the older, then by name.
    #[must_use]
    pub fn queue_order(&self, state: &State, a: QueueIx, b: QueueIx) -> Ordering {
        first(self.at(Point::QueueOrder).map(|plugin| plugin.queue_order(state, a, b)))
            .then_with(|| state[a].created.cmp(&state[b].created))
            .then_with(|| state[a].name.cmp(&state[b].name))
    }

    /// Which of two jobs is served first: then the older, then by name.
    #[must_use]
    pub fn job_order(&self, state: &State, a: JobIx, b: JobIx) -> Ordering {
        first(self.at(Point::JobOrder).map(|plugin| plugin.job_order(state, a, b)))
            .then_with(|| state[a].created.cmp(&state[b].created))
            .then_with(|| state[a].name.cmp(&state[b].name))
    }

    /// Which of two tasks is placed first: then the older; then, of names that
    /// end in different numbers, the smaller number; then by name and id.
    #[must_use]
    pub fn task_order(&self, state: &State, a: TaskIx, b: TaskIx) -> Ordering {
        let (left, right) = (&state[a], &state[b]);
        first(self.at(Point::TaskOrder).map(|plugin| plugin.task_order(state, a, b)))
            .then_with(|| by_index(&left.name, &right.name))
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

    /// Whether a job has its minimum once others have left: a rejection ends
    /// with no, a tier that permits without one with yes; if all abstain, yes.
    #[must_use]
    pub fn job_pipelined(&self, state: &State, job: JobIx) -> bool {
        for tier in &self.0 {
            let mut permitted = false;
            for seat in tier.iter().filter(|seat| seat.is_on(Point::JobPipelined)) {
                match seat.plugin.job_pipelined(state, job) {
                    Vote::Reject => return false,
                    Vote::Abstain => {}
                    Vote::Permit => permitted = true,
                }
            }
            if permitted {
                return true;
            }
        }
        true
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
        let asked = self.at(Point::Predicate).map(|plugin| plugin.predicate(state, shape));
        asked.filter_map(Result::transpose).collect()
    }

    /// The scores of hosts.
    pub fn scores(&self) -> impl Iterator<Item = &Score> {
        self.at(Point::NodeOrder).filter_map(Plugin::score)
    }

    /// Tells every plugin that a task has got a host.
    pub fn allocated(&mut self, state: &State, task: TaskIx) {
        self.0.iter_mut().flatten().for_each(|seat| seat.plugin.allocated(state, task));
    }

    /// Tells every plugin that a task has lost its host.
    pub fn deallocated(&mut self, state: &State, task: TaskIx) {
        self.0.iter_mut().flatten().for_each(|seat| seat.plugin.deallocated(state, task));
    }
}

fn first(mut answers: impl Iterator<Item = Ordering>) -> Ordering {
    answers.find(|answer| answer.is_ne()).unwrap_or(Ordering::Equal)
}

/// Compares names by the whole numbers at their ends, where both have one
/// behind the same text.
fn by_index(a: &str, b: &str) -> Ordering {
    match (split(a), split(b)) {
        (Some((left, m)), Some((right, n))) if left == right => m.cmp(&n),
        _ => Ordering::Equal,
    }
}

fn split(name: &str) -> Option<(&str, u64)> {
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (text, number) = name.split_at(name.len() - digits);
    Some((text, number.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_at_the_end_are_compared_as_numbers() {
        assert_eq!(by_index("worker/9", "worker/10"), Ordering::Less);
        assert_eq!(by_index("worker/9", "master/10"), Ordering::Equal);
        assert_eq!(by_index("worker/é", "worker/10"), Ordering::Equal);
    }
}
