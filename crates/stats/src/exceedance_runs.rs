//! How often a series would have exceeded a limit, for every limit at once: the stalls that a loop
//! would have had, as a function of its latency.

use serde::{Deserialize, Serialize};

/// Steps of the limits in an octave.
const STEPS: u32 = 16;

/// Limits up to 2^40 (18 minutes in nanoseconds).
const LIMITS: usize = 40 * STEPS as usize;

/// Counts, for a ladder of limits in steps of 4.4 % (16 an octave), the stretches of consecutive
/// values above each. One late block after the other is one stall, not many.
///
/// 8 B a limit, 5 KiB in all, whatever the length of the series; a value costs a logarithm.
#[derive(Clone, Debug, PartialEq)]
pub struct ExceedanceRuns {
    /// `begun[i] - begun[i + 1]` summed from the top: stretches above limit `i` that begin.
    rises: Vec<i64>,
    /// How many limits the last value exceeded.
    last: usize,
    largest: u64,
    n: u64,
}

/// A limit and how often it was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exceeded {
    /// The limit, in the unit of the values.
    pub limit: f64,
    /// ExceedanceRuns of values above it.
    pub stretches: u64,
}

impl Default for ExceedanceRuns {
    fn default() -> ExceedanceRuns {
        ExceedanceRuns {
            rises: vec![0; LIMITS + 1],
            last: 0,
            largest: 0,
            n: 0,
        }
    }
}

impl ExceedanceRuns {
    /// Takes the next value.
    pub fn push(&mut self, value: u64) {
        let exceeded = exceeded(value);
        if exceeded > self.last {
            // Limits `last..exceeded` were not exceeded before and are now.
            self.rises[self.last] += 1;
            self.rises[exceeded] -= 1;
        }
        self.last = exceeded;
        self.largest = self.largest.max(value);
        self.n += 1;
    }

    /// The largest value; `None` of none.
    pub fn largest(&self) -> Option<u64> {
        (self.n > 0).then_some(self.largest)
    }

    /// The ladder from the highest limit that all values but the first few exceed without end (one
    /// stretch, or none) up to the largest value, which nothing exceeds. Ascending; empty of no
    /// values.
    pub fn curve(&self) -> Vec<Exceeded> {
        let Some(largest) = self.largest() else {
            return Vec::new();
        };
        let mut curve = Vec::new();
        let mut stretches = 0;
        for (at, rise) in self.rises.iter().enumerate().take(LIMITS) {
            stretches += rise;
            if limit(at) >= largest as f64 {
                break;
            }
            curve.push(Exceeded {
                limit: limit(at),
                stretches: stretches as u64,
            });
        }
        curve.push(Exceeded {
            limit: largest as f64,
            stretches: 0,
        });
        // Below the smallest value there is one stretch without end: nothing to be learnt there.
        let ragged = curve.iter().position(|point| point.stretches != 1);
        curve.drain(..ragged.unwrap_or(0).saturating_sub(1));
        curve
    }
}

/// The limit of this number.
fn limit(at: usize) -> f64 {
    (at as f64 / f64::from(STEPS)).exp2()
}

/// How many limits of the ladder the value exceeds.
fn exceeded(value: u64) -> usize {
    if value == 0 {
        return 0;
    }
    let about = ((value as f64).log2() * f64::from(STEPS)).ceil().max(0.0) as usize;
    // The logarithm may be off by a rounding at the limit itself.
    let mut at = about.min(LIMITS);
    while at > 0 && limit(at - 1) >= value as f64 {
        at -= 1;
    }
    while at < LIMITS && limit(at) < value as f64 {
        at += 1;
    }
    at
}

/// Upper 95 % confidence bound of the mean of a Poisson count of which `seen` were seen: half the
/// 95 % quantile of chi-square with 2 (seen + 1) degrees of freedom (Garwood, "Fiducial limits for
/// the Poisson distribution", Biometrika 28, 1936). Exact for 0 (3.00: the rule of three), within
/// 0.4 % above (Wilson & Hilferty, 1931).
pub fn poisson_high(seen: u64) -> f64 {
    if seen == 0 {
        return -(0.05_f64).ln();
    }
    // 95 % quantile of the normal distribution.
    const Z: f64 = 1.644_853_626_951_472_2;
    let ninth = 1.0 / (9.0 * (seen as f64 + 1.0));
    (seen as f64 + 1.0) * (1.0 - ninth + Z * ninth.sqrt()).powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> ExceedanceRuns {
        let mut stretches = ExceedanceRuns::default();
        for &value in values {
            stretches.push(value);
        }
        stretches
    }

    #[test]
    fn late_blocks_in_a_row_are_one_stall() {
        let curve = of(&[10, 100, 90, 10, 10, 100, 10]).curve();
        let above_20 = curve.iter().find(|at| at.limit > 20.0).expect("a limit");
        assert_eq!(above_20.stretches, 2);
        let last = curve.last().expect("a curve");
        assert_eq!((last.limit, last.stretches), (100.0, 0));
    }

    #[test]
    fn the_bound_of_nothing_seen_is_the_rule_of_three() {
        assert!((poisson_high(0) - 2.9957).abs() < 1e-3);
        // R: qchisq(0.95, 2 * (k + 1)) / 2
        for (seen, high) in [(1, 4.7439), (2, 6.2958), (10, 16.9622), (100, 118.0786)] {
            let found = poisson_high(seen);
            assert!((found / high - 1.0).abs() < 4e-3, "{seen}: {found}");
        }
    }

    proptest! {
        #[test]
        fn every_limit_counts_what_a_search_counts(
            values in proptest::collection::vec(0..100_000_u64, 1..200)
        ) {
            for at in of(&values).curve() {
                let over: Vec<bool> = values.iter().map(|&v| v as f64 > at.limit).collect();
                let begins = over.iter().enumerate().filter(|&(i, &o)| o && (i == 0 || !over[i - 1]));
                prop_assert_eq!(at.stretches, begins.count() as u64, "limit {}", at.limit);
            }
        }

        #[test]
        fn the_curve_ascends_to_the_largest_value(
            values in proptest::collection::vec(0..u64::from(u32::MAX), 1..50)
        ) {
            let curve = of(&values).curve();
            prop_assert!(curve.windows(2).all(|pair| pair[0].limit < pair[1].limit));
            let largest = *values.iter().max().expect("not empty") as f64;
            prop_assert_eq!(curve.last().map(|at| (at.limit, at.stretches)), Some((largest, 0)));
        }
    }
}
