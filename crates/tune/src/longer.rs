//! How much longer a confirmation must be to decide what it left open.

use crate::{Kept, Verdict};

/// More samples than the interval asks for, because it is itself an estimate.
const RESERVE: f64 = 1.5;

/// How many times as many samples decide every constraint that was left open, going by the intervals
/// found. `to_bound` says how many times as many give the figure of a constraint (by its index) the bound
/// that is missing.
///
/// `None` where nothing is open, and where more samples are not expected to show the constraint kept: it
/// could not be measured, or its value does not keep the bound.
pub fn times_as_long(verdicts: &[Verdict], to_bound: impl Fn(usize) -> f64) -> Option<f64> {
    let open = verdicts.iter().enumerate();
    let mut open = open.filter(|(_, verdict)| verdict.kept == Kept::NotShown);
    let first = open.next()?;
    let mut most: f64 = 1.0;
    for (index, verdict) in std::iter::once(first).chain(open) {
        let (found, bound) = (verdict.found?, verdict.bound);
        if !bound.keeps(found.value) {
            return None;
        }
        let far = match bound.is_upper() {
            true => found.high,
            false => found.low,
        };
        let times = match far {
            None => to_bound(index),
            Some(far) => {
                let width = (far - found.value) / (bound.limit() - found.value);
                // What none of n showed has a bound of about 3.7 / n; other intervals shrink with the root of n.
                if found.value == 0.0 {
                    width
                } else {
                    width * width
                }
            }
        };
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
    fn what_more_samples_will_not_show_kept_is_left() {
        let over = verdict(Bound::Below(10.0), Some(6.0), 11.0, None);
        let violated = verdict(Bound::Below(10.0), Some(11.0), 12.0, Some(13.0));
        let unknown = Verdict::of(Bound::Below(10.0), None);
        for one in [over, violated, unknown] {
            assert_eq!(times_as_long(&[one], |_| 2.0), None);
        }
        // One of them is enough.
        let open = verdict(Bound::Below(10.0), Some(6.0), 8.0, None);
        assert_eq!(times_as_long(&[open, over], |_| 2.0), None);
    }
}
