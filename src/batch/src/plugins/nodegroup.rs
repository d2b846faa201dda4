//! `nodegroup`: queues keep to their groups of hosts.

use super::{PluginFault, Setup};
use crate::amounts::{Amounts, DimIx, Missing};
use crate::session::{
    HostVerdict, NodeGroups, NodePredicate, Plugin, Point, QueueIx, Score, Shape, ShapeIx, State,
    Status, TaskIx,
};
use crate::world::World;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use stowplan_engine::fault::Fault;
use stowplan_engine::weigher::LocalScore;
use stowplan_engine::{HostIx, HostSet, HostView};

/// The label of a host that names its group.
const LABEL: &str = "volcano.sh/nodegroup-name";

/// The name of the queue that all others are a part of.
const ROOT: &str = "root";

/// Scores before the weight of anything: of required groups, of preferred ones
/// on top of that, and of groups that are better left alone.
const REQUIRED: f64 = 100.0;
const PREFERRED: f64 = 50.0;
const UNWANTED: f64 = -1.0;

/// Lets a queue use the groups of hosts that its affinity names, up to its
/// limits there, and nobody but such queues the hosts that are in a group.
#[derive(Debug)]
pub struct NodeGroup {
    strict: bool,
    ordered: bool,
    hierarchy: bool,
    /// By queue; none: nothing is said.
    rules: Vec<Option<Arc<NodeGroups>>>,
    held: Arc<Mutex<Held>>,
}

/// What the tasks of queues hold by group of hosts.
#[derive(Debug, Default)]
struct Held {
    sums: BTreeMap<(QueueIx, String), Amounts>,
    /// The groups that tasks count in.
    places: BTreeMap<TaskIx, String>,
}

impl NodeGroup {
    /// With `[batch:nodegroup] strict` (true), `enablePreferredOrder` (false)
    /// and `enableHierarchy` (false).
    ///
    /// # Errors
    /// An argument that is no switch.
    pub fn new(setup: &Setup<'_>) -> Result<Self, PluginFault> {
        Ok(Self {
            strict: setup.arguments.switch("strict", true)?,
            ordered: setup.arguments.switch("enablePreferredOrder", false)?,
            hierarchy: setup.hierarchy,
            rules: Vec::new(),
            held: Arc::default(),
        })
    }

    fn rule(&self, queue: Option<QueueIx>) -> Option<&Arc<NodeGroups>> {
        self.rules.get(queue?.index())?.as_ref()
    }
}

impl Held {
    /// What tasks hold as things stand, promises of earlier cycles included.
    fn of(state: &State) -> Self {
        let mut held = Self::default();
        for task in state.jobs().flat_map(|job| state[job].tasks.iter().copied()) {
            let status = state[task].status;
            if status.is_allocated() || status == Status::Pipelined {
                held.count(state, task);
            }
        }
        held
    }

    fn count(&mut self, state: &State, task: TaskIx) {
        let queue = state[state[task].job].queue;
        if state[queue].group_limits.is_empty() {
            return;
        }
        let group = state[task].host.and_then(|host| group(&state.world, host));
        if let Some(group) = group {
            self.places.insert(task, group.clone());
            let sum = self.sums.entry((queue, group.clone())).or_default();
            sum.add(&state.shape_of(task).request);
        }
    }

    /// In which group a queue holds something else than another count says.
    fn differs(&self, other: &Self) -> Option<String> {
        let nothing = Amounts::new();
        let sum = |held: &Self, at| held.sums.get(at).unwrap_or(&nothing).clone();
        let mut all = self.sums.keys().chain(other.sums.keys());
        let at = all.find(|at| !sum(self, at).equals(&sum(other, at), Missing::Zero))?;
        let (is, was) = (sum(other, at), sum(self, at));
        Some(format!("a queue holds {is:?} in group {} and not {was:?}", at.1))
    }
}

fn lock(held: &Mutex<Held>) -> std::sync::MutexGuard<'_, Held> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The group of a host.
fn group(world: &World, host: HostIx) -> Option<&String> {
    world.facts(host).labels.get(LABEL)
}

/// The affinity of a queue: its own, or with the tree that of the nearest queue
/// above it that has one.
fn rule_of(state: &State, queue: QueueIx, hierarchy: bool) -> Option<Arc<NodeGroups>> {
    let mut at = queue;
    // A circle of queues ends the search, too.
    for _ in state.queues() {
        if let Some(groups) = &state[at].groups {
            return Some(groups.clone()).filter(|groups| !groups.is_empty());
        }
        let is_top = !hierarchy || state[at].name == ROOT;
        let parent = if is_top { return None } else { state[at].parent.as_deref() };
        let parent = parent.filter(|name| !name.is_empty()).unwrap_or(ROOT);
        at = state.queues().find(|above| state[*above].name == parent)?;
    }
    None
}

impl NodeGroups {
    fn lets_in(&self, group: &String) -> bool {
        let in_list = |list: &[String]| list.contains(group);
        let wanted = in_list(&self.node_group_required) || in_list(&self.node_group_preferred);
        (wanted && !in_list(&self.node_group_anti_required))
            || in_list(&self.node_group_anti_preferred)
    }

