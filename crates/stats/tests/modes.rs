//! One peak is one mode, two are two, and noise is none.

use crate::common;

use common::{Random, seeds};
use wiregauge_stats::{Mode, Series};

fn modes_of(values: impl IntoIterator<Item = u64>) -> Vec<Mode> {
    let mut series = Series::new();
    values.into_iter().for_each(|value| series.push(value));
    series.modes()
}

/// The tables use seeds from here on: the constants of the method were set on those below.
const FRESH: u64 = 1_000_000;

type Draw = fn(&mut Random) -> f64;

/// Shapes with one mode, in nanoseconds around 1 ms.
const ONE_MODE: [(&str, Draw); 9] = [
    ("normal, sd 2 %", |r| 1e6 * (1.0 + 0.02 * r.normal())),
    ("log-normal, sigma 0.1", |r| 1e6 * (0.1 * r.normal()).exp()),
    ("log-normal, sigma 1", |r| 1e6 * r.normal().exp()),
    ("exponential", |r| 1e6 * r.exponential()),
    ("floor and exponential", |r| 1e6 + 2e5 * r.exponential()),
    ("Pareto, alpha 1", |r| 1e6 / r.uniform()),
    ("uniform 0 to 2 ms", |r| 2e6 * r.uniform()),
    ("log-normal in whole 50 us", |r| {
        ((20.0 * (0.1 * r.normal()).exp()).round()) * 5e4
    }),
    ("log-normal, sigma 1, in whole 8 us", |r| {
        (200.0 * r.normal().exp()).round().max(1.0) * 8e3
    }),
];

fn false_alarms(draw: Draw, n: usize, first: u64, seeds: u64) -> u64 {
    let alarm = |seed: &u64| {
        let mut random = Random::new(*seed);
        modes_of((0..n).map(|_| draw(&mut random).round() as u64)).len() != 1
    };
    (first..first + seeds).filter(alarm).count() as u64
}

#[test]
fn shapes_with_one_mode_have_one() {
    for (name, draw) in ONE_MODE {
        for (n, seeds) in [(200, 40), (2_000, 15), (20_000, 2)] {
            let alarms = false_alarms(draw, n, 0, seeds);
            assert!(alarms <= seeds / 10, "{name}, n = {n}: {alarms} of {seeds}");
        }
    }
}

/// A clock so fine that its levels hold few samples each, and so coarse that they hold several.
#[test]
fn no_level_of_a_clock_belongs_to_two_modes() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let coarse = |_| (200.0 * random.normal().exp()).round().max(1.0) as u64 * 8_000;
        let values: Vec<u64> = (0..4_000).map(coarse).collect();
        let modes = modes_of(values.iter().copied());
        for mode in &modes {
            let held = |&&value: &&u64| (mode.low..=mode.high).contains(&(value as f64));
            let share = values.iter().filter(held).count() as f64 / values.len() as f64;
            assert!((share - mode.share).abs() < 1e-9, "seed {seed}: {modes:?}");
        }
    }
}

/// The table in docs/statistics.md.
#[test]
#[ignore = "minutes; run in release"]
fn table_of_false_alarms() {
    for (name, draw) in ONE_MODE {
        let rates: Vec<String> = [200, 1_000, 10_000, 100_000]
            .map(|n| {
                format!(
                    "{:5.1} %",
                    100.0 / seeds(1000) as f64 * false_alarms(draw, n, FRESH, seeds(1000)) as f64
                )
            })
            .to_vec();
        println!("| {name} | {} |", rates.join(" | "));
    }
    for phi in [0.5, 0.9] {
        let rates = [200, 1_000, 10_000, 100_000].map(|n| {
            let alarm = |seed: &u64| {
                let mut random = Random::new(*seed);
                modes_of(common::skewed_autoregression(&mut random, phi, n)).len() != 1
            };
            format!(
                "{:5.1} %",
                100.0 / seeds(200) as f64
                    * (FRESH..FRESH + seeds(200)).filter(alarm).count() as f64
            )
        });
        println!("| autoregression, phi {phi} | {} |", rates.join(" | "));
    }
}

fn mixture(random: &mut Random, n: usize, rare: f64, ratio: f64, sigma: f64) -> Vec<u64> {
    (0..n)
        .map(|_| {
            let centre = if random.uniform() < rare { ratio } else { 1.0 };
            (1e6 * centre * (sigma * random.normal()).exp()).round() as u64
        })
        .collect()
}

/// The second table in docs/statistics.md.
#[test]
#[ignore = "minutes; run in release"]
fn table_of_finds() {
    for (rare, ratio, sigma) in [
        (0.1, 4.0, 0.1),
        (0.1, 4.0, 0.3),
        (0.02, 4.0, 0.1),
        (0.1, 1.5, 0.1),
        (0.5, 1.4, 0.1),
    ] {
        let rates = [200, 1_000, 10_000, 100_000].map(|n| {
            let found = |seed: &u64| {
                let values = mixture(&mut Random::new(*seed), n, rare, ratio, sigma);
                modes_of(values).len() == 2
            };
            format!(
                "{:5.1} %",
                100.0 / seeds(200) as f64
                    * (FRESH..FRESH + seeds(200)).filter(found).count() as f64
            )
        });
        println!(
            "| {rare} at {ratio} x, sigma {sigma} | {} |",
            rates.join(" | ")
        );
    }
}

