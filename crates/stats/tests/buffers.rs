//! The interval of the buffer for a loss probability must hold the truth at least 90 times in 100:
//! with light and heavy tails, with a buffer that empties between transfers and one that does not,
//! for losses that the run has seen and for such that it has not.

use crate::common;

use common::{Random, seeds, skewed_autoregression};
use wiregauge_stats::{Backlog, Buffer};

/// One byte a microsecond, so that a gap of 1 ms makes 1000 B.
const RATE: u64 = 1_000_000;

/// Where gaps come from; all but the autoregression have a mean of 1 ms.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Gaps {
    Exponential,
    /// P(gap > x) = (1 + x / (2 ms))^-3.
    Pareto,
    /// Log-normal, median 1 ms, over an autoregression with phi = 0.9.
    Dependent,
}

impl Gaps {
    fn draw(self, random: &mut Random, n: usize) -> Vec<f64> {
        match self {
            Gaps::Exponential => (0..n).map(|_| random.exponential()).collect(),
            Gaps::Pareto => (0..n)
                .map(|_| 2.0 * (random.uniform().powf(-1.0 / 3.0) - 1.0))
                .collect(),
            Gaps::Dependent => skewed_autoregression(random, 0.9, n)
                .iter()
                .map(|&ns| ns as f64 / 1e6)
                .collect(),
        }
    }
}

/// Gaps, and how much of what a transfer could take is made in a mean gap; 0: each takes all.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Model {
    gaps: Gaps,
    load: f64,
}

impl Model {
    fn bytes(self) -> u64 {
        match self.load {
            0.0 => 1_000_000_000,
            load => (1000.0 / load).round() as u64,
        }
    }

    fn run(self, seed: u64, n: usize) -> Backlog {
        let mut backlog = Backlog::new(RATE);
        let mut random = Random::new(seed);
        let mut at_ns = 0.0;
        // A buffer that was empty at the start is not yet what it will be.
        let gaps = self.gaps.draw(&mut random, n + 1000);
        let (before, measured) = gaps.split_at(1000);
        let mut level = 0.0_f64;
        for gap in before {
            level = (level + gap * 1e3 - self.bytes() as f64).max(0.0);
        }
        backlog.begin(0);
        at_ns += level * 1e3;
        for gap in measured {
            at_ns += gap * 1e6;
            backlog.complete(at_ns.round() as u64, self.bytes());
        }
        backlog
    }

