//! A small world of proposals with rules of its own, for the ledger's tests.
//!
//! The real rules live in the crates above; these keep the one promise that
//! the ledger's tests look at: nobody holds more than there is.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use stowplan_db::{
    ConnectSpec,
    testing::{Kind, TestDatabase},
};
use stowplan_ledger::{
    Change, Image, Ledger, Limits, OpenOptions, Quiet, Record, WriteError,
    image::providers::At,
    rows::{
        AllocationRow, BatchObjectRow, CallClaim, CallRow, ConsumerRow, HostAggregateRow, HostRow,
        HostSource, InventoryOwner, JobRow, Lease, NameRow, Origin, OriginKind, ProviderRow,
        QueueRow, RequestAnswerRow, RequestKeyRow, ServerGroupRow, ServiceRow, StampRow, TaskRow,
    },
};
use stowplan_model::{Inventory, Micros, Uuid, host::HostReport};

pub mod look;

pub const CLASSES: [&str; 4] = ["VCPU", "MEMORY_MB", "DISK_GB", "CUSTOM_GPU"];

/// One thing that a client does. Numbers pick among what exists.
#[derive(Clone, Debug)]
pub enum Op {
    Provider { name: u8, parent: Option<u8> },
    Move { provider: u8, parent: Option<u8> },
    ProviderGone(u8),
    Inventory { provider: u8, class: u8, total: i64 },
    Traits { provider: u8, traits: u8 },
    Aggregates { provider: u8, aggregates: u8 },
    Claim { consumer: u8, amounts: Vec<(u8, u8, i64)>, ours: bool },
    Release(u8),
    Host { provider: u8, vcpus_used: Option<i64>, lists: u8 },
    HostGone(u8),
    HostAggregate { id: u8, hosts: u8 },
    HostAggregateGone(u8),
    Group { id: u8, members: u8 },
    GroupGone(u8),
    Queue { id: u8, gone: bool },
    Job { id: u8, tasks: u8 },
    Task { job: u8, index: u8, host: Option<u8> },
    JobGone(u8),
    JobAgain { id: u8, tasks: u8 },
    Call { id: u8, delivered: bool },
    CallGone(u8),
    Stamp { id: u8, said: i64 },
    StampGone(u8),
    RequestKey { id: u8, fingerprint: u8 },
    RequestKeyGone(u8),
    Object { id: u8, gone: bool },
}

pub fn ops() -> impl Strategy<Value = Op> {
    let few = 0..12u8;
    let amounts = prop::collection::vec((0..7u8, 0..4u8, 1..5i64), 1..4);
    prop_oneof![
        3 => (few.clone(), prop::option::of(0..12u8))
            .prop_map(|(name, parent)| Op::Provider { name, parent }),
        1 => few.clone().prop_map(Op::ProviderGone),
        1 => (few.clone(), prop::option::of(0..12u8))
            .prop_map(|(provider, parent)| Op::Move { provider, parent }),
        4 => (few.clone(), 0..4u8, 1..20i64)
            .prop_map(|(provider, class, total)| Op::Inventory { provider, class, total }),
        1 => (few.clone(), any::<u8>())
            .prop_map(|(provider, traits)| Op::Traits { provider, traits }),
        1 => (few.clone(), any::<u8>())
            .prop_map(|(provider, aggregates)| Op::Aggregates { provider, aggregates }),
        8 => (0..8u8, amounts, any::<bool>())
            .prop_map(|(consumer, amounts, ours)| Op::Claim { consumer, amounts, ours }),
        2 => (0..8u8).prop_map(Op::Release),
        2 => (few.clone(), prop::option::of(0..5i64), any::<u8>())
            .prop_map(|(provider, vcpus_used, lists)| Op::Host { provider, vcpus_used, lists }),
        1 => few.clone().prop_map(Op::HostGone),
        1 => (0..3u8, any::<u8>()).prop_map(|(id, hosts)| Op::HostAggregate { id, hosts }),
        1 => (0..3u8).prop_map(Op::HostAggregateGone),
        1 => (0..3u8, any::<u8>()).prop_map(|(id, members)| Op::Group { id, members }),
        1 => (0..3u8).prop_map(Op::GroupGone),
        1 => (0..3u8, any::<bool>()).prop_map(|(id, gone)| Op::Queue { id, gone }),
        2 => (0..4u8, 0..4u8, prop::option::of(0..12u8))
            .prop_map(|(job, index, host)| Op::Task { job, index, host }),
        1 => (0..4u8, 0..4u8).prop_map(|(id, tasks)| Op::JobAgain { id, tasks }),
        1 => (0..4u8, 0..4u8).prop_map(|(id, tasks)| Op::Job { id, tasks }),
        1 => (0..4u8).prop_map(Op::JobGone),
        1 => (0..4u8, any::<bool>()).prop_map(|(id, delivered)| Op::Call { id, delivered }),
        1 => (0..4u8).prop_map(Op::CallGone),
        1 => (0..4u8, 0..9i64).prop_map(|(id, said)| Op::Stamp { id, said }),
        1 => (0..4u8).prop_map(Op::StampGone),
        1 => (0..4u8, 0..9u8).prop_map(|(id, fingerprint)| Op::RequestKey { id, fingerprint }),
        1 => (0..4u8).prop_map(Op::RequestKeyGone),
        1 => (0..3u8, any::<bool>()).prop_map(|(id, gone)| Op::Object { id, gone }),
    ]
}

