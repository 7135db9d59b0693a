//! Times of which there may be millions: mean and maximum exactly, percentiles to a part in a thousand.

use hdrhistogram::Histogram;
use serde::Serialize;

/// Longer times are counted as this, 73 minutes.
const LONGEST_NS: u64 = 1 << 42;

/// Times as they come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spread {
    histogram: Option<Histogram<u64>>,
    sum: u128,
    max: u64,
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
        let histogram = self.histogram.get_or_insert_with(|| {
            Histogram::new_with_max(LONGEST_NS, 3).expect("three digits and such a range are valid")
        });
        histogram.saturating_record(ns);
        self.sum += u128::from(ns);
        self.max = self.max.max(ns);
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
