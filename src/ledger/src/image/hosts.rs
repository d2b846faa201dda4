//! Hosts: their last reports, and the columns that the engine reads.

use super::{Image, figures::Held, groups::Rows};
use crate::rows::{HostAggregateRow, HostRow, HostSource, ServiceRow};
use std::sync::Arc;
use stowplan_engine::table::{self, Figure, Figures, HostIx, HostTable};
use stowplan_model::{
    Micros, Uuid,
    host::{HostAggregate, HostReport},
};

/// A host of the image.
#[derive(Clone, Debug)]
pub struct Host {
    /// Its row.
    pub row: Arc<HostRow>,
    /// Its place in the table.
    pub ix: HostIx,
    /// What its report alone says: the live figures start from these.
    pub(super) reported: Figures,
    /// What we have claimed there that its report does not know of yet.
    pub(super) ours: Held,
}

impl super::groups::HasId for Host {
    fn id(&self) -> i64 {
        self.row.id
    }
}

/// All hosts.
#[derive(Clone, Debug, Default)]
pub struct Hosts {
    rows: Rows<Host>,
    by_name: imbl::OrdMap<(Arc<str>, Arc<str>), Uuid>,
    /// Names of hosts with the ids of the host aggregates that they are in,
    /// reported or not.
    memberships: imbl::OrdSet<(Arc<str>, i64)>,
    /// Names of hosts with the ids of their services.
    services: imbl::OrdSet<(Arc<str>, i64)>,
    table: HostTable,
}

impl Hosts {
    /// The columns that the engine reads, live figures included.
    #[must_use]
    pub fn table(&self) -> &HostTable {
        &self.table
    }

    /// A host by the uuid of its compute node.
    #[must_use]
    pub fn get(&self, uuid: Uuid) -> Option<&Arc<Host>> {
        self.rows.get(uuid)
    }

    /// A host by its id.
    #[must_use]
    pub fn by_id(&self, id: i64) -> Option<&Arc<Host>> {
        self.rows.by_id(id)
    }

    /// A host by the names of host and node.
    #[must_use]
    pub fn find(&self, host: &str, node: &str) -> Option<&Arc<Host>> {
        self.get(*self.by_name.get(&(Arc::from(host), Arc::from(node)))?)
    }

    /// The nodes of a host, in order of their names.
    pub fn nodes_of(&self, host: &str) -> impl Iterator<Item = &Arc<Host>> {
        let name: Arc<str> = host.into();
        let nodes = self.by_name.range((name.clone(), Arc::from(""))..);
        let nodes = nodes.take_while(move |((host, _), _)| *host == name);
        nodes.filter_map(|(_, uuid)| self.get(*uuid))
    }

    /// All hosts, in order of creation.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Host>> {
        self.rows.iter()
    }

    /// All hosts, in order of the names of host and node.
    pub fn by_name(&self) -> impl Iterator<Item = &Arc<Host>> {
        self.by_name.values().filter_map(|uuid| self.get(*uuid))
    }

    /// How many hosts there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The id that the next new host takes.
    #[must_use]
    pub fn next_id(&self) -> i64 {
        self.rows.next_id()
    }

    pub(super) fn last_id(&self) -> i64 {
        self.rows.last_id()
    }

    pub(super) fn raise_id(&mut self, last: i64) {
        self.rows.raise_id(last);
    }

    /// Ids of the host aggregates that a host (by name) is in, in order.
    pub fn aggregates_of(&self, host: &str) -> impl Iterator<Item = i64> {
        ids_of(&self.memberships, host)
    }

    pub(super) fn set_figure(&mut self, ix: HostIx, figure: Figure, value: i64) {
        self.table.set_figure(ix, figure, value);
    }

    pub(super) fn set_ours(&mut self, host: &Host, ours: Held) {
        self.rows.put(host.row.id, host.row.uuid, Host { ours, ..host.clone() });
    }

    pub(super) fn set_claimed(&mut self, host: &Host, instance: Uuid, claimed: bool) {
        if host.row.has_instance(instance) {
            return;
        }
        if claimed {
            self.table.add_instance(host.ix, instance, table::InstanceProps::new());
        } else {
            self.table.remove_instance(host.ix, instance);
        }
    }

    pub(super) fn remove(&mut self, uuid: Uuid) {
        if let Some(host) = self.rows.remove(uuid) {
            self.forget_name(&host.row);
            self.table.remove(host.ix);
        }
    }

    /// Takes a host's names out, unless another host bears them by now.
    fn forget_name(&mut self, row: &HostRow) {
        let key = key(row);
        if self.by_name.get(&key) == Some(&row.uuid) {
            self.by_name.remove(&key);
        }
    }
}

/// The ids that stand beside a name, in order.
fn ids_of<'a>(
    set: &'a imbl::OrdSet<(Arc<str>, i64)>,
    name: &str,
) -> impl Iterator<Item = i64> + use<'a> {
    let name: Arc<str> = name.into();
    let range = (name.clone(), i64::MIN)..=(name, i64::MAX);
    set.range(range).map(|(_, id)| *id)
}

fn key(row: &HostRow) -> (Arc<str>, Arc<str>) {
    (row.host.as_str().into(), row.node.as_str().into())
}

impl Image {
    /// Sets the columns of hosts that are known by these alone: those of a cloud
    /// elsewhere, of which there is only a snapshot.
    pub fn set_host_table(&mut self, table: HostTable) {
        self.hosts.table = table;
        self.memo.forget_hosts();
    }

