//! Requests with scheduling hints.

use serde_json::{Value, json};
use stowplan_config::Settings;
use stowplan_scheduler::SchedulerError;
use stowplan_scheduler::select::Destinations;

use crate::cloud::{Cloud, host, small_with};

const KEY: &str = "internal.scheduling.koordinator.sh/scheduling-hint";
const DEPRECATED_KEY: &str = "scheduling.koordinator.sh/scheduling-hint";

/// Hosts `h0` to `h2`: the last has most room, so it is taken without a hint.
async fn cloud(set: impl FnOnce(&mut Settings)) -> Cloud {
    let cloud = Cloud::with(set).await;
    for (name, vcpus) in [("h0", 1), ("h1", 4), ("h2", 16)] {
        cloud.report(name, host(vcpus)).await;
    }
    cloud
}

fn hosts(answer: &Destinations) -> Vec<&str> {
    answer.selections.iter().map(|selection| selection.destination.host.as_str()).collect()
}

fn outcomes(answer: &Destinations) -> Vec<&str> {
    let hints = answer.selections.iter().map(|selection| selection.hint.as_ref().unwrap());
    hints.map(|hint| hint.outcome.as_str()).collect()
}

async fn refused(cloud: &Cloud, asked: Value) -> Vec<(String, String)> {
    match cloud.try_select(asked).await {
        Err(SchedulerError::Fields(errors)) => {
            let errors = errors.all().iter();
            errors.map(|error| (error.field.clone(), error.expected.clone())).collect()
        }
        other => panic!("expected fields that cannot be, got {other:?}"),
    }
}

#[tokio::test]
async fn the_first_preferred_host_that_passes_is_taken() {
    let cloud = cloud(|_| {}).await;
    let answer = cloud.select(small_with(json!({"dry_run": true}))).await;
    assert_eq!((hosts(&answer), &answer.selections[0].hint), (vec!["h2"], &None));
    let hint = json!({"preferredNodeNames": ["nowhere", "H1", "h2"], "extensions": {"any": [1]}});
    let answer = cloud.select(small_with(json!({"hint": hint}))).await;
    assert_eq!((hosts(&answer), outcomes(&answer)), (vec!["h1"], vec!["used"]));
    assert!(answer.warnings.iter().any(|said| said.contains("nowhere")), "{:?}", answer.warnings);
    assert!(answer.selections[0].alternates.is_empty());
}

#[tokio::test]
async fn no_limit_cuts_off_a_host_that_a_hint_names() {
    let cloud = cloud(|settings| settings.scheduler.max_placement_results = Some(1)).await;
    for hint in [json!({"preferredNodeNames": ["h2"]}), json!({"nodeNames": ["h2"]})] {
        let answer = cloud.select(small_with(json!({"hint": hint}))).await;
        assert_eq!(hosts(&answer), ["h2"], "{hint}");
    }
    // Without a hint the option counts: only the first host was looked at.
    let answer = cloud.select(small_with(json!({}))).await;
    assert_eq!(hosts(&answer), ["h0"]);
}

#[tokio::test]
async fn others_follow_where_the_preferred_host_is_full_or_alternates_are_wanted() {
    let cloud = cloud(|_| {}).await;
    let hint = json!({"preferredNodeNames": ["h0"]});
    let answer = cloud.select(small_with(json!({"hint": hint, "count": 2, "alternates": 1}))).await;
    assert_eq!(
        (hosts(&answer), outcomes(&answer)),
        (vec!["h0", "h2"], vec!["used", "none_passed"])
    );
    assert_eq!(answer.selections[0].alternates[0].host, "h1");
    let answer = cloud.select(small_with(json!({"hint": hint}))).await;
    assert_eq!(outcomes(&answer), ["nothing_to_try"]);
    assert_ne!(hosts(&answer), ["h0"]);
    let hint = json!({"preferredNodeNames": ["h1", "h0"]});
    let answer = cloud.select(small_with(json!({"hint": hint, "alternates": 2}))).await;
    assert_eq!(hosts(&answer), ["h1"]);
    assert_eq!(answer.selections[0].alternates.len(), 1);
}

