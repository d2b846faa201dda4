//! Networks and ports of a request: what Neutron knows of them that bears on where
//! servers may run.

use std::future::Future;
use std::pin::Pin;

use serde::{Deserialize, Serialize};
use stowplan_model::Uuid;

use crate::error::SchedulerError;

/// A network or a port that each server of a request attaches to. What is left null
/// of it Neutron is asked for, where there is one (`[neutron]`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RequestedNetwork {
    /// The network.
    pub network_id: Option<Uuid>,
    /// The port, where there is one already.
    pub port_id: Option<Uuid>,
    /// Segments of which the server must reach one; none of them: any will do.
    /// Heeded with `[scheduler] query_placement_for_routed_network_aggregates`.
    pub segments: Option<Vec<Uuid>>,
    /// Whether the port's interface is managed remotely (its vnic type is
    /// `remote-managed`), which not every host can do.
    pub remote_managed: Option<bool>,
}

/// What is known of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortFacts {
    /// Its network.
    pub network: Uuid,
    /// The subnet of its first address; none before it has one.
    pub subnet: Option<Uuid>,
    /// Whether its interface is managed remotely.
    pub is_remote_managed: bool,
}

/// Why nothing is known of a network or a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetworkFault {
    /// There is no such thing.
    Unknown(String),
    /// Who knows does not answer.
    Away(String),
}

impl From<NetworkFault> for SchedulerError {
    fn from(fault: NetworkFault) -> Self {
        match fault {
            NetworkFault::Unknown(what) => Self::Request(what),
            NetworkFault::Away(why) => Self::NeutronAway(why),
        }
    }
}

/// An answer that is on its way.
pub type Reply<'a, T> = Pin<Box<dyn Future<Output = Result<T, NetworkFault>> + Send + 'a>>;

/// Who knows of networks and ports: Neutron.
pub trait Networks: Send + Sync {
    /// The segments of a network's subnets; none where it is not routed.
    fn segments_of_network(&self, network: Uuid) -> Reply<'_, Vec<Uuid>>;
    /// The segment of a subnet; none where its network is not routed.
    fn segment_of_subnet(&self, subnet: Uuid) -> Reply<'_, Option<Uuid>>;
    /// A port.
    fn port(&self, port: Uuid) -> Reply<'_, PortFacts>;
}

/// Asks for what a request leaves open. Segments count, and are asked for, where
/// `routed` says so.
///
/// # Errors
/// A network or port that does not exist, or nobody who answers.
pub(crate) async fn learn(
    requested: &mut [RequestedNetwork],
    routed: bool,
    known: &dyn Networks,
) -> Result<(), SchedulerError> {
    for one in requested {
        let wants_segments = routed && one.segments.is_none();
        let mut port = None;
        if let Some(id) = one.port_id {
            let wants_port = wants_segments && one.network_id.is_none();
            if wants_port || one.remote_managed.is_none() {
                let facts = known.port(id).await?;
                one.remote_managed.get_or_insert(facts.is_remote_managed);
                port = Some(facts);
            }
        }
        if wants_segments {
            one.segments = Some(segments(one.network_id, port, known).await?);
        }
    }
    Ok(())
}

/// The peer's rule: a named network's segments; else the segment in which the port
/// has its address already, or those of the port's network.
async fn segments(
    network: Option<Uuid>,
    port: Option<PortFacts>,
    known: &dyn Networks,
) -> Result<Vec<Uuid>, NetworkFault> {
    match (network, port) {
        (Some(network), _) => known.segments_of_network(network).await,
        (None, Some(PortFacts { subnet: Some(subnet), .. })) => {
            Ok(known.segment_of_subnet(subnet).await?.into_iter().collect())
        }
        (None, Some(port)) => known.segments_of_network(port.network).await,
        (None, None) => Ok(Vec::new()),
    }
}
