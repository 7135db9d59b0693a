//! The parts of a round trip, from the timestamps of a device whose clock has another zero and another rate.

use crate::common;

use common::{exchange, exchange_run_with, plan};
use wiregauge_control::{Loop, Pid, Rules, TransferFunction};
use wiregauge_record::*;
use wiregauge_report::load::{DelayParts, controls};
use wiregauge_run::AnyRun;

const MS: u64 = 1_000_000;

/// The device's clock: microseconds, 50 ppm too fast, 32 bits, about to wrap.
fn ticks(host_ns: u64) -> u64 {
    let us = host_ns as f64 * (1.0 + 50e-6) / 1000.0;
    (us as u64 + (1 << 32) - 1_000) & 0xffff_ffff
}

/// 300 us to the device in nine of ten cases, else 2 ms; 1 ms there; 500 us back.
fn sample(sequence: u64) -> Sample {
    let start_ns = sequence * 6 * MS;
    let to_device_ns = if sequence % 10 == 3 { 2 * MS } else { 300_000 };
    let rx_ns = start_ns + to_device_ns;
    Sample {
        intended_ns: start_ns,
        start_ns,
        rtt_ns: to_device_ns + MS + 500_000,
        device_rx_ticks: ticks(rx_ns),
        device_tx_ticks: ticks(rx_ns + MS),
        ..exchange(sequence)
    }
}

fn parts_of(plan: &Plan, responder: Option<Responder>) -> Option<DelayParts> {
    let plant = TransferFunction::parse("plant", 's', "1/(s+1)").expect("a plant");
    let plant = plant.state_space().expect("a plant");
    let controller = Pid::new(0.5, 0.0, 0.0)
        .state_space(6e-3)
        .expect("a controller");
    let model = Loop::new(plant, controller, 6e-3).expect("a loop");
    let conditions = Conditions {
        responder,
        ..Conditions::default()
    };
    let dir = tempfile::tempdir().expect("a directory");
    let samples = |_| (0..=2_000).map(sample);
    let AnyRun::Exchange(run) =
        exchange_run_with(&dir.path().join("run"), plan, &conditions, samples)
    else {
        panic!("not an exchange run");
    };
    let found = controls(&run, &[0], &model, Rules::default(), &mut |_| ()).expect("verdicts");
    found.points[0].parts.clone()
}

fn with_clock() -> Responder {
    Responder {
        tick_hz: 1_000_000,
        tick_bits: 32,
        ..Responder::default()
    }
}

#[test]
fn the_round_trip_is_divided_as_it_was_but_for_half_of_its_least_time() {
    let parts = parts_of(&plan(1), Some(with_clock())).expect("a device clock");
    let near = |ns: f64, expected: f64| assert!((ns - expected).abs() < 3_000.0, "{ns} {expected}");
    near(parts.fixed_ns, 800_000.0);
    // Half of 800 us is assumed for each way, so 100 us too much for the first.
    near(parts.to_device.median_ns, 400_000.0);
    near(parts.to_device.p99_ns, 2_100_000.0);
    near(parts.in_device.median_ns, 1_000_000.0);
    near(parts.from_device.median_ns, 400_000.0);
    near(parts.from_device.max_ns, 400_000.0);
    assert!((parts.clock_rate_error - 50e-6).abs() < 1e-6, "{parts:?}");
}

#[test]
fn a_device_without_a_clock_and_a_link_opened_each_time_have_no_parts() {
    assert_eq!(parts_of(&plan(1), None), None);
    assert_eq!(parts_of(&plan(1), Some(Responder::default())), None);
    let mut each = plan(1);
    each.connect = Connect::Each;
    assert_eq!(parts_of(&each, Some(with_clock())), None);
}
