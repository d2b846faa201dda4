//! Request and filter properties as callers of 4.0 send them: plain dictionaries.

use serde_json::Value;
use stowplan_model::Uuid;
use stowplan_model::request::InstanceGroup;
use stowplan_scheduler::select::{GroupRef, SelectRequest};

use super::{listed, places, spec};
use crate::wire::fields::{Fields, Read};

pub(super) fn read(args: &Fields<'_>) -> Read<SelectRequest> {
    let empty = serde_json::Map::new();
    let request = Fields::of("request_spec", args.map("request_spec")?.unwrap_or(&empty));
    let properties =
        Fields::of("filter_properties", args.map("filter_properties")?.unwrap_or(&empty));
    let instance = match request.get("instance_properties") {
        Some(value) => Fields::any("request_spec.instance_properties", value, "Instance")?,
        None => Fields::of("request_spec.instance_properties", &empty),
    };
    let flavor = match request.inner("instance_type", "Flavor")? {
        Some(flavor) => Some(flavor),
        None => properties.inner("instance_type", "Flavor")?,
    };
    Ok(SelectRequest {
        flavor: flavor.map(|flavor| spec::flavor(&flavor)).transpose()?,
        image: request.inner("image", "ImageMeta")?.map(|it| spec::image(&it)).transpose()?,
        count: request.int("num_instances")?,
        instance_uuids: instance.uuid("uuid")?.map(|uuid| vec![uuid]),
        project_id: instance.text("project_id")?,
        user_id: instance.text("user_id")?,
        availability_zone: instance.text("availability_zone")?.filter(|zone| !zone.is_empty()),
        scheduler_hints: spec::hints(properties.map("scheduler_hints")?),
        group: group(&properties)?,
        ignore_hosts: listed(&properties, "ignore_hosts")?,
        force_hosts: listed(&properties, "force_hosts")?,
        force_nodes: listed(&properties, "force_nodes")?,
        pci_requests: places::pci(&instance)?,
        numa_topology: places::numa(&instance)?,
        ..SelectRequest::default()
    })
}

/// The server group, where the conductor has looked it up.
fn group(properties: &Fields<'_>) -> Read<Option<GroupRef>> {
    if !properties.flag("group_updated")? {
        return Ok(None);
    }
    let policies = properties.texts("group_policies")?.unwrap_or_default();
    let members = properties.texts("group_members")?.unwrap_or_default();
    let hint = properties.map("scheduler_hints")?.and_then(|hints| hints.get("group"));
    let uuid = hint.and_then(|hint| match hint {
        Value::Array(list) => list.first().and_then(Value::as_str),
        one => one.as_str(),
    });
    Ok(Some(GroupRef::Inline(Box::new(InstanceGroup {
        uuid: uuid.and_then(|text| Uuid::parse_str(text).ok()),
        policy: policies.first().cloned(),
        policies: None,
        members: members.iter().filter_map(|text| Uuid::parse_str(text).ok()).collect(),
        hosts: listed(properties, "group_hosts")?,
        rules: None,
    }))))
}
