//! `RequestSpec`, versions 1.0 to 1.15.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use stowplan_model::flavor::{ExtraSpecs, Flavor};
use stowplan_model::image_props::ImageMeta;
use stowplan_model::request::{Destination, GroupRules, InstanceGroup, NetworkMetadata};
use stowplan_scheduler::select::{GroupRef, Hints, RequestedGroup, SelectRequest};

use super::{listed, places};
use crate::wire::fields::{self, Fields, Read};

/// The property of an image that names the traits which it requires.
const TRAITS: &str = "traits_required";

pub(super) fn read(spec: &Fields<'_>) -> Read<SelectRequest> {
    let instance = spec.uuid("instance_uuid")?;
    let level = level(spec)?;
    Ok(SelectRequest {
        flavor: spec.inner("flavor", "Flavor")?.map(|it| flavor(&it)).transpose()?,
        image: spec.inner("image", "ImageMeta")?.map(|it| image(&it)).transpose()?,
        count: spec.int("num_instances")?,
        instance_uuids: instance.map(|uuid| vec![uuid]),
        project_id: spec.text("project_id")?,
        user_id: spec.text("user_id")?,
        availability_zone: spec.text("availability_zone")?.filter(|zone| !zone.is_empty()),
        is_bfv: spec.flag("is_bfv")?,
        scheduler_hints: hints(spec.map("scheduler_hints")?),
        group: group(spec)?,
        ignore_hosts: listed(spec, "ignore_hosts")?,
        force_hosts: listed(spec, "force_hosts")?,
        force_nodes: listed(spec, "force_nodes")?,
        requested_destination: destination(spec)?,
        requested_resources: requested_groups(spec)?,
        pci_requests: places::pci(spec)?,
        numa_topology: places::numa(spec)?,
        requested_networks: places::networks(spec)?,
        network_metadata: networks(spec)?,
        same_subtree: level.same_subtree,
        root_required: level.root_required,
        root_forbidden: level.root_forbidden,
        ..SelectRequest::default()
    })
}

pub(super) fn flavor(fields: &Fields<'_>) -> Read<Flavor> {
    let mut extra_specs = ExtraSpecs::default();
    for (key, value) in fields.pairs("extra_specs")? {
        extra_specs.insert(key, value);
    }
    let amount = |name: &str| fields.int(name).map(Option::unwrap_or_default);
    Ok(Flavor {
        name: fields.text("name")?.unwrap_or_default(),
        vcpus: amount("vcpus")?,
        memory_mb: amount("memory_mb")?,
        root_gb: amount("root_gb")?,
        ephemeral_gb: amount("ephemeral_gb")?,
        swap: amount("swap")?,
        extra_specs,
    })
}

pub(super) fn image(fields: &Fields<'_>) -> Read<ImageMeta> {
    let mut properties = Map::new();
    let typed = match fields.get("properties") {
        Some(value) => {
            let place = fields.place("properties");
            let inner = Fields::any(&place, value, "ImageMetaProps")?;
            for name in listed(&inner, TRAITS)? {
                properties.insert(format!("trait:{name}"), Value::from("required"));
            }
            value.get("nova_object.data").unwrap_or(value).as_object()
        }
        None => None,
    };
    for (name, value) in typed.into_iter().flatten() {
        if name != TRAITS && !value.is_null() && !value.is_array() && !value.is_object() {
            properties.insert(name.clone(), value.clone());
        }
    }
    Ok(ImageMeta { id: fields.text("id")?, disk_format: fields.text("disk_format")?, properties })
}

/// Hints as lists of texts, whatever they are of.
pub(super) fn hints(map: Option<&Map<String, Value>>) -> Hints {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        other => Some(other.to_string()),
    };
    let lists = map.into_iter().flatten().map(|(name, value)| {
        let list = match value {
            Value::Array(items) => items.iter().filter_map(text).collect(),
            one => text(one).into_iter().collect(),
        };
        (name.clone(), list)
    });
    Hints(lists.collect())
}

