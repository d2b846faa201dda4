//! Hosts: what they report, where it goes, and how they leave.
//!
//! A report is one mutation whatever brings it ([`ReportHost`]): the host's
//! row and service, its root provider with inventory and traits, a child
//! provider for each device and one that bounds its batch tasks.

mod children;
mod delete;
mod find;
mod inventory;
mod list;
mod operate;
mod report;
mod service;
mod status;
mod validate;
mod zones;

pub use delete::{Deleted, delete_host, delete_service, forget_host};
pub use find::{find, nodes};
pub use list::{
    HostFilter, HostPage, HostState, ZONE, list, service_state, state, unknown, zone_of,
};
pub use operate::{ServiceStatus, ServiceUpdate, update_service};
pub use report::{ReportHost, Reported, read_report, report_host};
pub use service::{BINARY, ServiceKey, find_service};
pub(crate) use status::toggle_nodes;
pub(crate) use validate::{class as check_class, name as check_name};
pub use zones::{Zone, ZoneNames, zones};
