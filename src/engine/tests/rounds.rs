//! The servers of one request, placed one after the other: what is kept
//! between them must not show.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::collections::BTreeSet;

use common::{NOW, request, settings, table};
use proptest::collection::vec;
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stowplan_config::Settings;
use stowplan_engine::offers::Mappings;
use stowplan_engine::sequence::{Sequence, Start, Supply};
use stowplan_engine::{
    Ask, CheckedRequest, Claimed, Detail, Engine, Explanation, HostIx, HostTable, HostView, Kept,
    Offers, StageFault, Undo, consume,
};
use stowplan_model::Uuid;

const SERVERS: usize = 8;
const SEED: u64 = 7;

/// What became of all servers, and their alternates.
type Outcome = (Vec<Turn>, Vec<Vec<HostIx>>);
/// The host, those that had nothing left, and the reasons.
type Turn = (Option<HostIx>, Vec<HostIx>, Explanation);

/// Hosts that have something for a number of servers only.
struct Rooms(Vec<usize>);

impl Rooms {
    fn of(&mut self, host: HostIx) -> &mut usize {
        let at = host.index() % self.0.len();
        &mut self.0[at]
    }

    fn take(&mut self, host: HostIx) -> bool {
        let room = self.of(host);
        let had = *room > 0;
        *room = room.saturating_sub(1);
        had
    }
}

impl Supply for Rooms {
    type Claim = ();
    type Offer = HostIx;
    type Error = StageFault;

    fn claim(
        &mut self,
        _: &HostTable,
        host: HostIx,
        _: Uuid,
        _: Option<&Kept>,
    ) -> Result<Option<()>, StageFault> {
        Ok(self.take(host).then_some(()))
    }

    fn mappings(_: &()) -> Mappings {
        Mappings::new()
    }

    fn offer(
        &mut self,
        _: &HostTable,
        host: HostIx,
        _: Option<&Kept>,
    ) -> Result<Option<HostIx>, StageFault> {
        Ok((*self.of(host) > 0).then_some(host))
    }
}

fn instance(index: usize) -> Uuid {
    Uuid::from_u128(1 + index as u128)
}

/// As a request is placed.
fn sequence(
    engine: &Engine,
    table: &HostTable,
    request: &CheckedRequest,
    rooms: &[usize],
    alternates: usize,
) -> Result<Outcome, StageFault> {
    let hosts: Vec<HostIx> = table.live().iter().collect();
    let start = Start {
        table,
        now: NOW,
        hosts: &hosts,
        offers: &Offers::default(),
        seed: SEED,
        servers: SERVERS,
        alternates,
        hint: None,
    };
    let mut sequence = Sequence::new(engine, request.clone(), start);
    let mut rooms = Rooms(rooms.to_vec());
    let mut turns = Vec::new();
    for index in 0..SERVERS {
        let turn = sequence.place(index, instance(index), Detail::ALL, &mut rooms)?;
        let placed = turn.placed.map(|(host, ())| host);
        turns.push((placed, turn.exhausted, turn.explanation));
        if placed.is_none() {
            return Ok((turns, Vec::new()));
        }
    }
    let placed: Vec<HostIx> = turns.iter().filter_map(|(placed, ..)| *placed).collect();
    let alternates = sequence.alternates(&placed, alternates, &mut rooms)?;
    Ok((turns, alternates))
}

