//! Rooms and needs: what is left of hosts, what requests take there.

use smallvec::SmallVec;

/// Amounts that a host's devices share: cpu and memory, in any units that are
/// the same everywhere.
pub const SIDES: usize = 2;

/// What one request takes of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Need {
    /// How many devices; none for a request that takes side amounts only.
    pub devices: u16,
    /// How much of each, in units of the kind of host.
    pub share: i64,
    /// The amounts beside them.
    pub sides: [i64; SIDES],
}

/// Hosts that are alike to requests: the same ones may go there, and take the
/// same.
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    /// What an untouched device has, in whatever units shares are given.
    pub size: i64,
    /// What a whole device in use is worth.
    pub worth: f64,
    /// Which kinds are filled by the same requests, by any number: further
    /// arrivals are expected until the room of a market is full.
    pub market: usize,
    /// How many devices all its hosts have.
    pub devices: i64,
    /// How much of the side amounts they have.
    pub sides: [i64; SIDES],
}

/// What is left of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Room {
    /// Its kind, by number.
    pub kind: usize,
    /// What is left of each device.
    pub free: SmallVec<[i64; 8]>,
    /// What is left beside them.
    pub sides: [i64; SIDES],
}

impl Room {
    /// The room once a request has taken what it needs, each part from the
    /// device with the least left that suffices, the first of equals; none where
    /// it does not fit.
    #[must_use]
    pub fn after(&self, need: &Need) -> Option<Self> {
        let mut room = self.clone();
        for (side, amount) in room.sides.iter_mut().zip(&need.sides) {
            if *side < *amount {
                return None;
            }
            *side -= amount;
        }
        let mut taken: SmallVec<[usize; 8]> = SmallVec::new();
        for _ in 0..need.devices {
            let fits = |(at, free): &(usize, &i64)| **free >= need.share && !taken.contains(at);
            let (at, _) =
                self.free.iter().enumerate().filter(fits).min_by_key(|(_, free)| **free)?;
            room.free[at] -= need.share;
            taken.push(at);
        }
        Some(room)
    }
}

/// How often requests of a shape arrive, and what they take.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// How often, beside the others.
    pub weight: u64,
    /// What it takes of hosts, by number of their kind; none where it may not
    /// go.
    pub needs: Vec<Option<Need>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(free: &[i64], sides: [i64; SIDES]) -> Room {
        Room { kind: 0, free: free.iter().copied().collect(), sides }
    }

    #[test]
    fn a_share_comes_from_the_fullest_device_and_devices_are_distinct() {
        let host = room(&[1000, 300, 300, 500], [8, 8]);
        for (devices, share, left) in [
            (1, 300, Some([1000, 0, 300, 500])),
            (1, 400, Some([1000, 300, 300, 100])),
            (2, 300, Some([1000, 0, 0, 500])),
            (2, 500, Some([500, 300, 300, 0])),
            (2, 600, None),
            (0, 600, Some([1000, 300, 300, 500])),
        ] {
            let need = Need { devices, share, sides: [1, 2] };
            let after = host.after(&need);
            assert_eq!(after, left.map(|left| room(&left, [7, 6])), "{need:?}");
        }
        assert_eq!(host.after(&Need { devices: 0, share: 0, sides: [9, 0] }), None);
    }
}
