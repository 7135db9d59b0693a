//! What a control loop would cost at other periods, beside what it costs with the delays that the same modelled device
//! really has there: a device that serves one request after the other, in virtual time.

use crate::common;

use common::{Random, exchange, exchange_run, plan};
use wiregauge_control::{
    Flows, Loop, Pid, Rules, StateSpace, TICKS, TraceCost, TransferFunction, trace_cost,
    without_delay,
};
use wiregauge_record::*;
use wiregauge_report::load::{Controls, Predictions, controls, cycle_delays, predictions};
use wiregauge_report::tables;
use wiregauge_run::{AnyRun, Exchange, Run};

const MS: u64 = 1_000_000;
const US: u64 = 1_000;

const PID: Pid = Pid {
    gain: 0.96,
    integral_s: 0.0,
    derivative_s: 0.049,
    filter: 10.0,
};

fn servo(period_ns: u64) -> Loop {
    let plant = TransferFunction::parse("plant", 's', "1000/(s^2+s)").expect("a plant");
    let period_s = period_ns as f64 / 1e9;
    let controller = PID.state_space(period_s).expect("a controller");
    Loop::new(plant.state_space().expect("proper"), controller, period_s).expect("a loop")
}

/// A device that takes a fixed time, a time for each byte and a random one, over a link with a latency.
#[derive(Clone, Copy)]
struct Device {
    fixed_ns: u64,
    a_byte_ns: u64,
    jitter_ns: u64,
    latency_ns: u64,
    /// One in so many requests is lost; 0: none.
    lost: u64,
}

const BOARD: Device = Device {
    fixed_ns: 800 * US,
    a_byte_ns: 900,
    jitter_ns: 1_500 * US,
    latency_ns: 300 * US,
    lost: 0,
};

impl Device {
    /// The exchanges of a point, as the engine makes them: on a schedule, or as fast as possible.
    fn samples(self, plan: &Plan, point: Point, n: u64, seed: u64) -> Vec<Sample> {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let every_ns = match plan.schedule {
            Schedule::EveryNs(every_ns) => every_ns,
            Schedule::AsFastAsPossible => 0,
        };
        let bytes = u64::from(point.out_bytes + point.in_bytes);
        let mut ends: Vec<u64> = Vec::new();
        let (mut free_ns, mut last_ns) = (0, 0);
        let mut samples = Vec::new();
        for sequence in 0..=n {
            let intended_ns = sequence * every_ns;
            let mut start_ns = intended_ns.max(last_ns);
            if ends.len() == point.depth as usize {
                ends.sort_unstable();
                start_ns = start_ns.max(ends.remove(0));
            }
            let service_ns = self.fixed_ns
                + self.a_byte_ns * bytes
                + self.jitter_ns * random.bits(16) / (1 << 16);
            let is_lost = self.lost > 0 && random.bits(32).is_multiple_of(self.lost);
            let end_ns = if is_lost {
                start_ns + plan.timeout_ns
            } else {
                free_ns = start_ns.max(free_ns) + service_ns;
                free_ns + self.latency_ns
            };
            ends.push(end_ns);
            last_ns = start_ns;
            samples.push(Sample {
                intended_ns: match every_ns {
                    0 => start_ns,
                    _ => intended_ns,
                },
                start_ns,
                rtt_ns: end_ns - start_ns,
                status: if is_lost { Status::Lost } else { Status::Ok },
                ..exchange(sequence)
            });
        }
        samples
    }

    /// Measures these settings.
    fn measured<T>(
        self,
        schedule: Schedule,
        settings: &[(u32, u32)],
        seed: u64,
        read: impl FnOnce(&Run<Exchange>) -> T,
    ) -> T {
        let mut plan = plan(settings.len() as u32);
        plan.schedule = schedule;
        plan.timeout_ns = 20 * MS;
        for (point, &(in_bytes, depth)) in plan.points.iter_mut().zip(settings) {
            (point.out_bytes, point.in_bytes, point.depth) = (16, in_bytes, depth);
        }
        let dir = tempfile::tempdir().expect("a directory");
        let of_plan = plan.clone();
        let samples = |point: Point| {
            let seed = seed + u64::from(point.index);
            self.samples(&of_plan, point, 2500, seed).into_iter()
        };
        match exchange_run(&dir.path().join("run"), &plan, samples) {
            AnyRun::Exchange(run) => read(&run),
            _ => panic!("not an exchange run"),
        }
    }
}

fn computed(run: &Run<Exchange>, period_ns: u64) -> Controls {
    let all: Vec<usize> = (0..run.file.points.len()).collect();
    controls(run, &all, &servo(period_ns), Rules::default(), &mut |_| {}).expect("a loop")
}

fn cost_of(controls: &Controls, place: usize) -> f64 {
    let assessment = controls.points[place].assessment.as_ref();
    assessment
        .and_then(|one| one.on_trace.cost)
        .expect("it held")
}

/// Of the only point; `None`: unstable without any delay.
fn there(run: &Run<Exchange>, period_ns: u64) -> Option<TraceCost> {
    let model = servo(period_ns);
    let mut flows = Flows::new(&model, TICKS);
    without_delay(&model, &mut flows).ok()?;
    let cycles = cycle_delays(run, 0, period_ns).expect("the samples can be read");
    trace_cost(&model, &mut flows, &cycles.delays, Rules::default()).ok()
}

