//! `tdm`: hosts that batch tasks may use at certain times of the day only.

mod window;

use super::budget::{Spent, marked_preemptable};
use super::{PluginFault, Setup};
use crate::session::{
    HostVerdict, JobIx, NodePredicate, Plugin, Point, Score, Shape, ShapeIx, State, Status, TaskIx,
    Vote,
};
use crate::world::World;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use stowplan_engine::fault::Fault;
use stowplan_engine::weigher::LocalScore;
use stowplan_engine::{HostIx, HostSet, HostView};
use window::{Window, offset};

/// The label of hosts that names their zone, and the annotation of tasks that
/// may use such hosts (`*`).
pub const REVOCABLE_ZONE: &str = "volcano.sh/revocable-zone";
/// The annotation that says the same for want of the other one (`true`).
pub const PREEMPTABLE: &str = "volcano.sh/preemptable";

const ZONE: &str = "tdm.revocable-zone.";
const OFFSET: &str = "tdm.utc-offset";
const PERIOD: &str = "tdm.evict.period";
/// The period at which tasks are evicted that are left in a zone.
const MINUTE: i64 = 60_000_000;
/// The score of hosts that are there for such tasks.
const SCORE: f64 = 100.0;
/// How many tasks of a job without a budget may leave at a time.
const WITHOUT_BUDGET: u32 = 1;

/// Gives the hosts of a zone to marked tasks while its window is open, and sends
/// them away after that, job by job within its disruption budget.
#[derive(Clone, Debug)]
pub struct Tdm {
    windows: BTreeMap<String, Window>,
    offset: i64,
    period: i64,
    /// The zones whose window is open now.
    open: Vec<String>,
}

impl Tdm {
    /// With `[batch:tdm] tdm.revocable-zone.<zone>`, windows such as
    /// `21:00-06:00`, `tdm.utc-offset` (`+00:00`) and `tdm.evict.period` (1m).
    ///
    /// # Errors
    /// No window, offset or duration.
    pub fn new(setup: &Setup<'_>) -> Result<Self, PluginFault> {
        let arguments = &setup.arguments;
        let mut windows = BTreeMap::new();
        for zone in arguments.names_under(ZONE) {
            let name = format!("{ZONE}{zone}");
            let window = arguments.text(&name).and_then(Window::read);
            let expected = "two times of the day such as 21:00-06:00";
            let window = window.ok_or_else(|| arguments.fault(&name, expected))?;
            windows.insert(zone.to_owned(), window);
        }
        let offset = match arguments.text(OFFSET) {
            None => 0,
            Some(text) => offset(text)
                .ok_or_else(|| arguments.fault(OFFSET, "hours and minutes such as +02:00"))?,
        };
        let period = arguments.duration(PERIOD, MINUTE)?;
        Ok(Self { windows, offset, period, open: Vec::new() })
    }

    fn is_open(&self, zone: &str) -> bool {
        self.open.iter().any(|open| open == zone)
    }

    /// The first of these tasks, job by job as many as may leave.
    fn within_budgets(state: &State, tasks: impl Iterator<Item = TaskIx>) -> Vec<TaskIx> {
        let mut spent = Spent::default();
        tasks.filter(|task| spent.takes(state, *task, Some(WITHOUT_BUDGET))).collect()
    }
}

/// The zone of a host.
fn zone(world: &World, host: HostIx) -> Option<&str> {
    world.facts(host).labels.get(REVOCABLE_ZONE).map(String::as_str).filter(|zone| !zone.is_empty())
}

/// Whether annotations mark a task that may use hosts in zones.
fn is_marked(notes: &BTreeMap<String, String>) -> bool {
    match notes.get(REVOCABLE_ZONE) {
        Some(zones) => zones == "*",
        None => notes.get(PREEMPTABLE).is_some_and(|text| text == "true"),
    }
}