#[tokio::test]
async fn a_preferred_host_that_a_filter_leaves_out_is_told_in_the_record() {
    let cloud = cloud(|_| {}).await;
    let asked = small_with(json!({
        "hint": {"preferredNodeNames": ["h1"]},
        "image": {"properties": {"hw_architecture": "ppc64"}},
        "alternates": 0,
    }));
    let told = cloud.no_host(asked).await.decision_id.unwrap();
    cloud.scheduler.drain().await;
    let decision = cloud.scheduler.decision(&told.to_string()).await.unwrap();
    let decision = json!({"body": decision.body.unwrap()});
    let hint = &decision["body"]["servers"][0]["explanation"]["hint"];
    assert_eq!(hint["outcome"], "none_passed", "{decision}");
    assert_eq!(hint["tried"][0]["host"], "h1");
    assert!(hint["tried"][0]["filter"].is_string() && hint["tried"][0]["text"].is_string());
    assert_eq!(decision["body"]["request"]["hint"]["preferredNodeNames"], json!(["h1"]));
}

#[tokio::test]
async fn required_hosts_are_all_there_are() {
    let cloud = cloud(|_| {}).await;
    let hint = json!({"nodeNames": ["h0", "h1"], "preferredNodeNames": ["h2"]});
    let asked = small_with(json!({"hint": hint}));
    let answer = cloud.select(asked.clone()).await;
    assert_eq!((hosts(&answer), outcomes(&answer)), (vec!["h1"], vec!["nothing_to_try"]));
    // Beside the request's own lists, both count.
    let hint = json!({"nodeNames": ["h2", "no"]});
    let refusal = cloud.no_host(small_with(json!({"hint": hint, "ignore_hosts": ["h2"]}))).await;
    let reasons = refusal.reasons.join("\n");
    assert!(reasons.contains("\"no\"") && reasons.contains("3 of 3 hosts"), "{reasons}");
}

#[tokio::test]
async fn the_list_is_cut_to_the_option() {
    let cloud = cloud(|settings| settings.scheduler.max_hint_nodes = 1).await;
    let hint = json!({"preferredNodeNames": ["nowhere", "h1"]});
    let answer = cloud.select(small_with(json!({"hint": hint}))).await;
    assert_eq!((hosts(&answer), outcomes(&answer)), (vec!["h2"], vec!["nothing_to_try"]));
    let said = answer.warnings.join("\n");
    assert!(said.contains("max_hint_nodes") && said.contains("no such host"), "{said}");
}

#[tokio::test]
async fn annotations_hold_a_hint_too() {
    let cloud = cloud(|_| {}).await;
    let text = json!({"preferredNodeNames": ["h1"], "unknown": 1}).to_string();
    let answer = cloud.select(small_with(json!({"annotations": {KEY: text, "a": "b"}}))).await;
    assert_eq!((hosts(&answer), answer.warnings.len()), (vec!["h1"], 0));
    let asked = small_with(json!({"annotations": {KEY: "", DEPRECATED_KEY: text}}));
    let answer = cloud.select(asked).await;
    assert_eq!(hosts(&answer), ["h1"]);
    assert!(answer.warnings[0].contains("deprecated"), "{:?}", answer.warnings);
}

#[tokio::test]
async fn what_is_no_hint_is_refused() {
    let cloud = cloud(|_| {}).await;
    let place = format!("annotations.{KEY}");
    let text = json!({"nodeNames": [""]}).to_string();
    let cases = [
        (json!({"hint": {"nodeName": []}}), "hint.nodeName".to_owned()),
        (json!({"hint": {"nodeNames": "h1"}}), "hint.nodeNames".to_owned()),
        (json!({"hint": {"preferredNodeNames": ["h1", ""]}}), {
            "hint.preferredNodeNames[1]".to_owned()
        }),
        (json!({"annotations": {KEY: "invalid"}}), place.clone()),
        (json!({"annotations": {KEY: 1}}), place.clone()),
        (json!({"annotations": {KEY: text}}), format!("{place}.nodeNames[0]")),
        (json!({"annotations": {KEY: "{}"}, "hint": {}}), "hint".to_owned()),
    ];
    for (asked, field) in cases {
        let errors = refused(&cloud, small_with(asked.clone())).await;
        assert_eq!(errors.len(), 1, "{asked}: {errors:?}");
        assert_eq!(errors[0].0, field, "{asked}");
        assert!(!errors[0].1.is_empty(), "{asked}");
    }
}