fn cost_there(run: &Run<Exchange>, period_ns: u64) -> f64 {
    there(run, period_ns)
        .and_then(|found| found.cost)
        .expect("it held")
}

fn predicted(run: &Run<Exchange>, period_ns: u64) -> (Controls, Predictions) {
    let found = computed(run, period_ns);
    let predicted =
        predictions(run, &found, &servo(period_ns), Some(PID)).expect("the samples can be read");
    (found, predicted)
}

#[test]
fn a_period_costs_what_was_predicted_when_it_is_measured() {
    for (device, settings) in [
        (BOARD, [(48, 1), (512, 3)]),
        (Device { lost: 100, ..BOARD }, [(48, 3), (512, 2)]),
    ] {
        device.measured(Schedule::EveryNs(6 * MS), &settings, 1, |run| {
            let (found, predicted) = predicted(run, 6 * MS);
            let mut compared = 0;
            for one in &predicted.periods {
                let place = one.point as usize;
                let measured = cost_of(&found, place);
                let schedule = Schedule::EveryNs(one.period_ns);
                let there = device.measured(schedule, &settings[place..=place], 77, |run| {
                    there(run, one.period_ns)
                });
                let Some(cost) = one.cost else {
                    assert_eq!(there.and_then(|one| one.cost), None, "{one:?}");
                    continue;
                };
                // The comparison starts at what was measured, to the digit.
                let ratio = one.to_measured.expect("it held");
                assert!((cost / ratio / measured - 1.0).abs() < 1e-9);
                // Without an interval a few losses dominate both costs.
                let there = there.expect("a stable loop");
                let Some((own, other)) = one.interval.zip(there.interval) else {
                    continue;
                };
                let apart = (cost - there.cost.expect("it held")).abs();
                let widths = (own.high - own.low + other.high - other.low) / 2.0;
                assert!(
                    apart < widths.max(0.03 * cost),
                    "{:?}: {one:?}, measured {:?} {other:?}",
                    settings[place],
                    there.cost
                );
                compared += 1;
            }
            assert!(compared >= 8, "{compared}");
        });
    }
}

#[test]
fn responses_of_a_run_as_fast_as_possible_predict_periods_too() {
    BOARD.measured(Schedule::AsFastAsPossible, &[(48, 1), (512, 2)], 3, |run| {
        let (_, predicted) = predicted(run, 6 * MS);
        // At depth 1 nothing waits: 3 ms is longer than any response.
        let mut periods = predicted.periods.iter();
        let short = periods.find(|one| one.point == 0 && one.period_ns == 3 * MS);
        let cost = short.and_then(|one| one.cost).expect("a prediction");
        let there = BOARD.measured(Schedule::EveryNs(3 * MS), &[(48, 1)], 5, |run| {
            cost_there(run, 3 * MS)
        });
        assert!((cost / there - 1.0).abs() < 0.05, "{cost}, {there}");
    });
}

#[test]
fn periods_at_which_responses_would_overlap_more_than_measured_are_left_out() {
    BOARD.measured(Schedule::EveryNs(6 * MS), &[(48, 1), (2048, 3)], 9, |run| {
        let (found, predicted) = predicted(run, 6 * MS);
        for one in &predicted.periods {
            let assessment = found.points[one.point as usize].assessment.as_ref();
            let p99_ns = assessment.expect("responses").delays.p99_ns;
            assert!(one.period_ns >= p99_ns.min(6 * MS), "{one:?}");
        }
        let why = predicted.no_periods.expect("a reason");
        assert!(why.contains("down to the p99 of the responses"), "{why}");
    });
}

#[test]
fn a_controller_in_discrete_time_predicts_no_other_period() {
    BOARD.measured(Schedule::EveryNs(6 * MS), &[(48, 1)], 1, |run| {
        let gain = TransferFunction::parse("controller", 'z', "(0.5*z-0.4)/(z-0.1)")
            .and_then(|read| read.state_space())
            .expect("a controller");
        let plant: StateSpace = servo(6 * MS).plant;
        let model = Loop::new(plant, gain, 6e-3).expect("a loop");
        let found = controls(run, &[0], &model, Rules::default(), &mut |_| {}).expect("a loop");
        let predicted = predictions(run, &found, &model, None).expect("samples");
        assert!(predicted.periods.is_empty());
        let why = predicted.no_periods.expect("a reason");
        assert!(why.contains("in discrete time"), "{why}");
    });
}

#[test]
fn what_is_predicted_is_marked_in_the_table_and_in_the_finding() {
    // Sampled far too slowly: half the period costs less.
    BOARD.measured(Schedule::EveryNs(12 * MS), &[(48, 1)], 1, |run| {
        let (found, predicted) = predicted(run, 12 * MS);
        let tables = tables::of_controls_and_predictions(&run.file, &found, &predicted);
        let mut of_predictions = tables.tables.iter();
        let table = of_predictions
            .find(|table| table.title.starts_with("PREDICTED, NOT MEASURED"))
            .expect("a table");
        assert_eq!(table.rows.len(), 1);
        let promising = predicted.promising(&found).expect("a shorter period");
        assert!(promising.cost < Some(0.99 * cost_of(&found, 0)));
        let mut notes = tables.notes.iter();
        let says = "Predicted, not measured: a period of";
        assert!(notes.any(|note| note.starts_with(says)));
    });
}
