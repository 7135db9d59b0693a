//! A 95 % interval must hold the truth about 95 times in 100, also where neighbours depend on each
//! other; the interval for independent samples must be seen to fail there.

use crate::common;

use common::{Random, seeds, skewed_autoregression, taken, truths};
use wiregauge_stats::{Distribution, Estimate, Series};

const NAMES: [&str; 5] = ["mean", "p50", "p90", "p99", "p99.9"];

/// How often each interval held the truth, in parts of one.
struct Coverage {
    ours: [f64; 5],
    /// Mean -+ 1.96 sd / sqrt(n).
    naive_mean: f64,
    /// Mean width of the interval of the mean over that of the naive one.
    widening: f64,
}

/// The estimates of all figures, in the order of [`NAMES`].
fn estimates(d: &Distribution) -> [Estimate; 5] {
    [d.mean, d.p50, d.p90, d.p99, d.p999]
}

fn holds(estimate: Estimate, truth: f64) -> bool {
    estimate.low.is_none_or(|low| low <= truth) && estimate.high.is_none_or(|high| truth <= high)
}

fn coverage(phi: f64, n: usize, seeds: u64, exact_limit: usize) -> Coverage {
    let truths = truths();
    let (mut ours, mut naive_mean, mut widening, mut shown) = ([0.0; 5], 0.0, 0.0, 0.0);
    for seed in 0..seeds {
        let mut series = Series::with_exact_limit(exact_limit);
        let values = skewed_autoregression(&mut Random::new(seed), phi, n);
        values.iter().for_each(|&value| series.push(value));
        let d = series.distribution().expect("n is not 0");
        for ((hit, estimate), truth) in ours.iter_mut().zip(estimates(&d)).zip(truths) {
            *hit += f64::from(u8::from(holds(estimate, truth))) / seeds as f64;
        }
        let half = 1.96 * d.sd / (n as f64).sqrt();
        let held = (d.mean.value - truths[0]).abs() <= half;
        naive_mean += f64::from(u8::from(held)) / seeds as f64;
        if let Some(high) = d.mean.high {
            widening += (high - d.mean.value) / half;
            shown += 1.0;
        }
    }
    widening /= f64::max(shown, 1.0);
    Coverage {
        ours,
        naive_mean,
        widening,
    }
}

fn assert_covered(phi: f64, seeds: u64) -> Coverage {
    let found = coverage(phi, 10_000, seeds, usize::MAX);
    for (name, share) in NAMES.iter().zip(found.ours).take(4) {
        assert!(share >= 0.88, "phi {phi}: {name} covered in {share}");
    }
    found
}

#[test]
fn independent_samples_are_covered_without_waste() {
    let found = assert_covered(0.0, 100);
    assert!(found.widening < 1.3, "{}", found.widening);
}

#[test]
fn weakly_dependent_samples_are_covered() {
    assert_covered(0.5, 100);
}

#[test]
fn strongly_dependent_samples_are_covered_where_the_naive_interval_fails() {
    let naive = assert_covered(0.9, 100).naive_mean;
    assert!(naive < 0.6, "naive interval covered in {naive}");
}

/// Too few independent samples do not show how few they are: no interval rather than a wrong one.
#[test]
fn an_interval_that_too_few_independent_samples_support_is_not_shown() {
    let truths = truths();
    let seeds = 100;
    let run = |seed, phi, n| {
        let series = taken(&skewed_autoregression(&mut Random::new(seed), phi, n));
        series.distribution().expect("n is not 0")
    };
    for (n, phi) in [(50, 0.9), (200, 0.9), (200, 0.99), (1000, 0.99)] {
        let mut wrong = [0; 5];
        for seed in 0..seeds {
            let found = estimates(&run(seed, phi, n));
            for ((wrong, estimate), truth) in wrong.iter_mut().zip(found).zip(truths) {
                *wrong += u32::from(!holds(estimate, truth));
            }
        }
        for (name, wrong) in NAMES.iter().zip(wrong) {
            let case = format!("{n} of phi {phi}: {name}");
            assert!(wrong <= 10, "{case} wrong in {wrong} of {seeds}");
        }
    }
    // Independent ones of that number have their intervals.
    let shown = (0..seeds).filter(|&seed| run(seed, 0.0, 50).mean.high.is_some());
    assert!(shown.count() >= 80);
}

#[test]
fn the_streaming_form_covers_too() {
    let found = coverage(0.9, 50_000, 30, 20_000);
    for (name, share) in NAMES.iter().zip(found.ours) {
        assert!(share >= 0.83, "{name} covered in {share}");
    }
}

/// The table in docs/statistics.md.
#[test]
#[ignore = "minutes; run in release"]
fn table_of_coverage() {
    let percent = |share: f64| format!("{:5.1} %", 100.0 * share);
    let [n, limits] = [
        [50, 200, 1_000, 10_000, 200_000],
        [4096, 4096, 4096, 10_000, 100_000],
    ];
    for (n, limit) in n.into_iter().zip(limits) {
        for phi in [0.0, 0.5, 0.9] {
            let found = coverage(phi, n, seeds(1000), limit);
            let (ours, naive) = (found.ours.map(percent), percent(found.naive_mean));
            let row = format!("{n} | {phi} | {} | {naive}", ours.join(" | "));
            println!("| {row} | {:.1} |", found.widening);
        }
    }
}