#[test]
fn a_tenth_at_four_times_the_rest_is_a_mode() {
    for (n, may_miss) in [(200, 1), (1_000, 0), (20_000, 0)] {
        let mut missed = 0;
        for seed in 0..10 {
            let found = modes_of(mixture(&mut Random::new(seed), n, 0.1, 4.0, 0.1));
            if found.len() == 1 {
                missed += 1;
                continue;
            }
            assert_eq!(found.len(), 2, "n = {n}, seed {seed}: {found:?}");
            assert!((found[0].peak / 1e6 - 1.0).abs() < 0.15, "{found:?}");
            assert!((found[1].peak / 4e6 - 1.0).abs() < 0.15, "{found:?}");
            assert!(found[0].high < 2e6 && found[1].low > 2e6, "{found:?}");
            assert!((found[0].share + found[1].share - 1.0).abs() < 1e-9);
            assert!((found[1].share - 0.1).abs() < 0.08, "{found:?}");
        }
        assert!(missed <= may_miss, "n = {n}: missed in {missed} of 10");
    }
}

#[test]
fn the_modes_of_the_literature_are_found_in_their_ranges() {
    // 7-9 ms and 30-35 ms, as USB-serial adapters with a latency timer show them.
    let mut random = Random::new(7);
    let found = modes_of((0..10_000).map(|_| {
        let ms = if random.uniform() < 0.8 {
            7.0 + 2.0 * random.uniform()
        } else {
            30.0 + 5.0 * random.uniform()
        };
        (ms * 1e6) as u64
    }));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].low >= 7e6 && found[0].high <= 9e6, "{found:?}");
    assert!(found[1].low >= 30e6 && found[1].high <= 35e6, "{found:?}");
}

#[test]
fn three_peaks_of_very_different_width_are_three_modes() {
    let mut random = Random::new(3);
    let found = modes_of((0..5_000).map(|i| {
        let (centre, sigma) = [(5e4, 0.005), (1e6, 0.05), (2e7, 0.3)][i % 3];
        (centre * (sigma * random.normal()).exp()) as u64
    }));
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn equal_values_are_one_mode() {
    for value in [0, 1, 5_000_000, u64::MAX] {
        for n in [1, 2, 100, 30_000] {
            let found = modes_of(std::iter::repeat_n(value, n));
            let v = value as f64;
            assert_eq!(
                found,
                [Mode {
                    low: v,
                    peak: v,
                    high: v,
                    share: 1.0
                }]
            );
        }
    }
}

#[test]
fn two_levels_far_apart_are_two_modes() {
    for (low, high) in [(7_000_000, 33_000_000), (1_000, 4_000), (0, 1_000_000)] {
        let found = modes_of((0..1000).map(|i| if i % 10 == 0 { high } else { low }));
        assert_eq!(found.len(), 2, "{low} {high}: {found:?}");
        assert_eq!((found[0].peak, found[0].share), (low as f64, 0.9));
        assert_eq!((found[1].peak, found[1].share), (high as f64, 0.1));
    }
}

#[test]
fn neighbouring_levels_of_a_coarse_clock_are_one_mode() {
    let levels = [6, 7, 7, 7, 7, 8, 8, 8, 8, 8, 8, 9, 9, 9, 10];
    let found = modes_of((0..1500).map(|i| levels[i % levels.len()] * 1_000_000));
    assert_eq!(found.len(), 1, "{found:?}");
    let both = levels.map(|ms| if ms == 10 { 33 } else { ms });
    let found = modes_of((0..1500).map(|i| both[i % both.len()] * 1_000_000));
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn a_few_outliers_are_no_mode() {
    let mut random = Random::new(11);
    let mut values: Vec<u64> = (0..1000)
        .map(|_| (1e6 + 1e4 * random.normal()) as u64)
        .collect();
    values.extend([50_000_000; 9]);
    assert_eq!(modes_of(values).len(), 1);
}

#[test]
fn nothing_has_no_mode() {
    assert!(modes_of([]).is_empty());
}

#[test]
fn modes_survive_the_streaming_form() {
    let mut random = Random::new(5);
    let values = mixture(&mut random, 30_000, 0.1, 4.0, 0.1);
    let mut streaming = Series::with_exact_limit(2_000);
    values.iter().for_each(|&value| streaming.push(value));
    let (exact, streamed) = (modes_of(values), streaming.modes());
    assert_eq!(streamed.len(), 2, "{streamed:?}");
    for (a, b) in exact.iter().zip(&streamed) {
        assert!((a.share - b.share).abs() < 0.01 && (a.peak / b.peak - 1.0).abs() < 0.05);
    }
}
