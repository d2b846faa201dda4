//! The tasks of one job, sorted into buckets.

use super::rules::Rules;
use crate::amounts::{Amounts, DimIx, Dims, Quantity};
use crate::session::{JobIx, State, Status, TaskIx};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use stowplan_engine::HostIx;

/// Tasks that are to be near each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Bucket {
    /// Tasks that wait for a host.
    pub(super) waiting: BTreeSet<TaskIx>,
    /// What these ask for.
    pub(super) request: Amounts,
    /// The size of that, with a core, a device and a GiB alike.
    size: f64,
    /// All of its tasks by role, wherever they are.
    roles: BTreeMap<u32, i64>,
    /// Those that have a host, by host.
    pub(super) placed: BTreeMap<HostIx, i64>,
}

/// All buckets of a job.
#[derive(Clone, Debug)]
pub(super) struct Buckets {
    rules: Rules,
    buckets: Vec<Bucket>,
    bucket_of: BTreeMap<TaskIx, usize>,
    /// The most tasks that a bucket has.
    pub(super) most: i64,
    /// Tasks that got a host in this cycle: where, and by host and role.
    came: BTreeMap<TaskIx, HostIx>,
    by_host: BTreeMap<HostIx, BTreeMap<u32, i64>>,
    /// Tasks that lost their host in this cycle.
    left: BTreeMap<TaskIx, HostIx>,
}

impl Buckets {
    /// Sorts the tasks of a job: those with a host by host; then the others, by
    /// rank of their roles and by name, each into the bucket that pulls it most,
    /// the smallest of equals, or into one of its own when all push it off.
    pub(super) fn new(state: &State, job: JobIx, rules: Rules) -> Self {
        let mut all = Self {
            rules,
            buckets: Vec::new(),
            bucket_of: BTreeMap::new(),
            most: 0,
            came: BTreeMap::new(),
            by_host: BTreeMap::new(),
            left: BTreeMap::new(),
        };
        let tasks = state[job].tasks.iter().copied();
        let concerned = tasks.filter(|task| all.rules.concern(state[*task].role));
        let (placed, mut waiting): (Vec<TaskIx>, Vec<TaskIx>) = concerned
            .filter(|task| state[*task].host.is_some() || state[*task].status == Status::Pending)
            .partition(|task| state[*task].host.is_some());
        all.sort_placed(state, placed);
        waiting.sort_by_cached_key(|task| {
            let at = &state[*task];
            (Reverse(all.rules.rank(at.role)), at.name.clone())
        });
        waiting.into_iter().for_each(|task| all.sort_waiting(state, task));
        let size =
            |bucket: &Bucket| bucket.waiting.len() as i64 + bucket.placed.values().sum::<i64>();
        all.most = all.buckets.iter().map(size).max().unwrap_or_default();
        all
    }

    fn sort_placed(&mut self, state: &State, mut placed: Vec<TaskIx>) {
        let host = |task: &TaskIx| state[*task].host;
        let rank = |task: &TaskIx| host(task).map(|host| state.world.rank(host));
        placed.sort_by_key(rank);
        let mut of_host: BTreeMap<HostIx, usize> = BTreeMap::new();
        for task in placed {
            let Some(host) = host(&task) else { continue };
            let at = *of_host.entry(host).or_insert_with(|| {
                self.buckets.push(Bucket::default());
                self.buckets.len() - 1
            });
            let bucket = &mut self.buckets[at];
            *bucket.roles.entry(state[task].role).or_default() += 1;
            *bucket.placed.entry(host).or_default() += 1;
            self.bucket_of.insert(task, at);
        }
    }