fn id(space: &str, number: u8) -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("{space}{number}").as_bytes())
}

pub fn consumer_id(number: u8) -> Uuid {
    id("consumer", number)
}

type Proposed = Result<(Change, ()), &'static str>;

/// Brings the classes and traits that the operations use.
pub fn seed(image: &Image) -> Proposed {
    let mut change = Change::new("seed");
    let row = |id: usize, name: String| NameRow {
        id: id as i64 + 1,
        name,
        created: Micros(1),
        updated: Micros(1),
    };
    if image.classes.iter().next().is_none() {
        change.records.extend(
            CLASSES.iter().enumerate().map(|(i, name)| Record::Class(row(i, (*name).to_owned()))),
        );
        change.records.extend((0..8).map(|i| Record::Trait(row(i, format!("CUSTOM_T{i}")))));
    }
    Ok((change, ()))
}

/// What is there before the clients come, so that most claims have a chance:
/// three hosts, a provider below each, and something of everything on them.
pub fn furniture() -> Vec<Op> {
    let mut ops = Vec::new();
    for root in 0..3u8 {
        ops.push(Op::Provider { name: root, parent: None });
        ops.push(Op::Provider { name: root + 3, parent: Some(root) });
        ops.push(Op::Host { provider: root, vcpus_used: None, lists: 0 });
        for class in 0..4 {
            ops.push(Op::Inventory { provider: root, class, total: 12 });
            ops.push(Op::Inventory { provider: root + 3, class, total: 6 });
        }
    }
    ops
}

