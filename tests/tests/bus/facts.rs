//! What casts and notifications tell, in any order and more than once.

use serde_json::{Value, json};
use std::time::Duration;

use crate::Stage;
use crate::wire::object;

const VM: &str = "0000000d-0000-4000-8000-00000000000d";
const GROUP: &str = "0000000e-0000-4000-8000-00000000000e";
const AGGREGATE: &str = "0000000f-0000-4000-8000-00000000000f";

/// How a message is sent.
#[derive(Clone)]
enum Way {
    Cast(&'static str, &'static str),
    Note(&'static str),
}

/// A message about something, said at a second of the day.
#[derive(Clone)]
struct Word {
    way: Way,
    second: u32,
    what: Value,
}

fn cast(method: &'static str, version: &'static str, second: u32, args: Value) -> Word {
    Word { way: Way::Cast(method, version), second, what: args }
}

fn note(event: &'static str, second: u32, payload: Value) -> Word {
    Word { way: Way::Note(event), second, what: payload }
}

fn aggregate(hosts: Value, metadata: Value) -> Value {
    json!({"id": 7, "uuid": AGGREGATE, "name": "ssd", "hosts": hosts, "metadata": metadata})
}

fn instance(event: &'static str, second: u32, host: &str, state: &str, task: Value) -> Word {
    note(
        event,
        second,
        object(
            "InstanceActionPayload",
            "1.9",
            json!({
                "uuid": VM, "host": host, "node": host, "state": state, "task_state": task,
            }),
        ),
    )
}

fn metrics(second: u32, percent: i64) -> Word {
    let metric = object("MetricPayload", "1.0", json!({"name": "cpu.percent", "value": percent}));
    note(
        "metrics.update",
        second,
        object(
            "MetricsPayload",
            "1.0",
            json!({
                "host": "cmp-1", "host_ip": "192.0.2.10", "nodename": "cmp-1", "metrics": [metric],
            }),
        ),
    )
}

fn service(event: &'static str, second: u32, disabled: bool) -> Word {
    note(
        event,
        second,
        object(
            "ServiceStatusPayload",
            "1.1",
            json!({
                "host": "cmp-1", "binary": "nova-compute", "disabled": disabled, "forced_down": false,
                "disabled_reason": disabled.then_some("broken"), "version": 74,
            }),
        ),
    )
}

fn info(second: u32, host: &str, state: &str) -> Word {
    let one = object("Instance", "2.8", json!({"uuid": VM, "node": host, "vm_state": state}));
    let list = object("InstanceList", "2.6", json!({"objects": [one]}));
    cast("update_instance_info", "4.2", second, json!({"host_name": host, "instance_info": list}))
}

impl Stage {
    async fn say(&self, word: &Word) {
        let (hour, minute, second) = (word.second / 3600, word.second / 60 % 60, word.second % 60);
        let time = format!("2026-01-02 {hour:02}:{minute:02}:{second:02}.000000");
        let wire = &self.wire;
        match &word.way {
            Way::Cast(method, version) => {
                let mut message = wire.message(method, version, word.what.clone());
                message["_context_timestamp"] = json!(time.replace(' ', "T"));
                let cast = message.as_object_mut().unwrap();
                cast.retain(|name, _| {
                    !["_msg_id", "_reply_q", "_timeout"].contains(&name.as_str())
                });
                wire.send("scheduler_fanout", "", &message).await;
            }
            Way::Note(event) => {
                let host = word.what["nova_object.data"]["host"].as_str().unwrap_or("api");
                let priority = if event.ends_with(".error") { "error" } else { "info" };
                let message = json!({
                    "event_type": event, "publisher_id": format!("nova-compute:{host}"),
                    "priority": priority.to_uppercase(), "timestamp": time,
                    "payload": word.what, "message_id": VM, "_unique_id": time,
                    "_context_auth_token": "geheim",
                });
                wire.send("nova", &format!("versioned_notifications.{priority}"), &message).await;
            }
        }
    }

