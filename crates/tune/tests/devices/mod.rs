//! Random devices with a known optimum, and exhaustive search of them.

#![allow(dead_code, reason = "each test uses a part")]

pub mod bus;
pub mod numeric;
pub mod tasks;
#[path = "../../../responder/tests/virtual_host/mod.rs"]
mod virtual_host;

use wiregauge_stats::Estimate;
use wiregauge_tune::{Candidate, Measured};

/// A figure of an exchange run that may be objective or constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    InRate,
    Exchanges,
    Trt,
    Rtt,
    P99,
}

/// By so many standard errors of a confirmation must the truth keep a bound for nine of ten
/// confirmations to show it: 1.96 for the interval, 1.28 for its luck.
pub const NINE_OF_TEN: f64 = 1.96 + 1.28;

/// What can be measured, and whose true figures are known.
pub trait Device {
    /// Measures so many exchanges; each call is another run.
    fn measure(&mut self, at: Candidate, exchanges: u64, figures: &[Figure]) -> Measured;
    /// What an endless run would find. With `shown`, the length of a confirmation: the value for the
    /// worse that must still keep a bound, for nine of ten of them to show that it is kept.
    fn truth(&mut self, at: Candidate, figure: Figure, shown: Option<u64>) -> f64;
}

pub fn scaled(estimate: Estimate, change: impl Fn(f64) -> f64) -> Estimate {
    let (low, high) = (estimate.low.map(&change), estimate.high.map(&change));
    let value = change(estimate.value);
    let turned = matches!((low, high), (Some(a), Some(b)) if a > b);
    let (low, high) = if turned { (high, low) } else { (low, high) };
    Estimate { value, low, high }
}
