//! A column in blocks of 256 hosts, copied on write.
//!
//! Cloning shares every block; a write copies the one block it touches if
//! somebody else still holds it. So a clone that is written to is an overlay.

use std::sync::Arc;

use super::HostIx;

/// Hosts in a block.
pub const BLOCK: usize = 256;

/// A column of `T`, one value a host. Beyond its end every value is the default.
#[derive(Clone, Debug)]
pub struct Blocks<T>(Arc<Vec<Arc<[T; BLOCK]>>>);

/// A column of whole numbers.
pub type Column = Blocks<i64>;

impl<T> Default for Blocks<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> Blocks<T> {
    /// The value of one host; `None` beyond the end.
    #[must_use]
    pub fn get(&self, host: HostIx) -> Option<&T> {
        let at = host.index();
        self.0.get(at / BLOCK).map(|block| &block[at % BLOCK])
    }

    /// Block number `n`: the hosts from `n` x 256 on.
    #[must_use]
    pub fn block(&self, n: usize) -> Option<&[T; BLOCK]> {
        self.0.get(n).map(Arc::as_ref)
    }

    /// Blocks there are.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.0.len()
    }
}

impl<T: Copy + Default> Blocks<T> {
    /// The value of one host.
    #[must_use]
    pub fn value(&self, host: HostIx) -> T {
        self.get(host).copied().unwrap_or_default()
    }
}

impl<T: Copy + Default> Blocks<T> {
    /// Reads hosts one after the other. Those of one block follow each other
    /// mostly, so it is looked up once for all of them.
    #[must_use]
    pub fn cursor(&self) -> Cursor<'_, T> {
        Cursor { column: self, at: usize::MAX, block: None, blank: T::default() }
    }

    /// The values of `hosts`, in their order.
    pub fn gather<U>(&self, hosts: &[HostIx], out: &mut [U], map: impl Fn(T) -> U) {
        let mut cursor = self.cursor();
        for (host, slot) in hosts.iter().zip(out) {
            *slot = map(cursor.value(*host));
        }
    }
}

/// Reads a column host by host.
#[derive(Clone, Debug)]
pub struct Cursor<'a, T> {
    column: &'a Blocks<T>,
    at: usize,
    block: Option<&'a [T; BLOCK]>,
    blank: T,
}

impl<T: Copy> Cursor<'_, T> {
    /// The value of one host.
    #[inline]
    pub fn value(&mut self, host: HostIx) -> T {
        let (at, place) = (host.index() / BLOCK, host.index() % BLOCK);
        if at != self.at {
            self.at = at;
            self.block = self.column.block(at);
        }
        self.block.map_or(self.blank, |block| block[place])
    }
}

impl<T: Clone + Default> Blocks<T> {
    /// Sets the value of one host and returns the old one. The column grows
    /// as needed.
    pub fn set(&mut self, host: HostIx, value: T) -> T {
        let at = host.index();
        let blocks = Arc::make_mut(&mut self.0);
        if blocks.len() <= at / BLOCK {
            let default = T::default();
            let empty = Arc::new(std::array::from_fn(|_| default.clone()));
            blocks.resize(at / BLOCK + 1, empty);
        }
        let block = Arc::make_mut(&mut blocks[at / BLOCK]);
        std::mem::replace(&mut block[at % BLOCK], value)
    }
}

/// Hosts in a word of a [`crate::HostSet`].
const WORD: usize = crate::set::WORD;

static ZEROS: [i64; WORD] = [0; WORD];

impl Column {
    /// The values of the 64 hosts of word `n` of a [`crate::HostSet`].
    #[must_use]
    pub fn word(&self, n: usize) -> &[i64] {
        const WORDS: usize = BLOCK / WORD;
        match self.block(n / WORDS) {
            Some(block) => &block[n % WORDS * WORD..][..WORD],
            None => &ZEROS,
        }
    }
}
