//! Times of which there may be millions: mean and maximum exactly, percentiles to a part in a thousand.

use hdrhistogram::Histogram;
use serde::Serialize;
use std::collections::BTreeMap;

/// Longer times are counted as this, 73 minutes.
const LONGEST_NS: u64 = 1 << 42;

/// Times as they come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spread {
    histogram: Option<Histogram<u64>>,
    sum: u128,
    max: u64,
}

/// Times that a spread may take later: few different ones, so that a long wait for the decision needs little memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pending {
    /// Rounded to ten bits, and how many.
    counts: BTreeMap<u64, u64>,
    sum: u128,
    max: u64,
}

impl Pending {
    pub(crate) fn add(&mut self, ns: u64) {
        let coarse = ns.checked_ilog2().unwrap_or(0).saturating_sub(10);
        *self.counts.entry(ns >> coarse << coarse).or_default() += 1;
        self.sum += u128::from(ns);
        self.max = self.max.max(ns);
    }

    /// The sum of the times, of which none are left.
    pub(crate) fn take_sum_ns(&mut self) -> f64 {
        std::mem::take(self).sum as f64
    }
}

/// What is known of many times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Times {
    /// How many.
    pub count: u64,
    /// Mean, in nanoseconds.
    pub mean_ns: f64,
    /// Median, in nanoseconds.
    pub p50_ns: u64,
    /// 99th percentile, in nanoseconds.
    pub p99_ns: u64,
    /// The longest, in nanoseconds.
    pub max_ns: u64,
}

impl Spread {
    pub(crate) fn add(&mut self, ns: u64) {
        self.histogram().saturating_record(ns);
        self.sum += u128::from(ns);
        self.max = self.max.max(ns);
    }

    /// Adds times that were pending, of which none are left.
    pub(crate) fn take(&mut self, pending: &mut Pending) {
        let Pending { counts, sum, max } = std::mem::take(pending);
        for (ns, count) in counts {
            self.histogram().saturating_record_n(ns, count);
        }
        self.sum += sum;
        self.max = self.max.max(max);
    }

    /// Adds the times of another.
    pub(crate) fn merge(&mut self, other: &Spread) {
        if let Some(histogram) = &other.histogram {
            self.histogram()
                .add(histogram)
                .expect("the ranges are the same");
        }
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    fn histogram(&mut self) -> &mut Histogram<u64> {
        self.histogram.get_or_insert_with(|| {
            Histogram::new_with_max(LONGEST_NS, 3).expect("three digits and such a range are valid")
        })
    }

    /// `None` if there were none.
    pub(crate) fn times(&self) -> Option<Times> {
        let histogram = self.histogram.as_ref()?;
        let at = |quantile| histogram.value_at_quantile(quantile).min(self.max);
        Some(Times {
            count: histogram.len(),
            mean_ns: self.sum as f64 / histogram.len() as f64,
            p50_ns: at(0.5),
            p99_ns: at(0.99),
            max_ns: self.max,
        })
    }

    /// The sum of the times, none of which counts for more than `cap_ns`.
    pub(crate) fn capped_sum_ns(&self, cap_ns: u64) -> f64 {
        let Some(histogram) = &self.histogram else {
            return 0.0;
        };
        if self.max <= cap_ns {
            return self.sum as f64;
        }
        histogram
            .iter_recorded()
            .map(|value| {
                let ns = value.value_iterated_to().min(cap_ns);
                ns as f64 * value.count_at_value() as f64
            })
            .sum()
    }

    /// The sum of all.
    pub(crate) fn sum_ns(&self) -> f64 {
        self.sum as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_sorted_times_to_a_part_in_a_thousand() {
        let mut spread = Spread::default();
        assert_eq!(spread.times(), None);
        for ns in 1..=100_000_u64 {
            spread.add(ns);
        }
        let times = spread.times().unwrap();
        assert_eq!((times.count, times.max_ns), (100_000, 100_000));
        assert!((times.mean_ns - 50_000.5).abs() < 1e-6);
        assert!(times.p50_ns.abs_diff(50_000) <= 50, "{times:?}");
        assert!(times.p99_ns.abs_diff(99_000) <= 99, "{times:?}");
        let capped = spread.capped_sum_ns(10);
        assert!((capped - (45.0 + 10.0 * 99_991.0)).abs() < 1e-6, "{capped}");
    }
}
