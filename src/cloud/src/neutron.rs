//! Neutron: what is special of networks and ports.

use crate::{
    AccountFault, Clock, CloudError, Session, catalog::Wanted, connect::Line, session::TOKEN,
};
use reqwest::Client;
use serde::{Deserialize, de::DeserializeOwned};

/// Asks Neutron, as Nova's scheduler does.
pub struct Neutron {
    line: Line,
    way: Way,
}

/// Who we are to Neutron.
enum Way {
    /// Nobody: it takes anyone at this address.
    Open(String),
    /// An account, and where Neutron is.
    Account(Box<Session>, Place),
}

enum Place {
    Told(String),
    Listed(Wanted),
}

/// What of a port matters to where its server may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its network.
    pub network: String,
    /// The subnet of its first address; none before it has one.
    pub subnet: Option<String>,
    /// Its `binding:vnic_type`.
    pub vnic_type: Option<String>,
}

#[derive(Deserialize)]
struct Subnets {
    subnets: Vec<Subnet>,
}

#[derive(Deserialize)]
struct OneSubnet {
    subnet: Subnet,
}

#[derive(Deserialize)]
struct Subnet {
    #[serde(default)]
    segment_id: Option<String>,
}

#[derive(Deserialize)]
struct OnePort {
    port: WrittenPort,
}

#[derive(Deserialize)]
struct WrittenPort {
    network_id: String,
    #[serde(default)]
    fixed_ips: Vec<Address>,
    #[serde(rename = "binding:vnic_type", default)]
    vnic_type: Option<String>,
}

#[derive(Deserialize)]
struct Address {
    subnet_id: String,
}

impl Neutron {
    /// A client as `[neutron]` says; none where the section names neither Keystone
    /// nor Neutron.
    ///
    /// # Errors
    /// The option that cannot be used.
    pub fn new(
        options: &stowplan_config::Neutron,
        clock: Clock,
    ) -> Result<Option<Self>, AccountFault> {
        let login = options.login();
        let told =
            options.endpoint_override.as_deref().map(str::trim).filter(|url| !url.is_empty());
        let told = told.map(|url| url.trim_end_matches('/').to_owned());
        let (seconds, retries) = (options.timeout, options.connect_retries);
        let way = if login.auth_url.trim().is_empty() {
            let Some(url) = told else { return Ok(None) };
            Way::Open(url)
        } else {
            let session = Session::new(&login, seconds, retries, clock)?;
            let place = told.map_or_else(|| Place::Listed(wanted(options)), Place::Told);
            Way::Account(Box::new(session), place)
        };
        let line = Line::new("Neutron", &login, seconds, retries)?;
        Ok(Some(Self { line, way }))
    }

    /// The segments of a network's subnets; none where it is not routed.
    ///
    /// # Errors
    /// When Neutron gives no such answer.
    pub async fn segments_of_network(&self, network: &str) -> Result<Vec<String>, CloudError> {
        let query = [("network_id", network), ("fields", "segment_id")];
        let answer: Subnets = self.get("subnets", &query).await?;
        let mut segments: Vec<String> =
            answer.subnets.into_iter().filter_map(|subnet| subnet.segment_id).collect();
        segments.sort_unstable();
        segments.dedup();
        Ok(segments)
    }

    /// The segment of a subnet.
    ///
    /// # Errors
    /// When Neutron gives no such answer.
    pub async fn segment_of_subnet(&self, subnet: &str) -> Result<Option<String>, CloudError> {
        let answer: OneSubnet = self.get(&format!("subnets/{subnet}"), &[]).await?;
        Ok(answer.subnet.segment_id)
    }

    /// A port.
    ///
    /// # Errors
    /// When Neutron gives no such answer.
    pub async fn port(&self, port: &str) -> Result<Port, CloudError> {
        let OnePort { port } = self.get(&format!("ports/{port}"), &[]).await?;
        Ok(Port {
            network: port.network_id,
            subnet: port.fixed_ips.into_iter().next().map(|address| address.subnet_id),
            vnic_type: port.vnic_type,
        })
    }

    async fn get<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<T, CloudError> {
        let address = |base: &str| {
            let version = if base.ends_with("/v2.0") { "" } else { "/v2.0" };
            format!("{base}{version}/{path}")
        };
        let (url, response) = match &self.way {
            Way::Open(base) => {
                let url = address(base);
                let response = self.line.send(&url, |client| client.get(&url).query(query)).await?;
                (url, response)
            }
            Way::Account(session, place) => {
                let url = match place {
                    Place::Told(base) => address(base),
                    Place::Listed(wanted) => address(&session.endpoint(wanted).await?),
                };
                let call = |client: &Client, token: &str| {
                    client.get(&url).query(query).header(TOKEN, token)
                };
                let response = session.call(&self.line, &url, call).await?;
                (url, response)
            }
        };
        self.line.read(&url, response).await
    }
}

fn wanted(options: &stowplan_config::Neutron) -> Wanted {
    Wanted {
        kind: options.service_type.clone(),
        interfaces: options.valid_interfaces.clone(),
        region: options.region_name.clone(),
    }
}
