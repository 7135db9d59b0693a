//! What is said about a loop with a trace.

use crate::loops::{integrator, servo};
use wiregauge_control::{ControlError, Rules, Stated, TICKS, Verdict, assess};

const PERIOD_NS: u64 = 6_000_000;

#[track_caller]
fn assert_near(found: f64, expected: f64, part: f64) {
    let off = (found / expected - 1.0).abs();
    assert!(off < part, "{found}, {expected} expected");
}

#[test]
fn a_trace_of_one_delay_costs_what_that_constant_delay_does() {
    let model = servo();
    let delay = PERIOD_NS / 4;
    let found = assess(&model, &[Some(delay); 2000], Rules::default()).expect("a verdict");
    let trace = &found.on_trace;
    let cost = trace.cost.expect("it held");
    let (median, none) = (&trace.median_delay, &trace.no_delay);
    assert_near(cost, median.cost.expect("stable"), 1e-6);
    assert_near(trace.growth, median.growth, 1e-3);
    let equal = trace.equal_delay_ns.expect("on the curve");
    let most = 2 * PERIOD_NS / u64::from(TICKS);
    assert!(equal.abs_diff(delay) < most, "{equal}");
    let interval = trace.interval.expect("long enough");
    assert_near(interval.low, cost, 1e-6);
    assert_near(interval.high, cost, 1e-6);
    let ratio = median.variance.expect("stable") / none.variance.expect("stable");
    assert_near(trace.worst_ratio.powi(2), ratio, 1e-6);
    let steps = trace.step.as_ref().expect("it follows");
    assert!((steps.target - 1.0).abs() < 1e-9);
    assert_eq!(steps.median, steps.worst);
    let overshoot = steps.no_delay.overshoot;
    assert!((overshoot - 0.37458).abs() < 0.01, "{overshoot}");
    assert!(steps.median.overshoot > overshoot);
    assert!(!found.buffer.expect("it held").is_worth_it());
}

#[test]
fn a_single_straggler_does_not_change_the_growth_of_a_long_trace() {
    let model = servo();
    for at in [100, 1900] {
        let mut delays = vec![Some(PERIOD_NS / 4); 2000];
        delays[at] = Some(2 * PERIOD_NS + PERIOD_NS / 3);
        delays[at + 1] = None;
        delays[at + 2] = None;
        let found = assess(&model, &delays, Rules::default()).expect("a verdict");
        let trace = &found.on_trace;
        assert_near(trace.growth, trace.median_delay.growth, 5e-3);
        assert!(trace.interval.is_some());
    }
}

#[test]
fn the_worst_moment_is_that_of_the_longest_run_of_lost_answers() {
    let mut delays = vec![Some(PERIOD_NS / 2); 3000];
    delays[1000..1003].fill(None);
    delays[2000..2008].fill(None);
    let found = assess(&servo(), &delays, Rules::default()).expect("a verdict");
    assert_eq!(found.delays.longest_loss, 8);
    let worst = found.on_trace.worst_cycle;
    assert!((2008..2020).contains(&worst), "{worst}");
    let ratio = found.on_trace.worst_ratio;
    assert!(ratio > 3.0, "{ratio}");
    let steps = found.on_trace.step.expect("it held");
    assert!(steps.worst.overshoot >= steps.median.overshoot);
    let band = &steps.band;
    assert!(band.iter().all(|quantiles| quantiles.is_sorted()));
    assert_eq!(band.len(), steps.output.len());
}

#[test]
fn a_loop_that_grew_on_the_trace_has_no_cost_and_no_step() {
    let found = assess(&servo(), &[Some(5 * PERIOD_NS / 2); 2000], Rules::default());
    let found = found.expect("a verdict");
    assert!(found.on_trace.growth > 1.0);
    let trace = &found.on_trace;
    assert!(trace.cost.is_none() && trace.interval.is_none());
    assert!(trace.step.is_none() && found.buffer.is_none());
    // And the curve ends where constant delays do: 13.4 ms.
    let last = found.on_trace.curve.last().expect("a curve").delay_ns;
    assert!((12_000_000..13_410_000).contains(&last), "{last}");
}

