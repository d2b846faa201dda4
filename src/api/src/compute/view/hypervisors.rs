//! Hypervisors: nodes of hosts with what they report and hold.

use super::{
    ThingId,
    services::{Services, status},
};
use crate::compute::version::Feature;
use serde::Serialize;
use serde_json::{Map, Value};
use stowplan_engine::{Figure, HostView};
use stowplan_ledger::{image::hosts::Host, rows::ServiceRow};
use stowplan_model::Uuid;
use utoipa::ToSchema;

/// MiB in a GiB.
const MB_PER_GB: i64 = 1024;

/// A hypervisor in short.
#[derive(Debug, Serialize, ToSchema)]
pub struct HypervisorSummary {
    /// Its integer id, or its uuid (from 2.53 on).
    pub id: ThingId,
    /// Its name: the node's.
    hypervisor_hostname: String,
    /// Whether its service is alive: `up` or `down`.
    state: &'static str,
    /// Whether its service takes new servers: `enabled` or `disabled`.
    status: &'static str,
    /// Servers on it, where they are asked for. Without any, before 2.75, this
    /// is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    servers: Option<Vec<HypervisorServer>>,
}

/// A server on a hypervisor.
#[derive(Debug, Serialize, ToSchema)]
pub struct HypervisorServer {
    /// Its name, as the host reports it; the uuid until then.
    name: String,
    /// Its uuid.
    uuid: Uuid,
}

/// A hypervisor in full.
#[derive(Debug, Serialize, ToSchema)]
pub struct HypervisorDetail {
    /// The part that the short list has.
    #[serde(flatten)]
    pub summary: HypervisorSummary,
    /// Such as `QEMU`.
    hypervisor_type: String,
    /// major x 1,000,000 + minor x 1,000 + patch; 0 when not known.
    hypervisor_version: i64,
    /// Its address.
    host_ip: Option<String>,
    /// The service that runs it.
    service: HypervisorService,
    /// What it has and what is in use (before 2.88).
    #[serde(flatten)]
    #[schema(value_type = HypervisorFigures)]
    figures: Option<HypervisorFigures>,
    /// Its uptime (from 2.88 on).
    #[serde(flatten)]
    #[schema(value_type = HypervisorUptimeText)]
    uptime: Option<HypervisorUptimeText>,
}

/// The service that runs a hypervisor.
#[derive(Debug, Serialize, ToSchema)]
pub struct HypervisorService {
    /// Its integer id, or its uuid (from 2.53 on).
    id: ThingId,
    /// The host.
    host: String,
    /// Why it is disabled.
    disabled_reason: Option<String>,
}

/// What a hypervisor has and what is in use: as it reports it, with what has
/// been claimed since; what it does not report is taken from the ledger.
#[derive(Debug, Serialize, ToSchema)]
pub struct HypervisorFigures {
    #[serde(flatten)]
    sums: HypervisorSums,
    /// GiB left if every image grew to its full size.
    disk_available_least: Option<i64>,
    /// Its CPU: JSON text, or an object (from 2.28 on).
    #[schema(value_type = Object)]
    cpu_info: Value,
}

/// Figures of hypervisors that add up.
#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
pub struct HypervisorSums {
    /// CPUs.
    vcpus: i64,
    /// CPUs in use.
    vcpus_used: i64,
    /// Memory in MiB.
    memory_mb: i64,
    /// Memory in use, MiB.
    memory_mb_used: i64,
    /// Memory left, MiB.
    free_ram_mb: i64,
    /// Disk in GiB.
    local_gb: i64,
    /// Disk in use, GiB.
    local_gb_used: i64,
    /// Disk left, GiB.
    free_disk_gb: i64,
    /// Builds, resizes and the like that are going on.
    current_workload: i64,
    /// Servers that are running.
    running_vms: i64,
}

/// The text of an uptime.
#[derive(Debug, Serialize, ToSchema)]
pub struct HypervisorUptimeText {
    /// As the host reports it; null if it does not.
    uptime: Option<String>,
}

