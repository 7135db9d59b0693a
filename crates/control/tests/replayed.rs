//! The linear maps against a simulator that knows none of them: one step of integration after another, a list of
//! commands, and each rule as it is written in the documentation.

use crate::loops::{on_miss, servo};
use proptest::prelude::*;
use wiregauge_control::{
    Flows, Loop, Maps, Matrix, OnMiss, Order, Rules, StateSpace, StepPlan, constant_delay,
    schedule, step,
};

/// Ticks a period, and steps of integration a tick.
const TICKS: u64 = 16;
const STEPS: u32 = 6;
const PERIOD_NS: u64 = 1_000_000_000;

/// What the simulator found.
#[derive(Debug, Default)]
struct Found {
    /// Outputs at the samples, first output.
    outputs: Vec<f64>,
    cost: f64,
}

/// Simulates from rest with this reference, and with an error of 1 in the measurement of one cycle.
fn simulated(
    model: &Loop,
    delays: &[Option<u64>],
    rules: Rules,
    reference: f64,
    disturbed: Option<usize>,
) -> Found {
    let (plant, controller) = (&model.plant, &model.controller);
    let mut x = Matrix::zeros(plant.states(), 1);
    let mut xc = Matrix::zeros(controller.states(), 1);
    let mut v = Matrix::zeros(plant.inputs(), 1);
    let r = Matrix::from_element(plant.outputs(), 1, reference);
    // Commands: the tick at which they act, their cycle, their value.
    let mut pending: Vec<(u64, usize, Matrix)> = Vec::new();
    let mut newest: Option<usize> = None;
    let mut found = Found::default();
    for (cycle, &delay) in delays.iter().enumerate() {
        let delay = delay.filter(|delay| rules.deadline_ns.is_none_or(|latest| *delay <= latest));
        found.outputs.push((&plant.c * &x)[0]);
        if delay.is_some() || rules.on_miss != OnMiss::Skip {
            let mut error = &r - &plant.c * &x;
            if disturbed == Some(cycle) {
                error[0] -= 1.0;
            }
            let u = &controller.c * &xc + &controller.d * &error;
            xc = &controller.a * &xc + &controller.b * &error;
            if let Some(delay) = delay {
                let tick = delay * TICKS / PERIOD_NS;
                pending.push((cycle as u64 * TICKS + tick, cycle, u));
            }
        }
        let zero_after = match (delay, rules.on_miss) {
            (None, OnMiss::ZeroAtOnce) => Some(0),
            (None, OnMiss::ZeroAtDeadline) => Some(
                rules
                    .deadline_ns
                    .map_or(TICKS, |deadline| deadline * TICKS / PERIOD_NS),
            ),
            _ => None,
        };
        if let Some(after) = zero_after {
            let nothing = Matrix::zeros(plant.inputs(), 1);
            pending.push((cycle as u64 * TICKS + after, cycle, nothing));
        }
        for tick in cycle as u64 * TICKS..(cycle as u64 + 1) * TICKS {
            let mut now: Vec<_> = pending
                .extract_if(.., |command| command.0 == tick)
                .collect();
            now.sort_by_key(|command| command.1);
            for (_, of_cycle, u) in now {
                if rules.order == Order::Arrival || newest.is_none_or(|newest| of_cycle > newest) {
                    newest = Some(newest.map_or(of_cycle, |newest| newest.max(of_cycle)));
                    v = u;
                }
            }
            found.cost += integrated(model, &mut x, &v, &r);
        }
    }
    found
}

/// One tick by Runge and Kutta; the cost by Simpson's rule.
fn integrated(model: &Loop, x: &mut Matrix, v: &Matrix, r: &Matrix) -> f64 {
    let plant = &model.plant;
    let dt = model.period_s / f64::from(TICKS as u32) / f64::from(STEPS);
    let slope = |x: &Matrix| &plant.a * x + &plant.b * v;
    let rate = |x: &Matrix| {
        let error = &plant.c * x - r;
        let sum = error.transpose() * &model.cost.output * &error
            + v.transpose() * &model.cost.input * v
            + x.transpose() * &model.cost.state * x;
        sum[0]
    };
    let advance = |x: &Matrix, dt: f64| {
        let first = slope(x);
        let second = slope(&(x + &first * (dt / 2.0)));
        let third = slope(&(x + &second * (dt / 2.0)));
        let fourth = slope(&(x + &third * dt));
        x + (first + second * 2.0 + third * 2.0 + fourth) * (dt / 6.0)
    };
    let mut cost = 0.0;
    for _ in 0..STEPS {
        let middle = advance(x, dt / 2.0);
        let end = advance(&middle, dt / 2.0);
        cost += dt / 6.0 * (rate(x) + 4.0 * rate(&middle) + rate(&end));
        *x = end;
    }
    cost
}