#[test]
fn where_cost_rises_steeply_the_curve_of_constant_delays_is_finer() {
    let tick = PERIOD_NS / u64::from(TICKS);
    let longest = 2 * PERIOD_NS;
    let stride = (2 * longest / 48).div_ceil(tick) * tick;
    let mut delays = vec![Some(PERIOD_NS / 4); 2000];
    delays[1000] = Some(longest);
    let found = assess(&servo(), &delays, Rules::default()).expect("a verdict");
    let curve = &found.on_trace.curve;
    let mut between = 0;
    for pair in curve.windows(2) {
        let width = pair[1].delay_ns - pair[0].delay_ns;
        let rise = pair[1].cost.expect("stable") / pair[0].cost.expect("stable");
        assert!(width > 0 && width <= stride, "{width}");
        let at = pair[0].delay_ns;
        assert!(rise <= 1.1 || width <= tick, "{rise} at {at}");
        between += usize::from(width < stride);
    }
    assert!(between > 2, "{between}");
}

#[test]
fn holding_every_command_helps_where_delays_differ_and_more_delay_does_not_hurt() {
    // With this gain a tenth of a period of delay is better than none: near the limit of K h = 2 a later command
    // overshoots less.
    let mut random = fastrand::Rng::with_seed(7);
    let delays: Vec<_> = (0..4000)
        .map(|_| Some(if random.bool() { 100_000_000 } else { 0 }))
        .collect();
    let found = assess(&integrator(1.9), &delays, Rules::default()).expect("a verdict");
    let buffer = found.buffer.expect("it held");
    assert_eq!(buffer.delay_ns, 100_000_000);
    assert!(buffer.is_worth_it());
    let mut curve = found.on_trace.curve.iter();
    let constant = curve.find(|point| point.delay_ns > 99_000_000);
    let cost = constant.expect("on the curve").cost.expect("stable");
    assert_near(buffer.cost, cost, 1e-2);
}

#[test]
fn a_short_trace_has_no_interval() {
    let found = assess(&servo(), &[Some(PERIOD_NS / 2); 100], Rules::default()).expect("a verdict");
    assert!(found.on_trace.cost.is_some());
    assert_eq!(found.on_trace.interval, None);
}

#[test]
fn a_loop_that_no_delay_could_make_worse_is_refused_first() {
    let unstable = assess(&integrator(2.5), &[Some(0); 10], Rules::default());
    let error = unstable.expect_err("unstable").to_string();
    let words = "the loop is unstable without any delay (it grows by a factor of 1.5";
    assert!(error.starts_with(words), "{error}");
    let silent = assess(&servo(), &[None; 10], Rules::default());
    assert_eq!(silent, Err(ControlError::NoAnswer));
}

#[test]
fn the_three_verdicts_are_separate_and_none_follows_from_another() {
    // Delays up to 1.2 periods, and now and then two lost in a row: it held on the trace and holds in the long run, but
    // no proof covers any order.
    let mut random = fastrand::Rng::with_seed(11);
    let mut delays: Vec<_> = (0..5000)
        .map(|_| Some(random.u64(PERIOD_NS / 6..6 * PERIOD_NS / 5)))
        .collect();
    for start in (100..5000).step_by(250) {
        delays[start..start + 2].fill(None);
    }
    let found = assess(&servo(), &delays, Rules::default()).expect("a verdict");
    assert!(found.on_trace.growth < 1.0);
    let Stated::Made(long_run) = &found.long_run else {
        panic!("no statement: {:?}", found.long_run);
    };
    assert!(long_run.independent.growth < 1.0);
    assert_ne!(found.any_order.verdict, Verdict::Proved);
    // The trace's own cost and that of its statistics agree.
    let random = long_run.independent.cost.expect("holds");
    assert_near(found.on_trace.cost.expect("held"), random, 0.05);
    let Stated::Made(misses) = &found.misses else {
        panic!("no statement: {:?}", found.misses);
    };
    assert_eq!(misses.longest_seen, 2);
    let broken = misses.broken.as_ref().map(|broken| broken.in_a_row);
    assert!(misses.proved >= Some(1) && broken > Some(2));
    let margin = found.delay_margin.margin_s.expect("it has one");
    assert!((margin - 13.4051e-3).abs() < 1e-7, "{margin}");

    // Nearly constant and none lost: proved as well.
    let calm: Vec<_> = (0..1000)
        .map(|k| Some(PERIOD_NS / 4 + 1000 * (k % 50)))
        .collect();
    let found = assess(&servo(), &calm, Rules::default()).expect("a verdict");
    assert_eq!(found.any_order.verdict, Verdict::Proved);

    // Too short for the long run.
    let short = assess(&servo(), &calm[..150], Rules::default()).expect("a verdict");
    let json = serde_json::to_value(&short).expect("JSON");
    let reason = json["long_run"]["reason"].as_str();
    assert!(reason.is_some_and(|reason| reason.contains("too few")));
}
