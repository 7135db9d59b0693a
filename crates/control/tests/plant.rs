//! A simulated plant against what is known of it by hand.

use wiregauge_control::{
    ControlError, Matrix, Noise, Plant, PlantModel, StateSpace, TransferFunction,
};

const S: f64 = 1e9;

fn system(text: &str) -> StateSpace {
    let read = TransferFunction::parse("plant", 's', text).expect("a transfer function");
    read.state_space().expect("proper")
}

fn model(text: &str, noise: f64) -> PlantModel {
    let system = system(text);
    let noise = Noise::on_input(&system, noise);
    PlantModel::new(system, noise, None).expect("a plant")
}

fn plant(text: &str) -> Plant {
    let mut plant = Plant::new(model(text, 0.0), 1);
    plant.advance(0);
    plant
}

fn is_near(plant: &mut Plant, expected: &[f64]) {
    let measured = plant.measure();
    assert_eq!(measured.len(), expected.len());
    for (measured, expected) in measured.iter().zip(expected) {
        let off = (measured - expected).abs();
        assert!(off < 1e-12, "{measured}, {expected} expected");
    }
}

/// Times between 0 and `end_ns`, which is the last.
fn cuts(end_ns: u64, count: usize, seed: u64) -> Vec<u64> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut cuts: Vec<u64> = (1..count).map(|_| random.u64(0..end_ns)).collect();
    cuts.sort_unstable();
    cuts.push(end_ns);
    cuts
}

/// |variance of so many independent normal samples / its true value - 1| stays below this in all but 6 of 100,000 seeds
/// (4 standard deviations).
fn bound(count: usize) -> f64 {
    4.0 * (2.0 / count as f64).sqrt()
}

#[test]
fn the_step_response_of_a_servo_is_the_one_of_the_textbook() {
    for end_ns in [1, 999, 6_000_001, 123_456_789, 77_777_777_777] {
        let t = end_ns as f64 / S;
        let mut servo = plant("1000/(s^2+s)");
        servo.apply(&[1.0]);
        servo.advance(end_ns);
        // 1000 (t - 1 + exp(-t)), without its cancellation.
        let expected = match t < 0.1 {
            true => {
                let series = 1.0 - t / 4.0 * (1.0 - t / 5.0 * (1.0 - t / 6.0));
                500.0 * t * t * (1.0 - t / 3.0 * series)
            }
            false => 1000.0 * (t - 1.0 + (-t).exp()),
        };
        let error = servo.measure()[0] / expected - 1.0;
        assert!(error.abs() < 1e-9, "{end_ns} ns: {error}");
    }
}

#[test]
fn a_resonance_answers_a_step_as_the_textbook_says() {
    // 1 - exp(-d w t) (cos(v t) + d w / v sin(v t)) with v = w sqrt(1 - d^2)
    let (w, d) = (300.0f64, 0.01f64);
    let mut resonance = plant("90000/(s^2+6s+90000)");
    resonance.apply(&[1.0]);
    for end_ns in cuts(2_000_000_000, 50, 3) {
        resonance.advance(end_ns);
        let (t, v) = (end_ns as f64 / S, w * (1.0 - d * d).sqrt());
        let expected = 1.0 - (-d * w * t).exp() * ((v * t).cos() + d * w / v * (v * t).sin());
        let error = resonance.measure()[0] - expected;
        assert!(error.abs() < 1e-11, "{end_ns} ns: {error}");
    }
}

#[test]
fn the_result_does_not_depend_on_how_often_the_plant_is_looked_at() {
    let text = "(2s+3)/((s+1)(s+20)(s^2+0.5s+400))";
    let end_ns = 3_141_592_653;
    let run = |cuts: Vec<u64>| {
        let mut plant = plant(text);
        plant.apply(&[1.0]);
        for at in cuts {
            plant.advance(at);
        }
        plant.measure()[0]
    };
    let once = run(vec![end_ns]);
    for (count, seed) in [(2, 1), (10, 2), (1000, 3)] {
        let error = run(cuts(end_ns, count, seed)) / once - 1.0;
        assert!(error.abs() < 1e-11, "{count} pieces: {error}");
    }
}

