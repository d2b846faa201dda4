//! How full and how evenly used a host would be with the task.

use crate::amounts::{DimIx, Quantity};
use crate::session::Shape;
use crate::world::{Kind, World};
use stowplan_engine::HostIx;

/// The best score.
const MAX_SCORE: i64 = 100;
/// The device that is looked at beside cpu and memory when a task asks for it.
const DEVICE: &str = "nvidia.com/gpu";

/// What is free with the task there, as a mean of cpu and memory.
pub(super) fn least(world: &World, host: HostIx, shape: &Shape) -> i64 {
    mean(
        world,
        host,
        shape,
        |requested, all| {
            if requested > all { 0 } else { (all - requested) * MAX_SCORE / all }
        },
    )
}

/// What is used with the task there, as a mean of cpu and memory.
pub(super) fn most(world: &World, host: HostIx, shape: &Shape) -> i64 {
    mean(world, host, shape, |requested, all| requested.min(all) * MAX_SCORE / all)
}

/// The mean over cpu and memory, as far as the host has them. Tasks that ask
/// for none of one count as using a little of it.
fn mean(world: &World, host: HostIx, shape: &Shape, score: impl Fn(i64, i64) -> i64) -> i64 {
    let (mut sum, mut count) = (0, 0);
    let floors = [(DimIx::CPU, Quantity::milli(100)), (DimIx::MEMORY, Quantity::units(200 << 20))];
    for (dim, floor) in floors {
        let all = world.amount(Kind::Allocatable, dim, host);
        if all > 0 {
            let own = match shape.request.get(dim) {
                0 => floor.quanta(world.dims().quantum(dim)),
                asked => asked,
            };
            let used = world.staying(dim, host) + world.amount(Kind::Padding, dim, host);
            sum += score(used + own, all);
            count += 1;
        }
    }
    if count == 0 { 0 } else { sum / count }
}

/// How much more evenly the host is used with the task than without: 75 when it
/// makes no difference, 50 to 100.
pub(super) fn balanced(world: &World, host: HostIx, shape: &Shape) -> i64 {
    let device = world.dims().ix(DEVICE).filter(|dim| shape.request.get(*dim) > 0);
    let dims = [Some(DimIx::CPU), Some(DimIx::MEMORY), device];
    let asks = dims.iter().flatten().any(|dim| shape.request.get(*dim) > 0);
    if !asks {
        return 0;
    }
    let evenness = |with: i64| {
        let mut fractions = [0.0; 3];
        let mut count = 0;
        for dim in dims.iter().flatten() {
            let all = world.amount(Kind::Allocatable, *dim, host);
            if all > 0 {
                let used = world.staying(*dim, host) + with * shape.request.get(*dim);
                fractions[count] = (used as f64 / all as f64).min(1.0);
                count += 1;
            }
        }
        ((1.0 - deviation(&fractions[..count])) * MAX_SCORE as f64) as i64
    };
    50 + (50 + evenness(1) - evenness(0)) / 2
}

/// The standard deviation of all.
fn deviation(fractions: &[f64]) -> f64 {
    match fractions {
        [a, b] => ((a - b) / 2.0).abs(),
        [_, _, ..] => {
            let count = fractions.len() as f64;
            let mean = fractions.iter().sum::<f64>() / count;
            let squares: f64 = fractions.iter().map(|f| (f - mean) * (f - mean)).sum();
            (squares / count).sqrt()
        }
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations() {
        assert_eq!(deviation(&[0.5, 0.1]), 0.2);
        assert_eq!(deviation(&[0.3]), 0.0);
        assert!((deviation(&[0.0, 0.5, 1.0]) - (1.0_f64 / 6.0).sqrt()).abs() < 1e-12);
    }
}
