//! The numbers of exchanges on the wire, from point to point.

/// No number of a point is this near to one of the next, so that a late reply of one is none of the other.
pub(crate) const DISTANCE: u64 = 1 << 16;

/// Numbers the exchanges of a run: those of a point follow those of the point before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Numbers {
    next: u64,
}

impl Numbers {
    /// The first exchange of the run has this number.
    pub fn starting_at(first: u64) -> Numbers {
        Numbers { next: first }
    }

    /// The number of exchange 0 of the point that comes next.
    pub fn base(self) -> u64 {
        self.next
    }

    /// A point has ended that started this many exchanges.
    pub fn end_point(&mut self, started: u64) {
        self.next += started + DISTANCE;
    }
}
