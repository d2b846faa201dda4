//! What a placed server takes from its host, until the host reports again.

use crate::request::CheckedRequest;
use crate::table::{Figure, HostIx, HostTable, InstanceProps, Undo};
use crate::view::HostView;

/// MiB in a GiB.
const MB_PER_GB: i64 = 1024;

/// Takes the flavor's amounts from a host, as Nova's scheduler does between
/// the servers of one request: memory, root and ephemeral disk (swap and
/// booting from a volume are not considered), CPUs, one server, one IO
/// operation. A server group notes the host and the server.
pub fn consume(table: &mut HostTable, undo: &mut Undo, request: &mut CheckedRequest, host: HostIx) {
    let flavor = &request.request().flavor;
    let disk_mb = flavor.root_gb.saturating_add(flavor.ephemeral_gb).saturating_mul(MB_PER_GB);
    for (figure, change) in [
        (Figure::FreeRamMb, flavor.memory_mb.saturating_neg()),
        (Figure::FreeDiskMb, disk_mb.saturating_neg()),
        (Figure::VcpusUsed, flavor.vcpus),
        (Figure::NumInstances, 1),
        (Figure::NumIoOps, 1),
    ] {
        undo.add(table, host, figure, change);
    }
    if request.request().instance_group.is_some() {
        let instance = request.request().instance_uuid;
        if !table.instances(host).contains(instance) {
            undo.add_instance(table, host, instance, InstanceProps::default());
        }
        request.group_takes(&table.facts(host).host);
    }
}
