//! Margins of constant and of varying delays, and of misses in a row, against known values.

use crate::loops::{ARRIVAL, integrator, on_miss, servo};
use wiregauge_control::{
    Cost, JointSearch, Loop, Matrix, NotCovered, OnMiss, Rules, StateSpace, cycle_growth,
    delay_margin, jitter_margin, misses, misses_radius,
};

const MS: u64 = 1_000_000;
const PERIOD: u64 = 6 * MS;

fn is_near(found: f64, expected: f64, by: f64) {
    let off = (found - expected).abs();
    assert!(off < by, "{found} found, {expected} expected");
}

#[test]
fn the_delay_margin_of_an_integrator_is_where_its_gain_is_the_limit() {
    // Limits of K h: 2 sin(pi/(2(2d+1))) for d whole periods, 1/f for a share f above 1/4.
    let margin = |gain| delay_margin(&integrator(gain)).margin_s.expect("it ends");
    for (gain, delay) in [
        (1.333333, 0.75),
        (1.0, 1.0),
        (0.618034, 2.0),
        (0.445042, 3.0),
    ] {
        // 1e-6 of the gain are about as much of the delay.
        is_near(margin(gain), delay, 1e-5);
    }
    let of_three = 2.0 * (std::f64::consts::PI / 14.0).sin();
    is_near(margin(of_three), 3.0, 1e-6);
    // Up to 2 it is stable without delay.
    assert_eq!(margin(2.000001), 0.0);
    is_near(margin(1.999999), 0.5, 1e-5);
    assert_eq!(delay_margin(&integrator(0.01)).margin_s, None);
}

#[test]
fn the_delay_margin_of_the_servo_is_known() {
    let found = delay_margin(&servo()).margin_s.expect("it ends");
    is_near(found * 1e3, 13.4051, 5e-5);
}

#[test]
fn the_jitter_margin_of_an_integrator_is_known() {
    for (gain, margin) in [
        (0.25, 3.464286),
        (0.5, 1.416667),
        (1.0, 0.25),
        (1.5, 0.027778),
    ] {
        let found = jitter_margin(&integrator(gain), 0.0);
        is_near(found.margin_s, margin, 1e-6);
        let expected = 2.0 * gain / (2.0 - gain);
        is_near(found.gain.expect("it is stable"), expected, 1e-9);
    }
    let unstable = jitter_margin(&integrator(2.1), 0.0);
    assert_eq!((unstable.margin_s, unstable.gain), (0.0, None));
    assert_eq!(jitter_margin(&integrator(0.0), 0.0).gain, None);
}

#[test]
fn the_jitter_margin_of_the_servo_is_known() {
    for (least, gain, margin) in [
        (0.0, 0.501684, 11.9464),
        (3e-3, 0.663821, 8.5387),
        (6e-3, 0.958833, 6.1754),
        (12e-3, 5.303686, 0.2133),
    ] {
        let found = jitter_margin(&servo(), least);
        is_near(found.gain.expect("it is stable"), gain, 2e-6);
        is_near(found.margin_s * 1e3, margin, 5e-5);
    }
}

#[test]
fn a_command_that_does_not_reach_the_output_may_jitter_without_end() {
    let one = Matrix::identity(1, 1);
    let zero = &one * 0.0;
    let plant = StateSpace::new("plant", -&one, one.clone(), one, zero.clone());
    let controller = StateSpace::gain(zero);
    let model = Loop::new(plant.expect("it fits"), controller, 1.0).expect("it fits");
    let found = jitter_margin(&model, 0.0);
    assert_eq!((found.gain, found.margin_s), (Some(0.0), f64::INFINITY));
}

#[test]
fn two_loops_side_by_side_have_the_smaller_margin_of_both() {
    let diagonal = |a: f64, b: f64| Matrix::from_row_slice(2, 2, &[a, 0.0, 0.0, b]);
    let [zero, one] = [0.0, 1.0].map(|value| diagonal(value, value));
    let plant = StateSpace::new("plant", zero.clone(), one.clone(), one, zero);
    let plant = plant.expect("it fits");
    let model = Loop {
        cost: Cost::of_output(&plant),
        ..Loop::new(plant, StateSpace::gain(diagonal(0.5, 1.0)), 1.0).expect("it fits")
    };
    is_near(jitter_margin(&model, 0.0).margin_s, 0.25, 1e-9);
}

