//! The servers of a cell, by their hosts.

use std::collections::{BTreeMap, HashMap};

use stowplan_db::peer::{ReadError, Snapshot};
use stowplan_model::{Uuid, host::InstanceReport};
use stowplan_scheduler::nova::image_property;

use super::cell::CHUNK;
use super::tables::{ImageProperty, Server};

/// The servers of one host: each with its node.
pub type Servers = BTreeMap<Uuid, (Option<String>, InstanceReport)>;

const SERVERS: &str = "WHERE deleted = 0 AND host";
/// Of what the system metadata of a server say of its image, only the properties.
const PROPERTIES: &str = "WHERE m.deleted = 0 AND m.key LIKE 'image%' AND m.key NOT IN \
    ('image_base_image_ref', 'image_container_format', 'image_disk_format', 'image_min_disk', \
    'image_min_ram') AND i.deleted = 0 AND i.host";

/// All of them.
pub async fn all(snapshot: &Snapshot) -> Result<HashMap<String, Servers>, ReadError> {
    let mut found = HashMap::new();
    read(snapshot, "IS NOT NULL", &mut found).await?;
    Ok(found)
}

/// Those of these hosts.
pub async fn of_hosts(
    snapshot: &Snapshot,
    hosts: &[String],
) -> Result<HashMap<String, Servers>, ReadError> {
    let mut found = HashMap::new();
    for chunk in hosts.chunks(CHUNK) {
        let list = chunk.iter().map(|host| snapshot.sql().quoted(host));
        let list = list.collect::<Vec<_>>().join(", ");
        read(snapshot, &format!("IN ({list})"), &mut found).await?;
    }
    Ok(found)
}

async fn read(
    snapshot: &Snapshot,
    which: &str,
    found: &mut HashMap<String, Servers>,
) -> Result<(), ReadError> {
    for row in snapshot.select::<Server>(&format!("{SERVERS} {which}")).await? {
        let Ok(uuid) = Uuid::try_parse(&row.uuid) else { continue };
        let report = InstanceReport { name: row.display_name, ..InstanceReport::default() };
        found.entry(row.host).or_default().insert(uuid, (row.node, report));
    }
    for row in snapshot.select::<ImageProperty>(&format!("{PROPERTIES} {which}")).await? {
        let (Some(name), Some(value)) = (image_property(&row.key), row.value) else { continue };
        let server = Uuid::try_parse(&row.server).ok();
        let servers = found.get_mut(&row.host);
        if let Some((_, report)) = server.and_then(|uuid| servers?.get_mut(&uuid)) {
            report.image_properties.insert(name.to_owned(), value);
        }
    }
    Ok(())
}

/// The servers of a host that are on one of its nodes. Those whose node the host has
/// not are on its first one.
pub fn on_node(
    servers: Option<&Servers>,
    id: i64,
    nodes: &BTreeMap<i64, &str>,
) -> BTreeMap<Uuid, InstanceReport> {
    let is_first = nodes.first_key_value().is_none_or(|(first, _)| *first == id);
    let is_here = |node: &Option<String>| {
        let at = nodes.iter().find(|(_, name)| node.as_deref() == Some(**name));
        at.map_or(is_first, |(at, _)| *at == id)
    };
    let here = servers.into_iter().flatten().filter(|(_, (node, _))| is_here(node));
    here.map(|(uuid, (_, report))| (*uuid, report.clone())).collect()
}
