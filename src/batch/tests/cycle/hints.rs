//! Scheduling hints of jobs, from submission to what is told of them.

use crate::cloud::Cloud;
use stowplan_batch::BatchError;
use stowplan_batch::explain::{self, JobExplanation};
use stowplan_batch::life::TaskState;
use stowplan_batch::session::{Bind, Plan};
use stowplan_batch::spec::{Limits, check, read_job};
use stowplan_batch::store::{
    BindRefusal, BindTerms, ReportedState, Terms, bind, read_update, update_job,
};
use stowplan_engine::hint::HintOutcome;
use stowplan_model::Uuid;

async fn update(cloud: &Cloud, job: Uuid, body: &str) -> Result<(), BatchError> {
    let (update, now) = (read_update(body.as_bytes())?, cloud.now());
    cloud.act(move |image| update_job(image, job, &update, 1000, now)).await
}

fn explained(cloud: &Cloud, job: Uuid) -> JobExplanation {
    explain::job(&cloud.image(), &cloud.settings, job, cloud.now()).unwrap().unwrap()
}

fn hosts(cloud: &Cloud, job: Uuid) -> Vec<Option<String>> {
    cloud.tasks(job).into_iter().map(|task| task.host).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn whether_a_hint_was_used_is_told() {
    let cloud = Cloud::new().await;
    for (name, cpus) in [("a", 4), ("b", 2), ("c", 8)] {
        cloud.host(name, cpus, 1.0).await;
    }
    let job = cloud
        .submit(
            r#"{"hint": {"preferredNodeNames": ["ghost", "B"], "extensions": {"x": [1]}},
                "tasks": [{"role": "w", "count": 2, "requests": {"cpu": 2}},
                          {"role": "v", "requests": {"cpu": 1}, "hint": {"nodeNames": ["c"]}}]}"#,
        )
        .await;
    let warning =
        "\"ghost\" in the hint's preferredNodeNames is passed over: there is no such host";
    assert_eq!(cloud.job(job).warnings, [warning]);
    assert_eq!(cloud.cycle().await.binds, 3);
    let tasks = cloud.tasks(job);
    let told: Vec<_> =
        tasks.iter().map(|task| (task.host.clone().unwrap(), task.hint.unwrap())).collect();
    assert_eq!(told[0], ("b".to_owned(), HintOutcome::Used));
    assert_eq!(told[1].1, HintOutcome::NonePassed, "b is full by then");
    assert_eq!(told[2], ("c".to_owned(), HintOutcome::NothingPreferred));
    let hints = explained(&cloud, job).hints;
    assert_eq!(hints.len(), 2);
    assert_eq!(hints[0].placed, [("none_passed".to_owned(), 1), ("used".to_owned(), 1)].into());
    assert_eq!((hints[0].required, hints[1].required), (None, Some(1)));
    assert_eq!(hints[0].dropped, [warning]);
    // What is kept of a hint is all of it.
    let spec = cloud.job(job).spec.unwrap();
    assert_eq!(spec.hint.unwrap().extensions["x"][0], 1);
    let image = cloud.image();
    let origin = image.consumers.get(tasks[0].id).unwrap().origin.as_ref().unwrap();
    let decision = cloud.ledger.decision(origin.decision.unwrap()).await.unwrap().unwrap();
    let header = decision.header.header["tasks"].as_array().unwrap();
    let first = header.iter().find(|task| task["task"] == tasks[0].id.to_string()).unwrap();
    assert_eq!(first["hint"], "used");
    // A task that waits again has no outcome any more.
    cloud.report_all(job, ReportedState::Released).await;
    assert!(cloud.tasks(job).iter().all(|task| task.hint.is_none()));
}

