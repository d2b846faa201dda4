//! Changes of the ledger as events: one for each kind of thing that a change
//! touches, with the rows that it leaves behind.

use serde_json::{Value, json};
use stowplan_ledger::rows::TaskRow;
use stowplan_ledger::{Entry, Record};
use stowplan_model::Uuid;

use crate::wire::times;

/// The name space of events' ids.
const NAMESPACE: Uuid = Uuid::from_u128(0x52a7_9c0e_8f6d_5c3b_9b1e_2d84_6d51_70aa);

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its id: the same whenever it is sent.
    pub id: Uuid,
    /// Its routing key, such as `allocations.servers.place`.
    pub key: String,
    /// Its message as JSON text.
    pub body: String,
}

/// Kinds of things that events are about.
const TOPICS: [&str; 8] =
    ["allocations", "hosts", "aggregates", "groups", "providers", "jobs", "binds", "evictions"];

/// The kind of thing that a record is about; none for what concerns nobody else.
fn topic(record: &Record) -> Option<&'static str> {
    Some(match record {
        Record::Consumer(_) | Record::ConsumerGone(_) => "allocations",
        Record::Host(_)
        | Record::HostGone(_)
        | Record::Service(_)
        | Record::ServiceGone(_)
        | Record::Cell(_) => "hosts",
        Record::HostAggregate(_) | Record::HostAggregateGone(_) => "aggregates",
        Record::ServerGroup(_) | Record::ServerGroupGone(_) => "groups",
        Record::Provider(_)
        | Record::ProviderGone(_)
        | Record::Inventories { .. }
        | Record::Traits { .. }
        | Record::Aggregates { .. } => "providers",
        Record::Queue(_) | Record::QueueGone(_) | Record::Job(_) | Record::JobGone(_) => "jobs",
        Record::Task(task) => task_topic(task),
        Record::Class(_)
        | Record::ClassGone(_)
        | Record::Trait(_)
        | Record::TraitGone(_)
        | Record::Generation { .. }
        | Record::Call(_)
        | Record::CallGone(_)
        | Record::Stamp(_)
        | Record::StampGone(_)
        | Record::RequestKey(_)
        | Record::RequestKeyGone(_)
        | Record::RequestAnswer(_)
        | Record::BatchObject(_)
        | Record::BatchObjectGone(_)
        | Record::Decision(_) => return None,
    })
}

/// A task that has a host was bound to it; one that had one and has none any more
/// was put out.
fn task_topic(task: &TaskRow) -> &'static str {
    match (task.host, task.attempt) {
        (Some(_), _) => "binds",
        (None, 1..) => "evictions",
        (None, _) => "jobs",
    }
}

/// The events of a change, in a fixed order.
#[must_use]
pub fn of(entry: &Entry) -> Vec<Event> {
    let topics = TOPICS.iter().filter_map(|name| {
        let records = entry.change.records.iter();
        let records: Vec<&Record> = records.filter(|record| topic(record) == Some(*name)).collect();
        (!records.is_empty()).then(|| event(entry, name, &records))
    });
    topics.collect()
}

fn event(entry: &Entry, topic: &str, records: &[&Record]) -> Event {
    let id = Uuid::new_v5(&NAMESPACE, format!("{}/{}/{topic}", entry.time.0, entry.seq).as_bytes());
    let key = format!("{topic}.{}", entry.change.kind);
    let body: Value = json!({
        "message_id": id,
        "publisher_id": "stowplan",
        "event_type": format!("stowplan.{key}"),
        "priority": "INFO",
        "timestamp": times::write(entry.time),
        "_unique_id": id.simple().to_string(),
        "_context_request_id": entry.request_id,
        "payload": {"seq": entry.seq, "kind": entry.change.kind, "records": records},
    });
    Event { id, key, body: body.to_string() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use stowplan_ledger::Change;
    use stowplan_model::Micros;

    #[test]
    fn a_change_has_one_event_for_each_kind_of_thing() {
        let gone = Uuid::from_u128(1);
        let records = vec![
            Record::HostGone(gone),
            Record::ConsumerGone(gone),
            Record::ConsumerGone(Uuid::from_u128(2)),
            Record::CallGone(gone),
            Record::Generation { provider: gone, generation: 5 },
        ];
        let change = Change { kind: "host.delete".to_owned(), records };
        let entry = Entry { seq: 7, request_id: "req-1".to_owned(), time: Micros(9), change };
        let events = of(&entry);
        let keys: Vec<&str> = events.iter().map(|event| event.key.as_str()).collect();
        assert_eq!(keys, ["allocations.host.delete", "hosts.host.delete"]);
        let body: Value = serde_json::from_str(&events[0].body).unwrap();
        assert_eq!(body["payload"]["records"].as_array().unwrap().len(), 2);
        assert_eq!(of(&entry), events);
        assert_ne!(events[0].id, events[1].id);
    }
}