#[test]
fn the_variance_of_a_lag_with_noise_is_half_its_intensity_however_time_is_cut() {
    // x' = -x + w, intensity 2: variance 1. Samples 12 s apart are independent to 6e-6.
    let count = 4_000;
    for pieces in [1, 7] {
        let mut lag = Plant::new(model("1/(s+1)", 2.0), 5);
        lag.advance(0);
        let mut sum = 0.0;
        for sample in 1..=count {
            let begin_ns = 12_000_000_000 * sample as u64;
            for at in cuts(12_000_000_000, pieces, sample as u64) {
                lag.advance(begin_ns + at);
            }
            sum += lag.measure()[0].powi(2);
        }
        let error: f64 = sum / count as f64 - 1.0;
        assert!(error.abs() < bound(count), "{pieces} pieces: {error}");
    }
}

#[test]
fn noise_through_two_integrators_has_the_covariance_of_the_formula() {
    // Intensity r over t: velocity r t, position r t^3 / 3, both together r t^2 / 2.
    let (count, r, t) = (4_000, 3.0, 0.7);
    for pieces in [1, 5] {
        let model = model("1/s^2", r);
        let [mut velocity, mut position, mut both] = [0.0; 3];
        for seed in 0..count {
            let mut plant = Plant::new(model.clone(), seed as u64);
            plant.advance(100);
            for at in cuts(700_000_000, pieces, seed as u64) {
                plant.advance(100 + at);
            }
            let [v, x] = plant.state() else {
                panic!("two states")
            };
            velocity += v * v / (r * t);
            position += x * x / (r * t * t * t / 3.0);
            both += v * x / (r * t * t / 2.0);
        }
        for sum in [velocity, position] {
            let error: f64 = sum / count as f64 - 1.0;
            assert!(error.abs() < bound(count), "{pieces} pieces: {error}");
        }
        // The variance of a product of normal numbers with the correlation sqrt(3/4) is 1 + 4/3 in this unit.
        let error: f64 = both / count as f64 - 1.0;
        let bound = 4.0 * (7.0 / 3.0 / count as f64).sqrt();
        assert!(error.abs() < bound, "{pieces} pieces: {error}");
    }
}

#[test]
fn the_noise_of_a_measurement_adds_to_the_output_and_to_nothing_else() {
    let system = system("1/(s+1)");
    let noise = Noise {
        measurement: Matrix::from_element(1, 1, 4.0),
        ..Noise::on_input(&system, 0.0)
    };
    let mut plant = Plant::new(PlantModel::new(system, noise, None).expect("a plant"), 1);
    let count = 4_000;
    let sum: f64 = (0..count).map(|_| plant.measure()[0].powi(2)).sum();
    assert!((sum / count as f64 / 4.0 - 1.0).abs() < bound(count));
    assert_eq!(plant.state(), [0.0]);
}

#[test]
fn commands_are_clipped_to_the_limits_from_the_beginning() {
    let system = system("1/s");
    let noise = Noise::on_input(&system, 0.0);
    let model = PlantModel::new(system, noise, Some(vec![(1.0, 3.0)])).expect("a plant");
    let mut plant = Plant::new(model, 1);
    plant.advance(0);
    plant.advance(1_000_000_000);
    is_near(&mut plant, &[1.0]);
    plant.apply(&[-7.0]);
    plant.advance(2_000_000_000);
    is_near(&mut plant, &[2.0]);
    plant.apply(&[1e99]);
    plant.advance(3_000_000_000);
    is_near(&mut plant, &[5.0]);
}

#[test]
fn what_is_no_command_is_not_applied() {
    let mut plant = plant("1/s");
    plant.apply(&[2.0]);
    for none in [
        &[f64::NAN][..],
        &[f64::INFINITY],
        &[-1.1e100],
        &[],
        &[1.0, 2.0],
    ] {
        assert!(!plant.accepts(none));
        plant.apply(none);
        assert_eq!(plant.command(), [2.0]);
    }
    assert!(plant.accepts(&[-1e100]));
}

#[test]
fn time_never_runs_backwards() {
    let mut plant = plant("1/s");
    plant.apply(&[1.0]);
    plant.advance(2_000_000_000);
    plant.advance(1_000_000_000);
    plant.advance(2_000_000_000);
    is_near(&mut plant, &[2.0]);
}

