//! The servers on a host.

use std::collections::BTreeMap;
use std::sync::Arc;

use stowplan_model::Uuid;

use super::PoolId;

/// Image properties of a server, as text by name.
pub type InstanceProps = BTreeMap<String, String>;

/// The servers of one host by uuid, with the pool number of their image
/// properties. Cheap to clone, copied when changed.
#[derive(Clone, Debug, Default)]
pub struct InstanceSet(Option<Arc<Vec<(Uuid, PoolId)>>>);

impl InstanceSet {
    /// No server.
    pub(super) const EMPTY: Self = Self(None);

    /// The servers by uuid.
    #[must_use]
    pub fn as_slice(&self) -> &[(Uuid, PoolId)] {
        self.0.as_ref().map_or(&[], |rows| rows.as_slice())
    }

    /// Whether the server is here.
    #[must_use]
    pub fn contains(&self, instance: Uuid) -> bool {
        self.find(instance).is_ok()
    }

    /// Servers here.
    #[must_use]
    pub fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// Whether no server is here.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.as_slice().is_empty()
    }

    /// Adds a server; the number of its properties before, if it was here.
    pub(super) fn insert(&mut self, instance: Uuid, props: PoolId) -> Option<PoolId> {
        let place = self.find(instance);
        let rows = Arc::make_mut(self.0.get_or_insert_default());
        match place {
            Ok(at) => Some(std::mem::replace(&mut rows[at].1, props)),
            Err(at) => {
                rows.insert(at, (instance, props));
                None
            }
        }
    }

    /// Takes a server away; the number of its properties, if it was here.
    pub(super) fn remove(&mut self, instance: Uuid) -> Option<PoolId> {
        let at = self.find(instance).ok()?;
        let rows = Arc::make_mut(self.0.as_mut()?);
        let (_, props) = rows.remove(at);
        if rows.is_empty() {
            self.0 = None;
        }
        Some(props)
    }

    fn find(&self, instance: Uuid) -> Result<usize, usize> {
        self.as_slice().binary_search_by_key(&instance, |(uuid, _)| *uuid)
    }
}