/// Checks an operation against an image.
pub fn propose(image: &Image, op: &Op) -> Proposed {
    let mut change = Change::new("test");
    let at = |number: u8| image.providers.find(id("provider", number));
    let (created, updated) = (Micros(1), Micros(2));
    match op {
        Op::Provider { name, parent } => {
            let uuid = id("provider", *name);
            if at(*name).is_some() {
                return Err("exists");
            }
            let parent = parent.and_then(at).map(|at| image.providers.uuid(at));
            let root = parent
                .and_then(|p| image.providers.find(p))
                .map_or(uuid, |at| image.providers.uuid(image.providers.get(at).unwrap().root));
            change.push(Record::Provider(ProviderRow {
                id: image.providers.next_id(),
                uuid,
                name: format!("it's \\ \"name\" {name} \u{e9}\n"),
                generation: 0,
                parent,
                root,
                created,
                updated,
            }));
        }
        Op::Move { provider, parent } => {
            let at = at(*provider).ok_or("no provider")?;
            moved(
                image,
                at,
                parent.and_then(|p| image.providers.find(id("provider", p))),
                &mut change,
            )?;
        }
        Op::ProviderGone(number) => {
            let at = at(*number).ok_or("no provider")?;
            let provider = image.providers.get(at).unwrap();
            let has_children = image
                .providers
                .iter()
                .any(|other| image.providers.get(other).unwrap().parent == Some(at));
            if has_children || image.consumers.of_provider(at).next().is_some() {
                return Err("in use");
            }
            if image.hosts.get(provider.uuid).is_some() {
                return Err("is a host");
            }
            change.push(Record::ProviderGone(provider.uuid));
        }
        Op::Inventory { provider, class, total } => {
            let at = at(*provider).ok_or("no provider")?;
            let class_name = CLASSES[usize::from(*class)];
            let class = image.classes.ix(class_name).unwrap();
            if image.providers.used(at, class) > *total {
                return Err("in use");
            }
            let row = image.providers.get(at).unwrap();
            let mut inventories: BTreeMap<_, _> = row
                .classes
                .iter()
                .map(|c| {
                    let inventory = image.providers.inventory(at, *c).unwrap();
                    (image.classes.name(*c).to_owned(), *inventory)
                })
                .collect();
            inventories.insert(
                class_name.to_owned(),
                Inventory {
                    total: *total,
                    reserved: 0,
                    min_unit: 1,
                    max_unit: *total,
                    step_size: 1,
                    allocation_ratio: 1.0,
                },
            );
            change.push(Record::Inventories { provider: row.uuid, inventories });
            let generation = image.providers.generation(at) + 1;
            change.push(Record::Generation { provider: row.uuid, generation });
        }
        Op::Traits { provider, traits } => {
            let at = at(*provider).ok_or("no provider")?;
            let traits = (0..8).filter(|bit| traits >> bit & 1 == 1);
            change.push(Record::Traits {
                provider: image.providers.uuid(at),
                traits: traits.map(|bit| format!("CUSTOM_T{bit}")).collect(),
            });
        }
        Op::Aggregates { provider, aggregates } => {
            let at = at(*provider).ok_or("no provider")?;
            let mut uuids: Vec<_> =
                (0..8u8).filter(|bit| aggregates >> bit & 1 == 1).map(|b| id("agg", b)).collect();
            uuids.sort();
            change
                .push(Record::Aggregates { provider: image.providers.uuid(at), aggregates: uuids });
        }
        Op::Claim { consumer, amounts, ours } => {
            claim(image, *consumer, amounts, *ours, &mut change)?
        }
        Op::Release(number) => {
            let uuid = consumer_id(*number);
            let consumer = image.consumers.get(uuid).ok_or("no consumer")?;
            change.push(Record::ConsumerGone(uuid));
            bump(image, consumer.allocations.iter().map(|a| a.provider), &mut change);
        }
        Op::Host { provider, vcpus_used, lists } => {
            let at = at(*provider).ok_or("no provider")?;
            let row = image.providers.get(at).unwrap();
            if row.root != at {
                return Err("not a root");
            }
            let name = format!("host{provider}");
            let instances = (0..8u8).filter(|bit| lists >> bit & 1 == 1);
            let report = HostReport {
                uuid: row.uuid,
                vcpus: vcpus_used.map(|_| 16),
                memory_mb: vcpus_used.map(|_| 1024),
                vcpus_used: *vcpus_used,
                free_disk_gb: vcpus_used.filter(|used| used % 2 == 0),
                disk_available_least: (lists % 3 == 0).then_some(3),
                instances: instances.map(|bit| (consumer_id(bit), Default::default())).collect(),
                ..HostReport::default()
            };
            let before = image.hosts.get(row.uuid);
            change.push(Record::Host(Box::new(HostRow {
                id: before.map_or(image.hosts.next_id(), |host| host.row.id),
                uuid: row.uuid,
                host: name.clone(),
                node: name.clone(),
                source: HostSource::Rest,
                inventory_owner: InventoryOwner::Report,
                report,
                news: (0..3u8)
                    .filter(|bit| lists >> (bit + 4) & 1 == 1)
                    .map(|bit| (consumer_id(bit), lists % 2 == 0))
                    .collect(),
                report_seq: image.next_seq(),
                created,
                updated,
            })));
            change.push(Record::Service(ServiceRow {
                id: image.service_of(&name).map_or(image.services.next_id(), |s| s.id),
                uuid: id("service", *provider),
                host: name,
                binary: "nova-compute".to_owned(),
                zone: None,
                version: 70,
                disabled: lists % 2 == 0,
                disabled_reason: None,
                forced_down: false,
                last_seen: Some(Micros(5)),
                created,
                updated,
            }));
        }
        Op::HostGone(number) => {
            let host = image.hosts.get(id("provider", *number)).ok_or("no host")?;
            change.push(Record::HostGone(host.row.uuid));
            if let Some(service) = image.service_of(&host.row.host) {
                change.push(Record::ServiceGone(service.uuid));
            }
        }
        Op::HostAggregate { id: number, hosts } => {
            let uuid = id("hostagg", *number);
            let before = image.host_aggregates.get(uuid);
            change.push(Record::HostAggregate(HostAggregateRow {
                id: before.map_or(image.host_aggregates.next_id(), |row| row.id),
                uuid,
                name: format!("aggregate {number}"),
                hosts: (0..8)
                    .rev()
                    .filter(|b| hosts >> b & 1 == 1)
                    .map(|b| format!("host{b}"))
                    .collect(),
                metadata: BTreeMap::from([("k'ey".to_owned(), format!("v{hosts}"))]),
                external_id: (hosts % 2 == 1).then_some(5),
                created,
                updated,
            }));
        }
        Op::HostAggregateGone(number) => {
            let uuid = id("hostagg", *number);
            image.host_aggregates.get(uuid).ok_or("no aggregate")?;
            change.push(Record::HostAggregateGone(uuid));
        }
        Op::Group { id: number, members } => {
            let uuid = id("group", *number);
            let before = image.server_groups.get(uuid);
            change.push(Record::ServerGroup(ServerGroupRow {
                id: before.map_or(image.server_groups.next_id(), |row| row.id),
                uuid,
                name: format!("group {number}"),
                policy: "anti-affinity".to_owned(),
                max_server_per_host: Some(1),
                project: "p".to_owned(),
                user: "u".to_owned(),
                members: (0..8).rev().filter(|b| members >> b & 1 == 1).map(consumer_id).collect(),
                created,
                updated,
            }));
        }
        Op::GroupGone(number) => {
            let uuid = id("group", *number);
            image.server_groups.get(uuid).ok_or("no group")?;
            change.push(Record::ServerGroupGone(uuid));
        }
        Op::Call { id: number, delivered } => {
            let uuid = id("call", *number);
            let before = image.calls.get(uuid);
            change.push(Record::Call(Box::new(CallRow {
                id: before.map_or(image.calls.next_id(), |row| row.id),
                uuid,
                msg_id: uuid.simple().to_string(),
                unique_id: String::new(),
                reply_queue: "reply_it's".to_owned(),
                answer: "\"result\": null".to_owned(),
                claims: vec![CallClaim {
                    consumer: consumer_id(*number),
                    generation: 1,
                    providers: vec![id("provider", *number)],
                    origin_before: None,
                    stays: delivered.then(|| "it's known".to_owned()),
                }],
                delivered: *delivered,
                created: Micros(1),
                updated: Micros(2),
            })));
        }
        Op::CallGone(number) => {
            let uuid = id("call", *number);
            image.calls.get(uuid).ok_or("no call")?;
            change.push(Record::CallGone(uuid));
        }
        Op::Stamp { id: number, said } => {
            let uuid = id("stamp", *number);
            let before = image.stamps.get(uuid);
            change.push(Record::Stamp(StampRow {
                id: before.map_or(image.stamps.next_id(), |row| row.id),
                uuid,
                about: format!("thing/{number}"),
                state: (said % 2 == 0).then(|| "busy".to_owned()),
                said: Micros(*said),
                noted: Micros(3),
            }));
        }
        Op::RequestKey { id: number, fingerprint } => {
            let uuid = id("request", *number);
            // A key that is used again goes first.
            if image.request_keys.get(uuid).is_some() {
                change.push(Record::RequestKeyGone(uuid));
            }
            let key = image.request_keys.next_id();
            change.push(Record::RequestKey(RequestKeyRow {
                id: key,
                uuid,
                fingerprint: id("fingerprint", *fingerprint),
                created: Micros(key),
            }));
            let body = format!("{{\"it's\": {fingerprint}}}");
            change.push(Record::RequestAnswer(Box::new(RequestAnswerRow {
                key,
                status: 200,
                body,
            })));
        }
        Op::RequestKeyGone(number) => {
            let uuid = id("request", *number);
            image.request_keys.get(uuid).ok_or("no key")?;
            change.push(Record::RequestKeyGone(uuid));
        }
        Op::StampGone(number) => {
            let uuid = id("stamp", *number);
            image.stamps.get(uuid).ok_or("no stamp")?;
            change.push(Record::StampGone(uuid));
        }
        Op::Queue { id: number, gone } => queue(image, &format!("q{number}"), *gone, &mut change)?,
        Op::Job { id: number, tasks } => {
            if image.batch.jobs.get(id("job", *number)).is_some() {
                return Err("exists");
            }
            job(image, *number, *tasks, &mut change);
        }
        Op::Task { job, index, host } => {
            let job = image.batch.jobs.get(id("job", *job)).ok_or("no job")?;
            let task = image.batch.tasks_of(job.id).nth(usize::from(*index)).ok_or("no task")?;
            let host = host.map(|number| id("provider", number));
            let state = if host.is_some() { "Bound" } else { "Pending" };
            let task = TaskRow::clone(task);
            let detail = match host {
                Some(host) => serde_json::json!({"last": host}),
                None => serde_json::Value::Null,
            };
            change.push(Record::Task(TaskRow { host, state: state.to_owned(), detail, ..task }));
            let phase = if host.is_some() { "Running" } else { "Inqueue" };
            let job = JobRow { phase: phase.to_owned(), ..JobRow::clone(job) };
            change.push(Record::Job(Box::new(job)));
        }
        Op::Object { id: number, gone } => object(image, *number, *gone, &mut change)?,
        Op::JobGone(number) => {
            image.batch.jobs.get(id("job", *number)).ok_or("no job")?;
            change.push(Record::JobGone(id("job", *number)));
        }
        Op::JobAgain { id: number, tasks } => {
            image.batch.jobs.get(id("job", *number)).ok_or("no job")?;
            change.push(Record::JobGone(id("job", *number)));
            job(image, *number, *tasks, &mut change);
        }
    }
    Ok((change, ()))
}

