//! How prices are learnt: by moving them until what is asked is what arrives.

use super::flow::{asked, frames};
use super::prices::Prices;
use super::room::{Demand, Kind, Need, Room};
use std::collections::BTreeMap;

/// Shapes looked at: those that weigh most, up to this part of all.
const COVERED: f64 = 0.97;

/// And so many at most.
const MOST_DEMANDS: usize = 96;

/// How soft choices are, as a part of what a request is worth per device on
/// average.
const SOFTNESS: f64 = 0.025;

/// Rounds of moving prices: at first, and from earlier prices on.
const ROUNDS: (usize, usize) = (150, 10);

/// A shape and its price while prices are learnt.
pub(super) struct Bid {
    /// What requests take, by kind of host.
    pub needs: Vec<Option<Need>>,
    /// The most that it is worth anywhere, and where that is.
    worth: f64,
    market: usize,
    /// How many are expected.
    expected: f64,
    pub price: f64,
}

/// Rooms that are alike, and how many.
pub(super) type Crowds = Vec<(Room, f64)>;

impl Prices {
    /// Prices for the rooms of all hosts and a mix of requests, moved on from
    /// these. The outcome depends on nothing else.
    #[must_use]
    pub fn learn(
        &self,
        kinds: &[Kind],
        rooms: impl IntoIterator<Item = Room>,
        demands: Vec<Demand>,
    ) -> Self {
        let crowds = crowds(rooms, kinds);
        let mut bids = bids(kinds, demands);
        let softness = expect(&mut bids, kinds, &crowds);
        for bid in &mut bids {
            bid.price = self.requests.get(&bid.needs).copied().unwrap_or_default();
        }
        let anew = self.requests.is_empty();
        let rounds = if anew { ROUNDS.0 } else { ROUNDS.1 };
        let frames = frames(kinds, &crowds);
        for round in 0..rounds {
            let asked = asked(&frames, &bids, &crowds, &softness);
            let pace = if anew { 1.0 / (1.0 + round as f64 / 50.0) } else { 0.3 };
            for (bid, asked) in bids.iter_mut().zip(asked) {
                let excess = ((asked + 0.5) / (bid.expected + 0.5)).ln().clamp(-2.0, 2.0);
                // Prices of large requests have a longer way to go.
                let step = softness[bid.market].max(SOFTNESS * bid.worth);
                let price = bid.price + pace * step * excess;
                bid.price = price.clamp(-0.5 * bid.worth, bid.worth);
            }
        }
        let tables = frames.iter().enumerate();
        let kinds = tables.map(|(at, frame)| frame.tables(at, &bids, &softness)).collect();
        Self { kinds, requests: bids.into_iter().map(|bid| (bid.needs, bid.price)).collect() }
    }
}

/// How many markets there may be.
fn markets(kinds: &[Kind]) -> usize {
    kinds.iter().map(|kind| kind.market + 1).max().unwrap_or_default()
}

/// Rooms counted. The order of devices makes no difference.
fn crowds(rooms: impl IntoIterator<Item = Room>, kinds: &[Kind]) -> Crowds {
    let mut counts: BTreeMap<Room, f64> = BTreeMap::new();
    for mut room in rooms {
        if room.kind < kinds.len() {
            room.free.sort_unstable();
            *counts.entry(room).or_default() += 1.0;
        }
    }
    counts.into_iter().collect()
}

/// An amount to the nearest with five binary digits that count: shapes that
/// differ by less are one, so that many rare ones together are not overlooked.
fn coarse(amount: i64) -> i64 {
    let digits = i64::BITS - amount.max(0).leading_zeros();
    let step = 1 << digits.saturating_sub(5);
    (amount + step / 2) / step * step
}

fn coarsely(need: Need) -> Need {
    Need { sides: need.sides.map(coarse), ..need }
}

/// The shapes that make most of what arrives, by number and by worth.
fn bids(kinds: &[Kind], demands: Vec<Demand>) -> Vec<Bid> {
    let mut bids: BTreeMap<Vec<Option<Need>>, f64> = BTreeMap::new();
    for demand in demands {
        let needs = demand.needs.into_iter().map(|need| need.map(coarsely)).collect();
        *bids.entry(needs).or_default() += demand.weight as f64;
    }
    let bids = bids.into_iter().filter_map(|(needs, expected)| {
        let worths = needs.iter().zip(kinds).filter_map(|(need, kind)| {
            let need = need.as_ref()?;
            Some((kind.worth_of(need), kind.market))
        });
        let (worth, market) = worths.max_by(|a, b| a.0.total_cmp(&b.0))?;
        (worth > 0.0).then_some(Bid { needs, worth, market, expected, price: 0.0 })
    });
    let mut bids: Vec<Bid> = bids.collect();
    let (mut number, mut worth) = (0.0, vec![0.0; markets(kinds)]);
    for bid in &bids {
        number += bid.expected;
        worth[bid.market] += bid.expected * bid.worth;
    }
    let weight = |bid: &Bid| bid.expected * (1.0 / number + bid.worth / worth[bid.market]);
    bids.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    let all: f64 = bids.iter().map(weight).sum();
    let mut sum = 0.0;
    let covering = |bid: &Bid| {
        let needed = sum < COVERED * all;
        sum += weight(bid);
        needed
    };
    let covering =
        bids.iter().take(MOST_DEMANDS).map(covering).take_while(|needed| *needed).count();
    bids.truncate(covering);
    bids
}

/// Turns weights into the arrivals that fill the room of each market. Gives how
/// soft choices are in each.
fn expect(bids: &mut [Bid], kinds: &[Kind], crowds: &Crowds) -> Vec<f64> {
    let markets = markets(kinds);
    let mut free = vec![0.0; markets];
    for (room, count) in crowds {
        let kind = &kinds[room.kind];
        let left: i64 = room.free.iter().map(|free| (*free).max(0)).sum();
        free[kind.market] += count * kind.worth * left as f64 / kind.size.max(1) as f64;
    }
    let (mut asked, mut pieces) = (vec![0.0; markets], vec![0.0; markets]);
    for bid in bids.iter() {
        asked[bid.market] += bid.expected * bid.worth;
        let devices = bid.needs.iter().flatten().map(|need| need.devices).max();
        pieces[bid.market] += bid.expected * f64::from(devices.unwrap_or(1).max(1));
    }
    for bid in bids {
        bid.expected *= free[bid.market] / asked[bid.market];
    }
    let mean = |(asked, pieces): (&f64, &f64)| if *pieces > 0.0 { asked / pieces } else { 1.0 };
    asked.iter().zip(&pieces).map(|both| SOFTNESS * mean(both)).collect()
}
