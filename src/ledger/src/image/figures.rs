//! The live figures of a host: what its report says, plus what we have claimed
//! since; or the ledger's own books, where the report says nothing.
//!
//! A claim of ours counts until its host reports anew (a report that came after the
//! claim is taken to know of it, whatever it lists), until the report lists its
//! instance, or until its allocations go. Claims that others made are not added to a report: a resize
//! would count twice. Batch tasks are never in a report, so they always count.

use super::{Image, consumers::Consumer, hosts::Host, providers::At};
use crate::rows::OriginKind;
use std::collections::BTreeSet;
use stowplan_engine::table::Figure;
use stowplan_model::Uuid;

/// MiB in a GiB.
const MB_PER_GB: i64 = 1024;

/// What some consumers hold on one host. The sums are exact, however large the
/// amounts: what was added can be taken out again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    vcpus: i128,
    memory_mb: i128,
    disk_gb: i128,
    instances: i64,
    io_ops: i64,
}

impl Image {
    /// Brings the hosts up to date on which a consumer that has come holds
    /// something.
    pub(super) fn consumer_came(&mut self, consumer: &Consumer) {
        self.tell_hosts(consumer, 1);
    }

    /// Brings the hosts up to date on which a consumer that is gone, or holds
    /// something else now, held something.
    pub(super) fn consumer_went(&mut self, consumer: &Consumer) {
        self.tell_hosts(consumer, -1);
    }

    fn tell_hosts(&mut self, consumer: &Consumer, sign: i64) {
        if let Some(origin) = &consumer.origin
            && let Some(host) = self.hosts.get(origin.host).cloned()
        {
            let mut ours = host.ours;
            self.count_ours(&host, consumer, sign, &mut ours);
            self.hosts.set_ours(&host, ours);
            let claimed = sign > 0 && origin.kind == OriginKind::Server;
            self.hosts.set_claimed(&host, consumer.uuid, claimed);
        }
        let mut hosts: BTreeSet<Uuid> = consumer.origin.iter().map(|origin| origin.host).collect();
        for allocation in &consumer.allocations {
            if let Some(provider) = self.providers.get(allocation.provider) {
                hosts.insert(self.providers.uuid(provider.root));
            }
        }
        hosts.into_iter().for_each(|host| self.refresh_figures(host));
    }

    /// Instances that we ourselves have placed on a host.
    pub(super) fn claimed_on(&self, host: Uuid) -> impl Iterator<Item = Uuid> {
        let servers = self.consumers.placed_on(host).filter(|consumer| {
            consumer.origin.as_ref().is_some_and(|origin| origin.kind == OriginKind::Server)
        });
        servers.map(|consumer| consumer.uuid)
    }

    /// Brings a host up to date of which other providers than before are the
    /// tree, or whose report is new: all that is there is counted again.
    pub(super) fn recount(&mut self, uuid: Uuid) {
        let Some(host) = self.hosts.get(uuid).cloned() else { return };
        let mut ours = Held::default();
        for consumer in self.consumers.placed_on(uuid) {
            self.count_ours(&host, consumer, 1, &mut ours);
        }
        self.hosts.set_ours(&host, ours);
        self.refresh_figures(uuid);
    }

    pub(super) fn refresh_figures(&mut self, uuid: Uuid) {
        let Some(host) = self.hosts.get(uuid).cloned() else { return };
        let report = &host.row.report;
        let ours = Claimed::from(host.ours);
        let root = self.providers.find(uuid);
        let ledger = Ledger { image: self, root };
        let base = |figure| host.reported.get(figure);

        let vcpus_total = report.vcpus.unwrap_or_else(|| ledger.total(&["VCPU", "PCPU"]));
        let memory_mb = report.memory_mb.unwrap_or_else(|| ledger.total(&["MEMORY_MB"]));
        let local_gb = report.local_gb.unwrap_or_else(|| ledger.total(&["DISK_GB"]));
        let vcpus_used = match report.vcpus_used {
            Some(used) => used.saturating_add(ours.vcpus),
            None => ledger.used(&["VCPU", "PCPU"]),
        };
        let free_ram_mb = match (report.free_ram_mb, report.memory_mb_used) {
            (Some(free), _) => free.saturating_sub(ours.memory_mb),
            (None, Some(used)) => memory_mb.saturating_sub(used).saturating_sub(ours.memory_mb),
            (None, None) => memory_mb.saturating_sub(ledger.used(&["MEMORY_MB"])),
        };
        let disk_used_gb = report.local_gb_used.unwrap_or_else(|| ledger.used(&["DISK_GB"]));
        let left_gb = local_gb.saturating_sub(disk_used_gb);
        let free_gb = report.free_disk_gb.or(report.local_gb_used.map(|_| left_gb));
        // Of what the report knows we take our claims; our books know them.
        let by_report = free_gb.into_iter().chain(report.disk_available_least).min();
        let by_report = by_report.map(|gb| mb(gb).saturating_sub(ours.disk_mb));
        let by_books = free_gb.is_none().then(|| mb(left_gb));
        let free_disk_mb = by_report.into_iter().chain(by_books).min().unwrap_or_default();
        let counted = report.num_instances.is_some()
            || report.stats.contains_key("num_instances")
            || report.vcpus_used.is_some();
        let instances = if counted {
            base(Figure::NumInstances).saturating_add(ours.instances)
        } else {
            ledger.consumers()
        };
        let live = [
            (Figure::VcpusTotal, vcpus_total),
            (Figure::VcpusUsed, vcpus_used),
            (Figure::TotalUsableRamMb, memory_mb),
            (Figure::FreeRamMb, free_ram_mb),
            (Figure::TotalUsableDiskGb, local_gb),
            (Figure::DiskMbUsed, mb(disk_used_gb)),
            (Figure::FreeDiskMb, free_disk_mb),
            (Figure::NumInstances, instances),
            (Figure::NumIoOps, base(Figure::NumIoOps).saturating_add(ours.io_ops)),
        ];
        for (figure, value) in live {
            self.hosts.set_figure(host.ix, figure, value);
        }
    }