    /// Waits until all that was said is taken up.
    async fn settled(&self) {
        let mut before = Value::Null;
        loop {
            tokio::time::sleep(Duration::from_millis(300)).await;
            let now = self.client().get("/readyz").json();
            if now == before {
                return;
            }
            before = now;
        }
    }

    /// What came of it: of both hosts, the aggregates and the groups.
    fn seen(&self) -> Value {
        let client = self.client();
        let hosts: Vec<Value> = ["cmp-1", "cmp-2"].map(|name| {
            let reply = client.get(&format!("/v1/hosts/{name}"));
            let host = reply.json();
            json!({
                "instances": host["instances"], "metrics": host["report"]["metrics"],
                "host_ip": host["report"]["host_ip"], "io": host["figures"]["num_io_ops"],
                "failed": host["figures"]["failed_builds"], "status": host["status"],
                "version": host["service"]["version"], "reason": host["service"]["disabled_reason"],
            })
        }).to_vec();
        let list = |path: &str, key: &str, fields: &[&str]| {
            let all = client.get(path).expect(200).json();
            let items = all[key].as_array().unwrap().iter();
            items
                .map(|it| fields.iter().map(|name| it[*name].clone()).collect::<Value>())
                .collect::<Value>()
        };
        let aggregates = list("/v1/aggregates", "aggregates", &["name", "hosts", "metadata"]);
        let groups = list("/v1/server-groups", "server_groups", &["uuid", "policy", "members"]);
        json!({"hosts": hosts, "aggregates": aggregates, "groups": groups})
    }
}

/// Words about one thing each, with what they come to at a place of the state.
fn lessons() -> Vec<(Vec<Word>, &'static str, Value)> {
    let group = |event, second, members: Value| {
        note(
            event,
            second,
            object(
                "ServerGroupPayload",
                "1.1",
                json!({
                    "uuid": GROUP, "name": "g", "user_id": "u", "project_id": "p", "policies": null,
                    "policy": "anti-affinity", "members": members, "hosts": null, "rules": {},
                }),
            ),
        )
    };
    let of = |it: Value| object("AggregatePayload", "1.1", it);
    let whole = |it: Value| object("Aggregate", "1.3", it);
    vec![
        (
            vec![metrics(10, 31), metrics(20, 44)],
            "/hosts/0/metrics",
            json!([{"name": "cpu.percent", "value": 0.44}]),
        ),
        (vec![metrics(30, 31)], "/hosts/0/host_ip", json!("192.0.2.10")),
        (vec![service("service.update", 10, true)], "/hosts/0/reason", json!("broken")),
        (
            vec![service("service.update", 20, true), service("service.update", 30, false)],
            "/hosts/0/status",
            json!("enabled"),
        ),
        (vec![service("service.create", 40, false)], "/hosts/0/version", json!(74)),
        (vec![info(10, "cmp-1", "active")], "/hosts/0/instances", json!([VM])),
        (
            vec![
                cast(
                    "sync_instance_info",
                    "4.2",
                    20,
                    json!({"host_name": "cmp-1", "instance_uuids": [VM]}),
                ),
                cast(
                    "delete_instance_info",
                    "4.2",
                    30,
                    json!({"host_name": "cmp-1", "instance_uuid": VM}),
                ),
            ],
            "/hosts/0/instances",
            json!([]),
        ),
        (
            vec![
                info(40, "cmp-1", "active"),
                cast(
                    "sync_instance_info",
                    "4.2",
                    50,
                    json!({"host_name": "cmp-1", "instance_uuids": []}),
                ),
            ],
            "/hosts/0/instances",
            json!([]),
        ),
        (
            vec![instance("instance.create.start", 60, "cmp-2", "building", json!("spawning"))],
            "/hosts/1/io",
            json!(1),
        ),
        (
            vec![
                instance("instance.create.start", 60, "cmp-2", "building", json!("spawning")),
                instance("instance.create.end", 70, "cmp-2", "active", Value::Null),
            ],
            "/hosts/1/io",
            json!(0),
        ),
        (
            vec![instance(
                "instance.live_migration_post_dest.end",
                80,
                "cmp-1",
                "active",
                Value::Null,
            )],
            "/hosts/1/instances",
            json!([]),
        ),
        (
            vec![instance("instance.delete.end", 90, "cmp-1", "deleted", Value::Null)],
            "/hosts/0/instances",
            json!([]),
        ),
        (
            vec![instance("instance.create.error", 100, "cmp-2", "building", Value::Null)],
            "/hosts/1/failed",
            json!(1),
        ),
        (
            vec![
                instance("instance.create.error", 100, "cmp-2", "building", Value::Null),
                instance("instance.create.end", 110, "cmp-2", "active", Value::Null),
            ],
            "/hosts/1/failed",
            json!(0),
        ),
        (
            vec![
                note("aggregate.create.end", 10, of(aggregate(json!([]), json!({})))),
                note("aggregate.add_host.end", 20, of(aggregate(json!(["cmp-1"]), json!({})))),
            ],
            "/aggregates",
            json!([["ssd", ["cmp-1"], {}]]),
        ),
        (
            vec![
                note(
                    "aggregate.update_metadata.end",
                    30,
                    of(aggregate(json!(["cmp-1"]), json!({"ssd": "true"}))),
                ),
                cast(
                    "update_aggregates",
                    "4.1",
                    40,
                    json!({"aggregates":
                [whole(aggregate(json!(["cmp-1", "cmp-2"]), json!({"ssd": "false"})))]}),
                ),
            ],
            "/aggregates",
            json!([["ssd", ["cmp-1", "cmp-2"], {"ssd": "false"}]]),
        ),
        (
            vec![
                note("aggregate.remove_host.end", 50, of(aggregate(json!([]), json!({})))),
                cast(
                    "delete_aggregate",
                    "4.1",
                    60,
                    json!({"aggregate": whole(aggregate(json!([]), json!({})))}),
                ),
            ],
            "/aggregates",
            json!([]),
        ),
        (
            vec![
                group("server_group.create", 10, json!([])),
                group("server_group.add_member", 20, json!([VM])),
            ],
            "/groups",
            json!([[GROUP, "anti-affinity", [VM]]]),
        ),
        (vec![group("server_group.delete", 30, json!([]))], "/groups", json!([])),
        (vec![service("service.delete", 200, false)], "/hosts/0/status", json!(404)),
    ]
}

/// Everything said once, in order: each lesson changes what it is about.
#[tokio::test(flavor = "multi_thread")]
async fn each_word_is_learnt_from() {
    let Some(stage) = Stage::set(&[]).await else { return };
    for (number, (words, place, expected)) in lessons().into_iter().enumerate() {
        for word in &words {
            stage.say(word).await;
        }
        stage.settled().await;
        let seen = stage.seen();
        assert_eq!(seen.pointer(place), Some(&expected), "lesson {number}: {seen:#}");
    }
}

/// The words of each lesson reversed and repeated come to the same.
#[tokio::test(flavor = "multi_thread")]
async fn order_and_number_of_words_do_not_matter() {
    let Some(stage) = Stage::set(&[]).await else { return };
    for (number, (words, place, expected)) in lessons().into_iter().enumerate() {
        for word in words.iter().rev().chain(words.iter().rev()) {
            stage.say(word).await;
        }
        stage.settled().await;
        let seen = stage.seen();
        assert_eq!(seen.pointer(place), Some(&expected), "lesson {number}: {seen:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_report_over_the_bus() {
    let Some(stage) = Stage::set(&[]).await else { return };
    let report = json!({"host": "cmp-9", "vcpus": 8, "inventory": {"VCPU": {"total": 8}}});
    stage.wire.send("nova", "stowplan.hosts", &report).await;
    stage
        .wait_until("the host is known", || stage.client().get("/v1/hosts/cmp-9").status == 200)
        .await;
    let host = stage.host("cmp-9");
    assert_eq!((&host["source"], &host["figures"]["vcpus_total"]), (&json!("bus"), &json!(8)));
    stage.wire.send("nova", "stowplan.hosts", &json!({"host": "cmp-9", "vcpus": -1})).await;
    stage
        .wait_until("a bad one is kept for people", || stage.bus()["counts"]["unreadable"] == 1)
        .await;
}