#[test]
fn a_fast_pole_settles_within_a_long_time() {
    let mut plant = plant("1e5/(s+1e5)");
    plant.apply(&[3.0]);
    plant.advance(3_600_000_000_000);
    assert!((plant.measure()[0] - 3.0).abs() < 1e-11);
}

#[test]
fn an_unstable_plant_that_is_left_alone_ends_at_a_finite_number_that_says_so() {
    for (text, command, sign) in [
        ("1/(s-1)", 1.0, 1.0),
        ("1000/(s^2-900)", -1.0, -1.0),
        ("1/(s-1e6)", 1e100, 1.0),
    ] {
        let mut plant = plant(text);
        plant.apply(&[command]);
        plant.advance(u64::MAX);
        assert!(plant.is_diverged(), "{text}");
        assert_eq!(plant.measure(), [1e300 * sign], "{text}");
        plant.reset();
        plant.advance(7);
        assert_eq!(plant.measure(), [0.0], "{text}");
    }
}

#[test]
fn an_unstable_plant_without_noise_stays_at_rest_without_a_command() {
    let mut plant = plant("1/(s-1)");
    plant.advance(u64::MAX);
    assert_eq!(plant.measure(), [0.0]);
}

#[test]
fn an_unstable_mode_that_nothing_excites_costs_no_endless_computing() {
    // The second state is unstable, and no command reaches it.
    let system = StateSpace::new(
        "plant",
        Matrix::from_row_slice(2, 2, &[-1.0, 0.0, 0.0, 1.0]),
        Matrix::from_row_slice(2, 1, &[1.0, 0.0]),
        Matrix::from_row_slice(1, 2, &[1.0, 1.0]),
        Matrix::zeros(1, 1),
    )
    .expect("it fits");
    let noise = Noise::on_input(&system, 0.0);
    let mut plant = Plant::new(PlantModel::new(system, noise, None).expect("a plant"), 1);
    plant.advance(0);
    plant.apply(&[2.0]);
    plant.advance(u64::MAX);
    assert!((plant.measure()[0] - 2.0).abs() < 1e-12);
}

#[test]
fn the_same_seed_gives_the_same_numbers_also_after_a_reset() {
    let run = |plant: &mut Plant| -> Vec<f64> {
        plant.advance(0);
        let at = (1..50).map(|n| n * 6_000_000);
        at.flat_map(|at| {
            plant.advance(at);
            plant.measure()
        })
        .collect()
    };
    let model = model("1000/(s^2+s)", 1.0);
    let mut plant = Plant::new(model.clone(), 7);
    let first = run(&mut plant);
    plant.reset();
    assert_eq!(run(&mut plant), first);
    assert_eq!(run(&mut Plant::new(model.clone(), 7)), first);
    assert_ne!(run(&mut Plant::new(model, 8)), first);
}

#[test]
fn two_inputs_and_two_outputs_do_not_mix() {
    let zero = Matrix::zeros(2, 2);
    let one = Matrix::identity(2, 2);
    let system = StateSpace::new("plant", zero.clone(), one.clone(), one, zero).expect("it fits");
    let noise = Noise::on_input(&system, 0.0);
    let mut plant = Plant::new(PlantModel::new(system, noise, None).expect("a plant"), 1);
    plant.advance(0);
    plant.apply(&[1.0, -3.0]);
    plant.advance(500_000_000);
    is_near(&mut plant, &[0.5, -1.5]);
}

#[test]
fn what_cannot_be_simulated_is_refused_with_the_reason() {
    let refused = |text: &str, noise: f64| -> ControlError {
        let system = system(text);
        let noise = Noise::on_input(&system, noise);
        PlantModel::new(system, noise, None).expect_err("it cannot be simulated")
    };
    assert_eq!(refused("(s+2)/(s+1)", 0.0), ControlError::Feedthrough);
    let negative = "noise.process: -1 on its diagonal is negative";
    let infinite = "noise.process: inf is not a number up to 1e100";
    for (text, noise, words) in [
        ("1/(s-1e15)", 0.0, "too much within 1 ns"),
        ("1/(s+1)", -1.0, negative),
        ("1/(s+1)", f64::INFINITY, infinite),
    ] {
        let error = refused(text, noise).to_string();
        assert!(error.contains(words), "{error}");
    }
}
