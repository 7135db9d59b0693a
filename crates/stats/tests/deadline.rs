//! The interval of the share of responses that exceed a limit must hold the truth about 95 times in
//! 100: for tails of every kind, independent or not, for limits that the run has seen exceeded and for
//! such that it has not. And what follows no such tail must be refused.

mod common;

use common::{Random, seeds};
use statrs::distribution::{ContinuousCDF, Normal};
use wiregauge_stats::{Confidence, CycleRule, Cycles, Exceeding, NoTail, Responses};

const SURE: Confidence = Confidence::NINETY_FIVE;

/// What single responses follow, in nanoseconds around 1 ms.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Uniform,
    Exponential,
    /// Log-normal with this sigma.
    LogNormal(f64),
    /// Generalised Pareto with this shape.
    Pareto(f64),
}

impl Shape {
    /// The value that this share exceeds.
    fn exceeded_by(self, share: f64) -> f64 {
        1e6 * match self {
            Shape::Uniform => 1.0 - share,
            Shape::Exponential => -share.ln(),
            Shape::LogNormal(sigma) => (-sigma * Normal::standard().inverse_cdf(share)).exp(),
            Shape::Pareto(shape) => (share.powf(-shape) - 1.0) / shape,
        }
    }
}

/// How they depend on each other; what each follows by itself is not touched by that.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    Independent,
    /// A Gaussian autoregression of first order with this phi.
    Autoregression(f64),
    /// A moving maximum with this extremal index: the long ones come in clusters of 1 / index (Davis
    /// & Resnick 1989).
    Clusters(f64),
}

impl Order {
    /// Shares that are exceeded: uniform, in time order.
    fn draw(self, random: &mut Random, n: usize) -> Vec<f64> {
        match self {
            Order::Independent => (0..n).map(|_| random.uniform()).collect(),
            Order::Autoregression(phi) => {
                let mut x = random.normal();
                let normal = Normal::standard();
                (0..n)
                    .map(|_| {
                        x = phi * x + (1.0 - phi * phi).sqrt() * random.normal();
                        normal.cdf(-x)
                    })
                    .collect()
            }
            Order::Clusters(index) => {
                // Frechet distributed, P(Y <= y) = exp(-1 / y).
                let frechet = |random: &mut Random| -1.0 / random.uniform().ln();
                let mut y = frechet(random);
                (0..n)
                    .map(|_| {
                        y = f64::max((1.0 - index) * y, index * frechet(random));
                        -(-1.0 / y).exp_m1()
                    })
                    .collect()
            }
        }
    }
}

fn responses(shape: Shape, order: Order, seed: u64, n: usize) -> Responses {
    let mut random = Random::new(seed);
    let mut responses = Responses::new();
    for share in order.draw(&mut random, n) {
        responses.push(shape.exceeded_by(share).round() as u64);
    }
    responses
}

/// What the same runs say of a limit that this share exceeds.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    runs: f64,
    /// Told something: a share, or that it is rarer than can be told.
    told: f64,
    /// Of those: the truth was held.
    held: f64,
    /// Of those: a share.
    shares: f64,
    /// Too small a share was told of.
    above: f64,
    /// Sum of the logarithms of upper bound over truth.
    width: f64,
}

fn coverage<const N: usize>(
    (shape, order): (Shape, Order),
    n: usize,
    shares: [f64; N],
    seeds: u64,
) -> [Found; N] {
    let mut found = shares.map(|_| Found::default());
    for seed in 0..seeds {
        let tail = responses(shape, order, seed, n).tail();
        for (found, share) in found.iter_mut().zip(shares) {
            found.runs += 1.0;
            let Ok(tail) = &tail else { continue };
            let (low, high) = match tail.exceeding(shape.exceeded_by(share), f64::INFINITY, SURE) {
                Exceeding::Seen => continue,
                Exceeding::Share(told) => {
                    found.shares += 1.0;
                    (told.low.unwrap_or(0.0), told.high.unwrap_or(1.0))
                }
                Exceeding::Rarer { than } => (0.0, than),
            };
            found.told += 1.0;
            found.held += f64::from(u8::from((low..=high).contains(&share)));
            found.above += f64::from(u8::from(high < share));
            found.width += (high / share).ln();
        }
    }
    found
}

const TAILS: [(Shape, Order); 5] = [
    (Shape::Exponential, Order::Independent),
    (Shape::Pareto(0.3), Order::Independent),
    (Shape::Pareto(-0.2), Order::Independent),
    (Shape::Exponential, Order::Autoregression(0.5)),
    (Shape::Pareto(0.3), Order::Clusters(0.5)),
];

#[test]
fn the_interval_of_a_rare_share_holds_it() {
    for tail in TAILS {
        // Three a run, and one in three runs.
        for found in coverage(tail, 5000, [6e-4, 6e-5], 40) {
            assert!(found.told >= 0.6 * found.runs, "{tail:?}: {found:?}");
            assert!(found.held >= 0.85 * found.told, "{tail:?}: {found:?}");
        }
    }
}

/// The table in docs/deadline.md.
#[test]
#[ignore = "minutes; run in release"]
fn table_of_coverage() {
    let shapes = [
        Shape::Uniform,
        Shape::Pareto(-0.2),
        Shape::Exponential,
        Shape::LogNormal(0.5),
        Shape::LogNormal(1.0),
        Shape::Pareto(0.3),
    ];
    let orders = [
        Order::Independent,
        Order::Autoregression(0.9),
        Order::Clusters(0.5),
    ];
    for n in [1000, 10_000, 100_000] {
        for order in orders {
            for shape in shapes {
                let per = n as f64;
                let shares = [10.0 / per, 1.0 / per, 0.3 / per, 0.1 / per];
                let found = coverage((shape, order), n, shares, seeds(200));
                let cells = found.map(|f| match f.told >= 0.05 * f.runs {
                    true => format!(
                        "{:.0} % ({:.0} % told, {:.0} % low, x {:.1})",
                        100.0 * f.held / f.told,
                        100.0 * f.told / f.runs,
                        100.0 * f.above / f.told,
                        (f.width / f.told).exp()
                    ),
                    false => "-".to_owned(),
                });
                println!("| {n} | {shape:?} | {order:?} | {} |", cells.join(" | "));
            }
        }
    }
}
