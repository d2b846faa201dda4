//! The hosts of a scenario.

use super::BatchFailure;
use super::build::uuid;
use super::cluster::{Cluster, NodeInput};
use crate::amounts::{DimIx, Dims};
use crate::world::{HostState, Source, Sources, World};
use std::sync::Arc;
use stowplan_engine::table::{Figure, Figures, HostFacts, HostNuma, HostRow, Metric, StateFlags};
use stowplan_engine::{HostIx, HostTable};
use stowplan_model::Micros;

/// Hosts by their names, each with one source per dimension.
pub(super) fn world(
    cluster: &Cluster,
    dims: &Arc<Dims>,
    now: Micros,
) -> Result<World, BatchFailure> {
    let mut nodes: Vec<&NodeInput> = cluster.nodes.iter().collect();
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    let mut table = HostTable::new();
    let mut states = Vec::new();
    for (place, node) in nodes.into_iter().enumerate() {
        let ix = HostIx(place as u32);
        let id = uuid("node", &node.name);
        let flags = if node.unschedulable { StateFlags::UNSCHEDULABLE } else { 0 };
        let figures =
            Figures::default().with(Figure::AliveSince, now.0).with(Figure::StateFlags, flags);
        let facts = HostFacts {
            host: node.name.clone(),
            node: node.name.clone(),
            uuid: id,
            labels: node.labels.clone(),
            taints: node.taints.clone(),
            metrics: metrics(node),
            ..HostFacts::default()
        };
        table.upsert(ix, HostRow { facts, figures, numa: numa(node), ..HostRow::default() });
        let amounts = node.allocatable.whole(dims).map_err(|fault| {
            BatchFailure::Input(format!("node {:?}, allocatable: {fault}", node.name))
        })?;
        let used = node.used.charged(dims);
        let used = used
            .map_err(|fault| BatchFailure::Input(format!("node {:?}, used: {fault}", node.name)))?;
        let mut sources = Sources::default();
        for (dim, capacity) in amounts.iter().filter(|(dim, _)| !has_devices(node, dims, *dim)) {
            sources.push(Source { used: used.get(dim), ..Source::plain(dim, id, capacity) });
        }
        for (name, devices) in &node.devices {
            let dim = dims.ix(name).ok_or_else(|| {
                let what = format!("node {:?}, devices: {name:?} is no dimension", node.name);
                BatchFailure::Input(what)
            })?;
            for (number, device) in devices.iter().enumerate() {
                let provider = uuid("device", &format!("{}/{name}/{number}", node.name));
                sources.push(Source {
                    used: device.used,
                    min_unit: device.min_unit,
                    max_unit: device.max_unit,
                    step_size: device.step_size,
                    ..Source::plain(dim, provider, device.capacity)
                });
            }
        }
        states.push((ix, HostState { sources, figures }));
    }
    let order = states.iter().map(|(ix, _)| *ix).collect();
    let mut world = World::new(dims.clone(), table, order);
    states.into_iter().for_each(|(ix, state)| world.load(ix, state));
    Ok(world)
}

/// What a node measures; nothing without monitors.
fn metrics(node: &NodeInput) -> Option<Vec<Metric>> {
    let metric = |(name, value): (&String, &i64)| Metric { name: name.clone(), value: *value };
    let all: Vec<Metric> = node.metrics.iter().map(metric).collect();
    (!all.is_empty()).then_some(all)
}

fn numa(node: &NodeInput) -> Option<HostNuma> {
    let cells = node.numa_cells.clone();
    (!cells.is_empty()).then_some(HostNuma { cells })
}

/// Whether a dimension of a node comes from devices, which tell what is held of
/// them.
pub(super) fn has_devices(node: &NodeInput, dims: &Dims, dim: DimIx) -> bool {
    node.devices.contains_key(dims.name(dim))
}
