//! Values shared by many hosts, each with a small number of its own.

use std::hash::Hash;
use std::sync::Arc;

use foldhash::fast::RandomState;
use imbl::GenericHashMap;
use imbl::shared_ptr::DefaultSharedPtr;

use super::{Blocks, HostIx};

/// The number of a value in its pool; 0 is the default value.
pub type PoolId = u32;

/// Distinct values with the count of their users. Numbers of values that
/// nobody uses any more are given again.
#[derive(Clone, Debug)]
pub struct Pool<T> {
    entries: Blocks<Entry<T>>,
    ids: GenericHashMap<Arc<T>, PoolId, RandomState, DefaultSharedPtr>,
    free: imbl::Vector<PoolId>,
    len: u32,
}

#[derive(Clone, Debug, Default)]
struct Entry<T> {
    value: Arc<T>,
    users: u32,
}

impl<T: Clone + Default + Eq + Hash> Default for Pool<T> {
    fn default() -> Self {
        let value: Arc<T> = Arc::default();
        let mut entries = Blocks::default();
        entries.set(HostIx(0), Entry { value: value.clone(), users: 1 });
        let mut ids = GenericHashMap::default();
        ids.insert(value, 0);
        Self { entries, ids, free: imbl::Vector::new(), len: 1 }
    }
}

impl<T: Clone + Default + Eq + Hash> Pool<T> {
    /// Numbers given so far: every id is below.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Never true: the default value is always there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value with that number; `None` if it was never given.
    #[must_use]
    pub fn get(&self, id: PoolId) -> Option<&Arc<T>> {
        self.entries.get(HostIx(id)).map(|entry| &entry.value)
    }

    /// All values in use, with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (PoolId, &T)> {
        (0..self.len).filter_map(|id| {
            let entry = self.entries.get(HostIx(id))?;
            (entry.users > 0).then_some((id, entry.value.as_ref()))
        })
    }

    /// One more user of `value`; its number.
    pub(super) fn acquire(&mut self, value: T) -> PoolId {
        if let Some(id) = self.ids.get(&value).copied() {
            self.count(id, 1);
            return id;
        }
        let value = Arc::new(value);
        let id = self.free.pop_back().unwrap_or_else(|| {
            self.len += 1;
            self.len - 1
        });
        self.entries.set(HostIx(id), Entry { value: value.clone(), users: 1 });
        self.ids.insert(value, id);
        id
    }

    /// One user less; the value goes with its last user.
    pub(super) fn release(&mut self, id: PoolId) {
        if id == 0 {
            return;
        }
        let Some(entry) = self.entries.get(HostIx(id)) else {
            return;
        };
        if entry.users > 1 {
            self.count(id, -1);
        } else {
            let gone = self.entries.set(HostIx(id), Entry::default());
            self.ids.remove(&gone.value);
            self.free.push_back(id);
        }
    }

    fn count(&mut self, id: PoolId, change: i32) {
        if id == 0 {
            return;
        }
        if let Some(entry) = self.entries.get(HostIx(id)) {
            let entry = Entry {
                value: entry.value.clone(),
                users: entry.users.saturating_add_signed(change),
            };
            self.entries.set(HostIx(id), entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_a_number_and_numbers_come_back() {
        let mut pool: Pool<String> = Pool::default();
        assert_eq!(pool.acquire(String::new()), 0);
        let a = pool.acquire("a".to_owned());
        assert_eq!(pool.acquire("a".to_owned()), a);
        pool.release(a);
        assert_eq!(pool.get(a).map(|v| v.as_str()), Some("a"));
        pool.release(a);
        assert_eq!(pool.iter().count(), 1);
        assert_eq!(pool.acquire("b".to_owned()), a);
        assert_eq!(pool.len(), 2);
    }
}
