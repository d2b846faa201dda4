//! What rooms are worth, and what placements waste.

use super::ladder::Ladder;
use super::room::{Kind, Need, Room, SIDES};
use std::collections::BTreeMap;

/// What a unit of one side amount costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Toll {
    pub side: usize,
    pub price: f64,
}

/// Worths of one kind of host.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tables {
    pub kind: Kind,
    /// Steps into which a device is divided.
    pub steps: usize,
    pub ladders: Vec<(Toll, Ladder)>,
}

/// What rooms are worth. Without anything learnt everything is worth nothing,
/// so no host is better than another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices {
    pub(super) kinds: Vec<Tables>,
    /// What one more request of a shape would bring, by what it needs.
    pub(super) requests: BTreeMap<Vec<Option<Need>>, f64>,
}

impl Tables {
    /// Steps of a device that so much of it holds, rounded down.
    fn held(&self, free: i64) -> usize {
        let steps = free.max(0) * self.steps as i64 / self.kind.size.max(1);
        (steps as usize).min(self.steps)
    }

    /// How many devices of a room are untouched, `most` at most, and the steps
    /// that each other one has left.
    pub fn split<'a>(
        &'a self,
        room: &'a Room,
        most: usize,
    ) -> (usize, impl Iterator<Item = usize> + 'a) {
        let untouched = room.free.iter().filter(|free| **free >= self.kind.size).count();
        let (wholes, mut skipped) = (untouched.min(most), 0);
        let others = room.free.iter().filter(move |free| {
            let skip = **free >= self.kind.size && skipped < wholes;
            skipped += usize::from(skip);
            !skip
        });
        (wholes, others.map(|free| self.held(*free)))
    }

    /// What a room is worth at one toll.
    pub fn at(&self, room: &Room, toll: Toll, ladder: &Ladder) -> f64 {
        let side = toll.price * room.sides[toll.side].max(0) as f64;
        let (wholes, rest) = self.split(room, ladder.wholes.len() - 1);
        side + ladder.wholes[wholes] + rest.map(|steps| ladder.cells[steps]).sum::<f64>()
    }

    fn value(&self, room: &Room) -> f64 {
        let all = self.ladders.iter().map(|(toll, ladder)| self.at(room, *toll, ladder));
        all.fold(f64::INFINITY, f64::min)
    }
}

impl Kind {
    /// What a request fills is worth.
    #[must_use]
    pub fn worth_of(&self, need: &Need) -> f64 {
        let amount = i64::from(need.devices) * need.share;
        self.worth * amount as f64 / self.size.max(1) as f64
    }
}

impl Prices {
    /// What a room is worth, in the unit of [`Kind::worth`]: what may still be
    /// placed there, less what that keeps from other hosts.
    #[must_use]
    pub fn value(&self, room: &Room) -> f64 {
        self.kinds.get(room.kind).map_or(0.0, |tables| tables.value(room))
    }

    /// What placing a request there wastes, in the unit of [`Kind::worth`]: by
    /// how much more than its own worth the room loses. It is below nothing where
    /// the request is one that is hard to place elsewhere. None where it does not
    /// fit.
    #[must_use]
    pub fn waste(&self, room: &Room, need: &Need) -> Option<f64> {
        let after = room.after(need)?;
        let Some(tables) = self.kinds.get(room.kind) else { return Some(0.0) };
        Some(tables.value(room) - tables.value(&after) - tables.kind.worth_of(need))
    }
}

/// The prices at which a side amount is tried, as multiples of what a unit
/// would be worth if it were shared evenly by the devices of a market.
const MULTIPLES: [f64; 13] =
    [0.05, 0.14, 0.26, 0.38, 0.52, 0.7, 0.87, 1.1, 1.4, 1.7, 2.25, 3.1, 4.5];

/// All tolls: none, then those on each side amount. `even` is what a unit of
/// each would be worth if shared evenly.
pub(super) fn tolls(even: [f64; SIDES]) -> Vec<Toll> {
    let mut tolls = vec![Toll { side: 0, price: 0.0 }];
    for (side, even) in even.into_iter().enumerate().filter(|(_, even)| *even > 0.0) {
        tolls.extend(MULTIPLES.map(|multiple| Toll { side, price: multiple * even }));
    }
    tolls
}
