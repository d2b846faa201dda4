//! Weighs hosts anew of which one has changed.

use std::mem;
use std::sync::Arc;

use super::{WeighPlan, Weighed};
use crate::fault::StageFault;
use crate::table::PoolId;
use crate::view::HostView;

/// Whose weights are others.
#[derive(Debug)]
pub(crate) enum Change {
    /// One host's, which was this before.
    One(f64),
    /// All hosts', which were these before: the range of a weigher is another.
    All(Arc<Vec<f64>>),
}

impl WeighPlan {
    /// Weighs the host at `place` anew, and all others with it where that is
    /// called for. The outcome is that of [`WeighPlan::weigh`], to the last
    /// bit. `sets` are the hosts' sets of host aggregates.
    ///
    /// # Errors
    /// The first weigher that cannot weigh the host.
    pub(crate) fn weigh_again(
        &self,
        view: &dyn HostView,
        weighed: &mut Weighed,
        sets: &[PoolId],
        place: usize,
    ) -> Result<Change, StageFault> {
        let host = weighed.hosts[place];
        let mut moved = false;
        for (row, column) in self.rows.iter().zip(&mut weighed.columns) {
            if column.constant.is_some() {
                continue;
            }
            let value = row.raw.one(view, host).map_err(StageFault::at(row.weigher))?;
            moved |= column.set(place, row.bounds.clamp(value), &row.bounds);
        }
        if moved {
            let weights = self.sums(&weighed.columns, sets, weighed.hosts.len());
            return Ok(Change::All(mem::replace(&mut weighed.weights, Arc::new(weights))));
        }
        let mut weight = [0.0];
        for (row, column) in self.rows.iter().zip(&weighed.columns) {
            row.add(&mut weight, column, sets, place);
        }
        let slot = &mut Arc::make_mut(&mut weighed.weights)[place];
        Ok(Change::One(mem::replace(slot, weight[0])))
    }
}