/// A hypervisor with its uptime (before 2.88).
#[derive(Debug, Serialize, ToSchema)]
pub struct HypervisorUptime {
    #[serde(flatten)]
    summary: HypervisorSummary,
    /// As the host reports it.
    uptime: String,
}

/// Figures of all hypervisors whose service takes new servers.
#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
pub struct Statistics {
    /// How many they are.
    count: i64,
    #[serde(flatten)]
    sums: HypervisorSums,
    /// GiB left if every image grew to its full size.
    disk_available_least: i64,
}

/// Views of hypervisors.
pub struct Hypervisors<'a>(pub Services<'a>);

impl Hypervisors<'_> {
    /// A hypervisor in short.
    #[must_use]
    pub fn summary(&self, host: &Host, service: &ServiceRow, servers: bool) -> HypervisorSummary {
        let row = &host.row;
        let servers = servers
            .then(|| self.servers(host))
            .filter(|listed| !listed.is_empty() || self.0.version.has(Feature::StrictLists));
        HypervisorSummary {
            id: self.id(row.id, row.uuid),
            hypervisor_hostname: row.node.clone(),
            state: if self.0.is_up(service) { "up" } else { "down" },
            status: status(service),
            servers,
        }
    }

    /// A hypervisor in full.
    #[must_use]
    pub fn detail(&self, host: &Host, service: &ServiceRow, servers: bool) -> HypervisorDetail {
        let report = &host.row.report;
        let new = self.0.version.has(Feature::Uptime);
        HypervisorDetail {
            summary: self.summary(host, service, servers),
            hypervisor_type: report.hypervisor_type.clone().unwrap_or_default(),
            hypervisor_version: report.hypervisor_version.unwrap_or_default(),
            host_ip: report.host_ip.clone(),
            service: HypervisorService {
                id: self.id(service.id, service.uuid),
                host: host.row.host.clone(),
                disabled_reason: service.disabled_reason.clone(),
            },
            figures: (!new).then(|| HypervisorFigures {
                sums: self.sums(host),
                disk_available_least: report.disk_available_least,
                cpu_info: self.cpu(report.cpu_info.as_deref()),
            }),
            uptime: new.then(|| HypervisorUptimeText { uptime: report.uptime.clone() }),
        }
    }

    /// A hypervisor with its uptime.
    #[must_use]
    pub fn uptime(&self, host: &Host, service: &ServiceRow, uptime: &str) -> HypervisorUptime {
        HypervisorUptime { summary: self.summary(host, service, false), uptime: uptime.to_owned() }
    }

    /// Figures of all hypervisors together.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let image = self.0.image;
        let mut all = Statistics::default();
        for host in image.hosts.iter() {
            let service = image.service_of(&host.row.host);
            if service.is_none_or(|service| service.disabled) {
                continue;
            }
            all.count += 1;
            all.sums.add(&self.sums(host));
            let least = host.row.report.disk_available_least.unwrap_or_default();
            all.disk_available_least = all.disk_available_least.saturating_add(least);
        }
        all
    }

    fn id(&self, id: i64, uuid: Uuid) -> ThingId {
        if self.0.version.has(Feature::Uuids) { ThingId::Uuid(uuid) } else { ThingId::Number(id) }
    }

    fn cpu(&self, text: Option<&str>) -> Value {
        let text = text.unwrap_or_default();
        if !self.0.version.has(Feature::CpuObject) {
            return Value::from(text);
        }
        let object = serde_json::from_str(text).ok().filter(Value::is_object);
        object.unwrap_or_else(|| Value::Object(Map::new()))
    }

    /// Servers that the host reports or that we have placed there, in order of
    /// their uuids.
    fn servers(&self, host: &Host) -> Vec<HypervisorServer> {
        let reported = &host.row.report.instances;
        let there = self.0.image.hosts.table().instances(host.ix).as_slice().iter();
        let mut servers: Vec<HypervisorServer> = there
            .map(|(uuid, _)| {
                let name = reported.get(uuid).and_then(|server| server.name.clone());
                HypervisorServer { name: name.unwrap_or_else(|| uuid.to_string()), uuid: *uuid }
            })
            .collect();
        servers.sort_unstable_by_key(|server| server.uuid);
        servers
    }

    fn sums(&self, host: &Host) -> HypervisorSums {
        let (report, since) = (&host.row.report, host.claimed_since());
        let figure = |figure| self.0.image.hosts.table().figure(figure, host.ix);
        let memory_mb = figure(Figure::TotalUsableRamMb);
        let free_ram_mb = figure(Figure::FreeRamMb);
        let local_gb = figure(Figure::TotalUsableDiskGb);
        let claimed_gb = since.disk_mb / MB_PER_GB;
        let memory_mb_used = match report.memory_mb_used {
            Some(used) => used.saturating_add(since.memory_mb),
            None => memory_mb.saturating_sub(free_ram_mb),
        };
        let local_gb_used = match report.local_gb_used {
            Some(used) => used.saturating_add(claimed_gb),
            None => figure(Figure::DiskMbUsed) / MB_PER_GB,
        };
        let free_disk_gb = match report.free_disk_gb {
            Some(free) => free.saturating_sub(claimed_gb),
            None => local_gb.saturating_sub(local_gb_used),
        };
        HypervisorSums {
            vcpus: figure(Figure::VcpusTotal),
            vcpus_used: figure(Figure::VcpusUsed),
            memory_mb,
            memory_mb_used,
            free_ram_mb,
            local_gb,
            local_gb_used,
            free_disk_gb,
            current_workload: figure(Figure::NumIoOps),
            running_vms: report.running_vms.unwrap_or_else(|| figure(Figure::NumInstances)),
        }
    }
}

