//! Nova's tables, as far as they are read; fields have the names of the columns.
//! Names that a database keeps for itself stand behind their table's.

use stowplan_db::rows;
use stowplan_model::Micros;

rows! {
    /// A cell.
    CellMapping from "cell_mappings" {
        uuid: String,
        name: Option<String>,
        database_connection: Option<String>,
        disabled: bool,
    }

    /// A host aggregate.
    Aggregate from "aggregates" {
        id: i64,
        uuid: Option<String>,
        name: Option<String>,
    }

    /// A key of a host aggregate's metadata.
    AggregateMetadata from "aggregate_metadata" {
        aggregate_id: i64,
        key: String = "aggregate_metadata.key",
        value: String = "aggregate_metadata.value",
    }

    /// A host in an aggregate.
    AggregateHost from "aggregate_hosts" {
        aggregate_id: i64,
        host: Option<String>,
    }

    /// A server group.
    Group from "instance_groups" {
        id: i64,
        uuid: String,
        name: Option<String>,
        project_id: Option<String>,
        user_id: Option<String>,
    }

    /// The policy of a server group.
    GroupPolicy from "instance_group_policy" {
        group_id: i64,
        policy: Option<String>,
        rules: Option<String>,
    }

    /// A member of a server group.
    GroupMember from "instance_group_member" {
        group_id: i64,
        instance_uuid: Option<String>,
    }

    /// A service.
    Service from "services" {
        id: i64,
        uuid: Option<String>,
        host: Option<String>,
        disabled: bool,
        disabled_reason: Option<String>,
        last_seen_up: Option<Micros>,
        forced_down: bool,
        version: Option<i64>,
        created_at: Option<Micros>,
    }

    /// When a compute node was last changed.
    NodeStamp from "compute_nodes" {
        id: i64,
        stamp: Option<Micros> = "COALESCE(updated_at, created_at)",
    }

    /// A compute node.
    ComputeNode from "compute_nodes" {
        id: i64,
        uuid: Option<String>,
        host: Option<String>,
        service_id: Option<i64>,
        hypervisor_hostname: Option<String>,
        vcpus: i64,
        vcpus_used: i64,
        memory_mb: i64,
        memory_mb_used: i64,
        local_gb: i64,
        local_gb_used: i64,
        free_ram_mb: Option<i64>,
        free_disk_gb: Option<i64>,
        disk_available_least: Option<i64>,
        running_vms: Option<i64>,
        hypervisor_type: Option<String>,
        hypervisor_version: Option<i64>,
        host_ip: Option<String>,
        cpu_info: Option<String>,
        supported_instances: Option<String>,
        metrics: Option<String>,
        pci_stats: Option<String>,
        stats: Option<String>,
        numa_topology: Option<String>,
        cpu_allocation_ratio: Option<f64>,
        ram_allocation_ratio: Option<f64>,
        disk_allocation_ratio: Option<f64>,
    }

    /// How many servers a node has, and sums that tell which.
    ServerCount from "instances" {
        host: String,
        node: Option<String>,
        count: i64 = "COUNT(*)",
        ids: i64 = "SUM(id)",
        mixed: i64 = "SUM((id % 1021) * (id % 509))",
    }

    /// The host of a server.
    ServerHost from "instances" {
        host: String,
    }

    /// A server on a host.
    Server from "instances" {
        uuid: String,
        host: String,
        node: Option<String>,
        display_name: Option<String>,
    }

    /// A property of the image that a server on a host was made from.
    ImageProperty from "instance_system_metadata m JOIN instances i ON i.uuid = m.instance_uuid" {
        server: String = "m.instance_uuid",
        host: String = "i.host",
        key: String = "m.key",
        value: Option<String> = "m.value",
    }
}
