//! Hosts that a hint requires or prefers, put to a whole engine.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use stowplan_config::Settings;
use stowplan_engine::hint::{Dropped, DroppedReason, HintOutcome};
use stowplan_engine::scenario::{Scenario, ScenarioHost, complete};
use stowplan_engine::{
    Ask, CheckedRequest, Detail, Engine, Explanation, Guide, Hint, HostIx, HostTable, Offers,
};
use stowplan_model::Micros;

const NOW: Micros = Micros::from_seconds(1_000_000);

/// Hosts `a` to `e`, each with more memory than the one before; `b` is
/// disabled.
fn table() -> HostTable {
    let hosts = ["a", "b", "c", "d", "e"].iter().enumerate().map(|(n, name)| {
        json!({"host": name, "node": name, "free_ram_mb": 1024 * (n + 1),
            "service": {"disabled": *name == "b"}})
    });
    let scenario = json!({"id": "hosts", "hosts": hosts.collect::<Vec<_>>()});
    let hosts: Vec<ScenarioHost> = Scenario::read(scenario).unwrap().hosts;
    let mut table = HostTable::new();
    for (n, host) in hosts.iter().enumerate() {
        table.upsert(HostIx(n as u32), host.row(NOW));
    }
    table
}

/// The hosts in order, and why, under a guide; `request` is put in besides.
fn ask(request: serde_json::Value, guide: Guide<'_>, max: u32) -> (String, Explanation) {
    let mut settings = Settings::default();
    settings.scheduler.max_hint_nodes = max;
    let engine = Engine::new(&settings).unwrap();
    let request = complete(request.as_object().unwrap()).unwrap();
    let (table, request) = (table(), CheckedRequest::check(request).unwrap());
    let hosts: Vec<HostIx> = (0..5).map(HostIx).collect();
    let offers = Offers::default();
    let ask =
        Ask { view: &table, request: &request, now: NOW, index: 0, hosts: &hosts, offers: &offers };
    let evaluation = engine.evaluate_hinted(&ask, Some(guide)).unwrap();
    let chosen = engine.choose(&evaluation, &mut ChaCha8Rng::seed_from_u64(1)).into_hosts();
    let names = chosen.iter().map(|host| ["a", "b", "c", "d", "e"][host.index()]).collect();
    (names, engine.explain(&ask, &evaluation, Detail::ALL))
}

fn hint(required: &[&str], preferred: &[&str]) -> Hint {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Hint { node_names: names(required), preferred_node_names: names(preferred), ..Hint::default() }
}

/// Hosts and outcome under a hint alone.
fn simply(required: &[&str], preferred: &[&str]) -> (String, HintOutcome) {
    let hint = hint(required, preferred);
    let (hosts, explanation) = ask(json!({}), Guide::of(&hint), 100);
    (hosts, explanation.hint.unwrap().outcome)
}

#[test]
fn outcomes() {
    use HintOutcome::{NonePassed, NothingPreferred, NothingToTry, Used};
    let cases: [(&[&str], &[&str], &str, HintOutcome); 9] = [
        (&[], &[], "edca", NothingPreferred),
        (&[], &["c"], "c", Used),
        (&[], &["b", "A", "e"], "a", Used),
        (&[], &["b"], "edca", NonePassed),
        (&[], &["x", "y"], "edca", NothingToTry),
        (&["a", "c"], &[], "ca", NothingPreferred),
        (&["a", "c"], &["e"], "ca", NothingToTry),
        (&["a", "c"], &["e", "a"], "a", Used),
        (&["b", "x"], &["b"], "", NonePassed),
    ];
    for (required, preferred, hosts, outcome) in cases {
        let expected = (hosts.to_owned(), outcome);
        assert_eq!(simply(required, preferred), expected, "{required:?} {preferred:?}");
    }
}

#[test]
fn a_trace_tells_hosts_tried_and_names_dropped() {
    let hint = hint(&["x", "b", "c", "d"], &["x", "a", "b", "b", "c", "d"]);
    let (hosts, explanation) = ask(json!({}), Guide::of(&hint), 5);
    assert_eq!(hosts, "c");
    let trace = explanation.hint.unwrap();
    assert_eq!((trace.host.as_deref(), trace.required), (Some("c"), Some(3)));
    // A name that stands twice is tried once.
    let tried: Vec<_> = trace.tried.iter().map(|it| (it.filter, it.loser.host.as_str())).collect();
    assert_eq!(tried, [("ComputeFilter", "b")]);
    let dropped = |field, name: &str, reason| Dropped { field, name: name.to_owned(), reason };
    assert_eq!(
        trace.dropped,
        [
            dropped("nodeNames", "x", DroppedReason::Unknown),
            dropped("preferredNodeNames", "x", DroppedReason::Unknown),
            dropped("preferredNodeNames", "a", DroppedReason::NoCandidate),
            dropped("preferredNodeNames", "d", DroppedReason::BeyondLimit),
        ]
    );
    // The funnel counts all hosts: two are not named, the rest was not asked.
    assert_eq!(explanation.hosts, 5);
    let preselection = explanation.preselection.unwrap();
    assert_eq!((preselection.before, preselection.after), (5, 3));
    assert_eq!((explanation.filters[0].before, explanation.survivors), (1, 1));
}

#[test]
fn the_others_follow_where_they_are_wanted() {
    let hint = hint(&[], &["b", "c"]);
    let guide = Guide { others: true, ..Guide::of(&hint) };
    let (hosts, explanation) = ask(json!({}), guide, 100);
    assert_eq!(hosts, "ceda");
    assert_eq!(explanation.hint.unwrap().host.as_deref(), Some("c"));
    // What the servers before left counts too.
    let has_room = |host: HostIx| host != HostIx(2);
    let guide = Guide { has_room: Some(&has_room), ..guide };
    let (hosts, explanation) = ask(json!({}), guide, 100);
    assert_eq!(hosts, "edca");
    let trace = explanation.hint.unwrap();
    assert_eq!(trace.outcome, HintOutcome::NonePassed);
    assert_eq!(trace.tried[1].filter, "candidates");
}

#[test]
fn a_plan_goes_before_what_is_preferred() {
    let hint = hint(&["c", "d"], &["c"]);
    for (planned, hosts) in [(3, "d"), (4, "")] {
        let guide = Guide { planned: Some(HostIx(planned)), ..Guide::of(&hint) };
        let (got, explanation) = ask(json!({}), guide, 100);
        assert_eq!(got, hosts);
        assert_eq!(explanation.hint.unwrap().outcome, HintOutcome::Planned);
    }
}

#[test]
fn the_requests_own_lists_count_besides() {
    let hint = hint(&[], &["e", "b"]);
    let request = json!({"ignore_hosts": ["e"], "force_hosts": ["b", "c"]});
    // Forced hosts are not filtered, whoever names them.
    let (hosts, explanation) = ask(request, Guide::of(&hint), 100);
    assert_eq!(hosts, "b");
    assert_eq!(explanation.hint.unwrap().dropped[0].reason, DroppedReason::NoCandidate);
}