    fn score(&self, group: &String, ordered: bool) -> f64 {
        if self.node_group_anti_preferred.contains(group) {
            return UNWANTED;
        }
        let required = self.node_group_required.contains(group);
        let preferred = &self.node_group_preferred;
        let place = preferred.iter().rposition(|known| known == group);
        let wish = place.map_or(0.0, |place| match ordered {
            true => PREFERRED * (preferred.len() - place) as f64 / preferred.len() as f64,
            false => PREFERRED,
        });
        if required { REQUIRED + wish } else { wish }
    }
}

impl Plugin for NodeGroup {
    fn name(&self) -> &'static str {
        "nodegroup"
    }

    fn points(&self) -> &'static [Point] {
        &[Point::Predicate, Point::NodeOrder]
    }

    fn open(&mut self, state: &State) {
        let rules = state.queues().map(|queue| rule_of(state, queue, self.hierarchy));
        self.rules = rules.collect();
        *lock(&self.held) = Held::of(state);
    }

    fn predicates(
        &self,
        state: &State,
        shape: ShapeIx,
    ) -> Result<Vec<Box<dyn NodePredicate>>, Fault> {
        let shape = &state[shape];
        let limits = shape.queue.map(|queue| state[queue].group_limits.clone());
        let mut checks: Vec<Box<dyn NodePredicate>> = vec![Box::new(GroupCheck {
            rule: self.rule(shape.queue).cloned(),
            strict: self.strict,
        })];
        if let (Some(queue), Some(limits)) = (shape.queue, limits.filter(|it| !it.is_empty())) {
            let (request, held) = (shape.request.clone(), self.held.clone());
            checks.push(Box::new(LimitCheck { queue, request, limits, held }));
        }
        Ok(checks)
    }

    fn score(&self) -> Option<&Score> {
        Some(self)
    }

    fn allocated(&mut self, state: &State, task: TaskIx) {
        lock(&self.held).count(state, task);
    }

    fn deallocated(&mut self, state: &State, task: TaskIx) {
        let mut held = lock(&self.held);
        if let Some(group) = held.places.remove(&task) {
            let queue = state[state[task].job].queue;
            if let Some(sum) = held.sums.get_mut(&(queue, group)) {
                sum.sub(&state.shape_of(task).request);
            }
        }
    }

    fn audit(&self, state: &State) -> Option<String> {
        lock(&self.held).differs(&Held::of(state))
    }
}

impl LocalScore<World, Shape> for NodeGroup {
    fn name(&self) -> &'static str {
        "nodegroup"
    }

    fn score(&self, world: &World, host: HostIx, shape: &Shape) -> f64 {
        let (group, rule) = (group(world, host), self.rule(shape.queue));
        group.zip(rule).map_or(0.0, |(group, rule)| rule.score(group, self.ordered))
    }
}

/// Whether a queue may use the group that a host is in.
struct GroupCheck {
    rule: Option<Arc<NodeGroups>>,
    strict: bool,
}

impl GroupCheck {
    fn fails(&self, world: &World, host: HostIx) -> Option<String> {
        match (group(world, host), &self.rule) {
            (None, None) if !self.strict => None,
            (None, _) => Some("are in no group of hosts".to_owned()),
            (Some(_), None) => Some("are in a group, and the queue names none".to_owned()),
            (Some(group), Some(rule)) if rule.lets_in(group) => None,
            (Some(group), Some(_)) => Some(format!("are in group {group}, not one of the queue's")),
        }
    }
}

impl NodePredicate for GroupCheck {
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

/// Whether a queue stays within its limit in the group that a host is in.
struct LimitCheck {
    queue: QueueIx,
    request: Amounts,
    limits: BTreeMap<String, Vec<(DimIx, i64)>>,
    held: Arc<Mutex<Held>>,
}

impl LimitCheck {
    /// The group and the dimension in which the queue would hold too much.
    fn exceeds(&self, world: &World, host: HostIx) -> Option<(&String, DimIx)> {
        let (group, limit) = self.limits.get_key_value(group(world, host)?)?;
        let held = lock(&self.held);
        let sum = held.sums.get(&(self.queue, group.clone()));
        let left = |dim, most: i64| most - sum.map_or(0, |sum| sum.get(dim));
        let over = limit.iter().find(|(dim, most)| self.request.get(*dim) > left(*dim, *most));
        over.map(|(dim, _)| (group, *dim))
    }
}

impl NodePredicate for LimitCheck {
    fn narrow(&self, _world: &World, _hosts: &mut HostSet) -> Result<(), Fault> {
        Ok(())
    }

    fn judge(&self, state: &State, host: HostIx) -> Result<HostVerdict, Fault> {
        Ok(match self.exceeds(&state.world, host) {
            Some(_) => HostVerdict::Unschedulable,
            None => HostVerdict::Passes,
        })
    }

    fn is_local(&self) -> bool {
        false
    }

    fn objection(&self, state: &State, host: HostIx) -> Result<Option<String>, Fault> {
        let over = self.exceeds(&state.world, host);
        Ok(over.map(|(group, dim)| {
            let name = state.world.dims().name(dim);
            format!("are in group {group}, where the queue has all the {name} it may hold")
        }))
    }
}
