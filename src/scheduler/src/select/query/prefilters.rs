//! What requests ask beyond their flavor, by zone, project and image: the
//! peer's request filters, in its order.

use stowplan_config::Settings;
use stowplan_ledger::Image;
use stowplan_ledger::rows::HostAggregateRow;
use stowplan_model::Uuid;
use stowplan_model::request::ScheduleRequest;

use super::groups::Groups;
use crate::error::SchedulerError;
use crate::hosts::ZONE;

/// Traits asked of the root provider.
#[derive(Clone, Debug, Default)]
pub(super) struct RootTraits {
    pub required: Vec<String>,
    pub forbidden: Vec<String>,
}

/// What request filters are told and write to.
pub(super) struct Prefilter<'a> {
    pub image: &'a Image,
    pub request: &'a ScheduleRequest,
    pub settings: &'a Settings,
    pub groups: &'a mut Groups,
    pub root: &'a mut RootTraits,
    pub warnings: &'a mut Vec<String>,
}

impl Prefilter<'_> {
    /// Runs all of them.
    ///
    /// # Errors
    /// A zone that no host aggregate makes, or a project without hosts.
    pub fn run(&mut self) -> Result<(), SchedulerError> {
        self.tenant()?;
        self.zone()?;
        self.image_type();
        // compute_status_filter: disabled services are no candidates at all.
        self.forbid_root("COMPUTE_STATUS_DISABLED");
        self.isolated_aggregates();
        if self.request.flavor.extra_specs.get("accel:device_profile").is_some() {
            self.require_root("COMPUTE_ACCELERATORS");
        }
        self.owner();
        Ok(())
    }

    /// The project's host aggregates, where projects are restricted to them.
    fn tenant(&mut self) -> Result<(), SchedulerError> {
        let options = &self.settings.scheduler;
        if !options.limit_tenants_to_placement_aggregate {
            return Ok(());
        }
        let project = self.request.project_id.as_deref().unwrap_or_default();
        let own = |row: &HostAggregateRow| {
            let named = |(key, value): (&String, &String)| {
                key.starts_with("filter_tenant_id") && value == project
            };
            row.metadata.iter().any(named)
        };
        let uuids = self.aggregates(own);
        if !uuids.is_empty() {
            self.groups.member_of.push(uuids);
        } else if options.placement_aggregate_required_for_tenants {
            return Err(SchedulerError::Request(format!(
                "no host aggregate is open to project {project} \
                 ([scheduler] placement_aggregate_required_for_tenants)"
            )));
        }
        Ok(())
    }

    /// The host aggregates of the zone.
    fn zone(&mut self) -> Result<(), SchedulerError> {
        let Some(zone) = &self.request.availability_zone else { return Ok(()) };
        let uuids = self.aggregates(|row| row.metadata.get(ZONE) == Some(zone));
        if !uuids.is_empty() {
            self.groups.member_of.push(uuids);
        } else if *zone != self.settings.default.default_availability_zone {
            return Err(SchedulerError::ZoneNotFound(zone.clone()));
        }
        Ok(())
    }

    /// Hosts that can read the image's disk format.
    fn image_type(&mut self) {
        let format = self.request.image.as_ref().and_then(|image| image.disk_format.as_ref());
        let asked = self.settings.scheduler.query_placement_for_image_type_support;
        if let Some(format) = format.filter(|_| asked && !self.request.is_bfv) {
            self.require_root(&format!("COMPUTE_IMAGE_TYPE_{}", format.to_uppercase()));
        }
    }

    /// Keeps out of host aggregates that require traits which this request
    /// does not.
    fn isolated_aggregates(&mut self) {
        if !self.settings.scheduler.enable_isolated_aggregate_filtering {
            return;
        }
        let required: Vec<&String> = self.groups.required().collect();
        let closed = |row: &HostAggregateRow| {
            row.metadata.iter().any(|(key, value)| {
                let name = key.strip_prefix("trait:").filter(|_| value == "required");
                name.is_some_and(|name| !required.iter().any(|have| *have == name))
            })
        };
        let uuids = self.aggregates(closed);
        self.groups.forbidden_aggregates.extend(uuids);
    }

    /// Hosts of compute services, once all of them are new enough to say so.
    fn owner(&mut self) {
        /// The version of nova-compute that marks its providers.
        const MARKS_PROVIDERS: i64 = 73;
        let mut services = self.image.services.iter().peekable();
        if services.peek().is_some() && services.all(|row| row.version >= MARKS_PROVIDERS) {
            self.require_root("OWNER_NOVA");
        }
    }

    fn aggregates(&self, passes: impl Fn(&HostAggregateRow) -> bool) -> Vec<Uuid> {
        let rows = self.image.host_aggregates.iter();
        rows.filter(|row| passes(row)).map(|row| row.uuid).collect()
    }

    /// A trait that nobody has defined is passed over: nothing can have it,
    /// and the peer does so too.
    fn require_root(&mut self, name: &str) {
        if self.image.traits.ix(name).is_some() {
            self.root.required.push(name.to_owned());
        } else {
            self.warnings.push(format!("trait {name} does not exist; not asked for"));
        }
    }

    fn forbid_root(&mut self, name: &str) {
        if self.image.traits.ix(name).is_some() {
            self.root.forbidden.push(name.to_owned());
        }
    }
}
