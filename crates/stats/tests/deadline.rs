//! The interval of the share of responses that exceed a limit must hold the truth about 95 times in
//! 100: for tails of every kind, independent or not, for limits that the run has seen exceeded and for
//! such that it has not. And what follows no such tail must be refused.

use crate::common;

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
    /// The upper half of a normal distribution.
    HalfNormal,
}

impl Shape {
    /// The value that this share exceeds.
    fn exceeded_by(self, share: f64) -> f64 {
        1e6 * match self {
            Shape::Uniform => 1.0 - share,
            Shape::Exponential => -share.ln(),
            Shape::LogNormal(sigma) => (-sigma * Normal::standard().inverse_cdf(share)).exp(),
            Shape::Pareto(shape) => (share.powf(-shape) - 1.0) / shape,
            Shape::HalfNormal => -Normal::standard().inverse_cdf(share / 2.0),
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
    /// An upper bound was told.
    printed: f64,
    /// Of those: the truth was not above it.
    held: f64,
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
            let limit = shape.exceeded_by(share);
            let Exceeding::Rarer { than } = tail.exceeding(limit, f64::INFINITY, SURE) else {
                continue;
            };
            found.printed += 1.0;
            found.held += f64::from(u8::from(share <= than));
            found.width += (than / share).ln();
        }
    }
    found
}

const TAILS: [(Shape, Order); 6] = [
    (Shape::HalfNormal, Order::Independent),
    (Shape::Exponential, Order::Independent),
    (Shape::Pareto(0.3), Order::Independent),
    (Shape::Pareto(-0.2), Order::Independent),
    (Shape::Exponential, Order::Autoregression(0.5)),
    (Shape::Pareto(0.3), Order::Clusters(0.5)),
];

#[test]
fn the_interval_of_a_rare_share_holds_it() {
    for tail in TAILS {
        // One in three runs exceeds it, one in ten: the others extrapolate.
        for found in coverage(tail, 5000, [6e-5, 2e-5], 40) {
            assert!(found.printed >= 0.6 * found.runs, "{tail:?}: {found:?}");
            assert!(found.held >= 0.85 * found.printed, "{tail:?}: {found:?}");
        }
    }
}

/// At any threshold that a run reaches, the tail of a normal distribution looks as if it ended.
#[test]
fn a_tail_that_seems_to_end_is_bounded_as_one_that_does_not() {
    let (n, seeds) = (10_000, 40);
    for rarer in [3.0, 10.0] {
        let one_in = rarer * n as f64;
        let truth = Shape::HalfNormal.exceeded_by(1.0 / one_in);
        let (mut printed, mut above) = (0, 0);
        for seed in 0..seeds {
            let tail = responses(Shape::HalfNormal, Order::Independent, seed, n).tail();
            let Some(level) = tail.ok().and_then(|tail| tail.level(one_in, SURE)) else {
                continue;
            };
            printed += 1;
            above += u32::from(level < truth);
        }
        assert!(printed >= 30, "one in {rarer} n: {printed} printed");
        let few = 10 * above <= printed;
        assert!(few, "one in {rarer} n: {above} of {printed}");
    }
}

/// How often the interval of the share of missed cycles held the truth, and that truth was above it.
fn coverage_of_misses(order: Order, n: usize, share: f64, seeds: u64) -> [f64; 2] {
    let shape = Shape::Exponential;
    let deadline = shape.exceeded_by(share);
    let rule = CycleRule {
        // No response is as long as a period, so each exchange is one cycle and the truth is `share`.
        period: u64::MAX,
        deadline: deadline as u64,
        between: None,
        outstanding: 1,
    };
    let (mut held, mut above) = (0.0, 0.0);
    for seed in 0..seeds {
        let mut random = Random::new(seed);
        let mut cycles = Cycles::new(rule);
        let mut responses = Responses::new();
        for share in order.draw(&mut random, n) {
            let response = shape.exceeded_by(share).round() as u64;
            responses.push(response);
            cycles.replay(response, true);
        }
        let found = cycles.finish(responses.together(), SURE).share;
        let (low, high) = (found.low.expect("a bound"), found.high.expect("a bound"));
        held += f64::from(u8::from((low..=high).contains(&share))) / seeds as f64;
        above += f64::from(u8::from(high < share)) / seeds as f64;
    }
    [held, above]
}