fn claim(
    image: &Image,
    consumer: u8,
    amounts: &[(u8, u8, i64)],
    ours: bool,
    change: &mut Change,
) -> Result<(), &'static str> {
    let uuid = consumer_id(consumer);
    let before = image.consumers.get(uuid);
    let mut wanted: BTreeMap<(At, &str), i64> = BTreeMap::new();
    for (provider, class, amount) in amounts {
        let at = image.providers.find(id("provider", *provider)).ok_or("no provider")?;
        *wanted.entry((at, CLASSES[usize::from(*class)])).or_default() += amount;
    }
    for ((at, class), amount) in &wanted {
        let ix = image.classes.ix(class).unwrap();
        let held = before.map_or(0, |consumer| {
            let same = consumer.allocations.iter().filter(|a| a.provider == *at && a.class == ix);
            same.map(|allocation| allocation.used).sum()
        });
        let capacity = image.providers.capacity(*at, ix).ok_or("no inventory")?;
        if image.providers.used(*at, ix) - held + amount > capacity {
            return Err("over capacity");
        }
    }
    let first = *wanted.keys().next().map(|(at, _)| at).unwrap();
    let host = image.providers.uuid(image.providers.get(first).unwrap().root);
    let origin = (ours && image.hosts.get(host).is_some()).then(|| Origin {
        kind: if consumer.is_multiple_of(2) { OriginKind::Server } else { OriginKind::BatchTask },
        host,
        seq: image.next_seq(),
        decision: None,
        group: None,
        // Of the generation that it gets, or of another one.
        lease: consumer.is_multiple_of(3).then(|| Lease {
            until: Micros(i64::from(consumer)),
            generation: before.map_or(1, |it| it.generation + i64::from(consumer % 2)),
        }),
    });
    change.push(Record::Consumer(Box::new(ConsumerRow {
        id: before.map_or(image.consumers.next_id(), |consumer| consumer.id),
        uuid,
        generation: before.map_or(1, |consumer| consumer.generation + 1),
        project: format!("project {}", consumer % 3),
        user: "o'user".to_owned(),
        consumer_type: consumer.is_multiple_of(2).then(|| "INSTANCE".to_owned()),
        allocations: wanted
            .iter()
            .map(|((at, class), used)| AllocationRow {
                provider: image.providers.uuid(*at),
                class: (*class).to_owned(),
                used: *used,
            })
            .collect(),
        origin,
        created: Micros(3),
        updated: Micros(4),
    })));
    let old = before.into_iter().flat_map(|c| c.allocations.iter().map(|a| a.provider));
    bump(image, wanted.keys().map(|(at, _)| *at).chain(old), change);
    Ok(())
}

