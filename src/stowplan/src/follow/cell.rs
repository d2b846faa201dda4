//! The database of one cell, and what is known of it: which compute nodes and
//! servers have changed since the last reading.
//!
//! Rows bear times of whole seconds by the clocks of many services, and may be
//! committed late. So hardly anything hangs on a time: of compute nodes all times
//! are read, and those that differ from the known ones count, whichever is later; a
//! node whose time is fresh is read again for a while, since a second change may
//! bear the same. Of servers, counts and sums of ids for each node tell who came and
//! went; only what else changes of them is found by its time.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use stowplan_db::peer::{ReadError, Row, Snapshot};
use stowplan_model::{Micros, Uuid, host::HostReport};
use stowplan_scheduler::nova::{self, Service, Unreadable};

use super::servers::{self, Servers};
use super::tables::{self, ComputeNode, NodeStamp, ServerCount, ServerHost};

/// How long a change may be on its way into the database, and clocks may differ.
const OVERLAP: i64 = 60 * Micros::PER_SECOND;
/// How long a node is read again after its time was seen to have changed.
const SETTLING: i64 = 10 * Micros::PER_SECOND;
/// Keys in one question.
pub const CHUNK: usize = 500;

/// Services that run hosts, and rows that are there.
const SERVICES: &str =
    "WHERE services.binary = 'nova-compute' AND deleted = 0 AND host IS NOT NULL";
const LIVING: &str = "WHERE deleted = 0";
const PLACED: &str = "WHERE deleted = 0 AND host IS NOT NULL";

/// What is known of a cell's database.
pub struct Cell {
    uuid: Uuid,
    services: HashMap<String, Service>,
    hosts_by_service: HashMap<i64, String>,
    nodes: HashMap<i64, Node>,
    counts: HashMap<(String, Option<String>), [i64; 3]>,
    servers: HashMap<String, Servers>,
    /// Nodes whose reports must be made again.
    again: HashSet<i64>,
    last: Option<Micros>,
    is_complete: bool,
}

/// What is known of a compute node.
struct Node {
    stamp: Option<Micros>,
    /// Until when its stamp is no proof that it has not changed.
    settles: Micros,
    /// Of its row, to be recognised.
    hash: u64,
    host: String,
    name: String,
    uuid: Option<Uuid>,
}

/// A node that has changed, with its report.
pub struct Changed {
    pub id: i64,
    pub host: String,
    pub name: String,
    pub report: Result<HostReport, Unreadable>,
}

/// What a reading has found.
#[derive(Default)]
pub struct News {
    pub changed: Vec<Changed>,
    /// Signs of life that are new.
    pub heard: Vec<(String, Micros)>,
}

impl Cell {
    pub fn new(uuid: Uuid) -> Self {
        Self {
            uuid,
            services: HashMap::new(),
            hosts_by_service: HashMap::new(),
            nodes: HashMap::new(),
            counts: HashMap::new(),
            servers: HashMap::new(),
            again: HashSet::new(),
            last: None,
            is_complete: false,
        }
    }

    /// Has everything read again next time.
    pub fn distrust(&mut self) {
        self.is_complete = false;
    }

    /// Has a node's report made again next time.
    pub fn again(&mut self, id: i64) {
        self.again.insert(id);
    }

    /// The nodes that the cell has, of hosts with a service, by uuid.
    pub fn known(&self) -> HashSet<Uuid> {
        let served = self.nodes.values().filter(|node| self.services.contains_key(&node.host));
        served.filter_map(|node| node.uuid).collect()
    }

    /// Reads what has changed, or `all`.
    pub async fn read(
        &mut self,
        snapshot: &Snapshot,
        now: Micros,
        all: bool,
    ) -> Result<News, ReadError> {
        let all = all || !std::mem::take(&mut self.is_complete);
        let mut news = News::default();
        let mut hosts = self.read_services(snapshot, &mut news).await?;
        hosts.extend(self.read_servers(snapshot, now, all).await?);
        let ids = self.read_stamps(snapshot, now, &hosts, all).await?;
        let rows: Vec<ComputeNode> = match all || ids.len() > self.nodes.len() / 2 {
            true => snapshot.select(LIVING).await?,
            false => chunked(snapshot, &sorted(&ids), "deleted = 0 AND id").await?,
        };
        let rows = rows.into_iter().filter(|row| ids.contains(&row.id)).collect();
        news.changed = self.changed(rows, &hosts, all);
        self.last = Some(now);
        self.is_complete = true;
        Ok(news)
    }

