//! Two runs of the same thing must seldom differ, and a shift must be found.

mod common;

use common::shapes::Shape;
use wiregauge_stats::{Confidence, Difference, Reading, Series, difference};

/// The figures that are compared of each run.
#[allow(dead_code)]
const FIGURES: [&str; 5] = ["mean", "p50", "p90", "p99", "p99.9"];

fn series(shape: Shape, seed: u64, n: usize, scale: f64) -> Series {
    let mut series = Series::new();
    let values = shape.series(seed, n, scale);
    values.into_iter().for_each(|value| series.push(value));
    series
}

fn differences(before: &Reading, after: &Reading, sure: Confidence) -> [Difference; 5] {
    let figures = |run: &Reading| {
        [
            run.mean(sure),
            run.percentile(0.5, sure),
            run.percentile(0.9, sure),
            run.percentile(0.99, sure),
            run.percentile(0.999, sure),
        ]
    };
    let (before, after) = (figures(before), figures(after));
    std::array::from_fn(|i| difference(&[before[i]], &[after[i]], sure).expect("a run a side"))
}

/// What many comparisons amount to, in parts of one.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    /// At least one of five figures differs, held together at 95 %; two runs of the same.
    alarms: f64,
    /// The same, with 200 times as many figures in the family.
    alarms_of_many: f64,
    /// The 95 % interval of each figure alone holds the truth.
    held: [f64; 5],
    /// The bound that speaks of each figure is there.
    told: [f64; 5],
    /// 5 % more is found, five figures held together: mean, p50, p99.
    power: [f64; 5],
}

fn differs(found: &Difference, by: f64) -> bool {
    let relative = found.relative.expect("no figure is 0");
    relative.low.is_some_and(|low| low > by) || relative.high.is_some_and(|high| high < by)
}

fn simulate(shape: Shape, n: usize, seeds: u64) -> Found {
    let family = Confidence::NINETY_FIVE.shared_by(5);
    let mut found = Found::default();
    let one = 1.0 / seeds as f64;
    for seed in 0..seeds {
        let [before, after, slower] = [(0, 1.0), (1, 1.0), (1, 1.05)]
            .map(|(side, scale)| series(shape, 2 * seed + side, n, scale));
        let [before, after, slower] =
            [&before, &after, &slower].map(|series| series.read().expect("samples"));
        let together = differences(&before, &after, family);
        let alarm = together.iter().any(|d| differs(d, 0.0));
        found.alarms += f64::from(u8::from(alarm)) * one;
        let many = differences(&before, &after, family.shared_by(200));
        let alarm = many.iter().any(|d| differs(d, 0.0));
        found.alarms_of_many += f64::from(u8::from(alarm)) * one;
        let alone = differences(&before, &after, Confidence::NINETY_FIVE);
        let shifted = differences(&before, &slower, family);
        for i in 0..5 {
            found.held[i] += f64::from(u8::from(!differs(&alone[i], 0.0))) * one;
            let relative = shifted[i].relative.expect("no figure is 0");
            let told = relative.low.is_some() && relative.high.is_some();
            found.told[i] += f64::from(u8::from(told)) * one;
            let seen = relative.low.is_some_and(|low| low > 0.0);
            found.power[i] += f64::from(u8::from(seen)) * one;
        }
    }
    found
}

#[test]
#[ignore]
fn explore() {
    let only = std::env::var("N")
        .ok()
        .and_then(|n| n.parse::<usize>().ok());
    for n in [300, 1_000, 10_000, 100_000] {
        if only.is_some_and(|only| only != n) {
            continue;
        }
        for shape in Shape::ALL {
            if std::env::var("S").is_ok_and(|s| !shape.name().contains(&s)) {
                continue;
            }
            let t = std::time::Instant::now();
            let seeds = (4_000_000 / n as u64).min(2000).max(100);
            let f = simulate(shape, n, seeds);
            let p = |x: f64| format!("{:5.1}", 100.0 * x);
            let all = |x: [f64; 5]| x.map(p).join(" ");
            println!(
                "{n:>7} {:22} alarms {} {} held {} told {} power {}  {:.1}s",
                shape.name(),
                p(f.alarms),
                p(f.alarms_of_many),
                all(f.held),
                all(f.told),
                all(f.power),
                t.elapsed().as_secs_f64()
            );
        }
    }
}
