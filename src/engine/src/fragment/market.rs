//! How prices are learnt: by moving them until what is asked is what arrives.

use super::ladder::{Ladder, Offer, Plan};
use super::prices::{Prices, Tables, Toll, tolls};
use super::room::{Demand, Kind, Need, Room, SIDES};
use std::collections::BTreeMap;

/// Steps of a device at most.
const MOST_STEPS: i64 = 100;

/// Devices of a host that requests for several may take together, at most.
const MOST_DEVICES: usize = 16;

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
struct Bid {
    needs: Vec<Option<Need>>,
    /// The most that it is worth anywhere, and where that is.
    worth: f64,
    market: usize,
    /// How many are expected.
    expected: f64,
    price: f64,
}

/// Rooms that are alike, and how many.
type Crowds = Vec<(Room, f64)>;

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
                let price =
                    bid.price + pace * softness[bid.market].max(SOFTNESS * bid.worth) * excess;
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

/// What of a kind does not change while prices move.
struct Frame {
    kind: Kind,
    steps: usize,
    /// Devices of a host at most.
    most: usize,
    tolls: Vec<Toll>,
}

fn frames(kinds: &[Kind], crowds: &Crowds) -> Vec<Frame> {
    let even = |market: usize| {
        let of_market = || kinds.iter().filter(|kind| kind.market == market);
        let worth: f64 = of_market().map(|kind| kind.worth * kind.devices as f64).sum();
        let mut even = [0.0; SIDES];
        for (side, even) in even.iter_mut().enumerate() {
            let amount: i64 = of_market().map(|kind| kind.side(side)).sum();
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

    fn tables(&self, at: usize, bids: &[Bid], softness: &[f64]) -> Tables {
        let ladders =
            self.tolls.iter().map(|toll| (*toll, self.climb(at, bids, *toll, softness).0));
        Tables { kind: self.kind.clone(), steps: self.steps, ladders: ladders.collect() }
    }
}

/// How many requests of each shape the rooms would take at these prices.
fn asked(frames: &[Frame], bids: &[Bid], crowds: &Crowds, softness: &[f64]) -> Vec<f64> {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use proptest::prelude::*;
    use smallvec::SmallVec;

    fn kind(market: usize, devices: i64, sides: [i64; SIDES]) -> Kind {
        Kind { size: 1000, worth: 1000.0, market, devices, sides }
    }

    fn room(kind: usize, free: &[i64], sides: [i64; SIDES]) -> Room {
        Room { kind, free: SmallVec::from_slice(free), sides }
    }

    fn need(devices: u16, share: i64, cpu: i64) -> Need {
        Need { devices, share, sides: [cpu, 1] }
    }

    fn demand(weight: u64, needs: &[Option<Need>]) -> Demand {
        Demand { weight, needs: needs.to_vec() }
    }

    /// Which of these hosts a request wastes least on.
    fn choice(prices: &Prices, rooms: &[Room], need: &Need) -> usize {
        let wastes = rooms.iter().map(|room| prices.waste(room, need).unwrap_or(f64::INFINITY));
        let wastes: Vec<f64> = wastes.collect();
        (0..rooms.len()).min_by(|a, b| wastes[*a].total_cmp(&wastes[*b])).unwrap()
    }

    #[test]
    fn without_anything_learnt_no_host_is_better() {
        let rooms = [room(0, &[1000], [8, 8]), room(7, &[500, 1000], [8, 8])];
        for prices in [Prices::default(), Prices::default().learn(&[], rooms.clone(), Vec::new())] {
            for room in &rooms {
                assert_eq!(prices.value(room), 0.0);
                assert_eq!(prices.waste(room, &need(1, 500, 1)), Some(0.0));
                assert_eq!(prices.waste(room, &need(3, 500, 1)), None);
            }
        }
    }

    #[test]
    fn requests_go_where_they_leave_what_others_can_use() {
        let kinds = [kind(0, 160, [1000, 1000])];
        let stock = || (0..20).map(|_| room(0, &[1000; 8], [50, 50]));
        // Sets of four want whole nodes, and shares of 700 and 300 each other.
        let mix = vec![
            demand(10, &[Some(need(4, 1000, 4))]),
            demand(40, &[Some(need(1, 700, 1))]),
            demand(40, &[Some(need(1, 300, 1))]),
            demand(20, &[Some(need(1, 1000, 12))]),
        ];
        let prices = Prices::default().learn(&kinds, stock(), mix);
        for (request, rooms, best, why) in [
            (
                need(1, 300, 1),
                vec![room(0, &[1000; 4], [50, 50]), room(0, &[1000, 1000, 300, 0], [50, 50])],
                1,
                "what another left fits exactly",
            ),
            (
                need(1, 1000, 1),
                vec![room(0, &[1000; 4], [50, 50]), room(0, &[1000, 1000, 1000], [50, 50])],
                1,
                "a set of four is kept together",
            ),
            (
                need(1, 700, 1),
                vec![room(0, &[1000, 1000], [40, 40]), room(0, &[1000, 1000], [4, 40])],
                1,
                "little cpu is enough, and its devices are of no use to those who need more",
            ),
            (
                need(0, 0, 8),
                vec![room(0, &[1000; 4], [12, 50]), room(0, &[300, 0, 0, 0], [12, 50])],
                1,
                "cpu is taken where no device needs it",
            ),
        ] {
            assert_eq!(choice(&prices, &rooms, &request), best, "{why}");
        }
    }

    #[test]
    fn the_flexible_leave_what_others_must_have() {
        let kinds = [kind(0, 50, [500, 500]), kind(0, 50, [500, 500])];
        let stock = || (0..100).map(|at| room(at % 2, &[1000], [10, 10]));
        let one = Some(need(1, 1000, 4));
        let mix = |of_first: u64| {
            vec![demand(of_first, &[one, None]), demand(10, &[None, one]), demand(10, &[one, one])]
        };
        let rooms = [room(0, &[1000], [10, 10]), room(1, &[1000], [10, 10])];
        let scarce_first = Prices::default().learn(&kinds, stock(), mix(40));
        assert_eq!(choice(&scarce_first, &rooms, &one.unwrap()), 1);
        let scarce_second = Prices::default().learn(&kinds, stock(), mix(1));
        assert_eq!(choice(&scarce_second, &rooms, &one.unwrap()), 0);
    }

    #[test]
    fn hosts_without_devices_are_filled_by_their_cpu() {
        // The cpu of such a host is its one device.
        let kinds = [Kind { size: 32, worth: 32.0, market: 0, devices: 20, sides: [640, 2560] }];
        let stock = || (0..20).map(|_| room(0, &[32], [0, 128]));
        let vm = |cpu: i64, memory: i64| Need { devices: 1, share: cpu, sides: [0, memory] };
        let mix = vec![
            demand(10, &[Some(vm(20, 80))]),
            demand(10, &[Some(vm(12, 24))]),
            demand(10, &[Some(vm(4, 32))]),
        ];
        let prices = Prices::default().learn(&kinds, stock(), mix);
        let rooms = [room(0, &[32], [0, 128]), room(0, &[12], [0, 24]), room(0, &[16], [0, 100])];
        assert_eq!(choice(&prices, &rooms, &vm(12, 24)), 1, "it fits exactly");
        assert!(prices.waste(&rooms[1], &vm(4, 24)).unwrap() > 0.0, "8 cores without memory");
    }

    #[test]
    fn prices_follow_a_mix_that_changes() {
        let kinds = [kind(0, 80, [400, 400])];
        let stock = || (0..10).map(|_| room(0, &[1000; 8], [40, 40]));
        let sets =
            || vec![demand(10, &[Some(need(8, 1000, 8))]), demand(1, &[Some(need(1, 1000, 1))])];
        let singles =
            || vec![demand(1, &[Some(need(8, 1000, 8))]), demand(80, &[Some(need(1, 1000, 1))])];
        let broken = |prices: &Prices| {
            let waste =
                |free: &[i64]| prices.waste(&room(0, free, [40, 40]), &need(1, 1000, 1)).unwrap();
            waste(&[1000; 8]) - waste(&[1000; 7])
        };
        let mut prices = Prices::default().learn(&kinds, stock(), sets());
        assert!(broken(&prices) > 100.0, "a whole node is precious: {}", broken(&prices));
        for _ in 0..40 {
            prices = prices.learn(&kinds, stock(), singles());
        }
        assert!(broken(&prices) < 100.0, "no longer: {}", broken(&prices));
    }

    prop_compose! {
        fn any_need()(devices in 0u16..5, share in 1i64..=1000, cpu in 0i64..20, memory in 0i64..20)
            -> Need {
            let share = if devices > 1 { 1000 } else { share };
            Need { devices, share, sides: [cpu, memory] }
        }
    }

    prop_compose! {
        fn any_room()(kind in 0usize..3, free in prop::collection::vec(0i64..=1000, 0..9),
            cpu in -2i64..60, memory in 0i64..60) -> Room {
            room(kind, &free, [cpu, memory])
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]

        #[test]
        fn room_is_never_worth_less_than_a_part_of_it(
            rooms in prop::collection::vec(any_room(), 1..12),
            needs in prop::collection::vec((1u64..50, prop::array::uniform2(any_need())), 1..8),
        ) {
            let kinds = [kind(0, 20, [100, 100]), kind(1, 20, [100, 0])];
            let demands = |order: bool| {
                let demand = |(weight, needs): &(u64, [Need; 2])| {
                    demand(*weight, &[Some(needs[0]), (needs[1].devices > 0).then_some(needs[1])])
                };
                let mut all: Vec<Demand> = needs.iter().map(demand).collect();
                if order { all.reverse(); }
                all
            };
            let prices = Prices::default().learn(&kinds, rooms.clone(), demands(false));
            let turned = rooms.iter().rev().cloned();
            prop_assert_eq!(&prices, &Prices::default().learn(&kinds, turned, demands(true)));
            for room in &rooms {
                let value = prices.value(room);
                prop_assert!(value.is_finite() && value >= 0.0, "{value}");
                for need in needs.iter().flat_map(|(_, needs)| needs) {
                    if let Some(after) = room.after(need) {
                        prop_assert!(prices.value(&after) <= value + 1e-6);
                        prop_assert!(prices.waste(room, need).is_some_and(f64::is_finite));
                    }
                }
            }
        }
    }
}
