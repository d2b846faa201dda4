//! How good a host is for a task: how much of its bucket is there, or would
//! fit.

use super::buckets::{Bucket, Buckets};
use crate::amounts::{Amounts, DimIx};
use crate::session::{SetScore, State, TaskIx};
use crate::world::Kind;
use std::sync::Arc;
use stowplan_engine::HostIx;

/// The best score before the weight.
const MAX_SCORE: f64 = 100.0;

/// The score of hosts for a task of a bucket.
pub(super) struct BucketScore {
    pub(super) buckets: Arc<Buckets>,
    pub(super) bucket: usize,
    pub(super) task: TaskIx,
    pub(super) weight: i64,
}

impl BucketScore {
    /// Tasks of the bucket that are on the host, less those in this cycle that
    /// the task is to be apart from, and those that wait and would fit there
    /// together with it.
    fn tasks(&self, state: &State, bucket: &Bucket, host: HostIx) -> i64 {
        let (world, request) = (&state.world, &state.shape_of(self.task).request);
        let room = |dim: DimIx| world.idle(dim, host) + world.amount(Kind::Releasing, dim, host);
        if !request.within(room) {
            return 0;
        }
        let there = bucket.placed.get(&host).copied().unwrap_or_default();
        let mut sum = there - self.buckets.push(state[self.task].role, host);
        sum += bucket.waiting.len() as i64;
        let mut left: Amounts = bucket.request.clone();
        let mut others = bucket.waiting.iter().rev().filter(|other| **other != self.task);
        while !left.within(room)
            && let Some(other) = others.next()
        {
            left.sub(&state.shape_of(*other).request);
            sum -= 1;
        }
        sum
    }
}

impl SetScore for BucketScore {
    fn add(&self, state: &State, hosts: &[HostIx], scores: &mut [f64]) {
        let Some(bucket) = self.buckets.bucket(self.bucket) else { return };
        let factor =
            if self.buckets.most == 0 { 1.0 } else { MAX_SCORE / self.buckets.most as f64 };
        for (score, host) in scores.iter_mut().zip(hosts) {
            *score += (self.tasks(state, bucket, *host) * self.weight) as f64 * factor;
        }
    }
}
