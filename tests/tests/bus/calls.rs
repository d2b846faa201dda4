//! Calls: answered once, never claimed for nobody.

use serde_json::{Value, json};
use std::time::Duration;
use uuid::Uuid;

use crate::Stage;
use crate::wire::{failure, hosts, object, servers, spec};

/// No answer is expected after this.
const SOON: Duration = Duration::from_millis(700);

#[tokio::test(flavor = "multi_thread")]
async fn servers_are_placed_and_a_second_copy_gets_the_first_answer() {
    let Some(stage) = Stage::set(&[]).await else { return };
    let wire = &stage.wire;
    let servers = servers(2);
    let call = wire.select(spec(2), &servers);
    let reply = wire.call(&call).await;
    assert_eq!(hosts(&reply).len(), 2);
    assert!(servers.iter().all(|server| stage.held(*server) == 1));
    // A copy right after it is dropped, as the peer does.
    wire.cast(&call).await;
    assert_eq!(wire.next(&wire.queue, SOON).await, None);
    // One of which the memory has been lost gets the same answer.
    for _ in 0..16 {
        wire.call(&wire.ping()).await;
    }
    let again = wire.call(&call).await;
    assert_eq!(again["result"], reply["result"]);
    assert_ne!(again["_unique_id"], reply["_unique_id"]);
    let mut other = call.clone();
    other["_unique_id"] = json!("another");
    assert_eq!(wire.call(&other).await["result"], reply["result"]);
    let path = format!("/allocations/{}", servers[0]);
    let held = stage.client().get(&path).expect(200).json();
    assert_eq!(held["consumer_generation"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_takes_is_undone_unless_somebody_has_changed_it() {
    let Some(stage) =
        Stage::set(&["oslo_messaging_rabbit.kombu_missing_consumer_retry_timeout=3"]).await
    else {
        return;
    };
    let (wire, lost) = (&stage.wire, servers(2));
    let mut call = wire.select(spec(2), &lost);
    call["_reply_q"] = json!("reply_that_nobody_has");
    wire.cast(&call).await;
    stage.wait_until("both are claimed", || lost.iter().all(|it| stage.held(*it) == 1)).await;
    let path = format!("/allocations/{}", lost[1]);
    let mut held = stage.client().get(&path).expect(200).json();
    held.as_object_mut().unwrap().retain(|name, _| name != "mappings");
    assert_eq!(stage.client().put(&path, &held).status, 204);
    stage.wait_until("the first is released", || stage.held(lost[0]) == 0).await;
    assert_eq!(stage.held(lost[1]), 1);
    assert_eq!(stage.bus()["counts"]["released"], 1);
    // The next call is answered at once.
    wire.call(&wire.select(spec(1), &servers(1))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_outlives_the_process_that_gave_it() {
    let Some(mut stage) = Stage::set(&[]).await else { return };
    let (late, server) = (servers(1), servers(1)[0]);
    let queue = format!("reply_{}", late[0].simple());
    let mut call = stage.wire.select(spec(1), &[server]);
    call["_reply_q"] = json!(queue);
    stage.wire.cast(&call).await;
    stage.wait_until("it is claimed", || stage.held(server) == 1).await;
    stage.server.kill();
    stage.wire.declare(&queue).await;
    stage.server.start_again();
    let reply = stage.wire.next(&queue, Duration::from_secs(40)).await.expect("the answer");
    assert_eq!(reply["_msg_id"], call["_msg_id"]);
    assert_eq!(hosts(&reply).len(), 1);
    assert_eq!(stage.held(server), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_caller_may_know_is_not_undone_after_a_kill() {
    let Some((stage, call, server)) = answered_and_killed().await else { return };
    is_kept(&stage, server).await;
    // A copy that comes later still gets its answer.
    stage.wire.declare(&stage.wire.queue).await;
    assert_eq!(hosts(&stage.wire.call(&call).await).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn nor_is_it_after_a_copy_of_the_call_that_nobody_waits_for() {
    let Some((stage, call, server)) = answered_and_killed().await else { return };
    stage.wire.cast(&call).await;
    stage.wait_until("the copy is known", || stage.bus()["counts"]["repeated"] == 1).await;
    is_kept(&stage, server).await;
}

/// A call whose caller has taken its answer and left; the server was killed before it
/// can have noted that, and runs again. With the call and what was claimed.
async fn answered_and_killed() -> Option<(Stage, Value, Uuid)> {
    let short = "oslo_messaging_rabbit.kombu_missing_consumer_retry_timeout=2";
    let mut stage = Stage::set(&[short]).await?;
    let server = servers(1)[0];
    let call = stage.wire.select(spec(1), &[server]);
    stage.wire.call(&call).await;
    stage.server.kill();
    let (wire, options) = (&stage.wire, Default::default());
    wire.channel.queue_delete(wire.queue.as_str().into(), options).await.unwrap();
    stage.server.start_again();
    Some((stage, call, server))
}

/// What the server has stays, and is told to stay.
async fn is_kept(stage: &Stage, server: Uuid) {
    let is_told = || {
        let counts = &stage.bus()["counts"];
        counts["kept"] == 1 || counts["released"] != 0
    };
    stage.wait_until("it is told what becomes of it", is_told).await;
    assert_eq!(stage.bus()["counts"]["released"], 0);
    assert_eq!(stage.bus()["counts"]["kept"], 1);
    assert_eq!(stage.held(server), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_has_given_up_is_not_served() {
    let Some(mut stage) = Stage::set(&[]).await else { return };
    stage.server.kill();
    let server = servers(1)[0];
    let mut call = stage.wire.select(spec(1), &[server]);
    call["_timeout"] = json!(1);
    call["_context_timestamp"] = json!("2026-01-02T03:04:05.000000");
    stage.wire.cast(&call).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    stage.server.start_again();
    let reply = stage.wire.reply(&call).await;
    assert_eq!(failure(&reply)["class"], "MessagingTimeout");
    assert_eq!(stage.held(server), 0);
    // One that nobody waits for claims nothing either.
    let nobody = servers(1);
    let mut cast = stage.wire.select(spec(1), &nobody);
    cast.as_object_mut().unwrap().remove("_msg_id");
    stage.wire.cast(&cast).await;
    stage.wire.call(&stage.wire.ping()).await;
    assert_eq!(stage.held(nobody[0]), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_by_the_hundred_is_kept_for_people() {
    let Some(stage) = Stage::set(&[]).await else { return };
    let wire = &stage.wire;
    for number in 0..100 {
        let body = match number % 4 {
            0 => format!("{{nope {number}"),
            1 => format!("[{number}]"),
            2 => {
                json!({"oslo.version": "3.0", "oslo.message": wire.ping().to_string()}).to_string()
            }
            _ => json!({"oslo.version": "2.0", "oslo.message": number}).to_string(),
        };
        wire.publish("nova", "scheduler", body.as_bytes()).await;
    }
    assert_eq!(wire.call(&wire.ping()).await["result"]["arg"], "x");
    stage.wait_until("100 are dropped", || stage.bus()["counts"]["unreadable"] == 100).await;
    let is_there = || stage.vhost.queues().iter().any(|queue| queue == "stowplan.dead");
    stage.wait_until("copies are kept", is_there).await;
    let (mut copies, get) = (Vec::new(), lapin::options::BasicGetOptions { no_ack: true });
    while copies.len() < 100 {
        match wire.channel.basic_get("stowplan.dead".into(), get).await.unwrap() {
            Some(message) => copies.push(message.delivery),
            None => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
    assert!(copies.iter().all(|copy| {
        let headers = copy.properties.headers().as_ref().unwrap().inner();
        headers.keys().any(|name| name.as_str() == "stowplan-reason")
    }));
    assert!(!copies.iter().any(|copy| String::from_utf8_lossy(&copy.data).contains("geheim")));
    assert_eq!(wire.next("scheduler", Duration::ZERO).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_in_every_form() {
    let Some(stage) = Stage::set(&[]).await else { return };
    let wire = &stage.wire;
    let mut none = spec(1);
    none["nova_object.data"]["ignore_hosts"] = json!(["cmp-1", "cmp-2"]);
    let failed = failure(&wire.call(&wire.select(none, &servers(1))).await);
    assert_eq!(
        (&failed["class"], &failed["module"]),
        (&json!("NoValidHost"), &json!("nova.exception"))
    );
    assert_eq!(
        failed["kwargs"],
        json!({"reason": "There are not enough hosts available.", "code": 500})
    );
    let mut huge = spec(1);
    huge["nova_object.data"]["flavor"]["nova_object.data"]["vcpus"] = json!(5000);
    let failed = failure(&wire.call(&wire.select(huge, &servers(1))).await);
    assert_eq!(failed["message"], "No valid host was found. ");
    let wrong = json!({"spec_obj": object("Flavor", "1.2", json!({}))});
    let failed = failure(&wire.call(&wire.message("select_destinations", "4.5", wrong)).await);
    assert_eq!(failed["class"], "ValueError");

    let group = object(
        "InstanceGroup",
        "1.11",
        json!({
            "uuid": servers(1)[0], "policy": "anti-affinity", "members": [], "hosts": [],
        }),
    );
    let mut apart = spec(2);
    apart["nova_object.data"]["instance_group"] = group;
    let mut call = wire.select(apart, &servers(2));
    call["args"]["return_alternates"] = json!(true);
    let mut names = hosts(&wire.call(&call).await);
    names.sort();
    assert_eq!(names, ["cmp-1", "cmp-2"]);

    let older = servers(1);
    let args = json!({"spec_obj": spec(1), "instance_uuids": older});
    let reply = wire.call(&wire.message("select_destinations", "4.4", args)).await;
    let row = reply["result"][0].as_object().unwrap();
    assert_eq!(row.keys().collect::<Vec<_>>(), ["host", "nodename", "limits"]);
    assert_eq!(stage.held(older[0]), 1);
    let reply =
        wire.call(&wire.message("select_destinations", "4.3", json!({"spec_obj": spec(3)}))).await;
    assert_eq!(reply["result"].as_array().unwrap().len(), 3);
}
