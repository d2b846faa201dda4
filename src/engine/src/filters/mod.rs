//! The filters there are, one file each.

mod aggregate_image_properties;
mod aggregate_instance_extra_specs;
mod aggregate_multi_tenancy;
mod aggregate_type_affinity;
mod all_hosts;
mod by_aggregates;
mod cidr_affinity;
mod compute;
mod compute_capabilities;
mod figure_limit;
mod image_properties;
mod isolated_hosts;
mod json;
mod json_query;
mod metrics;
mod numa_topology;
mod pci_passthrough;
mod server_group;
mod servers_by_hint;

pub use aggregate_image_properties::AggregateImagePropertiesIsolation;
pub use aggregate_instance_extra_specs::AggregateInstanceExtraSpecsFilter;
pub use aggregate_multi_tenancy::AggregateMultiTenancyIsolation;
pub use aggregate_type_affinity::AggregateTypeAffinityFilter;
pub use all_hosts::AllHostsFilter;
pub use cidr_affinity::SimpleCidrAffinityFilter;
pub use compute::ComputeFilter;
pub use compute_capabilities::ComputeCapabilitiesFilter;
pub use figure_limit::{
    AGGREGATE_IO_OPS, AGGREGATE_NUM_INSTANCES, FigureLimit, IO_OPS_LIMIT, NUM_INSTANCES_LIMIT,
};
pub use image_properties::ImagePropertiesFilter;
pub use isolated_hosts::IsolatedHostsFilter;
pub use json::JsonFilter;
pub use metrics::MetricsFilter;
pub use numa_topology::NumaTopologyFilter;
pub use pci_passthrough::PciPassthroughFilter;
pub use server_group::{ServerGroupAffinityFilter, ServerGroupAntiAffinityFilter};
pub use servers_by_hint::{DIFFERENT_HOST, SAME_HOST, ServersByHint};