#[tokio::test(flavor = "multi_thread")]
async fn why_a_hint_does_not_help_is_told() {
    let cloud = Cloud::new().await;
    cloud.host("a", 4, 1.0).await;
    cloud.host("b", 1, 1.0).await;
    let job = cloud
        .submit(
            r#"{"hint": {"nodeNames": ["b", "ghost"], "preferredNodeNames": ["b", "a"]},
                "tasks": [{"role": "w", "requests": {"cpu": 2}}]}"#,
        )
        .await;
    assert_eq!(cloud.cycle().await.binds, 0, "there is room on a, which is not named");
    let explanation = explained(&cloud, job);
    let no_host = explanation.reasons.iter().find(|reason| reason.kind == "no_host").unwrap();
    assert!(no_host.text.contains("1 are not named by the hint's nodeNames"), "{no_host:?}");
    let hint = &explanation.hints[0];
    assert_eq!(hint.required, Some(1));
    assert_eq!((hint.tried[0].host.as_str(), hint.tried.len()), ("b", 1));
    assert_eq!(hint.tried[0].why, "it lacks cpu (needs 2, has 1 left)");
    assert_eq!(
        hint.dropped,
        [
            "\"ghost\" in the hint's nodeNames is passed over: there is no such host",
            "\"a\" in the hint's preferredNodeNames is passed over: the host is no candidate",
        ]
    );
    assert_eq!(
        hint.text,
        "hint of role w: its nodeNames name 1 hosts; none of its 1 preferred hosts would take a \
         task now (b: it lacks cpu (needs 2, has 1 left))"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hint_may_change_while_a_task_waits() {
    let cloud = Cloud::new().await;
    let a = cloud.host("a", 4, 1.0).await;
    cloud.host("b", 4, 1.0).await;
    let job = cloud
        .submit(r#"{"hint": {"nodeNames": ["x"]}, "tasks": [{"requests": {"cpu": 2}}]}"#)
        .await;
    assert_eq!(cloud.cycle().await.binds, 0);
    update(&cloud, job, r#"{"hint": {"nodeNames": ["b"]}}"#).await.unwrap();
    // A cycle that had chosen by the hint before is refused.
    let task = cloud.tasks(job)[0].id;
    let plan = Plan {
        statement: 0,
        job,
        binds: vec![Bind {
            task,
            attempt: 0,
            host: a,
            takes: Vec::new(),
            cells: Vec::new(),
            hint: None,
        }],
        evicts: Vec::new(),
        nominations: Vec::new(),
    };
    let terms = Terms { cycle: 1, request_id: "late".into(), evictions: BindTerms::default() };
    let refusal = bind(&cloud.image(), &plan, &terms, cloud.now()).unwrap_err();
    assert_eq!(refusal, BindRefusal::HintChanged { task, host: a });
    assert_eq!(cloud.cycle().await.binds, 1);
    assert_eq!(hosts(&cloud, job), [Some("b".to_owned())]);
    for body in [r#"{"hint": null}"#, r#"{"tasks": [{"role": "task", "hint": {}}]}"#] {
        let refusal = update(&cloud, job, body).await.unwrap_err().to_string();
        assert!(refusal.ends_with("none of these tasks waits, so a hint has nothing to act on"));
    }
    // A task that comes new is one that waits.
    let more = r#"{"tasks": [{"role": "task", "count": 2, "hint": {"nodeNames": ["a"]}}]}"#;
    update(&cloud, job, more).await.unwrap();
    assert_eq!(cloud.cycle().await.binds, 1);
    assert_eq!(hosts(&cloud, job), [Some("b".to_owned()), Some("a".to_owned())]);
    let wrong = update(&cloud, job, r#"{"hint": {"nodeNames": [""]}}"#).await.unwrap_err();
    assert!(wrong.to_string().contains("hint.nodeNames[0] is \"\": expected the name of a host"));
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_hint_ends_a_nomination_elsewhere() {
    let cloud = Cloud::new().await;
    cloud.host("a", 4, 1.0).await;
    let low = cloud.submit(r#"{"tasks": [{"requests": {"cpu": 4}}]}"#).await;
    cloud.cycle().await;
    cloud.report_all(low, ReportedState::Running).await;
    let high = cloud.submit(r#"{"priority": 10, "tasks": [{"requests": {"cpu": 4}}]}"#).await;
    cloud.cycle().await;
    assert_eq!(cloud.tasks(high)[0].nominated_host.as_deref(), Some("a"));
    // One that still names the host changes nothing about it.
    update(&cloud, high, r#"{"hint": {"nodeNames": ["A", "b"]}}"#).await.unwrap();
    assert!(cloud.tasks(high)[0].nominated_host.is_some());
    update(&cloud, high, r#"{"hint": {"nodeNames": ["b"]}}"#).await.unwrap();
    let task = &cloud.tasks(high)[0];
    assert_eq!((task.state, &task.nominated_host), (TaskState::Pending, &None));
    assert!(task.reason.as_ref().unwrap().contains("its hint does not name the host"));
    cloud.report_all(low, ReportedState::Released).await;
    cloud.cycle().await;
    assert_eq!(hosts(&cloud, high), [None], "a is free, but not for it");
    cloud.host("b", 4, 1.0).await;
    cloud.cycle().await;
    assert_eq!(hosts(&cloud, high), [Some("b".to_owned())]);
    cloud.audit();
}

#[tokio::test(flavor = "multi_thread")]
async fn hints_are_checked_and_read_from_annotations() {
    let cloud = Cloud::new().await;
    cloud.host("a", 4, 1.0).await;
    let checked = |body: &str| {
        let request = read_job(body.as_bytes()).map_err(|error| error.to_string())?;
        let spec = check(&request, "me", None, &cloud.dims(), Limits { tasks: 10 });
        spec.map_err(|errors| errors.to_string())
    };
    let old = r#"{"annotations": {"scheduling.koordinator.sh/scheduling-hint":
        "{\"nodeNames\": [\"a\"], \"colour\": 1}"}, "tasks": [{}]}"#;
    assert_eq!(checked(old).unwrap().hint.unwrap().node_names, ["a"]);
    let job = cloud.submit(old).await;
    let [warning] = cloud.job(job).warnings.try_into().unwrap();
    assert!(warning.contains("is deprecated: use internal.scheduling.koordinator.sh/"));
    let of_role = r#"{"tasks": [{"annotations": {"internal.scheduling.koordinator.sh/scheduling-hint":
        "{\"nodeNames\": [\"a\"]}"}}]}"#;
    let spec = checked(of_role).unwrap();
    assert_eq!(spec.tasks[0].hint.as_ref().unwrap().node_names, ["a"]);
    for (body, part) in [
        (
            r#"{"annotations": {"internal.scheduling.koordinator.sh/scheduling-hint": "{"},
                "tasks": [{}]}"#,
            "annotations.internal.scheduling.koordinator.sh/scheduling-hint is \"{\": expected a \
             scheduling hint as a JSON object",
        ),
        (
            r#"{"annotations": {"internal.scheduling.koordinator.sh/scheduling-hint": "{}"},
                "hint": {"nodeNames": ["a"]}, "tasks": [{}]}"#,
            "expected nothing, as annotations.internal.scheduling.koordinator.sh/scheduling-hint",
        ),
        (
            r#"{"tasks": [{"annotations": {"internal.scheduling.koordinator.sh/scheduling-hint":
                "[]"}}]}"#,
            "tasks[0].annotations.internal.scheduling.koordinator.sh/scheduling-hint is \"[]\"",
        ),
        (r#"{"tasks": [{"hint": {"nodeNames": [""]}}]}"#, "tasks[0].hint.nodeNames[0] is \"\""),
        (r#"{"tasks": [{"hint": {"nodeName": []}}]}"#, "tasks[0].hint.nodeName"),
        (r#"{"hint": ["a"], "tasks": [{}]}"#, "hint is [\"a\"]"),
    ] {
        let error = checked(body).unwrap_err();
        assert!(error.contains(part), "{body}: {error}");
    }
}
