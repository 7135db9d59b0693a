//! How much longer a confirmation must be to decide what it left open.

use crate::{Compliance, Verdict};

/// More samples than the interval asks for, because it is itself an estimate.
const RESERVE: f64 = 1.5;

/// A value beyond its bound is most often that of a setting that violates it. Only where so many times as
/// many samples would show that, it is worth a look whether a few long ones were chance.
const MOST_BEYOND: f64 = 10.0;

/// How many times as many samples decide every constraint that was left open, going by the intervals
/// found. `to_bound` says how many times as many give the figure of a constraint (by its index) the bound
/// that is missing.
///
/// `None` where nothing is open, and where more samples are not expected to decide: its value is too near to the bound.
pub fn times_as_long(verdicts: &[Verdict], to_bound: impl Fn(usize) -> f64) -> Option<f64> {
    let open = verdicts.iter().enumerate();
    let mut open = open.filter(|(_, verdict)| verdict.compliance == Compliance::Undecided);
    let first = open.next()?;
    let mut most: f64 = 1.0;
    for (index, verdict) in std::iter::once(first).chain(open) {
        let (found, bound) = (verdict.found?, verdict.bound);
        let keeps = bound.keeps(found.value);
        // The end of the interval beyond the bound, seen from the value.
        let end = match bound.is_upper() == keeps {
            true => found.high,
            false => found.low,
        };
        let times = match end {
            None => to_bound(index),
            Some(end) => {
                let width = (end - found.value) / (bound.limit() - found.value);
                // What none of n showed has a bound of about 3.7 / n; other intervals shrink with the root of n.
                if found.value == 0.0 {
                    width
                } else {
                    width * width
                }
            }
        };
        if !keeps && times > MOST_BEYOND {
            return None;
        }
        most = most.max(times);
    }
    most.is_finite().then_some(RESERVE * most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bound;
    use wiregauge_stats::Estimate;

    fn verdict(bound: Bound, low: Option<f64>, value: f64, high: Option<f64>) -> Verdict {
        Verdict::of(bound, Some(Estimate { value, low, high }))
    }

    #[test]
    fn a_missing_bound_takes_as_many_samples_as_it_requires() {
        let open = verdict(Bound::Below(2e6), Some(60e3), 71e3, None);
        assert_eq!(times_as_long(&[open], |_| 4.0), Some(6.0));
    }

    #[test]
    fn an_interval_that_reaches_over_the_limit_shrinks_with_the_root() {
        let open = verdict(Bound::Below(10.0), Some(6.0), 8.0, Some(12.0));
        assert_eq!(times_as_long(&[open], |_| f64::NAN), Some(6.0));
        let above = verdict(Bound::AtLeast(10.0), Some(6.0), 12.0, Some(18.0));
        assert_eq!(times_as_long(&[above], |_| f64::NAN), Some(13.5));
        // None lost of so many.
        let none = verdict(Bound::Below(0.001), Some(0.0), 0.0, Some(0.004));
        assert_eq!(times_as_long(&[none], |_| f64::NAN), Some(6.0));
    }

    #[test]
    fn the_constraint_that_requires_most_decides() {
        let decided = verdict(Bound::Below(10.0), Some(6.0), 8.0, Some(9.0));
        let little = verdict(Bound::Below(10.0), Some(6.0), 8.0, Some(10.5));
        let most = verdict(Bound::Below(10.0), None, 8.0, None);
        let to_bound = |index: usize| index as f64 * 10.0;
        let all = [decided, little, most];
        assert_eq!(times_as_long(&all, to_bound), Some(30.0));
        assert_eq!(times_as_long(&[decided], to_bound), None);
    }

    #[test]
    fn a_value_beyond_the_bound_is_looked_at_again_unless_that_takes_too_many() {
        // A single stall in a short run.
        let chance = verdict(Bound::Below(2.0), Some(0.4), 4.4, None);
        let times = times_as_long(&[chance], |_| f64::NAN).unwrap();
        assert!(
            (times - 1.5 * (4.0_f64 / 2.4).powi(2)).abs() < 1e-9,
            "{times}"
        );
        let near = verdict(Bound::Below(10.0), Some(6.0), 11.0, None);
        assert_eq!(times_as_long(&[near], |_| 2.0), None);
        let below = verdict(Bound::AtLeast(10.0), Some(1.0), 8.0, Some(12.0));
        assert_eq!(times_as_long(&[below], |_| f64::NAN), Some(6.0));
    }

    #[test]
    fn what_more_samples_do_not_decide_is_left() {
        let violated = verdict(Bound::Below(10.0), Some(11.0), 12.0, Some(13.0));
        let unknown = Verdict::of(Bound::Below(10.0), None);
        for one in [violated, unknown] {
            assert_eq!(times_as_long(&[one], |_| 2.0), None);
        }
        // What is missed beside it leaves the open one as it is.
        let open = verdict(Bound::Below(10.0), Some(6.0), 8.0, None);
        assert_eq!(times_as_long(&[open, unknown], |_| 2.0), Some(3.0));
    }
}