fn bump(image: &Image, providers: impl Iterator<Item = At>, change: &mut Change) {
    for at in providers.collect::<BTreeSet<_>>() {
        let generation = image.providers.generation(at) + 1;
        change.push(Record::Generation { provider: image.providers.uuid(at), generation });
    }
}

/// Moves a provider with all below it, and gives it another name.
fn moved(
    image: &Image,
    at: At,
    parent: Option<At>,
    change: &mut Change,
) -> Result<(), &'static str> {
    let above = |at: At| image.providers.get(at).unwrap().parent;
    let is_below = |other: At| std::iter::successors(Some(other), |at| above(*at)).any(|a| a == at);
    if parent.is_some_and(is_below) {
        return Err("a circle");
    }
    let root = parent.map_or(at, |parent| image.providers.get(parent).unwrap().root);
    let root = image.providers.uuid(root);
    if parent.is_some() && image.hosts.get(image.providers.uuid(at)).is_some() {
        return Err("is a host");
    }
    let below = image.providers.tree_of(at).iter().copied().filter(|other| is_below(*other));
    for other in below {
        let mut row = image.provider_row(other).unwrap();
        row.root = root;
        if other == at {
            row.parent = parent.map(|parent| image.providers.uuid(parent));
            row.name.push('+');
        }
        change.push(Record::Provider(row));
    }
    Ok(())
}

