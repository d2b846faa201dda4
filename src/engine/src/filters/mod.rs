//! The filters there are, one file each.

mod all_hosts;
mod compute;
mod compute_capabilities;
mod image_properties;
mod server_group;

pub use all_hosts::AllHostsFilter;
pub use compute::ComputeFilter;
pub use compute_capabilities::ComputeCapabilitiesFilter;
pub use image_properties::ImagePropertiesFilter;
pub use server_group::{ServerGroupAffinityFilter, ServerGroupAntiAffinityFilter};
