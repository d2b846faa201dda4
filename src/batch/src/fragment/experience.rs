//! What was learnt of the tasks that arrive, kept from session to session.

use super::Options;
use super::hosts::Outlook;
use super::kinds::Grouping;
use crate::amounts::Dims;
use crate::session::{Shape, State, Wishes};
use crate::world::World;
use foldhash::{HashMap, HashMapExt};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stowplan_engine::fragment::Learner;
use stowplan_model::{Micros, Uuid};

/// The mix of the tasks that have arrived and the prices learnt from it. Clones
/// are the same experience. It is bounded: shapes that are rare or long past are
/// forgotten.
#[derive(Clone, Debug, Default)]
pub struct Experience(Arc<Mutex<Learnt>>);

#[derive(Debug, Default)]
struct Learnt {
    learner: Learner<Shape>,
    /// The newest job that was counted.
    newest: Option<(Micros, Uuid)>,
    /// What shapes and prices were learnt with.
    dims: Option<Arc<Dims>>,
    options: Option<Options>,
    grouping: Arc<Grouping>,
}

/// All of a shape that decides which hosts it may go to and what it takes there.
pub(super) fn essence(shape: &Shape) -> Shape {
    let wishes = shape.wishes.as_ref().filter(|wishes| !wishes.node_required.is_empty());
    let required = |wishes: &Arc<Wishes>| {
        let node_required = wishes.node_required.clone();
        Arc::new(Wishes { node_required, ..Wishes::default() })
    };
    Shape {
        wishes: wishes.map(required),
        // Numbers of one session; and what only scores look at.
        queue: None,
        notes: Arc::default(),
        ..shape.clone()
    }
}

impl Experience {
    fn learnt(&self) -> MutexGuard<'_, Learnt> {
        // What is half learnt is still a mix and prices.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts the tasks of jobs that were not there before.
    pub fn observe(&self, state: &State) {
        let mut learnt = self.learnt();
        let dims = state.world.dims();
        if learnt.dims.as_deref() != Some(dims) {
            *learnt = Learnt { dims: Some(Arc::new(dims.clone())), ..Learnt::default() };
        }
        let (mut newest, mut counts) = (learnt.newest, HashMap::new());
        for job in state.jobs().map(|job| &state[job]) {
            let age = Some((job.created, job.uuid));
            if age <= learnt.newest {
                continue;
            }
            newest = newest.max(age);
            for task in &job.tasks {
                *counts.entry(state[*task].shape).or_insert(0) += 1;
            }
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_unstable();
        for (shape, tasks) in counts {
            learnt.learner.mix.observe(essence(&state[shape]), tasks);
        }
        learnt.newest = newest;
    }

    /// What hosts are worth by now. Prices are learnt anew when much has arrived
    /// since they were.
    pub fn outlook(&self, world: &World, options: &Options) -> Outlook {
        let mut learnt = self.learnt();
        let is_new = learnt.options.as_ref() != Some(options);
        if is_new || learnt.learner.is_due() {
            let shapes = learnt.learner.mix.iter().map(|(shape, _)| shape);
            let grouping = Arc::new(Grouping::new(world, options, shapes));
            let rooms = grouping.rooms(world);
            learnt.learner.learn(&grouping.kinds, rooms, |shape, kind| grouping.need(shape, kind));
            (learnt.grouping, learnt.options) = (grouping, Some(options.clone()));
        }
        Outlook::new(world, learnt.grouping.clone(), learnt.learner.prices().clone())
    }
}
