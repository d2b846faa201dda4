//! From the ledger's rows to the tables' rows.

use crate::{
    error::Unavailable,
    image::{Image, consumers::Consumer, ids::Kind, providers::At},
    rows::{
        BatchObjectRow, CallRow, CellRow, DecisionRow, HostAggregateRow, HostRow, HostSource,
        InventoryOwner, JobRow, NameRow, QueueRow, RequestAnswerRow, RequestKeyRow, ServerGroupRow,
        ServiceRow, StampRow, TaskRow,
    },
};
use serde::Serialize;
use stowplan_db::entity::{
    allocation, batch_object, call, cell, consumer, counter, decision, host, host_aggregate,
    host_aggregate_host, host_aggregate_metadata, inventory, job, provider_aggregate,
    provider_trait, queue, request_answer, request_key, resource_class, resource_provider,
    server_group, server_group_member, service, stamp, task, trait_name,
};

pub(super) fn class(row: &NameRow) -> resource_class::Model {
    resource_class::Model {
        id: row.id,
        name: row.name.clone(),
        created_us: row.created.0,
        updated_us: row.updated.0,
    }
}

pub(super) fn trait_name(row: &NameRow) -> trait_name::Model {
    trait_name::Model {
        id: row.id,
        name: row.name.clone(),
        created_us: row.created.0,
        updated_us: row.updated.0,
    }
}

pub(super) fn provider(image: &Image, at: At) -> Option<resource_provider::Model> {
    let provider = image.providers.get(at)?;
    let id = |at: At| image.providers.get(at).map(|provider| provider.id);
    Some(resource_provider::Model {
        id: provider.id,
        uuid: provider.uuid.to_string(),
        name: provider.name.to_string(),
        generation: image.providers.generation(at),
        parent_id: provider.parent.and_then(id),
        root_id: id(provider.root)?,
        created_us: provider.created.0,
        updated_us: provider.updated.0,
    })
}

pub(super) fn inventories(image: &Image, at: At) -> Vec<inventory::Model> {
    let Some(provider) = image.providers.get(at) else { return Vec::new() };
    let row = |&class| {
        let inventory = image.providers.inventory(at, class)?;
        Some(inventory::Model {
            provider_id: provider.id,
            class_id: image.classes.row(class)?.id,
            total: inventory.total,
            reserved: inventory.reserved,
            min_unit: inventory.min_unit,
            max_unit: inventory.max_unit,
            step_size: inventory.step_size,
            allocation_ratio: inventory.allocation_ratio,
        })
    };
    provider.classes.iter().filter_map(row).collect()
}

pub(super) fn provider_traits(image: &Image, at: At) -> Vec<provider_trait::Model> {
    let Some(provider) = image.providers.get(at) else { return Vec::new() };
    let ids = provider.traits.iter().filter_map(|&name| image.traits.row(name));
    ids.map(|row| provider_trait::Model { provider_id: provider.id, trait_id: row.id }).collect()
}

pub(super) fn provider_aggregates(image: &Image, at: At) -> Vec<provider_aggregate::Model> {
    let Some(provider) = image.providers.get(at) else { return Vec::new() };
    let uuids = provider.aggregates.iter().map(|&ix| image.aggregates.uuid(ix).to_string());
    uuids
        .map(|aggregate| provider_aggregate::Model { provider_id: provider.id, aggregate })
        .collect()
}

pub(super) fn counter(kind: Kind, last_id: i64) -> counter::Model {
    counter::Model { id: kind.number(), kind: kind.name().to_owned(), last_id }
}

pub(super) fn consumer(consumer: &Consumer) -> Result<consumer::Model, Unavailable> {
    Ok(consumer::Model {
        id: consumer.id,
        uuid: consumer.uuid.to_string(),
        generation: consumer.generation,
        project: consumer.project.to_string(),
        user_id: consumer.user.to_string(),
        consumer_type: consumer.consumer_type.as_deref().map(str::to_owned),
        origin: consumer.origin.as_deref().map(json).transpose()?,
        created_us: consumer.created.0,
        updated_us: consumer.updated.0,
    })
}

