//! A binary heap whose order is asked for at each step.
//!
//! Orders of queues and jobs move while a cycle runs; like the peer's, this
//! heap compares as things stand when something enters or leaves.

use std::cmp::Ordering;

/// Things to be served, the first first.
#[derive(Clone, Debug, Default)]
pub struct Heap<T> {
    items: Vec<T>,
}

impl<T: Copy> Heap<T> {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self { items: Vec::new() }
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Adds one.
    pub fn push(&mut self, item: T, mut order: impl FnMut(T, T) -> Ordering) {
        self.items.push(item);
        let mut at = self.items.len() - 1;
        while at > 0 {
            let above = (at - 1) / 2;
            if order(self.items[at], self.items[above]).is_ge() {
                break;
            }
            self.items.swap(at, above);
            at = above;
        }
    }

    /// Takes the first.
    pub fn pop(&mut self, mut order: impl FnMut(T, T) -> Ordering) -> Option<T> {
        let last = self.items.len().checked_sub(1)?;
        self.items.swap(0, last);
        let first = self.items.pop();
        let mut at = 0;
        loop {
            let mut least = at;
            for below in [2 * at + 1, 2 * at + 2] {
                if below < last && order(self.items[below], self.items[least]).is_lt() {
                    least = below;
                }
            }
            if least == at {
                return first;
            }
            self.items.swap(at, least);
            at = least;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_goes_in_comes_out_in_order(items in proptest::collection::vec(0u8..50, 0..40)) {
            let mut heap = Heap::new();
            for item in &items {
                heap.push(*item, |a, b| a.cmp(&b));
            }
            let mut out = Vec::new();
            while let Some(item) = heap.pop(|a, b| a.cmp(&b)) {
                out.push(item);
            }
            let mut sorted = items;
            sorted.sort_unstable();
            prop_assert_eq!(out, sorted);
        }
    }
}
