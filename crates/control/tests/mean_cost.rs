//! The interval of a measured cost against simulated runs.

use wiregauge_control::{
    Controller, CycleTimes, Loop, Matrix, Plant, PlantModel, StateSpace, TransferFunction,
    mean_cost, times_of_delays,
};

/// A power of two, which a simulated plant steps over at once.
const PERIOD_NS: u64 = 1 << 21;

/// Cycles of a run, and those at its start that do not count.
const CYCLES: usize = 3_000;
const LEFT_OUT: usize = 200;

/// Simulated runs: 95 % of them inside have a standard deviation of 0.7 %.
const RUNS: usize = 1_000;

/// A resonance of 48 Hz with a damping of 0.01 under a weak proportional controller.
fn resonance() -> Loop {
    let plant = TransferFunction::parse("plant", 's', "90000/(s^2+6s+90000)")
        .and_then(|read| read.state_space())
        .expect("a plant");
    let controller = StateSpace::gain(Matrix::from_element(1, 1, 0.02));
    Loop::new(plant, controller, PERIOD_NS as f64 / 1e9).expect("a loop")
}

/// The mean of y^2 in a simulated run with commands after half a period.
fn measured(model: &Loop, plant: &PlantModel, seed: u64) -> f64 {
    let mut plant = Plant::new(plant.clone(), seed);
    let mut controller = Controller::new(model);
    let mut sum = 0.0;
    for cycle in 0..CYCLES {
        let tick_ns = cycle as u64 * PERIOD_NS;
        plant.advance(tick_ns);
        let output = plant.measure()[0];
        let command = controller.step(&[-output])[0];
        plant.advance(tick_ns + PERIOD_NS / 2);
        plant.apply(&[command]);
        if cycle >= LEFT_OUT {
            sum += output * output;
        }
    }
    sum / (CYCLES - LEFT_OUT) as f64
}

#[test]
fn ninety_five_percent_of_the_runs_of_a_lightly_damped_loop_lie_in_the_interval() {
    let mut model = resonance();
    model.noise.measurement = Matrix::from_element(1, 1, 0.5);
    let times: Vec<CycleTimes> = times_of_delays(&[Some(PERIOD_NS / 2); CYCLES], PERIOD_NS);
    let expected = mean_cost(&model, &times, LEFT_OUT).expect("it is stable");
    assert_eq!(expected.costs.len(), CYCLES - LEFT_OUT);
    let independent = expected.independent().expect("noise");
    assert!((12.0..20.0).contains(&independent), "{independent}");
    let interval = expected.interval(0.0).expect("finite");
    let plant = PlantModel::new(model.plant.clone(), model.noise.clone(), None).expect("a plant");
    let runs: Vec<f64> = (0..RUNS as u64)
        .map(|seed| measured(&model, &plant, seed))
        .collect();
    let mean = runs.iter().sum::<f64>() / RUNS as f64;
    let sd = expected.variance.sqrt();
    // Four standard deviations of the mean of all runs.
    let off = (mean - expected.value).abs() / sd * (RUNS as f64).sqrt();
    assert!(off < 4.0, "{mean}, {} expected", expected.value);
    let squares: f64 = runs.iter().map(|run| (run - mean).powi(2)).sum();
    let of_runs = (squares / (RUNS - 1) as f64).sqrt();
    let ratio = of_runs / sd;
    assert!((0.85..1.15).contains(&ratio), "{of_runs}, not {sd}");
    let is_inside = |run: &&f64| (interval.low..=interval.high).contains(*run);
    let inside = runs.iter().filter(is_inside).count();
    let name = format!("{inside} of {RUNS} in {interval:?}");
    assert!((930..=970).contains(&inside), "{name}");
}

#[test]
fn a_run_of_twice_as_many_samples_varies_less() {
    let model = resonance();
    let times = times_of_delays(&[Some(0); CYCLES], PERIOD_NS);
    let expected = mean_cost(&model, &times, LEFT_OUT).expect("it is stable");
    let independent = expected.independent().expect("noise");
    let width = |of: Option<wiregauge_control::Interval>| of.map(|of| of.high - of.low);
    let narrow = width(expected.interval(0.0));
    let wide = width(expected.interval(expected.variance));
    assert!(narrow < wide, "{narrow:?} {wide:?}");
    let longer = expected.of_samples(2 * (CYCLES - LEFT_OUT));
    let twice = longer.independent().expect("noise");
    let ratio = twice / independent;
    assert!((ratio - 2.0).abs() < 1e-9, "{ratio}");
    assert!(width(longer.interval(0.0)) < narrow);
}