    fn sort_waiting(&mut self, state: &State, task: TaskIx) {
        let role = state[task].role;
        let mut best: Option<(i64, usize)> = None;
        for (at, bucket) in self.buckets.iter().enumerate() {
            let pull = self.rules.pull(role, &bucket.roles);
            let better = best.is_none_or(|(most, known)| {
                pull > most || (pull == most && bucket.size < self.buckets[known].size)
            });
            if better {
                best = Some((pull, at));
            }
        }
        let at = match best {
            Some((pull, at)) if pull >= 0 => at,
            _ => {
                self.buckets.push(Bucket::default());
                self.buckets.len() - 1
            }
        };
        let bucket = &mut self.buckets[at];
        *bucket.roles.entry(role).or_default() += 1;
        bucket.wait(state, task);
        self.bucket_of.insert(task, at);
    }

    pub(super) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The bucket of a task; none for one that no rule is about.
    pub(super) fn bucket_of(&self, task: TaskIx) -> Option<usize> {
        self.bucket_of.get(&task).copied()
    }

    /// How many tasks of a bucket wait.
    pub(super) fn waiting(&self, bucket: usize) -> usize {
        self.buckets.get(bucket).map_or(0, |bucket| bucket.waiting.len())
    }

    pub(super) fn bucket(&self, at: usize) -> Option<&Bucket> {
        self.buckets.get(at)
    }

    /// How many tasks that came to a host in this cycle a role is to be apart
    /// from.
    pub(super) fn push(&self, role: u32, host: HostIx) -> i64 {
        self.by_host.get(&host).map_or(0, |roles| self.rules.push(role, roles))
    }

    /// A task has got a host, or keeps the one that it had after all.
    pub(super) fn come(&mut self, state: &State, task: TaskIx) {
        let Some(host) = state[task].host else { return };
        let bucket = self.bucket_of.get(&task).and_then(|at| self.buckets.get_mut(*at));
        if let Some(bucket) = bucket {
            *bucket.placed.entry(host).or_default() += 1;
            if self.left.remove(&task).is_some() {
                return;
            }
            bucket.stop_waiting(state, task);
        }
        self.came.insert(task, host);
        let roles = self.by_host.entry(host).or_default();
        *roles.entry(state[task].role).or_default() += 1;
    }

    /// A task has lost its host.
    pub(super) fn leave(&mut self, state: &State, task: TaskIx) {
        let came = self.came.remove(&task);
        let bucket = self.bucket_of.get(&task).and_then(|at| self.buckets.get_mut(*at));
        if let Some(host) = came {
            let role = state[task].role;
            if let Some(count) = self.by_host.get_mut(&host).and_then(|roles| roles.get_mut(&role))
            {
                *count -= 1;
            }
        }
        let (Some(bucket), Some(host)) = (bucket, came.or(state[task].host)) else { return };
        if let Some(count) = bucket.placed.get_mut(&host) {
            *count -= 1;
        }
        if came.is_some() {
            bucket.wait(state, task);
        } else {
            self.left.insert(task, host);
        }
    }
}

impl Bucket {
    fn wait(&mut self, state: &State, task: TaskIx) {
        if self.waiting.insert(task) {
            let request = &state.shape_of(task).request;
            self.request.add(request);
            self.size += size(state.world.dims(), request);
        }
    }

    fn stop_waiting(&mut self, state: &State, task: TaskIx) {
        if self.waiting.remove(&task) {
            let request = &state.shape_of(task).request;
            self.request.sub(request);
            self.size -= size(state.world.dims(), request);
        }
    }
}

/// The size of a request: a thousandth of a core or of a device counts like a
/// MiB (the peer's figure).
fn size(dims: &Dims, request: &Amounts) -> f64 {
    let part = |(dim, amount): (DimIx, i64)| match dim {
        DimIx::PODS => amount as f64,
        DimIx::MEMORY => {
            let bytes = dims.quantum(dim).quanta(Quantity::units(1)) as f64;
            amount as f64 * bytes / f64::from(1 << 20)
        }
        _ => amount as f64 * dims.quantum(dim).quanta(Quantity::milli(1)) as f64,
    };
    request.positive().map(part).sum()
}
