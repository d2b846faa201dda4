//! Neutron as the scheduler asks it.

use stowplan_cloud::{CloudError, Neutron};
use stowplan_model::Uuid;
use stowplan_scheduler::select::{NetworkFault, Networks, PortFacts, Reply};

/// The `binding:vnic_type` of ports whose interface is managed remotely.
const REMOTE_MANAGED: &str = "remote-managed";

/// A Neutron that is asked.
pub struct Asked(pub Neutron);

fn fault(error: &CloudError) -> NetworkFault {
    let text = error.to_string();
    if error.is_not_found() { NetworkFault::Unknown(text) } else { NetworkFault::Away(text) }
}

fn uuid(text: &str) -> Result<Uuid, NetworkFault> {
    let strange = || NetworkFault::Away(format!("Neutron names {text:?} where a uuid is expected"));
    Uuid::parse_str(text).map_err(|_| strange())
}

impl Networks for Asked {
    fn segments_of_network(&self, network: Uuid) -> Reply<'_, Vec<Uuid>> {
        Box::pin(async move {
            let asked = self.0.segments_of_network(&network.to_string()).await;
            asked.map_err(|error| fault(&error))?.iter().map(|text| uuid(text)).collect()
        })
    }

    fn segment_of_subnet(&self, subnet: Uuid) -> Reply<'_, Option<Uuid>> {
        Box::pin(async move {
            let asked = self.0.segment_of_subnet(&subnet.to_string()).await;
            asked.map_err(|error| fault(&error))?.as_deref().map(uuid).transpose()
        })
    }

    fn port(&self, port: Uuid) -> Reply<'_, PortFacts> {
        Box::pin(async move {
            let asked = self.0.port(&port.to_string()).await;
            let port = asked.map_err(|error| fault(&error))?;
            Ok(PortFacts {
                network: uuid(&port.network)?,
                subnet: port.subnet.as_deref().map(uuid).transpose()?,
                is_remote_managed: port.vnic_type.as_deref() == Some(REMOTE_MANAGED),
            })
        })
    }
}