    /// The hosts whose services have changed, but for signs of life.
    async fn read_services(
        &mut self,
        snapshot: &Snapshot,
        news: &mut News,
    ) -> Result<HashSet<String>, ReadError> {
        let rows: Vec<tables::Service> = snapshot.select(SERVICES).await?;
        let mut changed = HashSet::new();
        let mut before = std::mem::take(&mut self.services);
        self.hosts_by_service.clear();
        for row in rows {
            let (id, Some(host), service) = service(row) else { continue };
            let known = before.remove(&host);
            let alive = service.alive_since();
            if known.as_ref().is_none_or(|known| known.alive_since() != alive) {
                news.heard.push((host.clone(), alive));
            }
            if known.is_none_or(|known| !known.says_the_same(&service)) {
                changed.insert(host.clone());
            }
            self.hosts_by_service.insert(id, host.clone());
            self.services.insert(host, service);
        }
        changed.extend(before.into_keys());
        Ok(changed)
    }

    /// Reads the servers of the hosts to or from which some have moved, or `all`. Gives
    /// these hosts.
    async fn read_servers(
        &mut self,
        snapshot: &Snapshot,
        now: Micros,
        all: bool,
    ) -> Result<HashSet<String>, ReadError> {
        let rest = format!("{PLACED} GROUP BY host, node");
        let rows: Vec<ServerCount> = snapshot.select(&rest).await?;
        let counts: HashMap<_, _> = rows
            .into_iter()
            .map(|row| ((row.host, row.node), [row.count, row.ids, row.mixed]))
            .collect();
        let came = counts.iter().filter(|(at, sums)| self.counts.get(*at) != Some(*sums));
        let left = self.counts.keys().filter(|at| !counts.contains_key(*at));
        let moved = came.map(|(at, _)| at).chain(left).map(|(host, _)| host.clone());
        let mut hosts: HashSet<String> = moved.collect();
        if !all {
            let since = self.last.unwrap_or(now).min(now);
            let since = snapshot.sql().moment(Micros(since.0.saturating_sub(OVERLAP)));
            let touched = format!("{PLACED} AND updated_at >= {since}");
            let rows: Vec<ServerHost> = snapshot.select(&touched).await?;
            hosts.extend(rows.into_iter().map(|row| row.host));
        }
        let read = match all {
            true => servers::all(snapshot).await?,
            false => servers::of_hosts(snapshot, &sorted(&hosts)).await?,
        };
        if all {
            hosts = read.keys().chain(self.servers.keys()).cloned().collect();
        }
        hosts.retain(|host| self.servers.get(host) != read.get(host));
        if all {
            self.servers = read;
        } else {
            for host in &hosts {
                self.servers.remove(host);
            }
            self.servers.extend(read);
        }
        self.counts = counts;
        Ok(hosts)
    }

    /// The nodes to be read: new ones, those with another time, a fresh time or a
    /// changed host, and those that are to be read again. Others are forgotten.
    async fn read_stamps(
        &mut self,
        snapshot: &Snapshot,
        now: Micros,
        hosts: &HashSet<String>,
        all: bool,
    ) -> Result<HashSet<i64>, ReadError> {
        let rows: Vec<NodeStamp> = snapshot.select(LIVING).await?;
        let there: HashSet<i64> = rows.iter().map(|row| row.id).collect();
        self.nodes.retain(|id, _| there.contains(id));
        let again = std::mem::take(&mut self.again);
        let mut ids = HashSet::new();
        for NodeStamp { id, stamp } in rows {
            let is_fresh = stamp.is_none_or(|stamp| now.since(stamp) < OVERLAP);
            let settles = Micros(now.0.saturating_add(SETTLING));
            match self.nodes.get_mut(&id) {
                None => {
                    let settles = if is_fresh { settles } else { now };
                    self.nodes.insert(id, Node::new(stamp, settles));
                    ids.insert(id);
                }
                Some(node) if node.stamp != stamp => {
                    (node.stamp, node.settles) = (stamp, settles);
                    ids.insert(id);
                }
                Some(node) => {
                    let is_asked = again.contains(&id) || hosts.contains(&node.host);
                    if is_asked {
                        // Its row may be the same: the report is not.
                        node.hash = 0;
                    }
                    if all || is_asked || now < node.settles {
                        ids.insert(id);
                    }
                }
            }
        }
        Ok(ids)
    }

