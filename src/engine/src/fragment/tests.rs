//! What prices make of hosts and mixes.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::{Demand, Kind, Need, Prices, Room, SIDES};
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
    let single = need(1, 1000, 4);
    let one = Some(single);
    let mix = |of_first: u64| {
        vec![demand(of_first, &[one, None]), demand(10, &[None, one]), demand(10, &[one, one])]
    };
    let rooms = [room(0, &[1000], [10, 10]), room(1, &[1000], [10, 10])];
    let scarce_first = Prices::default().learn(&kinds, stock(), mix(40));
    assert_eq!(choice(&scarce_first, &rooms, &single), 1);
    let scarce_second = Prices::default().learn(&kinds, stock(), mix(1));
    assert_eq!(choice(&scarce_second, &rooms, &single), 0);
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
    let sets = || vec![demand(10, &[Some(need(8, 1000, 8))]), demand(1, &[Some(need(1, 1000, 1))])];
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