    /// Adds what a consumer that we placed on a host holds there (`sign` 1), or
    /// takes it out (-1), if the host's report does not know of it yet.
    fn count_ours(&self, host: &Host, consumer: &Consumer, sign: i64, sum: &mut Held) {
        let Some(origin) = &consumer.origin else { return };
        let batch = origin.kind == OriginKind::BatchTask;
        let listed = host.row.report.instances.contains_key(&consumer.uuid);
        if !batch && (origin.seq <= host.row.report_seq || listed) {
            return;
        }
        sum.instances += sign;
        // A server that the host tells of is in what it tells of its work.
        sum.io_ops += if batch || host.row.has_instance(consumer.uuid) { 0 } else { sign };
        let root = self.providers.find(host.row.uuid);
        for allocation in &consumer.allocations {
            let at_host = self.providers.get(allocation.provider).map(|p| Some(p.root) == root);
            if at_host != Some(true) {
                continue;
            }
            let amount = i128::from(sign) * i128::from(allocation.used);
            match self.classes.name(allocation.class) {
                "VCPU" | "PCPU" => sum.vcpus += amount,
                "MEMORY_MB" => sum.memory_mb += amount,
                "DISK_GB" => sum.disk_gb += amount,
                _ => {}
            }
        }
    }
}

/// What we have claimed on a host that its report does not know of yet, in the
/// units of the figures. Amounts come from outside: what is beyond all bounds
/// stays at the bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Claimed {
    /// CPUs.
    pub vcpus: i64,
    /// Memory in MiB.
    pub memory_mb: i64,
    /// Disk in MiB.
    pub disk_mb: i64,
    /// Servers and batch tasks.
    pub instances: i64,
    /// Builds that these make.
    pub io_ops: i64,
}

impl Host {
    /// What we have claimed here since its report.
    #[must_use]
    pub fn claimed_since(&self) -> Claimed {
        self.ours.into()
    }
}

impl From<Held> for Claimed {
    fn from(held: Held) -> Self {
        let bounded = |sum: i128| i64::try_from(sum).unwrap_or(i64::MAX);
        Self {
            vcpus: bounded(held.vcpus),
            memory_mb: bounded(held.memory_mb),
            disk_mb: mb(bounded(held.disk_gb)),
            instances: held.instances,
            io_ops: held.io_ops,
        }
    }
}

/// GiB in MiB.
const fn mb(gb: i64) -> i64 {
    gb.saturating_mul(MB_PER_GB)
}

/// The ledger's own books of one host's tree.
struct Ledger<'a> {
    image: &'a Image,
    root: Option<At>,
}

impl Ledger<'_> {
    fn tree(&self) -> &[At] {
        self.root.map_or(&[], |root| self.image.providers.tree_of(root))
    }

    fn sum(&self, classes: &[&str], of: impl Fn(At, super::names::Ix) -> i64) -> i64 {
        let classes: Vec<_> = classes.iter().filter_map(|c| self.image.classes.ix(c)).collect();
        let places = self.tree().iter();
        places
            .flat_map(|&at| classes.iter().map(move |&class| (at, class)))
            .fold(0, |sum: i64, (at, class)| sum.saturating_add(of(at, class)))
    }

    fn used(&self, classes: &[&str]) -> i64 {
        self.sum(classes, |at, class| self.image.providers.used(at, class))
    }

    fn total(&self, classes: &[&str]) -> i64 {
        self.sum(classes, |at, class| {
            self.image.providers.inventory(at, class).map_or(0, |inventory| inventory.total)
        })
    }

    fn consumers(&self) -> i64 {
        let holders = self.tree().iter().flat_map(|&at| self.image.consumers.of_provider(at));
        let distinct: BTreeSet<Uuid> = holders.map(|consumer| consumer.uuid).collect();
        distinct.len() as i64
    }
}