fn matrix(rows: usize, columns: usize, size: f64) -> impl Strategy<Value = Matrix> {
    proptest::collection::vec(-size..size, rows * columns)
        .prop_map(move |entries| Matrix::from_vec(rows, columns, entries))
}

/// Plants of up to three states with up to two inputs and outputs, stable or not; controllers with up to two states.
fn loops() -> impl Strategy<Value = Loop> {
    (1usize..4, 1usize..3, 1usize..3, 0usize..3).prop_flat_map(|(n, m, p, nc)| {
        let plant = (matrix(n, n, 1.0), matrix(n, m, 1.0), matrix(p, n, 1.0));
        let controller = (
            matrix(nc, nc, 0.5),
            matrix(nc, p, 0.5),
            matrix(m, nc, 0.5),
            matrix(m, p, 0.5),
        );
        (plant, controller, 0.0..0.5, 0.0..0.5).prop_map(
            move |((a, b, c), (ac, bc, cc, dc), qu, qx)| {
                let plant =
                    StateSpace::new("plant", a, b, c, Matrix::zeros(p, m)).expect("it fits");
                let controller = StateSpace::new("controller", ac, bc, cc, dc).expect("it fits");
                let mut model = Loop::new(plant, controller, 1.0).expect("it fits");
                model.cost.input *= 0.0;
                model.cost.input.fill_diagonal(qu);
                model.cost.state.fill_diagonal(qx);
                model.noise.process.fill(0.0);
                model.noise.measurement[(0, 0)] = 1.0;
                model
            },
        )
    })
}

/// Whole ticks, up to two and a half periods; one in six lost.
fn delays() -> impl Strategy<Value = Vec<Option<u64>>> {
    let delay = prop_oneof![
        1 => Just(None),
        5 => (0..=TICKS * 5 / 2).prop_map(|ticks| Some(ticks * PERIOD_NS / TICKS)),
    ];
    proptest::collection::vec(delay, 1..11)
}

fn rules() -> impl Strategy<Value = Rules> {
    let order = prop_oneof![Just(Order::Newest), Just(Order::Arrival)];
    let on_miss = prop_oneof![
        Just(OnMiss::Hold),
        Just(OnMiss::Skip),
        Just(OnMiss::ZeroAtOnce),
        Just(OnMiss::ZeroAtDeadline),
    ];
    let deadline =
        proptest::option::of((1..=TICKS * 2).prop_map(|ticks| ticks * PERIOD_NS / TICKS));
    (order, on_miss, deadline).prop_map(|(order, on_miss, deadline_ns)| Rules {
        order,
        on_miss,
        deadline_ns,
    })
}

fn is_near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-6 * (1.0 + expected.abs())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_random_loop_on_a_random_trace_is_what_a_naive_simulator_finds(
        model in loops(), delays in delays(), rules in rules(),
    ) {
        let mut flows = Flows::new(&model, TICKS as u32);
        let made = schedule(&delays, PERIOD_NS, TICKS as u32, rules);
        let maps = Maps::new(&model, &mut flows, &made);
        let reference = vec![1.0; model.plant.outputs()];
        let naive = simulated(&model, &delays, rules, 1.0, None);
        let cost = maps.cost_of_step(&reference);
        prop_assert!(is_near(cost, naive.cost), "cost {cost}, not {}", naive.cost);

        // The noise of a measurement: the squares of the responses to each one alone, added up.
        let c = model.plant.c.clone();
        let mut first_only = model.clone();
        first_only.cost.output.fill(0.0);
        first_only.cost.output[(0, 0)] = 1.0;
        let run = Maps::new(&first_only, &mut flows, &made).noise(None, delays.len());
        let mut expected = vec![0.0; delays.len()];
        for disturbed in 0..delays.len() {
            let alone = simulated(&model, &delays, rules, 0.0, Some(disturbed));
            expected.iter_mut().zip(alone.outputs).for_each(|(sum, y)| *sum += y * y);
        }
        for (cycle, (found, expected)) in run.variance.iter().zip(expected).enumerate() {
            prop_assert!(is_near(*found, expected), "variance {found} in cycle {cycle}, not {expected}; c {c}");
        }
    }

    #[test]
    fn a_simulated_step_has_the_cost_of_the_linear_maps(delays in delays(), rules in rules()) {
        let model = servo();
        let period = model.period_ns();
        let delays: Vec<_> = delays.iter().map(|delay| delay.map(|ns| ns / 1000 * 6)).collect();
        let rules = Rules { deadline_ns: rules.deadline_ns.map(|ns| ns / 1000 * 6), ..rules };
        let mut flows = Flows::new(&model, TICKS as u32);
        let made = schedule(&delays, period, TICKS as u32, rules);
        let cost = Maps::new(&model, &mut flows, &made).cost_of_step(&[1.0]);
        let plan = StepPlan { start: 0, cycles: delays.len(), samples: 4, target: 1.0 };
        let found = step(&model, &mut flows, &made, plan);
        prop_assert!(is_near(found.squared_error, cost), "{} and {cost}", found.squared_error);
        prop_assert_eq!(found.output.len(), 4 * delays.len());
    }
}