    /// The reports of nodes that were read, and are not as they were or stand on a
    /// host that has changed. Hosts without a service have none.
    fn changed(
        &mut self,
        rows: Vec<ComputeNode>,
        hosts: &HashSet<String>,
        all: bool,
    ) -> Vec<Changed> {
        let mut read = Vec::with_capacity(rows.len());
        for row in rows {
            let by_service = || self.hosts_by_service.get(&row.service_id?).cloned();
            let (Some(host), Some(node)) =
                (row.host.clone().or_else(by_service), self.nodes.get_mut(&row.id))
            else {
                continue;
            };
            let hash = hash(&row);
            let is_same = std::mem::replace(&mut node.hash, hash) == hash;
            node.name = row.hypervisor_hostname.clone().unwrap_or_default();
            node.uuid = row.uuid.as_deref().and_then(|uuid| Uuid::try_parse(uuid).ok());
            node.host.clone_from(&host);
            if !is_same || all || hosts.contains(&host) {
                read.push((host, row));
            }
        }
        let mut nodes_of: HashMap<&str, BTreeMap<i64, &str>> = HashMap::new();
        for (id, node) in &self.nodes {
            nodes_of.entry(&node.host).or_default().insert(*id, &node.name);
        }
        let report = |(host, row): (String, ComputeNode)| {
            let service = self.services.get(&host)?;
            let nodes = nodes_of.get(host.as_str()).cloned().unwrap_or_default();
            let servers = self.servers.get(&host);
            let instances = servers::on_node(servers, row.id, &nodes);
            let (id, name) = (row.id, row.hypervisor_hostname.clone().unwrap_or_default());
            let report = nova::report(&node(row), self.uuid, service.report(), instances);
            Some(Changed { id, host, name, report })
        };
        read.into_iter().filter_map(report).collect()
    }
}

impl Node {
    fn new(stamp: Option<Micros>, settles: Micros) -> Self {
        Self { stamp, settles, hash: 0, host: String::new(), name: String::new(), uuid: None }
    }
}

/// Keys in order: the same question is asked in the same words.
fn sorted<T: Clone + Ord>(keys: &HashSet<T>) -> Vec<T> {
    keys.iter().cloned().collect::<BTreeSet<T>>().into_iter().collect()
}

/// The rows whose column is one of these numbers.
async fn chunked<T: Row>(
    snapshot: &Snapshot,
    keys: &[i64],
    column: &str,
) -> Result<Vec<T>, ReadError> {
    let mut rows = Vec::new();
    for chunk in keys.chunks(CHUNK) {
        let list = chunk.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        rows.extend(snapshot.select::<T>(&format!("WHERE {column} IN ({list})")).await?);
    }
    Ok(rows)
}

fn hash(row: &ComputeNode) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{row:?}").hash(&mut hasher);
    // 0 stands for a row that was not read yet.
    hasher.finish().max(1)
}

fn service(row: tables::Service) -> (i64, Option<String>, Service) {
    let service = Service {
        uuid: row.uuid.and_then(|uuid| Uuid::try_parse(&uuid).ok()),
        disabled: row.disabled,
        disabled_reason: row.disabled_reason,
        forced_down: row.forced_down,
        version: row.version.unwrap_or_default(),
        last_seen_up: row.last_seen_up,
        created_at: row.created_at,
    };
    (row.id, row.host, service)
}

fn node(row: ComputeNode) -> nova::ComputeNode {
    nova::ComputeNode {
        uuid: row.uuid,
        hypervisor_hostname: row.hypervisor_hostname,
        vcpus: row.vcpus,
        vcpus_used: row.vcpus_used,
        memory_mb: row.memory_mb,
        memory_mb_used: row.memory_mb_used,
        local_gb: row.local_gb,
        local_gb_used: row.local_gb_used,
        free_ram_mb: row.free_ram_mb,
        free_disk_gb: row.free_disk_gb,
        disk_available_least: row.disk_available_least,
        running_vms: row.running_vms,
        hypervisor_type: row.hypervisor_type,
        hypervisor_version: row.hypervisor_version,
        // PostgreSQL has a type for addresses, which writes their networks, too.
        host_ip: row.host_ip.map(|ip| ip.split('/').next().unwrap_or_default().to_owned()),
        cpu_info: row.cpu_info,
        supported_instances: row.supported_instances,
        metrics: row.metrics,
        pci_stats: row.pci_stats,
        stats: row.stats,
        numa_topology: row.numa_topology,
        cpu_allocation_ratio: row.cpu_allocation_ratio,
        ram_allocation_ratio: row.ram_allocation_ratio,
        disk_allocation_ratio: row.disk_allocation_ratio,
    }
}
