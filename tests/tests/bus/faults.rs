//! The line to the broker is cut or falls silent; queues go away.

use lapin::ExchangeKind;
use lapin::options::ExchangeDeclareOptions;
use lapin::types::{AMQPValue, FieldTable};
use std::time::Duration;
use uuid::Uuid;

use crate::proxy::Proxy;
use crate::wire::{Wire, hosts, servers, spec};
use crate::{Stage, Vhost, report, start};

/// A server that reaches its broker through a proxy.
async fn behind_a_proxy(options: &[&str]) -> Option<(Stage, Proxy)> {
    let vhost = Vhost::create()?;
    let proxy = Proxy::start(&vhost.broker.address).await;
    let server = start(&vhost.url(&proxy.address), options);
    let wire = Wire::connect(&vhost).await;
    let stage = Stage { vhost, server, wire };
    for host in ["cmp-1", "cmp-2"] {
        report(&stage.client(), host);
    }
    stage.wait_until("calls are consumed", || stage.bus()["state"] == "consuming").await;
    Some((stage, proxy))
}

/// A call is answered, and its servers have what the answer says.
async fn is_served(stage: &Stage) {
    let server = servers(1);
    let reply = stage.wire.call(&stage.wire.select(spec(1), &server)).await;
    assert_eq!(hosts(&reply).len(), 1);
    assert_eq!(stage.held(server[0]), 1);
}

fn fanouts(stage: &Stage) -> Vec<String> {
    let queues = stage.vhost.queues().into_iter();
    queues.filter(|name| name.starts_with("scheduler_fanout_")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_line_is_taken_up_again_under_load() {
    let Some((stage, proxy)) = behind_a_proxy(&[]).await else { return };
    is_served(&stage).await;
    let before = fanouts(&stage);
    let all: Vec<Uuid> = servers(60);
    for (number, server) in all.iter().enumerate() {
        stage.wire.cast(&stage.wire.select(spec(1), &[*server])).await;
        match number {
            20 => proxy.cut(),
            40 => {
                stage.wait_until("the loss is seen", || stage.bus()["state"] == "away").await;
                // REST goes on.
                assert_eq!(stage.client().get("/v1/hosts").status, 200);
                proxy.open();
            }
            _ => {}
        }
    }
    let mut answered = std::collections::BTreeSet::new();
    while answered.len() < all.len() {
        let reply = stage.wire.next(&stage.wire.queue, Duration::from_secs(40)).await;
        let reply = reply.unwrap_or_else(|| panic!("{} answers: {}", answered.len(), stage.bus()));
        answered.insert(reply["_msg_id"].as_str().unwrap().to_owned());
        assert_eq!(hosts(&reply).len(), 1);
    }
    assert!(all.iter().all(|server| stage.held(*server) == 1));
    assert_eq!(fanouts(&stage), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_line_is_found_out() {
    let options = ["oslo_messaging_rabbit.heartbeat_timeout_threshold=2"];
    let Some((stage, proxy)) = behind_a_proxy(&options).await else { return };
    is_served(&stage).await;
    proxy.silence();
    stage.wait_until("the silence is noticed", || stage.bus()["state"] == "away").await;
    proxy.cut();
    proxy.open();
    stage.wait_until("calls are consumed again", || stage.bus()["state"] == "consuming").await;
    is_served(&stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_that_is_deleted_is_declared_again() {
    let Some(stage) = Stage::set(&[]).await else { return };
    for queue in ["scheduler", "scheduler.sched-1"] {
        let before = stage.bus()["counts"]["lost"].as_u64();
        stage.wire.channel.queue_delete(queue.into(), Default::default()).await.unwrap();
        let is_back = || {
            let bus = stage.bus();
            bus["counts"]["lost"].as_u64() > before && bus["state"] == "consuming"
        };
        stage.wait_until("it is back", is_back).await;
        is_served(&stage).await;
    }
    assert_eq!(fanouts(&stage).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_there_and_not_durable_is_taken_as_it_is() {
    let Some(vhost) = Vhost::create() else { return };
    let wire = Wire::connect(&vhost).await;
    let (options, table) = (ExchangeDeclareOptions::default(), FieldTable::default());
    let declare = wire.channel.exchange_declare("nova".into(), ExchangeKind::Topic, options, table);
    declare.await.unwrap();
    wire.declare("scheduler").await;
    let url = vhost.url(&vhost.broker.address);
    let server = start(&url, &["oslo_messaging_rabbit.amqp_durable_queues=true"]);
    let stage = Stage { vhost, server, wire };
    for host in ["cmp-1", "cmp-2"] {
        report(&stage.client(), host);
    }
    stage.wait_until("calls are consumed", || stage.bus()["state"] == "consuming").await;
    is_served(&stage).await;
    assert!(stage.server.log().contains("declared as not durable"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_declared_otherwise_is_told() {
    let Some(vhost) = Vhost::create() else { return };
    let wire = Wire::connect(&vhost).await;
    let mut table = FieldTable::default();
    table.insert("x-max-length".into(), AMQPValue::LongInt(5));
    let declare = wire.channel.queue_declare("scheduler".into(), Default::default(), table);
    declare.await.unwrap();
    let url = vhost.url(&vhost.broker.address);
    let stage = Stage { server: start(&url, &[]), vhost, wire };
    let is_told = || {
        let bus = stage.bus();
        bus["reason"].as_str().is_some_and(|reason| {
            reason.contains("inequivalent arg 'x-max-length' for queue 'scheduler'")
        })
    };
    stage.wait_until("it is told", is_told).await;
    assert_eq!(stage.bus()["state"], "away");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_open_no_connections_and_a_stop_leaves_no_queue() {
    let Some(mut stage) = Stage::set(&[]).await else { return };
    is_served(&stage).await;
    let lines = |stage: &Stage| stage.vhost.connections().len();
    let until = std::time::Instant::now() + Duration::from_secs(20);
    while lines(&stage) < 3 && std::time::Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let before = lines(&stage);
    for _ in 0..10 {
        let calls: Vec<_> = (0..100).map(|_| stage.wire.ping()).collect();
        for call in &calls {
            stage.wire.cast(call).await;
        }
        for _ in &calls {
            stage.wire.next(&stage.wire.queue, Duration::from_secs(20)).await.expect("an answer");
        }
    }
    assert_eq!(lines(&stage), before);
    assert!(before <= 4, "{before}");
    assert!(stage.server.stop().success());
    assert_eq!(fanouts(&stage), [] as [String; 0]);
    assert!(stage.vhost.queues().iter().any(|queue| queue == "scheduler"));
}
