//! Keystone's catalogue: where services are.

use crate::CloudError;
use serde::Deserialize;

/// A service of the catalogue.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Service {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    endpoints: Vec<Endpoint>,
}

#[derive(Clone, Debug, Deserialize)]
struct Endpoint {
    interface: String,
    url: String,
    #[serde(default)]
    region: Option<String>,
    #[serde(default)]
    region_id: Option<String>,
}

/// What endpoint is wanted.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// The type of the service.
    pub kind: String,
    /// Interfaces, the best one first.
    pub interfaces: Vec<String>,
    /// The region; none: any.
    pub region: Option<String>,
}

impl Wanted {
    /// The address of the first endpoint that is right, without a slash at its end.
    ///
    /// # Errors
    /// [`CloudError::Unlisted`] when there is none.
    pub fn in_catalog(&self, catalog: &[Service]) -> Result<String, CloudError> {
        let endpoints = || {
            catalog.iter().filter(|service| service.kind == self.kind).flat_map(|service| {
                service.endpoints.iter().filter(|endpoint| {
                    self.region.is_none()
                        || endpoint.region_id == self.region
                        || endpoint.region == self.region
                })
            })
        };
        self.interfaces
            .iter()
            .find_map(|interface| endpoints().find(|endpoint| endpoint.interface == *interface))
            .map(|endpoint| endpoint.url.trim_end_matches('/').to_owned())
            .ok_or_else(|| CloudError::Unlisted {
                kind: self.kind.clone(),
                interfaces: self.interfaces.join(", "),
                region: self.region.clone().unwrap_or_else(|| "any".to_owned()),
            })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_interface_that_is_there_in_the_region() {
        let catalog: Vec<Service> = serde_json::from_value(json!([
            { "type": "identity", "endpoints": [] },
            { "type": "network", "name": "neutron", "endpoints": [
                { "interface": "public", "url": "http://one:9696/", "region_id": "one" },
                { "interface": "internal", "url": "http://two:9696", "region": "two" },
                { "interface": "public", "url": "http://two.public", "region_id": "two" },
            ] },
        ]))
        .unwrap();
        let find = |interfaces: &[&str], region: Option<&str>| {
            Wanted {
                kind: "network".into(),
                interfaces: interfaces.iter().map(|one| (*one).to_owned()).collect(),
                region: region.map(Into::into),
            }
            .in_catalog(&catalog)
        };
        assert_eq!(find(&["internal", "public"], None).unwrap(), "http://two:9696");
        assert_eq!(find(&["internal", "public"], Some("one")).unwrap(), "http://one:9696");
        let missing = find(&["admin"], Some("two")).unwrap_err().to_string();
        assert!(missing.contains("type network (interfaces admin, region two)"), "{missing}");
    }
}
