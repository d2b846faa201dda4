//! Hosts, with what others than the scenario's tasks hold there.

use super::Exported;
use crate::amounts::{Amounts, DimIx};
use crate::session::Status;
use crate::world::{Kind, Source};
use serde_json::{Map, Value, json};
use stowplan_engine::table::StateFlags;
use stowplan_engine::{Figure, HostIx, HostView};

impl Exported<'_> {
    /// The hosts, by name.
    pub(super) fn nodes(&self) -> Vec<Value> {
        self.state.world.order().iter().map(|host| self.node(*host)).collect()
    }

    fn node(&self, host: HostIx) -> Value {
        let world = &self.state.world;
        let (facts, dims) = (world.facts(host), world.dims());
        let all = |kind| dims.iter().map(move |(dim, _)| (dim, world.amount(kind, dim, host)));
        let mut devices = Map::new();
        for (dim, _) in dims.iter() {
            let sources = world.sources_of(host).of(dim);
            if let [one] = sources
                && one.is_plain()
            {
                continue;
            }
            if !sources.is_empty() {
                let parts = sources.iter().map(device).collect();
                devices.insert(dims.name(dim).to_owned(), Value::Array(parts));
            }
        }
        let (held, leaving) = (self.held(host, false), self.held(host, true));
        let others = |dim: DimIx| {
            let free = world.amount(Kind::Releasing, dim, host) - leaving.get(dim);
            world.amount(Kind::Used, dim, host) - held.get(dim) - free
        };
        let used = dims.iter().map(|(dim, _)| (dim, others(dim)));
        let used = used.filter(|(dim, used)| *used > 0 && !devices.contains_key(dims.name(*dim)));
        json!({
            "name": facts.node,
            "allocatable": self.texts(dims, all(Kind::Allocatable)),
            "used": self.texts(dims, used),
            "devices": devices,
            "labels": facts.labels,
            "taints": facts.taints,
            "unschedulable": self.is_closed(host),
        })
    }

    /// What tasks hold on a host: all of them, or only those on their way out.
    fn held(&self, host: HostIx, leaving: bool) -> Amounts {
        let mut held = Amounts::new();
        for task in self.state.residents(host) {
            let status = self.state[*task].status;
            if status == Status::Releasing || (!leaving && status != Status::Pipelined) {
                held.add(&self.state.shape_of(*task).request);
            }
        }
        held
    }

    /// Whether tasks are kept off a host: it takes none, or is disabled or down.
    fn is_closed(&self, host: HostIx) -> bool {
        const CLOSED: i64 =
            StateFlags::DISABLED | StateFlags::FORCED_DOWN | StateFlags::UNSCHEDULABLE;
        let world = &self.state.world;
        let silent = self.state.now.0.saturating_sub(world.figure(Figure::AliveSince, host));
        world.figure(Figure::StateFlags, host) & CLOSED != 0
            || silent > self.engine.service_down_time
    }

    /// Room on hosts that is as good as free, although no task of the
    /// scenario's jobs holds it.
    pub(super) fn strays(&self) -> Vec<Value> {
        let world = &self.state.world;
        let mut strays = Vec::new();
        for &host in world.order() {
            let leaving = self.held(host, true);
            let free = |dim| world.amount(Kind::Releasing, dim, host) - leaving.get(dim);
            let free: Vec<(DimIx, i64)> =
                world.dims().iter().map(|(dim, _)| (dim, free(dim))).collect();
            if free.iter().all(|(_, amount)| *amount <= 0) {
                continue;
            }
            let node = &world.facts(host).node;
            strays.push(json!({
                "name": format!("leaving {node}"),
                "phase": "Running",
                "node": node,
                "deleting": true,
                "requests": self.texts(world.dims(), free.into_iter()),
            }));
        }
        strays
    }
}

fn device(source: &Source) -> Value {
    json!({
        "capacity": source.capacity,
        "used": source.used,
        "min_unit": source.min_unit,
        "max_unit": source.max_unit,
        "step_size": source.step_size,
    })
}