fn orders(index: f64) -> [Order; 3] {
    let clusters = Order::Clusters(index);
    [Order::Independent, Order::Autoregression(0.9), clusters]
}

#[test]
fn the_interval_of_the_missed_cycles_holds_their_share() {
    for order in orders(0.3) {
        // Many misses, few, and none in most runs.
        for share in [0.02, 0.001, 0.0001] {
            let [held, _] = coverage_of_misses(order, 4000, share, 60);
            assert!(held >= 0.85, "{order:?}, {share}: {held}");
        }
    }
}

fn refused(values: impl Iterator<Item = u64>) -> Option<NoTail> {
    let mut responses = Responses::new();
    values.for_each(|value| responses.push(value));
    responses.tail().err()
}

#[test]
fn a_comb_is_refused() {
    // A device that is polled each millisecond: whole milliseconds and some jitter.
    let mut random = Random::new(1);
    let polled = (0..20_000).map(|_| {
        let polls = (random.exponential() * 1.5).ceil();
        (polls * 1e6 + random.uniform() * 5e4) as u64
    });
    let why = refused(polled);
    assert!(matches!(why, Some(NoTail::Gap { .. })), "{why:?}");
}

#[test]
fn whole_milliseconds_are_refused() {
    // Frames of 1 ms, read by a clock that ticks with them: alone, and several in a row alike.
    for alike in [1, 5] {
        let mut random = Random::new(7);
        let mut frames = 0.0;
        let polled = (0..20_000).map(|at| {
            if at % alike == 0 {
                frames = (random.exponential() * 1.5).ceil();
            }
            (frames * 1e6) as u64
        });
        let why = refused(polled);
        assert!(matches!(why, Some(NoTail::Levels { .. })), "{why:?}");
    }
}

/// Exponential around 0.3 ms; some wait for a time slice of 4 ms besides.
fn two_causes(seed: u64, sliced: f64) -> impl Iterator<Item = u64> {
    let mut random = Random::new(seed);
    (0..20_000).map(move |_| {
        let slice = if random.uniform() < sliced { 4e6 } else { 0.0 };
        (2e5 + slice + random.exponential() * 1e5) as u64
    })
}

#[test]
fn a_tail_of_two_causes_is_refused_unless_the_second_has_enough_of_its_own() {
    for sliced in [0.0005, 0.001, 0.002, 0.004] {
        let refusals = (0..40).filter(|&seed| {
            let why = refused(two_causes(seed, sliced));
            matches!(why, Some(NoTail::Gap { from, to, .. }) if from < 2e6 && to > 4e6)
        });
        let refusals = refusals.count();
        println!("{sliced}: {refusals}");
        assert!(refusals >= 38, "{sliced}: {refusals}");
    }
    // One in fifty: above 4.2 ms there is nothing but the second cause.
    let mut responses = Responses::new();
    two_causes(1, 0.02).for_each(|value| responses.push(value));
    let tail = responses.tail().expect("a tail");
    assert!(tail.threshold > 4e6, "{}", tail.threshold);
    // What was exceeded is counted; just beyond the largest, the bound holds the truth.
    assert_eq!(tail.exceeding(4.7e6, 1e5, SURE), Exceeding::Seen);
    let largest = responses.series().distribution().expect("values").max;
    let truth = 0.02 * (-(largest - 4.2e6) / 1e5).exp();
    let Exceeding::Rarer { than } = tail.exceeding(largest + 1.0, f64::INFINITY, SURE) else {
        panic!("{tail:?}");
    };
    assert!(truth <= than, "{truth} {than}");
}

