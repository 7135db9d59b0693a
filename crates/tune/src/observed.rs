//! What was probed so far.

use crate::space::Place;
use crate::{Measured, Probe};

/// A probe that was made.
#[derive(Clone, Debug)]
pub(crate) struct Observed {
    pub place: Place,
    pub probe: Probe,
    pub measured: Measured,
}
