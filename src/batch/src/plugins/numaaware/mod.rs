//! `numaaware`: tasks get the NUMA cells that their policy asks for.

mod cells;
mod policy;

use super::{PluginFault, Setup};
use crate::session::{
    CellShare, HostVerdict, NodePredicate, Plugin, Point, SetScore, ShapeIx, State, Status, TaskIx,
};
use crate::world::World;
use cells::{Cells, pair};
use policy::{Choice, Pair, Policy};
pub use policy::{NUMA_POLICY, is_numa_policy};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stowplan_engine::fault::Fault;
use stowplan_engine::{HostIx, HostSet};

/// The best score before the weight.
const MAX_SCORE: i64 = 100;

/// Lets tasks with a policy on hosts whose free cells suit it, prefers those
/// where they need fewest, and says which they get.
#[derive(Debug)]
pub struct NumaAware {
    weight: i64,
    cells: Arc<Mutex<Cells>>,
}

impl NumaAware {
    /// With `[batch:numaaware] weight` (1).
    ///
    /// # Errors
    /// A weight that is no whole number of 0 or more.
    pub fn new(setup: &Setup<'_>) -> Result<Self, PluginFault> {
        Ok(Self { weight: setup.arguments.weight("weight", 1)?, cells: Arc::default() })
    }
}

fn lock(cells: &Mutex<Cells>) -> MutexGuard<'_, Cells> {
    cells.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The policy that annotations ask for.
fn policy_of(notes: &BTreeMap<String, String>) -> Option<Policy> {
    Policy::named(notes.get(NUMA_POLICY)?).flatten()
}

impl Plugin for NumaAware {
    fn name(&self) -> &'static str {
        "numaaware"
    }

    fn points(&self) -> &'static [Point] {
        &[Point::Predicate, Point::NodeOrder]
    }

    fn open(&mut self, state: &State) {
        *lock(&self.cells) = Cells::new(state);
    }

    fn predicates(
        &self,
        state: &State,
        shape: ShapeIx,
    ) -> Result<Vec<Box<dyn NodePredicate>>, Fault> {
        let shape = &state[shape];
        let Some(policy) = policy_of(&shape.notes) else { return Ok(Vec::new()) };
        let (cells, request) = (self.cells.clone(), pair(&shape.request));
        Ok(vec![Box::new(CellCheck { cells, policy, request })])
    }

    fn set_scores(&self, state: &State, shape: ShapeIx) -> Vec<Box<dyn SetScore>> {
        let shape = &state[shape];
        let Some(policy) = policy_of(&shape.notes).filter(|_| self.weight > 0) else {
            return Vec::new();
        };
        let (cells, request) = (self.cells.clone(), pair(&shape.request));
        vec![Box::new(CellScore {
            check: CellCheck { cells, policy, request },
            weight: self.weight,
        })]
    }

    fn allocated(&mut self, state: &State, task: TaskIx) {
        let at = &state[task];
        let shape = state.shape_of(task);
        if let (Some(policy), Some(host)) = (policy_of(&shape.notes), at.host) {
            lock(&self.cells).take(policy, task, host, pair(&shape.request));
        }
    }

    fn deallocated(&mut self, state: &State, task: TaskIx) {
        let is_leaving = state[task].status == Status::Releasing;
        lock(&self.cells).give_back(task, is_leaving);
    }

    fn cells(&self, task: TaskIx) -> Vec<CellShare> {
        lock(&self.cells).of(task)
    }
}

/// Whether the cells of a host suit a policy.
struct CellCheck {
    cells: Arc<Mutex<Cells>>,
    policy: Policy,
    request: Pair,
}

impl CellCheck {
    fn choice(&self, host: HostIx) -> Choice {
        lock(&self.cells).choose(self.policy, host, self.request)
    }
}

impl NodePredicate for CellCheck {
    fn narrow(&self, _: &World, hosts: &mut HostSet) -> Result<(), Fault> {
        hosts.retain(|host| self.choice(host) != Choice::Never);
        Ok(())
    }

    fn judge(&self, _: &State, host: HostIx) -> Result<HostVerdict, Fault> {
        Ok(match self.choice(host) {
            Choice::Cells(_) | Choice::Anywhere => HostVerdict::Passes,
            Choice::NotNow => HostVerdict::Unschedulable,
            Choice::Never => HostVerdict::Unresolvable,
        })
    }

    fn objection(&self, _: &State, host: HostIx) -> Result<Option<String>, Fault> {
        Ok(match self.choice(host) {
            Choice::Cells(_) | Choice::Anywhere => None,
            Choice::NotNow => Some("have no NUMA cells free that suit the policy".to_owned()),
            Choice::Never => Some("have no NUMA cells that suit the policy".to_owned()),
        })
    }
}

/// The fewer cells the better, against one more than any host needs.
struct CellScore {
    check: CellCheck,
    weight: i64,
}

impl SetScore for CellScore {
    fn add(&self, _: &State, hosts: &[HostIx], scores: &mut [f64]) {
        // A host that cannot keep the task together at all counts as the worst.
        let count = |host: &HostIx| match self.check.choice(*host) {
            Choice::Cells(set) => Some(set.len() as i64),
            _ => None,
        };
        let counts: Vec<Option<i64>> = hosts.iter().map(count).collect();
        let most = counts.iter().flatten().copied().max().unwrap_or_default() + 1;
        for (score, count) in scores.iter_mut().zip(counts) {
            let part = count.map_or(MAX_SCORE, |count| count * MAX_SCORE / most);
            *score += (self.weight * (MAX_SCORE - part)) as f64;
        }
    }
}