impl Plugin for Tdm {
    fn name(&self) -> &'static str {
        "tdm"
    }

    fn points(&self) -> &'static [Point] {
        use Point::{JobOrder, JobPipelined, JobStarving, NodeOrder, Predicate, Preemptable};
        &[
            Predicate,
            NodeOrder,
            JobOrder,
            JobPipelined,
            JobStarving,
            Preemptable,
            Point::VictimTasks,
        ]
    }

    fn open(&mut self, state: &State) {
        let open = |window: &Window| window.holds(state.now, self.offset);
        let zones = self.windows.iter().filter(|(_, window)| open(window));
        self.open = zones.map(|(zone, _)| zone.clone()).collect();
    }

    fn job_order(&self, state: &State, a: JobIx, b: JobIx) -> Ordering {
        marked_preemptable(&state[a]).cmp(&marked_preemptable(&state[b]))
    }

    fn job_pipelined(&self, state: &State, job: JobIx) -> Vote {
        let (census, least) = (&state[job].census, state[job].min_available);
        let has = census.ready() + census.best_effort() + census.get(Status::Pipelined);
        if has >= least { Vote::Permit } else { Vote::Reject }
    }

    fn job_starving(&self, state: &State, job: JobIx) -> bool {
        !marked_preemptable(&state[job]) && state[job].census.get(Status::Pending) > 0
    }

    /// Tasks that let themselves be evicted evict nobody; for the others, those
    /// that run outside of zones may leave.
    fn preemptable(
        &mut self,
        state: &State,
        preemptor: TaskIx,
        candidates: &[TaskIx],
    ) -> Option<Vec<TaskIx>> {
        if state[preemptor].preemptable || is_marked(&state.shape_of(preemptor).notes) {
            return Some(Vec::new());
        }
        let outside = |task: &TaskIx| {
            let at = &state[*task];
            let host = at.host.filter(|_| at.preemptable && at.status == Status::Running);
            host.is_some_and(|host| zone(&state.world, host).is_none())
        };
        Some(Self::within_budgets(state, candidates.iter().copied().filter(outside)))
    }

    fn victim_tasks(&mut self, state: &State, running: &[TaskIx]) -> Vec<TaskIx> {
        let is_over = |task: &TaskIx| {
            let at = &state[*task];
            let zone = at.host.filter(|_| at.preemptable).and_then(|it| zone(&state.world, it));
            zone.is_some_and(|zone| self.windows.contains_key(zone) && !self.is_open(zone))
        };
        Self::within_budgets(state, running.iter().copied().filter(is_over))
    }

    fn victim_period(&self) -> Option<i64> {
        Some(self.period)
    }

    fn predicates(
        &self,
        state: &State,
        shape: ShapeIx,
    ) -> Result<Vec<Box<dyn NodePredicate>>, Fault> {
        let marked = is_marked(&state[shape].notes);
        Ok(vec![Box::new(ZoneCheck { open: self.open.clone(), marked })])
    }

    fn score(&self) -> Option<&Score> {
        Some(self)
    }
}

impl LocalScore<World, Shape> for Tdm {
    fn name(&self) -> &'static str {
        "tdm"
    }

    fn score(&self, world: &World, host: HostIx, shape: &Shape) -> f64 {
        let is_for_it = zone(world, host).is_some_and(|zone| self.is_open(zone));
        if is_for_it && is_marked(&shape.notes) { SCORE } else { 0.0 }
    }
}

/// Whether a task may use the zone that a host is in.
struct ZoneCheck {
    open: Vec<String>,
    marked: bool,
}

impl ZoneCheck {
    fn fails(&self, world: &World, host: HostIx) -> Option<String> {
        let zone = zone(world, host)?;
        if !self.open.iter().any(|open| open == zone) {
            return Some(format!("are in revocable zone {zone}, whose window is not open"));
        }
        (!self.marked).then(|| format!("are in revocable zone {zone}, for marked tasks only"))
    }
}

impl NodePredicate for ZoneCheck {
    fn narrow(&self, world: &World, hosts: &mut HostSet) -> Result<(), Fault> {
        hosts.retain(|host| self.fails(world, host).is_none());
        Ok(())
    }

    fn judge(&self, _state: &State, _host: HostIx) -> Result<HostVerdict, Fault> {
        Ok(HostVerdict::Passes)
    }

    fn objection(&self, state: &State, host: HostIx) -> Result<Option<String>, Fault> {
        Ok(self.fails(&state.world, host))
    }
}
