//! What was probed so far.

use crate::space::Place;
use crate::{Bound, Measured, Probe, Purpose};

/// A probe that was made.
#[derive(Clone, Debug)]
pub(crate) struct Observed {
    pub place: Place,
    pub probe: Probe,
    pub measured: Measured,
}

impl Observed {
    /// True if the measured value of a constraint (by its index) is within its limit, proven or not.
    pub fn meets(&self, index: usize, bound: Bound) -> bool {
        let found = self.measured.constraints.get(index).copied().flatten();
        found.is_some_and(|found| bound.keeps(found.value))
    }
}

/// What counts at a candidate: its confirmation, or else its longest probe.
pub(crate) fn longest(observed: &[Observed], place: Place) -> Option<&Observed> {
    let here = observed.iter().filter(|t| t.place == place);
    here.filter(|t| !t.measured.has_failed())
        .max_by_key(|t| (t.probe.purpose == Purpose::Confirm, t.measured.exchanges))
}