fn queue(image: &Image, name: &str, gone: bool, change: &mut Change) -> Result<(), &'static str> {
    let before = image.batch.queue(name);
    if gone {
        before.ok_or("no queue")?;
        change.push(Record::QueueGone(name.to_owned()));
        return Ok(());
    }
    change.push(Record::Queue(QueueRow {
        id: before.map_or(image.batch.next_queue_id(), |queue| queue.id),
        name: name.to_owned(),
        spec: serde_json::json!({"weight": image.seq()}),
        state: "Open".to_owned(),
        generation: before.map_or(1, |queue| queue.generation + 1),
        created: Micros(1),
        updated: Micros(2),
    }));
    Ok(())
}

fn object(image: &Image, number: u8, gone: bool, change: &mut Change) -> Result<(), &'static str> {
    let uuid = id("object", number);
    let before = image.batch.objects.get(uuid);
    if gone {
        before.ok_or("no object")?;
        change.push(Record::BatchObjectGone(uuid));
        return Ok(());
    }
    change.push(Record::BatchObject(BatchObjectRow {
        id: before.map_or(image.batch.objects.next_id(), |object| object.id),
        uuid,
        kind: "priority_class".to_owned(),
        name: format!("o{number}"),
        spec: serde_json::json!({"value": image.seq()}),
        generation: before.map_or(0, |object| object.generation + 1),
        created: Micros(1),
        updated: Micros(2),
    }));
    Ok(())
}

fn job(image: &Image, number: u8, tasks: u8, change: &mut Change) {
    let uuid = id("job", number);
    let (created, updated) = (Micros(1), Micros(2));
    let job = image.batch.jobs.next_id();
    change.push(Record::Job(Box::new(JobRow {
        id: job,
        uuid,
        namespace: "n".to_owned(),
        name: format!("job {number}"),
        queue: "default".to_owned(),
        phase: "Pending".to_owned(),
        spec: serde_json::json!({"tasks": [tasks]}),
        conditions: serde_json::json!([]),
        created,
        updated,
    })));
    for index in 0..tasks {
        change.push(Record::Task(TaskRow {
            id: image.batch.tasks.next_id() + i64::from(index),
            uuid: Uuid::new_v5(&uuid, &[index]),
            job,
            role: "worker".to_owned(),
            index: i64::from(index),
            state: "Bound".to_owned(),
            attempt: 1,
            host: Some(id("provider", index)),
            reason: None,
            detail: serde_json::Value::Null,
            created,
            updated,
        }));
    }
}

pub async fn open(spec: ConnectSpec) -> Ledger {
    let options = OpenOptions { database: spec, lock_file: None, limits: Limits::default() };
    Ledger::open(options, &mut Quiet).await.expect("the ledger opens")
}

/// A database of each kind that is to be had here.
pub async fn databases() -> Vec<TestDatabase> {
    let mut all = Vec::new();
    for kind in Kind::ALL {
        match TestDatabase::create(kind).await {
            Some(database) => all.push(database),
            None => eprintln!("skipped: no {kind:?} named in the environment"),
        }
    }
    all
}

/// Does one thing. What is acknowledged is in the image from then on.
pub async fn run(ledger: &Ledger, op: Op) -> Result<(), &'static str> {
    let proposal =
        move |image: &Image| propose(image, &op).map(|(change, ())| (change, image.next_seq()));
    match ledger.write("req-test", proposal).await {
        Ok(seq) => {
            assert!(ledger.image().seq() >= seq, "answered before it was published");
            Ok(())
        }
        Err(WriteError::Refused(why)) => Err(why),
        Err(WriteError::Unavailable(why)) => panic!("{why}"),
    }
}
