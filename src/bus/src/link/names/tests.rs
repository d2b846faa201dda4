#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;
use lapin::types::AMQPValue;

fn shown(queue: &Queue) -> String {
    let arguments: Vec<String> = queue
        .arguments
        .inner()
        .iter()
        .map(|(name, value)| match value {
            AMQPValue::LongString(text) => format!("{name}={text}"),
            AMQPValue::LongInt(number) => format!("{name}={number}"),
            other => format!("{name}={other:?}"),
        })
        .collect();
    format!("{} {} {}", queue.durable, queue.auto_delete, arguments.join(" "))
}

fn names(set: impl Fn(&mut Rabbit)) -> Names {
    let mut settings = Settings::default();
    set(&mut settings.oslo_messaging_rabbit);
    Names::new(&settings, "sched-1", "machine")
}

#[test]
fn declarations_are_those_of_the_peers() {
    let expires = "x-expires=1800000";
    for (set, exchange, topic, fanout_exchange, fanout) in [
        (
            (|_| {}) as fn(&mut Rabbit),
            (false, false),
            "false false ",
            false,
            format!("false false {expires}"),
        ),
        (
            |o| o.amqp_durable_queues = true,
            (true, false),
            "true false ",
            false,
            format!("false false {expires}"),
        ),
        (
            |o| o.amqp_auto_delete = true,
            (false, true),
            "false true ",
            false,
            format!("false false {expires}"),
        ),
        (
            |o| o.rabbit_quorum_queue = true,
            (true, false),
            "true false x-queue-type=quorum",
            false,
            format!("false false {expires}"),
        ),
        (
            |o| {
                o.rabbit_quorum_queue = true;
                o.rabbit_quorum_delivery_limit = 3;
            },
            (true, false),
            "true false x-delivery-limit=3 x-queue-type=quorum",
            false,
            format!("false false {expires}"),
        ),
        (
            |o| o.rabbit_transient_quorum_queue = true,
            (false, false),
            "false false ",
            true,
            format!("true false {expires} x-queue-type=quorum"),
        ),
        (
            |o| {
                o.rabbit_transient_quorum_queue = true;
                o.rabbit_stream_fanout = true;
            },
            (false, false),
            "false false ",
            true,
            "true false x-max-age=1800s x-queue-type=stream".to_owned(),
        ),
        (
            |o| o.rabbit_ha_queues = true,
            (false, false),
            "false false x-ha-policy=all",
            false,
            format!("false false {expires} x-ha-policy=all"),
        ),
        (
            |o| o.rabbit_transient_queues_ttl = 0,
            (false, false),
            "false false ",
            false,
            "false false ".to_owned(),
        ),
    ] {
        let names = names(set);
        let shared = names.topic_exchange(None);
        assert_eq!((shared.durable, shared.auto_delete), exchange);
        assert_eq!(shown(&names.shared_queue()), topic);
        assert_eq!(names.fanout_exchange().durable, fanout_exchange);
        assert_eq!(shown(&names.fanout_queue()), fanout);
    }
}

#[test]
fn names_are_those_of_the_peers() {
    let plain = names(|_| {});
    assert_eq!(plain.server_queue().name, "scheduler.sched-1");
    assert_eq!(plain.fanout_queue().name.len(), "scheduler_fanout_".len() + 32);
    assert!(plain.fanout_queue_is_ours());
    let managed = names(|options| options.use_queue_manager = true);
    assert_eq!(managed.fanout_queue().name, "scheduler_fanout_machine:stowplan:1");
    let stream = names(|options| options.rabbit_stream_fanout = true);
    assert_eq!(stream.fanout_queue().name, "scheduler_fanout");
}
