//! Where the room of hosts would go at given prices.

use super::ladder::{Ladder, Offer, Plan};
use super::market::{Bid, Crowds};
use super::prices::{Tables, Toll, tolls};
use super::room::{Kind, Room, SIDES};

/// Steps of a device at most.
const MOST_STEPS: i64 = 100;

/// Devices of a host that requests for several may take together, at most.
const MOST_DEVICES: usize = 16;

/// What of a kind does not change while prices move.
pub(super) struct Frame {
    kind: Kind,
    steps: usize,
    /// Devices of a host at most.
    most: usize,
    tolls: Vec<Toll>,
}

/// What of all kinds does not change.
pub(super) fn frames(kinds: &[Kind], crowds: &Crowds) -> Vec<Frame> {
    let even = |market: usize| {
        let of_market = || kinds.iter().filter(|kind| kind.market == market);
        let worth: f64 = of_market().map(|kind| kind.worth * kind.devices as f64).sum();
        let mut even = [0.0; SIDES];
        for (side, even) in even.iter_mut().enumerate() {
            let amount: i64 = of_market().map(|kind| kind.sides[side]).sum();
            *even = if amount > 0 { worth / amount as f64 } else { 0.0 };
        }
        even
    };
    let frame = |(at, kind): (usize, &Kind)| {
        let rooms = crowds.iter().filter(|(room, _)| room.kind == at);
        let most = rooms.map(|(room, _)| room.free.len()).max().unwrap_or_default();
        Frame {
            kind: kind.clone(),
            steps: kind.size.clamp(1, MOST_STEPS) as usize,
            most: most.min(MOST_DEVICES),
            tolls: tolls(even(kind.market)),
        }
    };
    kinds.iter().enumerate().map(frame).collect()
}

impl Frame {
    /// What shapes bring on hosts of this kind at a toll.
    fn offers(&self, at: usize, bids: &[Bid], toll: Toll) -> Vec<Offer> {
        let offer = |(demand, bid): (usize, &Bid)| {
            let need = bid.needs.get(at)?.as_ref().filter(|need| need.devices > 0)?;
            let steps = need.share * self.steps as i64;
            let cost = toll.price * need.sides[toll.side] as f64;
            Some(Offer {
                demand,
                devices: usize::from(need.devices),
                steps: (steps as u64).div_ceil(self.kind.size.max(1) as u64).max(1) as usize,
                gain: self.kind.worth_of(need) - bid.price - cost,
            })
        };
        bids.iter().enumerate().filter_map(offer).collect()
    }

    fn climb(&self, at: usize, bids: &[Bid], toll: Toll, softness: &[f64]) -> (Ladder, Plan) {
        let offers = self.offers(at, bids, toll);
        Ladder::climb(&offers, self.steps, self.most, softness[self.kind.market])
    }

    /// The worths of this kind.
    pub fn tables(&self, at: usize, bids: &[Bid], softness: &[f64]) -> Tables {
        let ladders =
            self.tolls.iter().map(|toll| (*toll, self.climb(at, bids, *toll, softness).0));
        Tables { kind: self.kind.clone(), steps: self.steps, ladders: ladders.collect() }
    }
}

/// How many requests of each shape the rooms would take at these prices.
pub(super) fn asked(frames: &[Frame], bids: &[Bid], crowds: &Crowds, softness: &[f64]) -> Vec<f64> {
    let mut asked = vec![0.0; bids.len()];
    for (at, frame) in frames.iter().enumerate() {
        let soft = softness[frame.kind.market];
        let climbed =
            frame.tolls.iter().map(|toll| (*toll, frame.climb(at, bids, *toll, softness)));
        let (ladders, plans): (Vec<_>, Vec<_>) =
            climbed.map(|(toll, (ladder, plan))| ((toll, ladder), plan)).unzip();
        let tables = Tables { kind: frame.kind.clone(), steps: frame.steps, ladders };
        let mut flows: Vec<Flow> = plans.into_iter().map(|plan| Flow::new(frame, plan)).collect();
        for (room, count) in crowds.iter().filter(|(room, _)| room.kind == at) {
            let each = tables.ladders.iter().map(|(toll, ladder)| tables.at(room, *toll, ladder));
            let each: Vec<f64> = each.collect();
            let least = each.iter().copied().fold(f64::INFINITY, f64::min);
            let parts: Vec<f64> = each.iter().map(|worth| ((least - worth) / soft).exp()).collect();
            let sum: f64 = parts.iter().sum();
            for (flow, part) in flows.iter_mut().zip(parts) {
                flow.pour(&tables, room, count * part / sum);
            }
        }
        flows.into_iter().for_each(|flow| flow.run(&mut asked));
    }
    asked
}

/// Room on its way from what is left now to what requests take of it.
struct Flow {
    plan: Plan,
    cells: Vec<f64>,
    wholes: Vec<f64>,
}

impl Flow {
    fn new(frame: &Frame, plan: Plan) -> Self {
        Self { plan, cells: vec![0.0; frame.steps + 1], wholes: vec![0.0; frame.most + 1] }
    }

    fn pour(&mut self, tables: &Tables, room: &Room, amount: f64) {
        if amount < 1e-4 {
            return;
        }
        let (wholes, rest) = tables.split(room, self.wholes.len() - 1);
        self.wholes[wholes] += amount;
        rest.for_each(|steps| self.cells[steps] += amount);
    }

    /// From the most room to the least, each choice passing on what it leaves.
    fn run(mut self, asked: &mut [f64]) {
        for count in (1..self.wholes.len()).rev() {
            for (offer, part) in &self.plan.wholes[count] {
                let amount = self.wholes[count] * part;
                match offer {
                    Some(offer) => {
                        asked[offer.demand] += amount;
                        self.wholes[count - offer.devices] += amount;
                    }
                    None => {
                        *self.cells.last_mut().unwrap_or(&mut 0.0) += amount;
                        self.wholes[count - 1] += amount;
                    }
                }
            }
        }
        for left in (1..self.cells.len()).rev() {
            for (offer, part) in &self.plan.cells[left] {
                let Some(offer) = offer else { continue };
                let amount = self.cells[left] * part;
                asked[offer.demand] += amount;
                self.cells[left - offer.steps] += amount;
            }
        }
    }
}