    /// The level that this part of the transfers exceeds.
    fn truth(self, loss: f64) -> f64 {
        match (self.gaps, self.load) {
            (Gaps::Exponential, 0.0) => -1000.0 * loss.ln(),
            (Gaps::Pareto, 0.0) => 2000.0 * (loss.powf(-1.0 / 3.0) - 1.0),
            // The level before a transfer is the sojourn time of the queue D/M/1 (Kleinrock,
            // "Queueing Systems" 1, 6.4): exponential, with s the root of s = exp(-(1 - s) / load).
            (Gaps::Exponential, load) => {
                let s = (0..200).fold(0.5, |s: f64, _| (-(1.0 - s) / load).exp());
                -1000.0 * loss.ln() / (1.0 - s)
            }
            (Gaps::Dependent, 0.0) => {
                let z = match loss {
                    0.01 => 2.326_347_874_041,
                    1e-3 => 3.090_232_306_168,
                    1e-4 => 3.719_016_485_456,
                    1e-5 => 4.264_890_793_923,
                    _ => panic!("no quantile of the normal distribution for {loss}"),
                };
                1000.0 * f64::exp(0.5 * z)
            }
            // From 1e9 transfers: `long_run`, below.
            (Gaps::Pareto, 0.5) => match loss {
                0.01 => 20_820.0,
                1e-3 => 64_970.0,
                1e-4 => 203_900.0,
                _ => panic!("not simulated for {loss}"),
            },
            _ => panic!("the truth of {self:?} is not known"),
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Found {
    held: f64,
    extrapolated: f64,
    printed: f64,
    /// Median of estimate / truth, and of high / low.
    bias: f64,
    width: f64,
}

/// What the same runs tell of each loss.
fn coverage<const N: usize>(model: Model, n: usize, losses: [f64; N], seeds: u64) -> [Found; N] {
    let mut found = losses.map(|_| Found::default());
    let mut ratios = losses.map(|_| Vec::new());
    let mut widths = losses.map(|_| Vec::new());
    for seed in 0..seeds {
        let backlog = model.run(seed, n);
        for (at, loss) in losses.into_iter().enumerate() {
            let need: Buffer = backlog.need(loss);
            let Some(estimate) = need.for_loss else {
                continue;
            };
            let truth = model.truth(loss);
            let low = estimate.low.unwrap_or(0.0);
            let high = estimate.high.expect("told only with a bound");
            let found = &mut found[at];
            found.printed += 1.0;
            found.held += f64::from(u8::from((low..=high).contains(&truth)));
            found.extrapolated += f64::from(u8::from(need.extrapolated));
            ratios[at].push(estimate.value / truth);
            widths[at].push(high / low);
        }
    }
    let median = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    };
    for (at, found) in found.iter_mut().enumerate() {
        let printed = f64::max(found.printed, 1.0);
        found.held /= printed;
        found.extrapolated /= printed;
        found.printed /= seeds as f64;
        found.bias = median(&mut ratios[at]);
        found.width = median(&mut widths[at]);
    }
    found
}

const fn model(gaps: Gaps, load: f64) -> Model {
    Model { gaps, load }
}

const MODELS: [Model; 5] = [
    model(Gaps::Exponential, 0.0),
    model(Gaps::Exponential, 0.8),
    model(Gaps::Pareto, 0.0),
    model(Gaps::Pareto, 0.5),
    model(Gaps::Dependent, 0.0),
];

/// Losses that ten thousand transfers have seen, and such that they have not.
fn assert_covered(gaps: Gaps) {
    let model = model(gaps, 0.0);
    let losses = [0.01, 1e-4, 2e-5];
    let found = coverage(model, 10_000, losses, 60);
    for ((loss, beyond), found) in losses.into_iter().zip([false, true, true]).zip(found) {
        // Each test of the tail refuses one in a hundred by chance.
        let printed = if beyond { 0.9 } else { 1.0 };
        let case = format!("{model:?} at {loss}");
        assert!(found.printed >= printed, "{case}");
        assert_eq!(found.extrapolated > 0.5, beyond, "{case}");
        let Found { held, bias, .. } = found;
        assert!(held >= 0.9, "{case}: held in {held}");
        assert!((0.9..1.1).contains(&bias), "{case}: {bias} of the truth");
    }
}

#[test]
fn a_light_tail_is_covered() {
    assert_covered(Gaps::Exponential);
}

#[test]
fn a_heavy_tail_is_covered() {
    assert_covered(Gaps::Pareto);
}

#[test]
fn a_buffer_that_seldom_empties_is_covered() {
    let model = model(Gaps::Exponential, 0.8);
    let [found] = coverage(model, 100_000, [1e-4], 40);
    assert!(found.held >= 0.9, "held in {}", found.held);
}

/// One long gap fills the buffer for hundreds of transfers: a run has too few such events to tell how long
/// the next one is.
#[test]
fn a_heavy_tail_under_load_is_not_continued() {
    let model = model(Gaps::Pareto, 0.5);
    for found in coverage(model, 10_000, [0.01, 1e-3, 1e-4], 100) {
        let beyond = found.printed * found.extrapolated;
        assert!(beyond <= 0.02, "continued in {beyond}");
    }
}

/// Dependent gaps are worth fewer than their number; where they are worth too few, nothing is said.
#[test]
fn few_independent_gaps_tell_nothing_of_what_they_did_not_see() {
    let model = model(Gaps::Dependent, 0.0);
    assert_eq!(coverage(model, 1000, [1e-3], 20)[0].printed, 0.0);
    let [found] = coverage(model, 10_000, [1e-4], 20);
    assert!(found.printed >= 0.5, "printed in {}", found.printed);
    assert_eq!(found.extrapolated, 1.0);
    assert!(found.held >= 0.9, "held in {}", found.held);
}

/// The table in docs/statistics.md.
#[test]
#[ignore = "minutes; run in release"]
fn table_of_coverage() {
    for n in [1000, 10_000, 100_000] {
        for model in MODELS {
            let Model { gaps, load } = model;
            print!("| {n} | {gaps:?} | {load} |");
            // The truth of the loaded Pareto model is not known beyond.
            let found = match (gaps, load > 0.0) {
                (Gaps::Pareto, true) => coverage(model, n, [0.01, 1e-3, 1e-4], seeds(200)).to_vec(),
                _ => coverage(model, n, [0.01, 1e-3, 1e-4, 1e-5], seeds(200)).to_vec(),
            };
            for at in 0..4 {
                let Some(found) = found.get(at) else {
                    print!(" |");
                    continue;
                };
                if found.printed < 0.05 {
                    print!(" - |");
                    continue;
                }
                let beyond = if found.extrapolated > 0.5 { "~" } else { "" };
                let Found { bias, width, .. } = found;
                let held = found.held * 100.0;
                print!(" {beyond}{held:.0} % ({bias:.2}, x {width:.1}) |");
            }
            println!();
        }
    }
}

/// Where the truths of the loaded Pareto model come from.
#[test]
#[ignore = "minutes; run in release"]
fn long_run() {
    let mut random = Random::new(77);
    let mut counts = vec![0u64; 1 << 20];
    let mut level = 0.0_f64;
    let n = seeds(1_000_000_000);
    for _ in 0..n {
        level += 2000.0 * (random.uniform().powf(-1.0 / 3.0) - 1.0);
        let cell = (level as usize).min(counts.len() - 1);
        counts[cell] += 1;
        level = (level - 2000.0).max(0.0);
    }
    for loss in [0.01, 1e-3, 1e-4, 1e-5] {
        let mut above = 0;
        let mut at = counts.len();
        while (above as f64) < loss * n as f64 {
            at -= 1;
            above += counts[at];
        }
        println!("{loss} => {at}");
    }
}
