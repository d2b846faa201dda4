//! Arguments of queues, by the options.

use lapin::types::{AMQPValue, FieldTable, LongString, ShortString};
use stowplan_config::Rabbit;

/// What a quorum queue is declared with.
pub(super) fn quorum(options: &Rabbit, arguments: &mut FieldTable) {
    text(arguments, "x-queue-type", "quorum");
    for (name, value) in [
        ("x-delivery-limit", options.rabbit_quorum_delivery_limit),
        ("x-max-in-memory-length", options.rabbit_quorum_max_memory_length),
        ("x-max-in-memory-bytes", options.rabbit_quorum_max_memory_bytes),
    ] {
        if value > 0 {
            number(arguments, name, i64::from(value));
        }
    }
}

/// What queues are consumed with.
pub(super) fn consume(options: &Rabbit) -> FieldTable {
    let mut arguments = FieldTable::default();
    if options.enable_cancel_on_failover {
        let value = AMQPValue::Boolean(true);
        arguments.insert(ShortString::from("x-cancel-on-ha-failover"), value);
    }
    arguments
}

pub(super) fn text(table: &mut FieldTable, name: &str, value: &str) {
    table.insert(ShortString::from(name), AMQPValue::LongString(LongString::from(value)));
}

/// As the peers: the smallest type of number that holds it.
pub(super) fn number(table: &mut FieldTable, name: &str, value: i64) {
    let value = match i32::try_from(value) {
        Ok(value) => AMQPValue::LongInt(value),
        Err(_) => AMQPValue::LongLongInt(value),
    };
    table.insert(ShortString::from(name), value);
}