pub(super) fn allocations(image: &Image, consumer: &Consumer) -> Vec<allocation::Model> {
    let row = |allocation: &crate::image::consumers::Allocation| {
        Some(allocation::Model {
            consumer_id: consumer.id,
            provider_id: image.providers.get(allocation.provider)?.id,
            class_id: image.classes.row(allocation.class)?.id,
            used: allocation.used,
        })
    };
    consumer.allocations.iter().filter_map(row).collect()
}

pub(super) fn host(row: &HostRow) -> Result<host::Model, Unavailable> {
    Ok(host::Model {
        id: row.id,
        uuid: row.uuid.to_string(),
        host: row.host.clone(),
        node: row.node.clone(),
        cell_uuid: row.report.cell_uuid.map(|uuid| uuid.to_string()),
        source: source(row.source).to_owned(),
        inventory_owner: owner(row.inventory_owner).to_owned(),
        vcpus: row.report.vcpus.unwrap_or_default(),
        memory_mb: row.report.memory_mb.unwrap_or_default(),
        local_gb: row.report.local_gb.unwrap_or_default(),
        last_seen_us: row.report.service.last_seen_up.unwrap_or_default().0,
        report_seq: row.report_seq,
        report: json(&row.report)?,
        news: (!row.news.is_empty()).then(|| json(&row.news)).transpose()?,
        created_us: row.created.0,
        updated_us: row.updated.0,
    })
}

/// The word for a host's source in its table.
pub(super) const fn source(source: HostSource) -> &'static str {
    match source {
        HostSource::Rest => "rest",
        HostSource::Bus => "bus",
        HostSource::NovaDb => "nova_db",
    }
}

/// The word for the owner of a root provider's inventory in its table.
pub(super) const fn owner(owner: InventoryOwner) -> &'static str {
    match owner {
        InventoryOwner::Placement => "placement",
        InventoryOwner::Report => "report",
    }
}

pub(super) fn service(row: &ServiceRow) -> service::Model {
    service::Model {
        id: row.id,
        uuid: row.uuid.to_string(),
        host: row.host.clone(),
        binary: row.binary.clone(),
        zone: row.zone.clone(),
        version: row.version,
        disabled: row.disabled,
        disabled_reason: row.disabled_reason.clone(),
        forced_down: row.forced_down,
        last_seen_us: row.last_seen.map(|time| time.0),
        created_us: row.created.0,
        updated_us: row.updated.0,
    }
}

pub(super) fn cell(row: &CellRow) -> cell::Model {
    cell::Model {
        id: row.id,
        uuid: row.uuid.to_string(),
        name: row.name.clone(),
        disabled: row.disabled,
    }
}

pub(super) fn host_aggregate(row: &HostAggregateRow) -> host_aggregate::Model {
    host_aggregate::Model {
        id: row.id,
        uuid: row.uuid.to_string(),
        name: row.name.clone(),
        external_id: row.external_id,
        created_us: row.created.0,
        updated_us: row.updated.0,
    }
}

pub(super) fn aggregate_hosts(row: &HostAggregateRow) -> Vec<host_aggregate_host::Model> {
    let hosts = row.hosts.iter().enumerate();
    hosts
        .map(|(position, host)| host_aggregate_host::Model {
            aggregate_id: row.id,
            host: host.clone(),
            position: position as i64,
        })
        .collect()
}

pub(super) fn aggregate_metadata(row: &HostAggregateRow) -> Vec<host_aggregate_metadata::Model> {
    let pairs = row.metadata.iter();
    pairs
        .map(|(key, value)| host_aggregate_metadata::Model {
            aggregate_id: row.id,
            meta_key: key.clone(),
            meta_value: value.clone(),
        })
        .collect()
}

pub(super) fn server_group(row: &ServerGroupRow) -> server_group::Model {
    server_group::Model {
        id: row.id,
        uuid: row.uuid.to_string(),
        name: row.name.clone(),
        policy: row.policy.clone(),
        max_server_per_host: row.max_server_per_host,
        project: row.project.clone(),
        user_id: row.user.clone(),
        created_us: row.created.0,
        updated_us: row.updated.0,
    }
}

