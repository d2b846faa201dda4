//! Why a host was left out, with the numbers that decided.

mod text;

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::Serialize;
use stowplan_model::Uuid;

use crate::numa::Misfit;
use crate::overrides::Source;
use crate::pci::Shortage;
use crate::table::Figure;

/// Why a host was left out. Serialises with its numbers and reads as a
/// sentence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reason {
    /// Named in the request's hosts to ignore.
    Ignored,
    /// Not among the hosts or nodes the request is bound to.
    NotForced,
    /// Not the destination the request names.
    NotTheDestination,
    /// Not among the `nodeNames` of the request's scheduling hint.
    NotInHint,
    /// The servers before left nothing for this one.
    NothingLeft,
    /// Not the host that the plan for the whole job gives.
    NotPlanned,
    /// It has less of a resource than is asked for.
    AmountShort {
        /// The resource.
        resource: String,
        /// What is asked for, in the resource's base unit.
        wanted: i64,
        /// What is free, in the same unit.
        free: i64,
    },
    /// The service takes no new servers.
    ServiceDisabled {
        /// What its operator gave as reason.
        reason: Option<String>,
    },
    /// An operator declared the service down.
    ServiceForcedDown,
    /// The service was not heard of in time.
    ServiceSilent {
        /// Microseconds since it was heard of, negative when the time lies
        /// ahead; null when it never was.
        age_us: Option<i64>,
        /// Microseconds it may be silent.
        limit_us: i64,
    },
    /// The host does not say what guests it runs.
    GuestsUnknown,
    /// No guest that the host runs is what the image needs.
    GuestUnsupported {
        /// Architecture, hypervisor type and VM mode of the image.
        wanted: Vec<String>,
    },
    /// The hypervisor's version does not meet the image's conditions.
    HypervisorVersion {
        /// Conditions.
        wanted: String,
        /// The version: major x 1,000,000 + minor x 1,000 + patch.
        has: i64,
    },
    /// The host has no such capability.
    CapabilityMissing {
        /// The extra spec's key.
        spec: String,
    },
    /// The host's capability is not what the flavor needs.
    CapabilityDiffers {
        /// The extra spec's key.
        spec: String,
        /// Its value.
        wanted: String,
        /// What the host has.
        has: String,
    },
    /// Enough servers of the group are here already.
    GroupMembersHere {
        /// Members on the host.
        members: usize,
        /// The host takes fewer than this.
        limit: i64,
    },
    /// The group's servers are elsewhere.
    GroupElsewhere {
        /// Hosts of the group, the first few.
        hosts: Vec<String>,
    },
    /// Metadata of the host's aggregates wants another value of an image
    /// property.
    ImagePropertyDiffers {
        /// The property.
        property: String,
        /// The image's value.
        image: String,
        /// Values that the aggregates allow.
        allowed: Vec<String>,
    },
    /// The host's aggregates have no metadata for an extra spec.
    MetadataMissing {
        /// The extra spec's key.
        spec: String,
    },
    /// No metadata of the host's aggregates meets an extra spec.
    MetadataDiffers {
        /// The extra spec's key.
        spec: String,
        /// Its value.
        wanted: String,
        /// What the aggregates have.
        has: Vec<String>,
    },
    /// The host's aggregates admit other projects.
    ProjectNotAdmitted {
        /// The request's project.
        project: Option<String>,
        /// Projects they admit, the first few.
        admitted: Vec<String>,
    },
    /// The host's aggregates admit other flavors.
    FlavorNotAdmitted {
        /// The request's flavor.
        flavor: String,
        /// Flavors they admit.
        admitted: Vec<String>,
    },
    /// A figure of the host has reached its limit.
    LimitReached {
        /// The figure.
        figure: Figure,
        /// What it is.
        has: i64,
        /// It must be below this.
        limit: i64,
        /// Where the limit comes from.
        source: Source,
    },
    /// The host is kept for isolated images.
    Isolated,
    /// The image is isolated and the host is not.
    NotIsolated {
        /// Id of the image.
        image: String,
    },
    /// Servers that a hint keeps away from are here.
    ServersHere {
        /// The hint.
        hint: &'static str,
        /// The servers.
        servers: Vec<Uuid>,
    },
    /// None of the servers that a hint wants is here.
    NoneOfServersHere {
        /// The hint.
        hint: &'static str,
        /// Servers it names.
        wanted: usize,
    },
    /// The host's address is not in the request's network.
    AddressOutside {
        /// The address.
        address: IpAddr,
        /// The network.
        network: String,
    },
    /// The request's query does not hold.
    QueryFails {
        /// The query.
        query: String,
        /// What the host has for each attribute that it names.
        has: BTreeMap<String, String>,
    },
    /// The host does not report metrics that are weighed.
    MetricsMissing {
        /// Their names.
        missing: Vec<String>,
    },
    /// The host has no PCI devices that could be given to servers.
    NoPciDevices,
    /// The host's PCI devices do not meet a request.
    PciDevicesShort(Shortage),
    /// None of the host's allocation candidates is left.
    NoCandidateLeft,
    /// The host's cores have no second threads.
    NoThreads,
    /// The host's NUMA topology is not known.
    NumaUnknown,
    /// The server's NUMA cells do not fit.
    NumaMisfit(Misfit),
}
