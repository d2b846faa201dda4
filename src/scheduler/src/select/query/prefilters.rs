//! What requests ask beyond their flavor, by zone, project and image: the
//! peer's request filters, in its order.

use std::collections::BTreeMap;

use stowplan_config::Settings;
use stowplan_model::Uuid;
use stowplan_model::request::ScheduleRequest;

use super::groups::Groups;
use super::site::Site;
use super::wishes::Wishes;
use crate::error::SchedulerError;
use crate::hosts::ZONE;
use crate::select::networks::RequestedNetwork;

/// Traits asked of the root provider.
#[derive(Clone, Debug, Default)]
pub(crate) struct RootTraits {
    /// It must have these.
    pub required: Vec<String>,
    /// It must have none of these.
    pub forbidden: Vec<String>,
}

/// Image properties that the host's virtualisation driver must know, with the
/// beginning of the traits that say so (`[scheduler] image_metadata_prefilter`).
const IMAGE_METADATA: [(&str, &str); 7] = [
    ("hw_cdrom_bus", "COMPUTE_STORAGE_BUS_"),
    ("hw_disk_bus", "COMPUTE_STORAGE_BUS_"),
    ("hw_video_model", "COMPUTE_GRAPHICS_MODEL_"),
    ("hw_vif_model", "COMPUTE_NET_VIF_MODEL_"),
    ("hw_architecture", "HW_ARCH_"),
    ("hw_emulation_architecture", "COMPUTE_ARCH_"),
    ("hw_viommu_model", "COMPUTE_VIOMMU_"),
];

/// The version of nova-compute that marks its providers.
const MARKS_PROVIDERS: i64 = 73;
/// What it marks them with.
const OWNER: &str = "OWNER_NOVA";

/// What request filters are told and write to.
pub(super) struct Prefilter<'a> {
    pub site: &'a dyn Site,
    pub request: &'a ScheduleRequest,
    /// Its flavor and image.
    pub wishes: Wishes<'a>,
    /// Traits that the flavor and the image require, in any group.
    pub required: &'a [String],
    /// Networks and ports that the servers attach to.
    pub networks: &'a [RequestedNetwork],
    /// Suffixes of the groups of PCI devices.
    pub pci: &'a [String],
    /// Whether a zone that no host aggregate makes is a mistake of the caller:
    /// Nova's API has checked it before it asks.
    pub zone_must_exist: bool,
    pub settings: &'a Settings,
    pub groups: &'a mut Groups,
    pub root: &'a mut RootTraits,
    pub warnings: &'a mut Vec<String>,
}

