//! Amounts of all hosts, one column per dimension and kind.

use crate::amounts::{Amounts, DimIx};
use stowplan_engine::HostIx;

/// What of a host a column tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What there is to give.
    Allocatable,
    /// What is held, by tasks and by everybody else.
    Used,
    /// The part of what is held that its holders are giving back.
    Releasing,
    /// What is promised of that.
    Pipelined,
    /// The part of what is being given back that was taken away in this cycle.
    Evicted,
    /// By how much the tasks on the host count for more than they ask for when
    /// hosts are scored by how full they are: a task that asks for no cpu or no
    /// memory still uses some.
    Padding,
}

impl Kind {
    const COUNT: usize = 6;
}

/// The columns: one block of numbers, host by host within a dimension, so that
/// a scan of one dimension walks through memory in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    dims: usize,
    slots: usize,
    values: Vec<i64>,
}

impl Columns {
    /// Columns of nothing for so many dimensions and hosts.
    #[must_use]
    pub fn new(dims: usize, slots: usize) -> Self {
        Self { dims, slots, values: vec![0; dims * slots * Kind::COUNT] }
    }

    /// One amount of one host.
    #[must_use]
    pub fn get(&self, kind: Kind, dim: DimIx, host: HostIx) -> i64 {
        self.place(kind, dim, host).map_or(0, |at| self.values[at])
    }

    /// Sets one amount of one host.
    pub fn set(&mut self, kind: Kind, dim: DimIx, host: HostIx, value: i64) {
        if let Some(at) = self.place(kind, dim, host) {
            self.values[at] = value;
        }
    }

    /// Adds amounts to one host, `sign` times.
    pub fn add(&mut self, kind: Kind, host: HostIx, amounts: &Amounts, sign: i64) {
        for (dim, value) in amounts.iter() {
            if let Some(at) = self.place(kind, dim, host) {
                self.values[at] += sign * value;
            }
        }
    }

    /// What is left: allocatable - used.
    #[must_use]
    pub fn idle(&self, dim: DimIx, host: HostIx) -> i64 {
        self.get(Kind::Allocatable, dim, host) - self.get(Kind::Used, dim, host)
    }

    /// What will be left: idle + releasing - pipelined.
    #[must_use]
    pub fn future_idle(&self, dim: DimIx, host: HostIx) -> i64 {
        self.idle(dim, host) + self.get(Kind::Releasing, dim, host)
            - self.get(Kind::Pipelined, dim, host)
    }

    /// What tasks that stay ask for: used + pipelined - evicted.
    #[must_use]
    pub fn staying(&self, dim: DimIx, host: HostIx) -> i64 {
        self.get(Kind::Used, dim, host) + self.get(Kind::Pipelined, dim, host)
            - self.get(Kind::Evicted, dim, host)
    }

    fn place(&self, kind: Kind, dim: DimIx, host: HostIx) -> Option<usize> {
        let (dim, host) = (dim.index(), host.index());
        let inside = dim < self.dims && host < self.slots;
        inside.then(|| (kind as usize * self.dims + dim) * self.slots + host)
    }
}
