//! What is worked out of an image once, for it and for those after it, until
//! something comes or goes that changes it.

use super::{Image, providers::At};
use crate::rows::COMPUTE_BINARY;
use std::sync::{Arc, OnceLock};
use stowplan_engine::{HostIx, HostView};

/// A host whose root provider is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootHost {
    /// The host.
    pub host: HostIx,
    /// Id of the root provider.
    pub id: i64,
}

/// Answers, found when they are first asked for. They follow from the image, so
/// clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Memo {
    /// By the place of the provider.
    hosts: Arc<OnceLock<Vec<Option<RootHost>>>>,
    lowest_version: Arc<OnceLock<Option<i64>>>,
}

impl Memo {
    /// A host or a provider came or went.
    pub fn forget_hosts(&mut self) {
        self.hosts = Arc::default();
    }

    /// A service came, went or changed.
    pub fn forget_services(&mut self) {
        self.lowest_version = Arc::default();
    }
}

impl Image {
    /// The hosts by the places of their root providers. Beyond the end there
    /// are none.
    pub fn root_hosts(&self) -> &[Option<RootHost>] {
        self.memo.hosts.get_or_init(|| {
            let mut hosts = Vec::new();
            for at in self.providers.iter() {
                let Some(provider) = self.providers.get(at) else { continue };
                let Some(host) = self.hosts.table().host_of_node(provider.uuid) else { continue };
                let At(place) = at;
                let place = place as usize;
                if hosts.len() <= place {
                    hosts.resize(place + 1, None);
                }
                hosts[place] = Some(RootHost { host, id: provider.id });
            }
            hosts
        })
    }

    /// The lowest version among the compute services; none when there is none.
    pub fn lowest_service_version(&self) -> Option<i64> {
        let compute = || self.services.iter().filter(|row| row.binary == COMPUTE_BINARY);
        let lowest = || compute().map(|row| row.version).min();
        *self.memo.lowest_version.get_or_init(lowest)
    }
}