#[test]
fn a_narrow_resonance_is_not_missed() {
    // Lightly damped mode beside an integrator: damping 1e-6.
    let plant = StateSpace::new(
        "plant",
        Matrix::from_row_slice(3, 3, &[-2e-6, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        Matrix::from_row_slice(3, 1, &[1e-3, 0.0, 1.0]),
        Matrix::from_row_slice(1, 3, &[1e-3, 0.0, 1.0]),
        Matrix::zeros(1, 1),
    );
    let plant = plant.expect("it fits");
    let controller = StateSpace::gain(Matrix::from_element(1, 1, 0.1));
    let model = Loop::new(plant, controller, 0.5).expect("it fits");
    let found = jitter_margin(&model, 0.0);
    let gain = found.gain.expect("it is stable");
    // Without the peak it is about 2 K h / (2 - K h) = 0.0513, at half of the sampling frequency.
    assert!(gain > 0.06, "{found:?}");
    is_near(found.frequency_rad_s, 1.0, 1e-3);
}

/// What the servo with a delay of 3 ms bears.
fn of_servo(rules: Rules) -> wiregauge_control::Misses {
    misses(&servo(), 3 * MS, 4, PERIOD, rules, 12).expect("it is covered")
}

#[test]
fn the_servo_bears_two_misses_in_a_row_and_breaks_at_four() {
    let found = of_servo(Rules::default());
    assert_eq!(found.proved, Some(2));
    let broken = found.broken.expect("four are too many");
    assert_eq!(broken.in_a_row, 4);
    assert!(broken.growth > 1.0);
    let zero = of_servo(on_miss(OnMiss::ZeroAtDeadline));
    assert!(zero.proved >= Some(3), "{zero:?}");
}

/// Growth per cycle of the servo under delays in ms that repeat, `None`: lost.
fn of_cycle(delays: &[Option<f64>], rules: Rules) -> f64 {
    let delays: Vec<_> = (delays.iter())
        .map(|delay| delay.map(|ms| (ms * 1e6).round() as u64))
        .collect();
    cycle_growth(&servo(), &delays, PERIOD, rules)
}

#[test]
fn more_answers_after_misses_may_hurt() {
    for (answers, growth) in [(1, 0.97441), (5, 1.01066), (6, 0.88394)] {
        let mut delays = vec![None; 4];
        delays.resize(4 + answers, Some(3.0));
        let of_all = of_cycle(&delays, Rules::default()).powi(delays.len() as i32);
        is_near(of_all, growth, 6e-6);
    }
}

#[test]
fn cycles_that_the_plain_margin_does_not_cover_break_the_servo() {
    let newest = Rules::default();
    // Of both periods together.
    let growth = |delays: &[Option<f64>], rules| of_cycle(delays, rules).powi(2);
    is_near(growth(&[Some(11.94), None], newest), 1.020772, 1e-6);
    let late = [Some(12.17), Some(6.0)];
    is_near(growth(&late, ARRIVAL), 1.019977, 1e-6);
    is_near(growth(&late, newest), 0.906873, 1e-6);
}

#[test]
fn the_joint_spectral_radius_of_runs_of_misses_is_known() {
    let search = JointSearch {
        depth: 8,
        tolerance: 0.01,
        products: 20_000,
        decides: false,
    };
    for (run, lower) in [(1, 0.8683), (2, 0.9159), (3, 0.9643), (4, 1.0188)] {
        let found = misses_radius(&servo(), 3 * MS, PERIOD, Rules::default(), run, search);
        let found = found.expect("it is covered");
        is_near(found.lower, lower, 1e-4);
        assert!(found.upper >= found.lower);
    }
}

#[test]
fn an_integrator_that_holds_breaks_at_the_known_run_of_losses() {
    for gain in [0.3, 0.45, 0.9, 1.5] {
        let found = misses(&integrator(gain), 0, 0, 1_000 * MS, Rules::default(), 12);
        let found = found.expect("it is covered");
        let limit = (2.0 / gain).ceil() as u32 - 1;
        assert_eq!(found.proved, Some(limit - 1));
        assert_eq!(found.broken.expect("it breaks").in_a_row, limit);
    }
}

#[test]
fn rules_that_the_blocks_do_not_cover_are_refused() {
    let of = |delay, rules| misses(&servo(), delay, 0, PERIOD, rules, 3);
    let skip = of(PERIOD, on_miss(OnMiss::Skip));
    assert_eq!(skip, Err(NotCovered::LongDelay));
    let deadline = Rules {
        deadline_ns: Some(2 * MS),
        ..on_miss(OnMiss::ZeroAtDeadline)
    };
    assert_eq!(of(3 * MS, deadline), Err(NotCovered::BeyondDeadline));
    let long = Rules {
        deadline_ns: Some(7 * MS),
        ..deadline
    };
    assert_eq!(of(3 * MS, long), Err(NotCovered::LongDeadline));
    assert!(of(PERIOD + MS, ARRIVAL).is_ok());
}
