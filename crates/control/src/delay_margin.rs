//! The smallest constant delay at which a loop becomes unstable.

use crate::model::Loop;
use crate::pattern::Flows;
use crate::register::{FINE_TICKS, constant_growth};
use serde::Serialize;

/// Longest delay that is tried, in periods.
const FARTHEST: f64 = 32.0;

/// How much constant delay a loop bears.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DelayMargin {
    /// Smallest constant delay, in seconds, at which the loop is unstable: 0 if it is so without delay, `None` if it
    /// is stable with each delay that was tried.
    pub margin_s: Option<f64>,
    /// Delays up to this one, in seconds, were tried.
    pub tried_s: f64,
}

/// Smallest constant delay at which the loop is unstable, to 1e-6 of a period.
pub fn delay_margin(model: &Loop) -> DelayMargin {
    let mut flows = Flows::new(model, FINE_TICKS);
    let mut growth = |delay: f64| constant_growth(model, &mut flows, delay);
    let period = model.period_s;
    let found = |delay: f64| DelayMargin {
        margin_s: Some(delay * period),
        tried_s: delay * period,
    };
    // The last three points: where the middle one is highest, a peak may lie between them.
    let mut before: Option<(f64, f64)> = None;
    let mut last = (0.0, growth(0.0));
    if last.1 >= 1.0 {
        return found(0.0);
    }
    while last.0 < FARTHEST {
        let next_delay = last.0 + if last.0 < 4.0 { 1.0 / 16.0 } else { 0.125 };
        let next = (next_delay, growth(next_delay));
        if let Some(before) = before
            && last.1 > 0.9
            && last.1 >= before.1
            && last.1 >= next.1
            && let Some(peak) = unstable_peak(&mut growth, before.0, next.0)
        {
            return found(crossing(&mut growth, before.0, peak));
        }
        if next.1 >= 1.0 {
            return found(crossing(&mut growth, last.0, next.0));
        }
        (before, last) = (Some(last), next);
    }
    DelayMargin {
        margin_s: None,
        tried_s: FARTHEST * period,
    }
}

/// Where the loop becomes unstable between a delay at which it is stable and one at which it is not.
fn crossing(growth: &mut impl FnMut(f64) -> f64, mut stable: f64, mut unstable: f64) -> f64 {
    while unstable - stable > 1e-7 {
        let middle = (stable + unstable) / 2.0;
        if growth(middle) >= 1.0 {
            unstable = middle;
        } else {
            stable = middle;
        }
    }
    unstable
}

/// A delay between two at which the loop is unstable, sought at the peak.
fn unstable_peak(growth: &mut impl FnMut(f64) -> f64, mut low: f64, mut high: f64) -> Option<f64> {
    while high - low > 1e-4 {
        let third = (high - low) / 3.0;
        let (left, right) = (growth(low + third), growth(high - third));
        if left >= 1.0 {
            return Some(low + third);
        }
        if right >= 1.0 {
            return Some(high - third);
        }
        if left > right {
            high -= third;
        } else {
            low += third;
        }
    }
    None
}
