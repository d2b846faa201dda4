//! What a translation looks up of the cloud.

use std::collections::BTreeMap;

use stowplan_ledger::Image;
use stowplan_model::Uuid;

/// The cloud, as far as a translation asks.
pub(crate) trait Site {
    /// Host aggregates by id: their uuids and metadata.
    fn host_aggregates(&self) -> Box<dyn Iterator<Item = (Uuid, &BTreeMap<String, String>)> + '_>;
    /// Whether a trait of that name exists.
    fn has_trait(&self, name: &str) -> bool;
    /// The Placement aggregates of a provider; none when there is no such provider.
    fn provider_aggregates(&self, provider: Uuid) -> Vec<Uuid>;
    /// The lowest version that a compute service has reported; none when there
    /// is no such service.
    fn min_compute_version(&self) -> Option<i64>;
}

impl Site for Image {
    fn host_aggregates(&self) -> Box<dyn Iterator<Item = (Uuid, &BTreeMap<String, String>)> + '_> {
        Box::new(self.host_aggregates.iter().map(|row| (row.uuid, &row.metadata)))
    }

    fn has_trait(&self, name: &str) -> bool {
        self.traits.ix(name).is_some()
    }

    fn provider_aggregates(&self, provider: Uuid) -> Vec<Uuid> {
        let provider = self.providers.find(provider).and_then(|at| self.providers.get(at));
        let numbers = provider.map(|provider| provider.aggregates.clone()).unwrap_or_default();
        numbers.iter().map(|&number| self.aggregates.uuid(number)).collect()
    }

    fn min_compute_version(&self) -> Option<i64> {
        self.lowest_service_version()
    }
}
