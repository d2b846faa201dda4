//! PCI devices and NUMA cells of a request specification.

use std::collections::BTreeMap;

use serde_json::Value;
use stowplan_model::Uuid;
use stowplan_model::request_devices::{PciRequest, RequestCell, RequestNuma};
use stowplan_scheduler::select::RequestedNetwork;

use crate::wire::fields::{Fields, Read, wrong};

pub(super) fn pci(spec: &Fields<'_>) -> Read<Vec<PciRequest>> {
    let Some(all) = spec.inner("pci_requests", "InstancePCIRequests")? else {
        return Ok(Vec::new());
    };
    let requests = all.inners("requests", "InstancePCIRequest")?;
    requests.iter().enumerate().map(|(at, request)| pci_request(at, request)).collect()
}

fn pci_request(at: usize, fields: &Fields<'_>) -> Read<PciRequest> {
    let list = match fields.get("spec") {
        Some(Value::Array(list)) => list.as_slice(),
        Some(other) => return Err(wrong(&fields.place("spec"), other, "a list")),
        None => &[],
    };
    let alternatives = list.iter().map(|item| match item {
        Value::Object(map) => {
            Ok(map.iter().map(|(key, value)| (key.clone(), value.clone())).collect())
        }
        other => Err(wrong(&fields.place("spec"), other, "a list of objects")),
    });
    Ok(PciRequest {
        request_id: Some(fields.text("request_id")?.unwrap_or_else(|| format!("pci{at}"))),
        count: fields.int("count")?.unwrap_or_default(),
        spec: alternatives.collect::<Read<Vec<BTreeMap<String, Value>>>>()?,
        numa_policy: fields.text("numa_policy")?,
    })
}

/// Networks and ports. Instead of a network's uuid there may stand `auto` or `none`.
pub(super) fn networks(spec: &Fields<'_>) -> Read<Vec<RequestedNetwork>> {
    let Some(all) = spec.inner("requested_networks", "NetworkRequestList")? else {
        return Ok(Vec::new());
    };
    let requests = all.inners("objects", "NetworkRequest")?;
    let network = |fields: &Fields<'_>| {
        let named = fields.text("network_id")?;
        Ok(RequestedNetwork {
            network_id: named.and_then(|text| Uuid::parse_str(&text).ok()),
            port_id: fields.uuid("port_id")?,
            ..RequestedNetwork::default()
        })
    };
    requests.iter().map(network).collect()
}

pub(super) fn numa(spec: &Fields<'_>) -> Read<Option<RequestNuma>> {
    let Some(topology) = spec.inner("numa_topology", "InstanceNUMATopology")? else {
        return Ok(None);
    };
    let cells = topology.inners("cells", "InstanceNUMACell")?;
    Ok(Some(RequestNuma {
        cells: cells.iter().map(cell).collect::<Read<_>>()?,
        emulator_threads_policy: topology.text("emulator_threads_policy")?,
    }))
}

fn cell(fields: &Fields<'_>) -> Read<RequestCell> {
    let cpus = |name: &str| {
        let mut cpus = fields.ints(name)?;
        cpus.sort_unstable();
        Ok(cpus)
    };
    Ok(RequestCell {
        id: fields.int("id")?.unwrap_or_default(),
        cpuset: cpus("cpuset")?,
        pcpuset: cpus("pcpuset")?,
        memory: fields.int("memory")?.unwrap_or_default(),
        pagesize: fields.int("pagesize")?,
        cpu_policy: fields.text("cpu_policy")?,
        cpu_thread_policy: fields.text("cpu_thread_policy")?,
    })
}
