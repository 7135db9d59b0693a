//! The longest samples, one by one.

use super::types::Spot;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Keeps the longest of all that it is given; of equally long ones the earlier.
pub(crate) struct Longest {
    most: usize,
    /// Value and start, so ordered that the first to go is on top.
    heap: BinaryHeap<Reverse<(u64, Reverse<u64>)>>,
    /// Nothing shorter is let in any more.
    least: u64,
}

impl Longest {
    /// Room for so many.
    pub(crate) fn new(most: usize) -> Longest {
        Longest {
            most: most.max(1),
            heap: BinaryHeap::new(),
            least: 0,
        }
    }

    pub(crate) fn push(&mut self, at_ns: u64, value_ns: u64) {
        if value_ns < self.least {
            return;
        }
        self.heap.push(Reverse((value_ns, Reverse(at_ns))));
        if self.heap.len() > self.most {
            self.heap.pop();
            self.least = self.heap.peek().map_or(0, |Reverse((value, _))| *value);
        }
    }

    /// Those longer than a limit, ascending in time.
    pub(crate) fn above(self, limit_ns: u64) -> Vec<Spot> {
        let all = self.heap.into_iter();
        let mut spots: Vec<Spot> = all
            .map(|Reverse((value_ns, Reverse(at_ns)))| Spot { at_ns, value_ns })
            .filter(|spot| spot.value_ns > limit_ns)
            .collect();
        spots.sort_unstable_by_key(|spot| (spot.at_ns, spot.value_ns));
        spots
    }
}
