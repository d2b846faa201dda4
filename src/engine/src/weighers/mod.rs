//! The weighers there are.

mod cpu;
mod cross_cell;
mod figure;
mod image_properties;
mod metrics;
mod pci;
mod soft_group;

pub use cpu::CpuWeigher;
pub use cross_cell::CrossCellWeigher;
pub use figure::{
    BUILD_FAILURE, DISK, FigureWeigher, HYPERVISOR_VERSION, IO_OPS, NUM_INSTANCES, RAM,
};
pub use image_properties::ImagePropertiesWeigher;
pub use metrics::MetricsWeigher;
pub use pci::PciWeigher;
pub use soft_group::{SOFT_AFFINITY, SOFT_ANTI_AFFINITY, SoftGroupWeigher};