fn group(spec: &Fields<'_>) -> Read<Option<GroupRef>> {
    let Some(fields) = spec.inner("instance_group", "InstanceGroup")? else { return Ok(None) };
    let policies = fields.texts("policies")?;
    let policy = fields.text("policy")?;
    let policy = policy.or_else(|| policies.as_ref().and_then(|list| list.first().cloned()));
    let mut rules = None;
    for name in ["_rules", "rules"] {
        if let Some(map) = fields.map(name)? {
            let inner = Fields::of(&fields.place(name), map);
            rules = inner.int("max_server_per_host")?;
            break;
        }
    }
    Ok(Some(GroupRef::Inline(Box::new(InstanceGroup {
        uuid: fields.uuid("uuid")?,
        policy,
        policies: None,
        members: fields.uuids("members")?.unwrap_or_default(),
        hosts: listed(&fields, "hosts")?,
        rules: rules.map(|most| GroupRules { max_server_per_host: Some(most) }),
    }))))
}

fn destination(spec: &Fields<'_>) -> Read<Option<Destination>> {
    let Some(fields) = spec.inner("requested_destination", "Destination")? else {
        return Ok(None);
    };
    let cell = fields.inner("cell", "CellMapping")?;
    Ok(Some(Destination {
        host: fields.text("host")?,
        node: fields.text("node")?,
        cell: cell.map(|cell| cell.uuid("uuid")).transpose()?.flatten(),
        allow_cross_cell_move: fields.flag("allow_cross_cell_move")?,
        aggregates: fields.texts("aggregates")?,
        forbidden_aggregates: fields.texts("forbidden_aggregates")?,
    }))
}

fn requested_groups(spec: &Fields<'_>) -> Read<Vec<RequestedGroup>> {
    let groups = spec.inners("requested_resources", "RequestGroup")?;
    groups.iter().enumerate().map(|(at, group)| requested_group(at, group)).collect()
}

fn requested_group(at: usize, fields: &Fields<'_>) -> Read<RequestedGroup> {
    let mut resources = BTreeMap::new();
    if let Some(map) = fields.map("resources")? {
        let amounts = Fields::of(&fields.place("resources"), map);
        for class in map.keys() {
            resources.insert(class.clone(), amounts.int(class)?.unwrap_or_default());
        }
    }
    Ok(RequestedGroup {
        requester_id: fields.text("requester_id")?.unwrap_or_else(|| (at + 1).to_string()),
        resources,
        required_traits: sorted(fields, "required_traits")?,
        forbidden_traits: sorted(fields, "forbidden_traits")?,
        aggregates: sets(fields, "aggregates", fields::uuid, "lists of uuids")?,
        forbidden_aggregates: {
            let mut uuids = fields.uuids("forbidden_aggregates")?.unwrap_or_default();
            uuids.sort_unstable();
            uuids
        },
        in_tree: fields.uuid("in_tree")?,
    })
}

/// A set, which travels in any order.
fn sorted(fields: &Fields<'_>, name: &str) -> Read<Vec<String>> {
    let mut list = listed(fields, name)?;
    list.sort();
    Ok(list)
}

fn networks(spec: &Fields<'_>) -> Read<Option<NetworkMetadata>> {
    let Some(fields) = spec.inner("network_metadata", "NetworkMetadata")? else {
        return Ok(None);
    };
    let physnets = sorted(&fields, "physnets")?;
    Ok(Some(NetworkMetadata { physnets, tunneled: fields.flag("tunneled")? }))
}

/// What a request asks of a host as a whole.
#[derive(Default)]
struct Level {
    same_subtree: Vec<Vec<String>>,
    root_required: Vec<String>,
    root_forbidden: Vec<String>,
}

fn level(spec: &Fields<'_>) -> Read<Level> {
    let Some(fields) = spec.inner("request_level_params", "RequestLevelParams")? else {
        return Ok(Level::default());
    };
    let text = |item: &Value| item.as_str().map(str::to_owned);
    Ok(Level {
        same_subtree: sets(&fields, "same_subtree", text, "lists of texts")?,
        root_required: sorted(&fields, "root_required")?,
        root_forbidden: sorted(&fields, "root_forbidden")?,
    })
}

/// A list of lists.
fn sets<T>(
    fields: &Fields<'_>,
    name: &str,
    read: impl Fn(&Value) -> Option<T>,
    expected: &str,
) -> Read<Vec<Vec<T>>> {
    let Some(value) = fields.get(name) else { return Ok(Vec::new()) };
    let set = |set: &Value| set.as_array()?.iter().map(&read).collect::<Option<Vec<T>>>();
    let all = value.as_array().and_then(|sets| sets.iter().map(set).collect());
    all.ok_or_else(|| fields::wrong(&fields.place(name), value, &format!("a list of {expected}")))
}
