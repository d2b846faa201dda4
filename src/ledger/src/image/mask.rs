//! A set of the 256 places of a block, as four words.

/// Places of one block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mask(pub [u64; 4]);

impl Mask {
    /// No place.
    pub const NONE: Self = Self([0; 4]);
    /// Every place.
    pub const ALL: Self = Self([u64::MAX; 4]);

    /// Adds a place (0 to 255).
    pub fn set(&mut self, at: usize) {
        self.0[at >> 6] |= 1 << (at & 63);
    }

    /// Takes a place (0 to 255) out.
    pub fn clear(&mut self, at: usize) {
        self.0[at >> 6] &= !(1 << (at & 63));
    }

    /// Whether a place (0 to 255) is in the set.
    #[must_use]
    pub fn has(&self, at: usize) -> bool {
        self.0[at >> 6] >> (at & 63) & 1 == 1
    }

    /// Whether no place is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// How many places are in the set.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Places in both sets.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    /// Places in either set.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    /// Places of this set that are not in the other.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] & !other.0[i]))
    }

    /// The places, lowest first.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..4).flat_map(move |i| {
            let mut word = self.0[i];
            std::iter::from_fn(move || {
                (word != 0).then(|| {
                    let bit = word.trailing_zeros() as usize;
                    word &= word - 1;
                    i * 64 + bit
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_come_back_in_order() {
        let places = [0, 5, 63, 64, 127, 200, 255];
        let mut mask = Mask::NONE;
        for at in places {
            mask.set(at);
        }
        assert_eq!(mask.iter().collect::<Vec<_>>(), places);
        assert_eq!(mask.count(), 7);
        mask.clear(64);
        assert!(!mask.has(64) && mask.has(63));
        assert_eq!(mask.or(Mask::ALL).minus(mask).count(), 250);
        assert!(mask.and(Mask::NONE).is_empty());
    }
}