#[test]
fn equal_values_too_few_and_a_run_that_changed_are_refused() {
    let why = refused((0..10_000).map(|_| 5_000_000));
    assert!(matches!(why, Some(NoTail::TooFew { .. })), "{why:?}");
    let mut random = Random::new(3);
    let why = refused((0..300).map(|_| (random.exponential() * 1e6) as u64));
    let Some(NoTail::TooFew { values_needed, .. }) = why else {
        panic!("{why:?}");
    };
    assert!((400.0..2000.0).contains(&values_needed), "{values_needed}");
    let changed = (0..20_000).map(|at| {
        let slower = if at < 14_000 { 1.0 } else { 2.0 };
        (random.exponential() * 1e6 * slower) as u64
    });
    let why = refused(changed);
    let seen = matches!(why, Some(NoTail::Unsteady | NoTail::TooFew { .. }));
    assert!(seen, "{why:?}");
}

#[test]
fn a_question_beyond_the_reach_is_refused_with_what_would_carry_it() {
    let tail = responses(Shape::Exponential, Order::Independent, 4, 10_000).tail();
    let tail = tail.expect("a tail");
    assert!(tail.carries(50_000.0).is_ok());
    let Err(NoTail::TooFar {
        carried,
        values_needed,
        ..
    }) = tail.carries(1e9)
    else {
        panic!("{tail:?}");
    };
    assert!((50_000.0..=100_000.0).contains(&carried), "{carried}");
    let off = values_needed / 1e8 - 1e5 / carried;
    assert!(off.abs() < 0.01, "{values_needed}");
    // Far beyond everything: rarer than can be told, and not by how much.
    let rare = tail.exceeding(1e9, 50_000.0, SURE);
    let than = 1.0 / 50_000.0;
    assert_eq!(rare, Exceeding::Rarer { than });
    assert_eq!(tail.exceeding(1e6, 50_000.0, SURE), Exceeding::Seen);
}

#[test]
fn what_follows_such_a_tail_is_seldom_refused() {
    for shape in [-0.3, 0.0001, 0.4] {
        let seeds = 100;
        let fits = |seed| responses(Shape::Pareto(shape), Order::Independent, seed, 2000).tail();
        let refused = (0..seeds).filter(|&seed| fits(seed).is_err()).count();
        assert!(refused <= 12, "shape {shape}: {refused} of {seeds}");
    }
}

/// The second table in docs/deadline.md.
#[test]
#[ignore = "a minute; run in release"]
fn table_of_missed_shares() {
    for n in [1000, 10_000, 100_000] {
        for order in orders(0.5) {
            let cells = [100.0, 10.0, 1.0, 0.1].map(|expected| {
                let share = expected / n as f64;
                let [held, above] = coverage_of_misses(order, n, share, seeds(500));
                format!("{:.1} % ({:.1} %)", 100.0 * held, 100.0 * above)
            });
            println!("| {n} | {order:?} | {} |", cells.join(" | "));
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
        Shape::HalfNormal,
        Shape::Exponential,
        Shape::LogNormal(0.5),
        Shape::LogNormal(1.0),
        Shape::Pareto(0.3),
    ];
    for n in [1000, 10_000, 100_000] {
        for order in orders(0.5) {
            for shape in shapes {
                let per = n as f64;
                let shares = [1.0 / per, 0.3 / per, 0.1 / per, 0.03 / per];
                let found = coverage((shape, order), n, shares, seeds(200));
                let cells = found.map(|f| match f.printed >= 0.05 * f.runs {
                    true => {
                        let (held, printed) =
                            (100.0 * f.held / f.printed, 100.0 * f.printed / f.runs);
                        let width = (f.width / f.printed).exp();
                        format!("{held:.0} % of {printed:.0} %, x {width:.1}")
                    }
                    false => "-".to_owned(),
                });
                println!("| {n} | {shape:?} | {order:?} | {} |", cells.join(" | "));
            }
        }
    }
}
