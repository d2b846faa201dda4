//! The answer of select_destinations: `Selection` objects, or dictionaries for
//! callers that ask for no objects.

use serde_json::{Value, json};
use stowplan_model::request::NetworkMetadata;
use stowplan_scheduler::select::{Destination, Selection};

use crate::wire::{object, python};

/// The version of Placement's API in whose form claims are told.
const ALLOCATION_VERSION: &str = "1.36";

/// A form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// Objects, with alternates; otherwise dictionaries.
    pub objects: bool,
    /// Nothing was asked of the ledger: a rebuild stays where it is.
    pub rebuild: bool,
}

/// What a claim on the NUMA cells of a host must heed.
#[derive(Clone, Debug, PartialEq)]
pub struct NumaLimits {
    /// How often CPUs may be promised.
    pub cpu: f64,
    /// How often memory may be promised.
    pub ram: f64,
    /// The networks of the request.
    pub networks: Option<NetworkMetadata>,
}

impl NumaLimits {
    fn fields(&self) -> Value {
        let mut fields =
            json!({"cpu_allocation_ratio": self.cpu, "ram_allocation_ratio": self.ram});
        if let Some(networks) = &self.networks {
            let networks = json!({"physnets": networks.physnets, "tunneled": networks.tunneled});
            fields["network_metadata"] = object::made("NetworkMetadata", "1.0", networks);
        }
        fields
    }
}

/// A destination in the words of the wire, whatever has chosen it.
#[derive(Clone, Debug, PartialEq)]
pub struct Place<'a> {
    /// Uuid of the compute node.
    pub compute_node_uuid: String,
    /// The host.
    pub host: &'a str,
    /// The node.
    pub node: &'a str,
    /// The cell.
    pub cell_uuid: Option<String>,
    /// Availability zone.
    pub zone: &'a str,
    /// The claim as JSON text.
    pub allocation_request: String,
    /// Its version; none without a claim.
    pub allocation_version: Option<&'static str>,
    /// Limits of a request for NUMA cells.
    pub numa: Option<NumaLimits>,
}

impl<'a> Place<'a> {
    fn of(destination: &'a Destination, form: Form, numa: Option<NumaLimits>) -> Self {
        let claim = match form.rebuild {
            true => "null".to_owned(),
            false => python::text(&destination.allocation_request),
        };
        Self {
            compute_node_uuid: destination.compute_node_uuid.to_string(),
            host: &destination.host,
            node: &destination.node,
            cell_uuid: destination.cell_uuid.map(|uuid| uuid.to_string()),
            zone: &destination.availability_zone,
            allocation_request: claim,
            allocation_version: (!form.rebuild).then_some(ALLOCATION_VERSION),
            numa,
        }
    }

    /// A `Selection` object.
    #[must_use]
    pub fn object(&self) -> Value {
        let numa = self
            .numa
            .as_ref()
            .map(|limits| object::made("NUMATopologyLimits", "1.1", limits.fields()));
        let limits = object::made(
            "SchedulerLimits",
            "1.0",
            json!({"numa_topology": numa, "vcpu": null, "disk_gb": null, "memory_mb": null}),
        );
        object::made(
            "Selection",
            "1.1",
            json!({
                "compute_node_uuid": self.compute_node_uuid,
                "service_host": self.host,
                "nodename": self.node,
                "cell_uuid": self.cell_uuid,
                "limits": limits,
                "allocation_request": self.allocation_request,
                "allocation_request_version": self.allocation_version,
                "availability_zone": self.zone,
            }),
        )
    }
}

/// The result of a call. `numa` tells the limits of a host by its compute node.
#[must_use]
pub fn result(
    selections: &[Selection],
    form: Form,
    numa: impl Fn(&Destination) -> Option<NumaLimits>,
) -> Value {
    if !form.objects {
        let rows = selections.iter().map(|selection| {
            let destination = &selection.destination;
            json!({"host": destination.host, "nodename": destination.node, "limits": {}})
        });
        return rows.collect();
    }
    let rows = selections.iter().map(|selection| {
        let all = std::iter::once(&selection.destination).chain(&selection.alternates);
        all.map(|it| Place::of(it, form, numa(it)).object()).collect::<Value>()
    });
    rows.collect()
}
