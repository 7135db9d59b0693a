//! What must hold for any samples whatever.

use proptest::collection::vec;
use proptest::prelude::*;
use wiregauge_stats::{Distribution, Estimate, Series};

fn series_of(values: &[u64], limit: usize) -> Series {
    let mut series = Series::with_exact_limit(limit);
    values.iter().for_each(|&value| series.push(value));
    series
}

fn exact(values: &[u64]) -> Series {
    series_of(values, usize::MAX)
}

/// Numbers as they come: small, clustered, quantised and wild.
fn samples(most: usize) -> impl Strategy<Value = Vec<u64>> {
    prop_oneof![
        vec(0u64..4, 1..most),
        vec(900_000u64..1_100_000, 1..most),
        vec((0u64..50).prop_map(|ms| ms * 1_000_000), 1..most),
        vec(
            (0u32..50, 1u64..2048).prop_map(|(bits, x)| x << bits),
            1..most
        ),
        vec(any::<u64>(), 1..most),
    ]
}

fn all_estimates(d: &Distribution) -> [Estimate; 5] {
    [d.mean, d.p50, d.p90, d.p99, d.p999]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn figures_come_in_order(values in samples(400)) {
        let d = exact(&values).distribution().unwrap();
        let order = [d.min, d.p50.value, d.p90.value, d.p99.value, d.p999.value, d.max];
        prop_assert!(order.is_sorted(), "{order:?}");
        prop_assert!(d.min <= d.max3 && d.max3 <= d.max);
        prop_assert!(d.iqr >= 0.0 && d.p99_minus_p50 >= 0.0 && d.sd >= 0.0);
        prop_assert!(d.min <= d.mean.value * (1.0 + 1e-12) && d.mean.value <= d.max * (1.0 + 1e-12));
        prop_assert!(d.effective_n > 0.0 && d.effective_n <= d.n as f64);
    }

    #[test]
    fn an_interval_holds_its_value(values in samples(400)) {
        let d = exact(&values).distribution().unwrap();
        for Estimate { value, low, high } in all_estimates(&d) {
            prop_assert!(low.is_none_or(|low| low <= value));
            prop_assert!(high.is_none_or(|high| high >= value));
        }
        for p in [d.p50, d.p90, d.p99, d.p999] {
            prop_assert!(p.low.is_none_or(|low| low >= d.min) && p.high.is_none_or(|high| high <= d.max));
        }
    }

    #[test]
    fn intervals_do_not_contradict_each_other(values in samples(3_000), limit in 1_000usize..4_000) {
        for series in [exact(&values), series_of(&values, limit)] {
            let d = series.distribution().unwrap();
            let percentiles = [d.p50, d.p90, d.p99, d.p999];
            for pair in percentiles.windows(2) {
                // A bound that is not known is below any other.
                prop_assert!(pair[0].low <= pair[1].low, "{percentiles:?}");
            }
            let high: Vec<f64> = percentiles.iter().filter_map(|found| found.high).collect();
            prop_assert!(high.is_sorted(), "{percentiles:?}");
            prop_assert!(d.mean.low.is_none_or(|low| low >= d.min.min(d.mean.value)));
            prop_assert!(d.mean.high.is_none_or(|high| high <= d.max.max(d.mean.value)));
        }
    }

    #[test]
    fn fewer_than_eight_samples_bound_nothing(values in vec(any::<u64>(), 1..8)) {
        let d = exact(&values).distribution().unwrap();
        for Estimate { low, high, .. } in all_estimates(&d) {
            prop_assert!(low.is_none() && high.is_none());
        }
    }

    #[test]
    fn order_in_time_moves_no_percentile(mut values in samples(400)) {
        let before = exact(&values).distribution().unwrap();
        values.reverse();
        let middle = values.len() / 3;
        values.rotate_left(middle);
        let after = exact(&values).distribution().unwrap();
        for (a, b) in all_estimates(&before).iter().zip(all_estimates(&after)) {
            prop_assert_eq!(a.value, b.value);
        }
        prop_assert_eq!((before.iqr, before.max3), (after.iqr, after.max3));
    }

    #[test]
    fn a_share_counts_what_is_strictly_below(values in samples(400), missed in 0u64..20, pick in any::<prop::sample::Index>()) {
        let limit = *pick.get(&values);
        let series = exact(&values);
        let share = series.share_below(limit, missed);
        let below = values.iter().filter(|&&v| v < limit).count() as f64;
        prop_assert_eq!(share.share, below / (values.len() as f64 + missed as f64));
        prop_assert!(0.0 <= share.low && share.low <= share.share);
        prop_assert!(share.share <= share.high && share.high <= 1.0);
    }

    #[test]
    fn a_share_agrees_with_the_percentiles(values in vec(0u64..1_000_000, 1..400)) {
        let series = exact(&values);
        let d = series.distribution().unwrap();
        for (p, q) in [(0.5, d.p50), (0.9, d.p90), (0.99, d.p99), (0.999, d.p999)] {
            // Fewer than p below the percentile, at least p up to it.
            prop_assert!(series.share_below(q.value as u64, 0).share < p);
            prop_assert!(series.share_below(q.value as u64 + 1, 0).share >= p - 1e-12);
        }
    }

    #[test]
    fn modes_part_the_samples(values in samples(600)) {
        let modes = exact(&values).modes();
        prop_assert!(!modes.is_empty());
        prop_assert!((modes.iter().map(|m| m.share).sum::<f64>() - 1.0).abs() < 1e-9);
        for m in &modes {
            prop_assert!(m.low <= m.peak && m.peak <= m.high, "{m:?}");
            prop_assert!(modes.len() == 1 || m.share >= 0.01);
        }
        prop_assert!(modes.windows(2).all(|m| m[0].high <= m[1].low));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_streaming_form_agrees_within_its_resolution(values in samples(5_000), limit in 0u64..u64::MAX) {
        let (held, streamed) = (exact(&values), series_of(&values, 1024));
        let (a, b) = (held.distribution().unwrap(), streamed.distribution().unwrap());
        prop_assert_eq!(streamed.len(), values.len() as u64);
        prop_assert_eq!((a.n, a.min, a.max, a.max3), (b.n, b.min, b.max, b.max3));
        prop_assert!((a.mean.value - b.mean.value).abs() <= 1e-9 * a.mean.value);
        prop_assert!((a.sd - b.sd).abs() <= 1e-6 * a.sd.max(1e-6 * a.mean.value));
        for (x, y) in [(a.p50, b.p50), (a.p90, b.p90), (a.p99, b.p99), (a.p999, b.p999)] {
            prop_assert!((x.value - y.value).abs() <= b.resolution * x.value, "{x:?} {y:?}");
            prop_assert!(y.low.is_none_or(|low| low <= y.value));
            prop_assert!(y.high.is_none_or(|high| high >= y.value));
        }
        let (x, y) = (held.share_below(limit, 3), streamed.share_below(limit, 3));
        let slack = 1.0 - b.resolution;
        let near = held.share_below((limit as f64 / slack) as u64, 3).share
            - held.share_below((limit as f64 * slack) as u64, 3).share;
        prop_assert!((x.share - y.share).abs() <= near + 1e-12, "{x:?} {y:?}");
        prop_assert!(y.low <= y.share && y.share <= y.high);
        prop_assert!(!streamed.modes().is_empty());
    }
}

#[test]
fn an_empty_series_says_so() {
    let series = Series::new();
    assert!(series.is_empty() && series.distribution().is_none() && series.modes().is_empty());
    let share = series.share_below(1, 0);
    assert_eq!((share.share, share.low, share.high), (0.0, 0.0, 1.0));
    let all_missed = series.share_below(1, 50);
    assert!(all_missed.share == 0.0 && all_missed.high < 0.1);
}

#[test]
fn one_sample_is_all_its_figures() {
    let d = exact(&[7]).distribution().unwrap();
    assert_eq!([d.min, d.p50.value, d.p999.value, d.max3, d.max], [7.0; 5]);
    assert_eq!((d.sd, d.iqr, d.effective_n), (0.0, 0.0, 1.0));
}

#[test]
fn the_tail_of_fifty_samples_has_no_upper_bound() {
    let values: Vec<u64> = (0..50).map(|i| 1000 + i * 37 % 50).collect();
    let d = exact(&values).distribution().unwrap();
    assert!(d.p50.low.is_some() && d.p50.high.is_some());
    assert!(d.p999.low.is_some() && d.p999.high.is_none());
    assert!(d.p99.high.is_none());
}

#[test]
fn no_figure_of_times_that_drift_has_bounds() {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut noise_ns = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % 10_000
    };
    let mut series = |drift_ns: u64| {
        let time = |n: u64| 20_000 + n * drift_ns / 2_000 + noise_ns();
        exact(&(0..2_000).map(time).collect::<Vec<_>>())
    };
    let bounded =
        |d: Distribution| all_estimates(&d).map(|of| of.low.is_some() || of.high.is_some());
    let steady = bounded(series(0).distribution().unwrap());
    assert_eq!(steady, [true; 5]);
    let drifting = bounded(series(3_000).distribution().unwrap());
    assert!(
        drifting.iter().take(3).all(|is_bounded| !is_bounded),
        "{drifting:?}"
    );
}
