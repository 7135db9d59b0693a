//! Known figures: computed by hand, by JitterTime's formulas and by independent programs.

use crate::loops::{ARRIVAL, integrator, on_miss, servo};
use wiregauge_control::{
    Flows, Loop, Maps, OnMiss, Rules, StepPlan, constant_delay, schedule, step,
};

/// Ticks a period: every delay of these tests is a whole number of them.
const TICKS: u32 = 440;

fn is_near(found: f64, expected: f64) -> bool {
    // Six digits are printed.
    (found - expected).abs() <= 0.6e-6 * expected.abs().max(1.0)
        || (found / expected - 1.0).abs() < 1e-6
}

#[test]
fn an_integrator_with_a_constant_delay_costs_what_it_does_by_hand() {
    let model = integrator(0.5);
    let mut flows = Flows::new(&model, 64);
    for (quarters, cost) in [
        (0, 1.277778),
        (1, 1.477041),
        (2, 1.701389),
        (4, 2.300000),
        (6, 3.354167),
        (8, 6.388889),
    ] {
        let found = constant_delay(&model, &mut flows, 1_000_000_000, 250_000_000 * quarters);
        let cost_found = found.cost.expect("stable");
        let name = format!("{quarters} quarters: {cost_found}, not {cost}");
        assert!(is_near(cost_found, cost), "{name}");
    }
}

#[test]
fn the_limits_of_the_integrators_gain_are_those_of_theory() {
    for (delay, limit) in [
        (0, 2.0),
        (1_000_000_000, 1.0),
        (2_000_000_000, 0.618034),
        (3_000_000_000, 0.445042),
        // More delay can help.
        (250_000_000, 4.0),
        (500_000_000, 2.0),
        (750_000_000, 1.333333),
    ] {
        let growth = |gain: f64| {
            let model = integrator(gain);
            constant_delay(&model, &mut Flows::new(&model, 64), 1_000_000_000, delay).growth
        };
        let (below, above) = (growth(limit - 2e-6), growth(limit + 2e-6));
        assert!(below < 1.0 && above > 1.0, "delay {delay}");
    }
}

#[test]
fn the_servos_step_with_a_constant_delay_is_that_of_an_independent_simulator() {
    let model = servo();
    let mut flows = Flows::new(&model, 64);
    for (delay_ns, overshoot, squared, radius) in [
        (0, 0.37458, 0.01618953, 0.851029),
        (3_000_000, 0.53070, 0.02262377, 0.858569),
        (6_000_000, 0.73095, 0.03403625, 0.907594),
    ] {
        let made = schedule(&[Some(delay_ns); 200], 6_000_000, 64, Rules::default());
        let plan = StepPlan {
            start: 0,
            cycles: 200,
            samples: 64,
            target: 1.0,
        };
        let found = step(&model, &mut flows, &made, plan);
        let (over, square) = (found.overshoot, found.squared_error);
        assert!((over - overshoot).abs() < 6e-6, "{over}");
        assert!((square - squared).abs() < 6e-9, "{square}");
        let growth = constant_delay(&model, &mut flows, 6_000_000, delay_ns).growth;
        assert!(is_near(growth, radius), "{growth}, not {radius}");
    }
}

/// The trace of the oracle table; optionally with stragglers.
fn oracle_trace(stragglers: bool) -> Vec<Option<u64>> {
    (0..300u64)
        .map(|k| {
            let exact = 600_000 + 4_800_000 * ((7 * k) % 11) / 11;
            let late = 7_200_000 * u64::from(stragglers && k % 17 == 5);
            (k % 13 != 12).then_some(exact + late)
        })
        .collect()
}

fn costs(model: &Loop, delays: &[Option<u64>], rules: Rules) -> (f64, f64) {
    let mut flows = Flows::new(model, TICKS);
    let made = schedule(delays, 6_000_000, TICKS, rules);
    let maps = Maps::new(model, &mut flows, &made);
    let noise: f64 = maps.noise(None, delays.len()).cost.iter().sum();
    (maps.cost_of_step(&[1.0]), noise)
}

#[test]
fn a_trace_with_lost_and_late_answers_costs_what_an_independent_program_found() {
    let model = servo();
    let hold = on_miss(OnMiss::Hold);
    let (zero, skip) = (on_miss(OnMiss::ZeroAtDeadline), on_miss(OnMiss::Skip));
    for (stragglers, rules, step, noise) in [
        (false, hold, 0.02993456, 26.87103),
        (false, zero, 0.02995060, 28.11669),
        (false, skip, 0.03036732, 25.76280),
        (true, hold, 0.03257905, 27.55298),
        (true, ARRIVAL, 0.03257912, 27.86948),
    ] {
        let (found, found_noise) = costs(&model, &oracle_trace(stragglers), rules);
        let off = ((found - step).abs(), (found_noise - noise).abs());
        let name = format!("{rules:?}: {found}, not {step}; {found_noise}, not {noise}");
        assert!(off.0 < 6e-9 && off.1 < 6e-6, "{name}");
    }
}