impl Prefilter<'_> {
    /// Runs all of them.
    ///
    /// # Errors
    /// A zone that no host aggregate makes, a project without hosts, a request
    /// without an image object, an unknown kind of TPM secret.
    pub fn run(&mut self) -> Result<(), SchedulerError> {
        self.tenant()?;
        self.zone()?;
        self.image_type();
        // compute_status_filter: disabled services are no candidates at all.
        self.forbid_root("COMPUTE_STATUS_DISABLED");
        self.isolated_aggregates();
        self.image_metadata();
        if self.wishes.spec("accel:device_profile").is_some() {
            self.require_root("COMPUTE_ACCELERATORS");
        }
        if self.wishes.image.is_none() {
            return Err(SchedulerError::Request(
                "image is null: expected an object, empty for a server without an image".to_owned(),
            ));
        }
        if self.wishes.flag("hw:virtio_packed_ring", "hw_virtio_packed_ring")? {
            self.require_root("COMPUTE_NET_VIRTIO_PACKED");
        }
        self.routed_networks()?;
        self.remote_managed_ports();
        self.ephemeral_encryption()?;
        if self.wishes.text("hw:sound_model", "hw_sound_model")? == Some("virtio") {
            self.require_root("COMPUTE_SOUND_MODEL_VIRTIO");
        }
        self.tpm_secret()?;
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
        let own = |metadata: &BTreeMap<String, String>| {
            let named = |(key, value): (&String, &String)| {
                key.starts_with("filter_tenant_id") && value == project
            };
            metadata.iter().any(named)
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
        let uuids = self.aggregates(|metadata| metadata.get(ZONE) == Some(zone));
        if !uuids.is_empty() {
            self.groups.member_of.push(uuids);
        } else if self.zone_must_exist && *zone != self.settings.default.default_availability_zone {
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
        let closed = |metadata: &BTreeMap<String, String>| {
            metadata.iter().any(|(key, value)| {
                let name = key.strip_prefix("trait:").filter(|_| value == "required");
                name.is_some_and(|name| !self.required.iter().any(|have| have == name))
            })
        };
        let uuids = self.aggregates(closed);
        self.groups.forbidden_aggregates.extend(uuids);
    }

    /// Hosts whose driver knows what the image asks for. As at the peer, one
    /// trait that does not exist, and none is asked for.
    fn image_metadata(&mut self) {
        if !self.settings.scheduler.image_metadata_prefilter {
            return;
        }
        let named = IMAGE_METADATA.iter().filter_map(|(name, beginning)| {
            let value = self.wishes.prop(name)?.to_uppercase().replace('-', "_");
            Some(format!("{beginning}{value}"))
        });
        let names: Vec<String> = named.collect();
        match names.iter().find(|name| !self.site.has_trait(name)) {
            Some(unknown) => self.warnings.push(format!(
                "trait {unknown} does not exist; nothing is asked for by the image's metadata"
            )),
            None => self.root.required.extend(names),
        }
    }

    /// Hosts in one segment of each routed network: a segment is a provider, which
    /// shares aggregates with the hosts that reach it.
    fn routed_networks(&mut self) -> Result<(), SchedulerError> {
        if !self.settings.scheduler.query_placement_for_routed_network_aggregates {
            return Ok(());
        }
        for segments in self.networks.iter().filter_map(|network| network.segments.as_ref()) {
            let mut any_of = Vec::new();
            for &segment in segments {
                let aggregates = self.site.provider_aggregates(segment);
                if aggregates.is_empty() {
                    return Err(SchedulerError::RoutedNetworks(format!(
                        "Failed to find aggregate related to segment {segment}"
                    )));
                }
                any_of.extend(aggregates);
            }
            if !any_of.is_empty() {
                any_of.sort_unstable();
                any_of.dedup();
                self.groups.member_of.push(any_of);
            }
        }
        Ok(())
    }

    /// Hosts that can do with interfaces which are managed from elsewhere.
    fn remote_managed_ports(&mut self) {
        let mut ports = self.networks.iter().filter(|network| network.port_id.is_some());
        if ports.clone().any(|port| port.remote_managed == Some(true)) {
            self.require_root("COMPUTE_REMOTE_MANAGED_PORTS");
        } else if ports.any(|port| port.remote_managed.is_none()) {
            self.warnings.push(
                "nobody says whether ports are managed remotely ([neutron] is not set); none is \
                 taken to be"
                    .to_owned(),
            );
        }
    }

    /// Hosts that encrypt ephemeral disks, in the format asked for.
    fn ephemeral_encryption(&mut self) -> Result<(), SchedulerError> {
        if !self.wishes.flag("hw:ephemeral_encryption", "hw_ephemeral_encryption")? {
            return Ok(());
        }
        self.require_root("COMPUTE_EPHEMERAL_ENCRYPTION");
        let keys = ("hw:ephemeral_encryption_format", "hw_ephemeral_encryption_format");
        if let Some(format) = self.wishes.text(keys.0, keys.1)? {
            let name = format!("COMPUTE_EPHEMERAL_ENCRYPTION_{}", format.to_uppercase());
            self.require_root(&name);
        }
        Ok(())
    }

    /// Hosts that keep a TPM's secret the way that the flavor wants.
    fn tpm_secret(&mut self) -> Result<(), SchedulerError> {
        if self.wishes.text("hw:tpm_version", "hw_tpm_version")?.is_none() {
            return Ok(());
        }
        let security = self.wishes.spec("hw:tpm_secret_security").unwrap_or("user");
        let ("user" | "host" | "deployment") = security else {
            return Err(SchedulerError::Request(format!(
                "extra spec hw:tpm_secret_security is \"{security}\": expected user, host or \
                 deployment"
            )));
        };
        let name = format!("COMPUTE_SECURITY_TPM_SECRET_SECURITY_{}", security.to_uppercase());
        self.require_root(&name);
        Ok(())
    }

    /// Hosts of compute services, once all of them are new enough to say so.
    fn owner(&mut self) {
        if self.site.min_compute_version().is_some_and(|version| version >= MARKS_PROVIDERS) {
            self.require_root(OWNER);
            self.pci.iter().for_each(|suffix| self.groups.require(suffix, OWNER));
        }
    }

    fn aggregates(&self, passes: impl Fn(&BTreeMap<String, String>) -> bool) -> Vec<Uuid> {
        let rows = self.site.host_aggregates();
        rows.filter(|(_, metadata)| passes(metadata)).map(|(uuid, _)| uuid).collect()
    }

    /// A trait that nobody has defined is passed over: nothing can have it,
    /// and the peer does so too.
    fn require_root(&mut self, name: &str) {
        if self.site.has_trait(name) {
            self.root.required.push(name.to_owned());
        } else {
            self.warnings.push(format!("trait {name} does not exist; not asked for"));
        }
    }

    fn forbid_root(&mut self, name: &str) {
        if self.site.has_trait(name) {
            self.root.forbidden.push(name.to_owned());
        }
    }
}
