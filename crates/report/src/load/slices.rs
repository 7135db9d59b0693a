//! A series cut into slices of time whose length need not be known beforehand: they begin short and
//! are joined two by two whenever they grow too many.

use super::types::Slice;
use std::collections::VecDeque;

/// So many times more slices are held than are wanted, so that the last step need not halve them.
const SPARE: usize = 4;

/// Takes samples in any order of time.
pub(crate) struct Slices {
    most: usize,
    /// The length of a slice is two to this power of nanoseconds.
    shift: u32,
    /// The first of `cells` is slice number so many from the start of the point.
    base: u64,
    cells: VecDeque<Slice>,
}

impl Slices {
    /// At most so many slices in the end.
    pub(crate) fn new(most: usize) -> Slices {
        Slices {
            most: most.max(1),
            shift: 0,
            base: 0,
            cells: VecDeque::new(),
        }
    }

    pub(crate) fn push(&mut self, at_ns: u64, value_ns: u64) {
        if self.cells.is_empty() {
            self.base = at_ns >> self.shift;
        }
        self.make_room(at_ns);
        let number = at_ns >> self.shift;
        while number < self.base {
            self.cells.push_front(Slice::EMPTY);
            self.base -= 1;
        }
        let place = (number - self.base) as usize;
        if place >= self.cells.len() {
            self.cells.resize(place + 1, Slice::EMPTY);
        }
        self.cells[place].join(&Slice {
            at_ns,
            last_ns: at_ns,
            n: 1,
            min_ns: value_ns,
            mean_ns: value_ns as f64,
            max_ns: value_ns,
        });
    }

    /// Doubles the length of a slice until all times up to this one have their place.
    fn make_room(&mut self, at_ns: u64) {
        loop {
            let number = at_ns >> self.shift;
            let last = self.base + (self.cells.len() as u64).saturating_sub(1);
            if number.max(last) - number.min(self.base) < (SPARE * self.most) as u64 {
                return;
            }
            // A single slice of all time always has room, so the shift stays below 64.
            self.cells = joined(&self.cells, self.base, 2);
            self.base /= 2;
            self.shift += 1;
        }
    }

    /// The length of a slice in nanoseconds and the slices that are not empty, ascending.
    pub(crate) fn finish(self) -> (u64, Vec<Slice>) {
        let span = |times: u64| {
            let last = self.base + (self.cells.len() as u64).saturating_sub(1);
            (last / times - self.base / times + 1) as usize
        };
        let times = (1..).find(|&times| span(times) <= self.most);
        let times = times.expect("slices can be joined until one is left");
        let mut slices = joined(&self.cells, self.base, times);
        slices.retain(|slice| slice.n > 0);
        (times << self.shift.min(63), slices.into())
    }
}

/// The cells, so many of them made one; the first is number `base`.
fn joined(cells: &VecDeque<Slice>, base: u64, times: u64) -> VecDeque<Slice> {
    let mut all: VecDeque<Slice> = VecDeque::new();
    for (after, cell) in cells.iter().enumerate() {
        let place = ((base + after as u64) / times - base / times) as usize;
        if place == all.len() {
            all.push_back(Slice::EMPTY);
        }
        all[place].join(cell);
    }
    all
}