    /// The service that runs a host: its first one.
    #[must_use]
    pub fn service_of(&self, host: &str) -> Option<&Arc<ServiceRow>> {
        self.services.by_id(ids_of(&self.hosts.services, host).next()?)
    }

    pub(super) fn apply_service(&mut self, row: &ServiceRow) {
        if let Some(before) = self.services.put(row.id, row.uuid, row.clone())
            && before.host != row.host
        {
            self.hosts.services.remove(&(before.host.as_str().into(), before.id));
            self.refresh_service(&before.host);
        }
        self.hosts.services.insert((row.host.as_str().into(), row.id));
        self.refresh_service(&row.host);
    }

    pub(super) fn remove_service(&mut self, uuid: Uuid) {
        if let Some(service) = self.services.remove(uuid) {
            self.hosts.services.remove(&(service.host.as_str().into(), service.id));
            self.refresh_service(&service.host);
        }
    }

    /// Notes that a host's service was heard. An earlier time than the known
    /// one counts too: it was a host's clock then that ran ahead, not ours.
    pub fn heard(&mut self, host: &str, when: Micros) {
        let Some(service) = self.service_of(host) else { return };
        if service.last_seen == Some(when) {
            return;
        }
        let service = ServiceRow { last_seen: Some(when), ..ServiceRow::clone(service) };
        self.services.put(service.id, service.uuid, service);
        let places: Vec<HostIx> = self.hosts.nodes_of(host).map(|host| host.ix).collect();
        for ix in places {
            self.hosts.set_figure(ix, Figure::AliveSince, when.0);
        }
    }

    pub(super) fn apply_host(&mut self, row: &HostRow) {
        let ix = match self.hosts.get(row.uuid).cloned() {
            Some(before) => {
                self.hosts.forget_name(&before.row);
                before.ix
            }
            None => {
                self.memo.forget_hosts();
                self.hosts.table.free_ix()
            }
        };
        let row = Arc::new(row.clone());
        self.hosts.by_name.insert(key(&row), row.uuid);
        self.build(ix, row.clone());
        self.set_aggregates(&row.host);
        self.recount(row.uuid);
    }

    /// Puts a host's row into the table anew.
    fn build(&mut self, ix: HostIx, row: Arc<HostRow>) {
        let service = self.service_of(&row.host).cloned();
        let mut spoken = with_service(&row.report, service.as_deref());
        spoken.uuid = row.uuid;
        for (instance, came) in &row.news {
            if *came {
                spoken.instances.entry(*instance).or_default();
            } else {
                spoken.instances.remove(instance);
            }
        }
        // The engine takes a report without free disk for a record that nobody
        // has filled in. Here what was not said comes from the ledger's books.
        spoken.free_disk_gb.get_or_insert(0);
        let bus_only = row.source == HostSource::Bus;
        let built = table::HostRow::from_report(&row.host, &row.node, &spoken, bus_only);
        let host = Host { row: row.clone(), ix, reported: built.figures, ours: Held::default() };
        self.hosts.table.upsert(ix, built);
        self.hosts.rows.put(row.id, row.uuid, host);
        let claimed: Vec<Uuid> = self.claimed_on(row.uuid).collect();
        if let Some(host) = self.hosts.get(row.uuid).cloned() {
            for instance in claimed {
                self.hosts.set_claimed(&host, instance, true);
            }
        }
    }

    fn refresh_service(&mut self, host: &str) {
        let nodes: Vec<_> = self.hosts.nodes_of(host).map(|h| (h.ix, h.row.clone())).collect();
        for (ix, row) in nodes {
            let uuid = row.uuid;
            self.build(ix, row);
            self.recount(uuid);
        }
    }

    /// Brings the memberships of the hosts of a changed aggregate up to date.
    pub(super) fn refresh_aggregates(
        &mut self,
        before: Option<&HostAggregateRow>,
        after: Option<&HostAggregateRow>,
    ) {
        let mut names: Vec<&String> = Vec::new();
        if let Some(before) = before {
            for host in &before.hosts {
                self.hosts.memberships.remove(&(host.as_str().into(), before.id));
                names.push(host);
            }
        }
        if let Some(after) = after {
            for host in &after.hosts {
                self.hosts.memberships.insert((host.as_str().into(), after.id));
                names.push(host);
            }
        }
        names.sort();
        names.dedup();
        for host in names {
            self.set_aggregates(host);
        }
    }

    fn set_aggregates(&mut self, host: &str) {
        let rows = self.hosts.aggregates_of(host).filter_map(|id| self.host_aggregates.by_id(id));
        let aggregates: Vec<Arc<HostAggregate>> = rows
            .map(|row| {
                Arc::new(HostAggregate {
                    id: row.id,
                    name: row.name.clone(),
                    uuid: Some(row.uuid),
                    metadata: row.metadata.clone(),
                })
            })
            .collect();
        let places: Vec<HostIx> = self.hosts.nodes_of(host).map(|host| host.ix).collect();
        for ix in places {
            self.hosts.table.set_aggregates(ix, aggregates.clone());
        }
    }
}

/// A report whose word on its service is replaced by the service's own row,
/// which operators change too.
fn with_service(report: &HostReport, service: Option<&ServiceRow>) -> HostReport {
    let Some(service) = service else { return report.clone() };
    HostReport { service: service.as_report(), ..report.clone() }
}
