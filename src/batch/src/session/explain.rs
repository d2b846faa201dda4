//! Why a shape of request finds no host: counts by cause, with numbers.

use super::objects::ShapeIx;
use super::plugin::NodePredicate;
use super::state::State;
use super::{Session, Tiers};
use crate::amounts::DimIx;
use crate::world::Room;
use std::collections::BTreeMap;
use stowplan_engine::HostIx;
use stowplan_engine::fault::Fault;

impl Session<'_> {
    /// In one sentence, why hosts cannot take a shape as things stand; the
    /// most frequent cause first.
    ///
    /// # Errors
    /// A shape or host that cannot be judged.
    pub fn explain(&self, shape: ShapeIx) -> Result<String, Fault> {
        let world = &self.state.world;
        let predicates = self.tiers.predicates(&self.state, shape)?;
        let mut causes: BTreeMap<String, usize> = BTreeMap::new();
        let mut lacking: BTreeMap<DimIx, (usize, i64)> = BTreeMap::new();
        let mut fitting = 0;
        for &host in world.order() {
            if let Some(cause) = objection(&self.state, &predicates, host)? {
                *causes.entry(cause).or_default() += 1;
                continue;
            }
            let lacks = lacks(&self.state, shape, host);
            if let Some(cause) = devices(&self.state, shape, host).filter(|_| lacks.is_empty()) {
                *causes.entry(cause).or_default() += 1;
                continue;
            }
            fitting += usize::from(lacks.is_empty());
            for (dim, idle) in lacks {
                let (count, most) = lacking.entry(dim).or_insert((0, i64::MIN));
                *count += 1;
                *most = (*most).max(idle);
            }
        }
        let request = &self.state[shape].request;
        let short = lacking.into_iter().map(|(dim, (count, most))| {
            let name = world.dims().name(dim);
            let needed = request.get(dim);
            (count, format!("{count} lack {name} (needs {needed}, most left {most})"))
        });
        let other = causes.into_iter().map(|(cause, count)| (count, format!("{count} {cause}")));
        let mut all: Vec<(usize, String)> = short.chain(other).collect();
        all.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let causes: Vec<String> = all.into_iter().map(|(_, text)| text).collect();
        let hosts = world.order().len();
        Ok(match causes.is_empty() {
            true => format!("{fitting} of {hosts} hosts fit"),
            false => format!("{fitting} of {hosts} hosts fit: {}", causes.join("; ")),
        })
    }
}

/// Why single hosts cannot take a shape as things stand: nothing for those
/// that can.
///
/// # Errors
/// A shape or host that cannot be judged.
pub fn why_not(
    state: &State,
    tiers: &Tiers,
    shape: ShapeIx,
    hosts: &[HostIx],
) -> Result<Vec<(HostIx, String)>, Fault> {
    let predicates = tiers.predicates(state, shape)?;
    let mut reasons = Vec::new();
    for &host in hosts {
        if let Some(cause) = objection(state, &predicates, host)? {
            reasons.push((host, format!("hosts like it {cause}")));
            continue;
        }
        let short = lacks(state, shape, host).into_iter().map(|(dim, left)| {
            let needed = state[shape].request.get(dim);
            format!("{} (needs {needed}, has {left} left)", state.world.dims().name(dim))
        });
        let short: Vec<String> = short.collect();
        if !short.is_empty() {
            reasons.push((host, format!("it lacks {}", short.join(", "))));
        } else if let Some(cause) = devices(state, shape, host) {
            reasons.push((host, format!("hosts like it {cause}")));
        }
    }
    Ok(reasons)
}

/// The first objection of a predicate to a host.
fn objection(
    state: &State,
    predicates: &[Box<dyn NodePredicate>],
    host: HostIx,
) -> Result<Option<String>, Fault> {
    for predicate in predicates {
        if let Some(objection) = predicate.objection(state, host)? {
            return Ok(Some(objection));
        }
    }
    Ok(None)
}

/// Dimensions in which a host has not enough for a shape, with what is left of
/// them.
fn lacks(state: &State, shape: ShapeIx, host: HostIx) -> Vec<(DimIx, i64)> {
    let world = &state.world;
    let request = &state[shape].request;
    let left = |dim| world.idle(dim, host);
    let short = request.positive().filter(|(dim, need)| *need > left(*dim));
    short.map(|(dim, _)| (dim, left(dim))).collect()
}

/// Why a host that has enough in all cannot give it provider by provider.
fn devices(state: &State, shape: ShapeIx, host: HostIx) -> Option<String> {
    let (world, dims) = (&state.world, state.world.dims());
    let shape = &state[shape];
    if !world.allows(host, shape.ask()) {
        let asked = shape.request.positive().flat_map(|(dim, _)| {
            shape.traits.of(dim).map(move |rule| format!("{} with {rule}", dims.name(dim)))
        });
        return Some(format!("have no {}", asked.collect::<Vec<_>>().join(", ")));
    }
    if world.gives(host, shape.ask(), Room::Now) {
        return None;
    }
    let many = |dim| world.devices(host, dim).len() > 1;
    let asked = shape.request.positive().filter(|(dim, _)| many(*dim));
    let asked = asked.map(|(dim, need)| format!("{need} {}", dims.name(dim)));
    let asked = asked.collect::<Vec<_>>().join(" and ");
    Some(format!("have not {asked} left on devices that suit"))
}
