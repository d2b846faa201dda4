//! Which devices of a host a task takes (rule 4).

use super::{Pick, Picks, Room, Source, TraitRules};
use crate::amounts::DimIx;

/// An amount that one source can hold comes from one alone: the one with the
/// least room that suffices, the first of equals. A larger amount takes whole
/// sources (n devices are n providers) and the rest from one more. Room that
/// others leave is taken before room that is free already.
pub(super) fn choose(
    sources: &[Source],
    dim: DimIx,
    amount: i64,
    traits: &TraitRules,
    room: Room,
    picks: &mut Picks,
) -> Option<()> {
    let allowed = || sources.iter().filter(|source| traits.allow(dim, &source.traits));
    let unit = allowed().map(|source| source.capacity).max().filter(|unit| *unit > 0)?;
    let (whole, rest) = if amount <= unit { (0, amount) } else { (amount / unit, amount % unit) };
    let whole = usize::try_from(whole).ok()?;
    let first = picks.len();
    let empty = |source: &&Source| {
        source.capacity == unit && source.free(room) >= unit && source.takes(unit)
    };
    for leaves in [true, false] {
        let missing = whole - (picks.len() - first);
        let such = allowed().filter(|source| (source.releasing > 0) == leaves);
        let taken = such.filter(empty).take(missing).map(|source| pick(source, unit));
        picks.extend(taken);
    }
    if picks.len() - first != whole {
        return None;
    }
    if rest > 0 {
        let taken = |s: &Source| picks[first..].iter().any(|pick| pick.provider == s.provider);
        let fits = |s: &&Source| s.free(room) >= rest && s.takes(rest) && !taken(s);
        let source = allowed()
            .filter(fits)
            .min_by_key(|source| (source.free(room), source.releasing <= 0))?;
        picks.push(pick(source, rest));
    }
    Some(())
}

fn pick(source: &Source, amount: i64) -> Pick {
    Pick { dim: source.dim, provider: source.provider, amount }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::super::source::Book;
    use super::super::{Ask, Sources, TraitRule, TraitSet};
    use super::*;
    use crate::amounts::Amounts;
    use std::sync::Arc;
    use stowplan_model::Uuid;

    const GPU: DimIx = DimIx(3);

    fn source(dim: DimIx, id: u128, capacity: i64, used: i64) -> Source {
        Source { used, ..Source::plain(dim, Uuid::from_u128(id), capacity) }
    }

    fn host(devices: &[(i64, i64)]) -> Sources {
        let mut sources = Sources::default();
        for (at, (capacity, used)) in devices.iter().enumerate() {
            sources.push(source(GPU, at as u128 + 10, *capacity, *used));
        }
        sources.push(source(DimIx::CPU, 1, 8, 2));
        sources
    }

    fn gpus(amount: i64) -> Amounts {
        let mut amounts = Amounts::new();
        amounts.set(GPU, amount);
        amounts
    }

    fn picks(sources: &Sources, amount: i64, room: Room) -> Option<Picks> {
        let (amounts, traits) = (gpus(amount), TraitRules::default());
        sources.pick(Ask { amounts: &amounts, traits: &traits }, room)
    }

    fn picked(sources: &Sources, amount: i64) -> Option<Vec<(u128, i64)>> {
        let picks = picks(sources, amount, Room::Now)?;
        Some(picks.iter().map(|pick| (pick.provider.as_u128(), pick.amount)).collect())
    }

    #[test]
    fn a_share_comes_from_the_fullest_device_that_holds_it() {
        let sources = host(&[(1000, 0), (1000, 600), (1000, 600), (1000, 900)]);
        assert_eq!(picked(&sources, 100), Some(vec![(13, 100)]));
        assert_eq!(picked(&sources, 400), Some(vec![(11, 400)]));
        assert_eq!(picked(&sources, 1000), Some(vec![(10, 1000)]));
        assert_eq!(picked(&sources, 1300), Some(vec![(10, 1000), (11, 300)]));
        assert_eq!(picked(&sources, 2000), None, "two whole devices are not free");
    }

    #[test]
    fn many_devices_are_many_providers() {
        let mut sources = host(&[(1, 0), (1, 1), (1, 0), (1, 0)]);
        assert_eq!(picked(&sources, 2), Some(vec![(10, 1), (12, 1)]));
        let picks = picks(&sources, 2, Room::Now).unwrap();
        let before = sources.clone();
        sources.enter(Book::Used, &picks, 1);
        assert_eq!(picked(&sources, 2), None);
        sources.enter(Book::Used, &picks, -1);
        assert_eq!(sources, before);
    }

    #[test]
    fn what_is_promised_on_a_device_is_nobody_elses() {
        let mut sources = host(&[(1000, 500), (1000, 1000)]);
        let leaving = Pick { dim: GPU, provider: Uuid::from_u128(11), amount: 500 };
        assert_eq!(picks(&sources, 600, Room::Later), None, "nobody leaves");
        sources.enter(Book::Releasing, &[leaving], 1);
        assert_eq!(picks(&sources, 1000, Room::Later), None, "no device becomes whole");
        let promise = picks(&sources, 500, Room::Later).unwrap();
        assert_eq!(promise[0].provider, Uuid::from_u128(11), "where others leave");
        sources.enter(Book::Promised, &promise, 1);
        assert_eq!(picked(&sources, 500), Some(vec![(10, 500)]));
        let second = picks(&sources, 500, Room::Later).unwrap();
        sources.enter(Book::Promised, &second, 1);
        assert_eq!(picked(&sources, 500), None, "both halves are promised");
        assert_eq!(picks(&sources, 1, Room::Later), None);
    }

    #[test]
    fn the_model_of_a_device_is_a_trait() {
        let mut sources = Sources::default();
        for (id, model) in [(10, "CUSTOM_T4"), (11, "CUSTOM_V100"), (12, "CUSTOM_A100")] {
            let traits = Arc::new(TraitSet::new([model]));
            sources.push(Source { traits, ..source(GPU, id, 1, 0) });
        }
        let ask = |amount: i64, rule: &str| {
            let (amounts, rule) = (gpus(amount), TraitRule::read(rule));
            let traits = TraitRules::new(vec![(GPU, rule)]);
            let ask = Ask { amounts: &amounts, traits: &traits };
            let picks = sources.pick(ask, Room::Now)?;
            assert!(sources.allow(ask));
            Some(picks.iter().map(|pick| pick.provider.as_u128()).collect::<Vec<_>>())
        };
        assert_eq!(ask(1, "CUSTOM_V100"), Some(vec![11]));
        assert_eq!(ask(2, "in:CUSTOM_V100,CUSTOM_A100"), Some(vec![11, 12]));
        assert_eq!(ask(2, "!CUSTOM_V100"), Some(vec![10, 12]));
        assert_eq!(ask(2, "CUSTOM_V100"), None);
    }

    #[test]
    fn unit_rules_of_an_inventory_hold() {
        let mut sources = Sources::default();
        let rule = Source { min_unit: 2, max_unit: 4, step_size: 2, ..source(GPU, 1, 10, 0) };
        sources.push(rule);
        assert!(!sources.are_plain());
        assert_eq!(picked(&sources, 3), None);
        assert_eq!(picked(&sources, 6), None);
        assert_eq!(picked(&sources, 4), Some(vec![(1, 4)]));
        let mut plain = Sources::default();
        plain.push(source(GPU, 1, 10, 0));
        assert!(plain.are_plain());
        assert!(!host(&[(1, 0), (1, 0)]).are_plain());
    }
}