/// The rule: every server's hosts are filtered, weighed and sorted from
/// scratch.
fn from_scratch(
    engine: &Engine,
    table: &HostTable,
    request: &CheckedRequest,
    rooms: &[usize],
    wanted: usize,
) -> Result<Outcome, StageFault> {
    let (mut table, mut undo, offers) = (table.clone(), Undo::new(), Offers::default());
    let mut request = request.clone();
    let mut rooms = Rooms(rooms.to_vec());
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let mut hosts: Vec<HostIx> = table.live().iter().collect();
    let mut turns = Vec::new();
    let mut placed = Vec::new();
    for index in 0..=SERVERS {
        // Alternates are sought as if for one more, by the last one's uuid.
        request.turn_to(instance(index.min(SERVERS - 1)));
        let view: &dyn HostView = &table;
        let ask = Ask { view, request: &request, now: NOW, index, hosts: &hosts, offers: &offers };
        if index == SERVERS && wanted == 0 {
            break;
        }
        let evaluation = engine.evaluate(&ask)?;
        let chosen = engine.choose(&evaluation, &mut rng);
        let mut explanation = engine.explain(&ask, &evaluation, Detail::ALL);
        explanation.draw = (!chosen.is_empty()).then_some(chosen.draw);
        hosts = chosen.into_hosts();
        if index == SERVERS {
            break;
        }
        let found = hosts.iter().position(|host| rooms.take(*host));
        let host = found.map(|at| hosts[at]);
        let exhausted = hosts[..found.unwrap_or(hosts.len())].to_vec();
        if let Some(host) = host {
            let mappings = Mappings::new();
            let claimed = Claimed::of(&mappings, evaluation.filters.left.kept(host));
            let config = engine.config();
            let findings = consume(&mut table, &mut undo, &mut request, host, config, claimed);
            explanation.findings.extend(findings.into_iter().map(Into::into));
        }
        placed.extend(host);
        turns.push((host, exhausted, explanation));
        if host.is_none() {
            return Ok((turns, Vec::new()));
        }
    }
    let taken: BTreeSet<HostIx> = placed.iter().copied().collect();
    let cell = |host: HostIx| table.facts(host).cell_uuid;
    let alternates = placed.iter().map(|server| {
        let others = hosts.iter().copied();
        let others = others.filter(|host| !taken.contains(host) && cell(*host) == cell(*server));
        others.filter(|host| *rooms.of(*host) > 0).take(wanted).collect()
    });
    let alternates = alternates.collect();
    Ok((turns, alternates))
}

/// Filters that let most hosts pass, so that there are rounds to compare.
fn lenient(mut settings: Settings) -> Settings {
    let names =
        ["IoOpsFilter", "NumInstancesFilter", "ImagePropertiesFilter", "NUMATopologyFilter"];
    settings.filter_scheduler.enabled_filters = names.map(str::to_owned).to_vec();
    settings
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn what_is_kept_does_not_show(
        table in table(),
        request in request(),
        (all_filters, limit) in (any::<bool>(), 2_u32..9),
        (subset, shuffle) in (prop_oneof![4 => Just(1), 1 => Just(3)], prop::bool::weighted(0.2)),
        rooms in vec(0_usize..6, 1..40),
        (memory, vcpus, disk) in (0_i64..5, 0_i64..3, 0_i64..2),
        (is_plain, wanted) in (any::<bool>(), 0_usize..4),
    ) {
        let mut asked = request.request().clone();
        (asked.flavor.memory_mb, asked.flavor.vcpus) = (memory, vcpus);
        asked.flavor.root_gb = disk;
        if is_plain {
            asked.instance_group = None;
            asked.requested_destination = None;
            asked.image = None;
        }
        let request = CheckedRequest::check(asked).unwrap();
        let mut settings = if all_filters { settings() } else { lenient(settings()) };
        let scheduler = &mut settings.filter_scheduler;
        scheduler.max_instances_per_host = limit.into();
        scheduler.max_io_ops_per_host = 4;
        scheduler.host_subset_size = subset;
        scheduler.shuffle_best_same_weighed_hosts = shuffle;
        let engine = Engine::new(&settings).unwrap();
        let kept = sequence(&engine, &table, &request, &rooms, wanted);
        let scratch = from_scratch(&engine, &table, &request, &rooms, wanted);
        // As text: NaN is to be equal to itself.
        prop_assert_eq!(format!("{kept:?}"), format!("{scratch:?}"));
    }
}
