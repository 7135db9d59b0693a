//! Whether two settings differ in a figure.

use wiregauge_stats::Estimate;

/// What the intervals of two settings say of their difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    /// They have no value in common.
    Significant,
    /// They have values in common.
    NotSignificant,
    /// One of them has none.
    Unknown,
}

impl Difference {
    /// Of two figures.
    pub(crate) fn of(a: &Estimate, b: &Estimate) -> Difference {
        let bounds = [a.low, a.high, b.low, b.high];
        let [Some(a_low), Some(a_high), Some(b_low), Some(b_high)] = bounds else {
            return Difference::Unknown;
        };
        match a_high < b_low || b_high < a_low {
            true => Difference::Significant,
            false => Difference::NotSignificant,
        }
    }
}
