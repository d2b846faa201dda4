//! Why a shape of request finds no host: counts by cause, with numbers.

use super::Session;
use super::objects::ShapeIx;
use crate::amounts::DimIx;
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
            let mut objection = None;
            for predicate in &predicates {
                objection = predicate.objection(&self.state, host)?;
                if objection.is_some() {
                    break;
                }
            }
            if let Some(cause) = objection {
                *causes.entry(cause).or_default() += 1;
                continue;
            }
            let lacks = self.lacks(shape, host);
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

    /// Dimensions in which a host has not enough for a shape, with what is
    /// left of them.
    fn lacks(&self, shape: ShapeIx, host: HostIx) -> Vec<(DimIx, i64)> {
        let world = &self.state.world;
        let request = &self.state[shape].request;
        let left = |dim| world.idle(dim, host);
        let short: Vec<_> = request.positive().filter(|(dim, need)| *need > left(*dim)).collect();
        if short.is_empty() && !world.fits_idle(host, request) {
            // Enough in all, but not on the devices as they are.
            return request.positive().map(|(dim, _)| (dim, left(dim))).collect();
        }
        short.into_iter().map(|(dim, _)| (dim, left(dim))).collect()
    }
}