pub(super) fn group_members(row: &ServerGroupRow) -> Vec<server_group_member::Model> {
    let members = row.members.iter().enumerate();
    members
        .map(|(position, uuid)| server_group_member::Model {
            group_id: row.id,
            instance: uuid.to_string(),
            position: position as i64,
        })
        .collect()
}

pub(super) fn queue(row: &QueueRow) -> queue::Model {
    queue::Model {
        id: row.id,
        name: row.name.clone(),
        spec: row.spec.to_string(),
        state: row.state.clone(),
        generation: row.generation,
        created_us: row.created.0,
        updated_us: row.updated.0,
    }
}

pub(super) fn job(row: &JobRow) -> job::Model {
    job::Model {
        id: row.id,
        uuid: row.uuid.to_string(),
        namespace: row.namespace.clone(),
        name: row.name.clone(),
        queue: row.queue.clone(),
        phase: row.phase.clone(),
        spec: row.spec.to_string(),
        conditions: row.conditions.to_string(),
        created_us: row.created.0,
        updated_us: row.updated.0,
    }
}

pub(super) fn task(row: &TaskRow) -> task::Model {
    task::Model {
        id: row.id,
        uuid: row.uuid.to_string(),
        job_id: row.job,
        role: row.role.clone(),
        task_index: row.index,
        state: row.state.clone(),
        attempt: row.attempt,
        host_uuid: row.host.map(|uuid| uuid.to_string()),
        reason: row.reason.clone(),
        detail: (!row.detail.is_null()).then(|| row.detail.to_string()),
        created_us: row.created.0,
        updated_us: row.updated.0,
    }
}

pub(super) fn batch_object(row: &BatchObjectRow) -> batch_object::Model {
    batch_object::Model {
        id: row.id,
        uuid: row.uuid.to_string(),
        kind: row.kind.clone(),
        name: row.name.clone(),
        spec: row.spec.to_string(),
        generation: row.generation,
        created_us: row.created.0,
        updated_us: row.updated.0,
    }
}

pub(super) fn call(row: &CallRow) -> Result<call::Model, Unavailable> {
    Ok(call::Model {
        id: row.id,
        uuid: row.uuid.to_string(),
        msg_id: row.msg_id.clone(),
        unique_id: row.unique_id.clone(),
        reply_queue: row.reply_queue.clone(),
        answer: row.answer.clone(),
        claims: json(&row.claims)?,
        delivered: row.delivered,
        created_us: row.created.0,
        updated_us: row.updated.0,
    })
}

pub(super) fn stamp(row: &StampRow) -> stamp::Model {
    stamp::Model {
        id: row.id,
        uuid: row.uuid.to_string(),
        about: row.about.clone(),
        state: row.state.clone(),
        said_us: row.said.0,
        noted_us: row.noted.0,
    }
}

pub(super) fn decision(row: &DecisionRow) -> decision::Model {
    decision::Model {
        id: row.id.to_string(),
        request_id: row.request_id.clone(),
        seq: row.seq,
        seed: row.seed.cast_signed(),
        kind: row.kind.clone(),
        outcome: row.outcome.clone(),
        header: row.header.to_string(),
        body: None,
        created_us: row.created.0,
    }
}

pub(super) fn request_key(row: &RequestKeyRow) -> request_key::Model {
    request_key::Model {
        id: row.id,
        uuid: row.uuid.to_string(),
        fingerprint: row.fingerprint.to_string(),
        created_us: row.created.0,
    }
}

pub(super) fn request_answer(row: &RequestAnswerRow) -> request_answer::Model {
    request_answer::Model { key_id: row.key, status: row.status.into(), body: row.body.clone() }
}

fn json(value: &impl Serialize) -> Result<String, Unavailable> {
    serde_json::to_string(value).map_err(Unavailable::encoding)
}