#[test]
fn rounding_to_ticks_changes_a_cost_by_less_than_is_stated() {
    let model = servo();
    let period = model.period_ns();
    let mut random = fastrand::Rng::with_seed(3);
    let delays: Vec<_> = (0..5_000)
        .map(|_| (random.f64() > 0.02).then(|| random.u64(0..2 * period)))
        .collect();
    let cost = |ticks: u32| {
        let mut flows = Flows::new(&model, ticks);
        let made = schedule(&delays, period, ticks, Rules::default());
        let run = Maps::new(&model, &mut flows, &made).noise(None, delays.len());
        run.cost.iter().sum::<f64>()
    };
    let (coarse, fine) = (cost(256), cost(8192));
    assert!((coarse / fine - 1.0).abs() < 1e-4, "{coarse} and {fine}");

    // A constant delay between two ticks: as far off as half a tick is.
    let constant = |ticks: u32, delay_ns: u64| {
        let mut flows = Flows::new(&model, ticks);
        let found = constant_delay(&model, &mut flows, period, delay_ns);
        found.cost.expect("stable")
    };
    let tick = period / 256;
    for delay in [3 * tick + tick / 3, 100 * tick + tick / 2 - 1] {
        let half =
            (constant(8192, delay + tick / 2 + 1) - constant(8192, delay - tick / 2 - 1)).abs();
        let off = (constant(256, delay) - constant(8192, delay)).abs();
        assert!(off <= half, "{off} and {half}");
    }
}

#[test]
fn a_fast_pole_with_a_long_period_stays_finite() {
    let plant = StateSpace::new(
        "plant",
        Matrix::from_row_slice(2, 2, &[-1e5, 0.0, 1.0, 0.0]),
        Matrix::from_row_slice(2, 1, &[1e5, 0.0]),
        Matrix::from_row_slice(1, 2, &[0.0, 1.0]),
        Matrix::zeros(1, 1),
    );
    let gain = StateSpace::gain(Matrix::from_element(1, 1, 0.5));
    let model = Loop::new(plant.expect("it fits"), gain, 1.0).expect("it fits");
    let mut flows = Flows::new(&model, 64);
    // So fast a pole is nearly none: the integrator of the published figures, with noise of the same intensity.
    let found = constant_delay(&model, &mut flows, PERIOD_NS, PERIOD_NS / 4);
    let cost = found.cost.expect("stable");
    assert!((cost - 1.477041).abs() < 1e-3, "{cost}");
}

#[test]
fn an_unstable_plant_that_is_held_has_a_finite_cost_and_grows_without_its_answers() {
    let plant = StateSpace::new(
        "plant",
        Matrix::from_element(1, 1, 0.5),
        Matrix::identity(1, 1),
        Matrix::identity(1, 1),
        Matrix::zeros(1, 1),
    );
    let gain = StateSpace::gain(Matrix::from_element(1, 1, 1.0));
    let model = Loop::new(plant.expect("it fits"), gain, 1.0).expect("it fits");
    let growth = |delays: &[Option<u64>]| {
        let mut flows = Flows::new(&model, 64);
        let made = schedule(delays, PERIOD_NS, 64, on_miss(OnMiss::ZeroAtOnce));
        Maps::new(&model, &mut flows, &made).growth()
    };
    assert!(growth(&[Some(0); 100]) < 0.4);
    let lost = growth(&[None; 100]);
    assert!((lost - 0.5f64.exp()).abs() < 1e-9, "{lost}");
}
