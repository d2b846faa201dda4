//! A set of hosts, 64 to a word.

use crate::table::HostIx;

/// Hosts in a word.
pub const WORD: usize = 64;

/// A set of hosts by their dense numbers.
#[derive(Clone, Debug, Default)]
pub struct HostSet {
    words: Vec<u64>,
}

impl HostSet {
    /// No host, with room for `hosts` of them.
    #[must_use]
    pub fn with_room(hosts: usize) -> Self {
        Self { words: vec![0; hosts.div_ceil(WORD)] }
    }

    /// Whether the host is in it.
    #[must_use]
    pub fn contains(&self, host: HostIx) -> bool {
        let at = host.index();
        self.words.get(at / WORD).is_some_and(|word| word >> (at % WORD) & 1 == 1)
    }

    /// Puts a host in.
    pub fn insert(&mut self, host: HostIx) {
        let at = host.index();
        if self.words.len() <= at / WORD {
            self.words.resize(at / WORD + 1, 0);
        }
        self.words[at / WORD] |= 1 << (at % WORD);
    }

    /// Takes a host out.
    pub fn remove(&mut self, host: HostIx) {
        let at = host.index();
        if let Some(word) = self.words.get_mut(at / WORD) {
            *word &= !(1 << (at % WORD));
        }
    }

    /// Hosts in it.
    #[must_use]
    pub fn count(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Whether no host is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Its words: host `64 n + b` is bit `b` of word `n`.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Its words, to narrow them in place.
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// The hosts in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = HostIx> + '_ {
        self.words
            .iter()
            .enumerate()
            .flat_map(|(n, word)| Bits { base: (n * WORD) as u32, left: *word })
    }

    /// Keeps what is in `other` too.
    pub fn intersect(&mut self, other: &Self) {
        for (n, word) in self.words.iter_mut().enumerate() {
            *word &= other.words.get(n).copied().unwrap_or(0);
        }
    }

    /// Takes out what is in `other`.
    pub fn subtract(&mut self, other: &Self) {
        for (word, gone) in self.words.iter_mut().zip(&other.words) {
            *word &= !gone;
        }
    }

    /// Keeps the hosts of which `keep` is true. Asked of hosts in it only.
    pub fn retain(&mut self, mut keep: impl FnMut(HostIx) -> bool) {
        for (n, word) in self.words.iter_mut().enumerate() {
            let hosts = Bits { base: (n * WORD) as u32, left: *word };
            for host in hosts {
                if !keep(host) {
                    *word &= !(1 << (host.index() % WORD));
                }
            }
        }
    }
}

impl PartialEq for HostSet {
    /// Room for hosts that are not in it makes no difference.
    fn eq(&self, other: &Self) -> bool {
        let words = self.words.len().max(other.words.len());
        (0..words).all(|n| self.words.get(n).unwrap_or(&0) == other.words.get(n).unwrap_or(&0))
    }
}

impl Eq for HostSet {}

impl FromIterator<HostIx> for HostSet {
    fn from_iter<I: IntoIterator<Item = HostIx>>(hosts: I) -> Self {
        let mut set = Self::default();
        for host in hosts {
            set.insert(host);
        }
        set
    }
}

/// The bits of one word, lowest first.
struct Bits {
    base: u32,
    left: u64,
}

impl Iterator for Bits {
    type Item = HostIx;

    fn next(&mut self) -> Option<HostIx> {
        if self.left == 0 {
            return None;
        }
        let bit = self.left.trailing_zeros();
        self.left &= self.left - 1;
        Some(HostIx(self.base + bit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrowing() {
        let mut set: HostSet = [1, 63, 64, 200].map(HostIx).into_iter().collect();
        set.retain(|host| host.0 != 63);
        set.remove(HostIx(5000));
        let other: HostSet = [1, 64].map(HostIx).into_iter().collect();
        let mut rest = set.clone();
        rest.subtract(&other);
        assert_eq!(rest.iter().collect::<Vec<_>>(), [HostIx(200)]);
        set.intersect(&other);
        assert_eq!(set.count(), 2);
        assert!(set.contains(HostIx(64)) && !set.contains(HostIx(200)));
    }
}