impl HypervisorSums {
    /// Adds those of another. What is beyond all bounds stays at the bound.
    fn add(&mut self, other: &Self) {
        for (sum, part) in [
            (&mut self.vcpus, other.vcpus),
            (&mut self.vcpus_used, other.vcpus_used),
            (&mut self.memory_mb, other.memory_mb),
            (&mut self.memory_mb_used, other.memory_mb_used),
            (&mut self.free_ram_mb, other.free_ram_mb),
            (&mut self.local_gb, other.local_gb),
            (&mut self.local_gb_used, other.local_gb_used),
            (&mut self.free_disk_gb, other.free_disk_gb),
            (&mut self.current_workload, other.current_workload),
            (&mut self.running_vms, other.running_vms),
        ] {
            *sum = sum.saturating_add(part);
        }
    }
}

/// A link.
#[derive(Debug, Serialize, ToSchema)]
pub struct Link {
    /// `next`.
    pub rel: &'static str,
    /// The address.
    pub href: String,
}

/// Hypervisors in short.
#[derive(Debug, Serialize, ToSchema)]
pub struct HypervisorsAnswer {
    /// In order of creation.
    pub hypervisors: Vec<HypervisorSummary>,
    /// The next page, after one that is full (from 2.33 on).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hypervisors_links: Option<[Link; 1]>,
}

/// Hypervisors in full.
#[derive(Debug, Serialize, ToSchema)]
pub struct HypervisorDetailsAnswer {
    /// In order of creation.
    pub hypervisors: Vec<HypervisorDetail>,
    /// The next page, after one that is full (from 2.33 on).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hypervisors_links: Option<[Link; 1]>,
}

/// A hypervisor in full.
#[derive(Debug, Serialize, ToSchema)]
pub struct HypervisorDetailAnswer {
    /// The hypervisor.
    pub hypervisor: HypervisorDetail,
}

/// A hypervisor with its uptime.
#[derive(Debug, Serialize, ToSchema)]
pub struct HypervisorAnswer {
    /// The hypervisor.
    pub hypervisor: HypervisorUptime,
}

/// Figures of all hypervisors.
#[derive(Debug, Serialize, ToSchema)]
pub struct StatisticsAnswer {
    /// The figures.
    pub hypervisor_statistics: Statistics,
}
