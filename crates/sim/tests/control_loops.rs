//! The proof of `wiregauge loop-control`: over modelled links in virtual time, the cost and the overshoot that a loop measures
//! are those that were predicted from a separate measurement of the link's delays.
//!
//! The device is that of `wiregauge serve --plant`, the decisions of each cycle and the engine of exchanges are those of
//! the command.

use crate::loop_scripts::{measure_delays, run_loop};
use wiregauge_control::{
    CycleEnd, CyclePlan, CycleRow, Loop, LoopRun, Noise, Pid, PlantModel, TransferFunction,
    sampled_costs, sampled_step, times_of_delays,
};
use wiregauge_link::host::Clock;
use wiregauge_link::limits::Bus;
use wiregauge_responder::{Device as Served, DeviceConfig, Trust};
use wiregauge_sim::{Byte, Cell, Device, Given, MS, Protocols, Scenario, Tag, US};
use wiregauge_stats::{Estimate, mean_of};

/// Cycles of each measurement.
const CYCLES: u64 = 12_000;

/// Cycles that are left out: the loop begins at rest.
const LEAD: usize = 300;

/// The responder of `wiregauge serve --plant`.
struct PlantDevice {
    datagram: bool,
    device: Served,
    held: Vec<u8>,
}

impl PlantDevice {
    fn new(scenario: &Scenario, model: &Loop) -> PlantDevice {
        let plant = PlantModel::new(
            model.plant.clone(),
            model.noise.clone(),
            model.limits.clone(),
        );
        let config = DeviceConfig {
            max_frame: 4096,
            seed: scenario.seed,
            plant: Some(plant.expect("a plant")),
            ..DeviceConfig::default()
        };
        PlantDevice {
            datagram: scenario.datagram,
            // A device on a bus is given the time, instead of reading a clock.
            device: Served::on_bus(config, Clock::start(), Bus::FullSpeed),
            held: Vec::new(),
        }
    }
}

impl Device for PlantDevice {
    fn take(
        &mut self,
        bytes: &[Byte],
        now_ns: u64,
        _given: &mut Vec<Given>,
        answers: &mut Vec<Vec<Byte>>,
    ) {
        let mut ready = Vec::new();
        let values = bytes.iter().map(|byte| byte.value);
        if self.datagram {
            let datagram: Vec<u8> = values.collect();
            self.device
                .take_datagram(&datagram, now_ns, Trust::Proved, &mut ready);
        } else {
            self.held.extend(values);
            let used = self.device.take_stream(&self.held, now_ns, &mut ready);
            self.held.drain(..used);
        }
        if !ready.is_empty() {
            let tag = Tag::default();
            answers.push(ready.iter().map(|&value| Byte { value, tag }).collect());
        }
    }

    fn opened(&mut self) {
        self.held.clear();
    }
}

/// A plant, its controller and its period.
fn model(plant: &str, pid: [f64; 3], period_s: f64) -> Loop {
    let plant = TransferFunction::parse("plant", 's', plant).and_then(|read| read.state_space());
    let controller = Pid::new(pid[0], pid[1], pid[2]).state_space(period_s);
    let (plant, controller) = (plant.expect("a plant"), controller.expect("a controller"));
    Loop::new(plant, controller, period_s).expect("a loop")
}

fn models() -> [Loop; 4] {
    [
        model("1000/(s^2+s)", [0.96, 0.0, 0.049], 6e-3),
        model("1/s", [20.0, 0.0, 0.0], 10e-3),
        model("1/(0.05*s+1)", [2.0, 0.08, 0.0], 5e-3),
        // An inverted pendulum.
        model("1/(s^2-20)", [60.0, 0.0, 0.15], 10e-3),
    ]
}

/// One link: delays both ways, jitter, losses.
fn link(number: u64, period_ns: u64, seed: u64) -> Scenario {
    let cell = Cell {
        out_bytes: 64,
        in_bytes: 64,
        depth: 1,
    };
    let mut scenario = Scenario::plain(seed, Protocols::Exchange, cell);
    scenario.timeout_ns = 4 * period_ns;
    let part = |percent: u64| period_ns * percent / 100;
    let (shape, faults) = (&mut scenario.shape, &mut scenario.faults);
    scenario.datagram = !number.is_multiple_of(5);
    match number % 5 {
        // Bytes of a message come in pieces of any size, each of which takes that long.
        0 => (shape.delay_ns, shape.jitter_ns) = (part(4), 0),
        1 => (shape.delay_ns, shape.jitter_ns) = (part(15), part(15)),
        2 => {
            (shape.delay_ns, shape.jitter_ns) = (part(8), 20 * US);
            (faults.late_answer, faults.late_ns) = (200_000, part(60));
        }
        3 => {
            (shape.delay_ns, shape.jitter_ns) = (part(20), 50 * US);
            faults.drop_answer = 30_000;
        }
        _ => {
            (shape.delay_ns, shape.jitter_ns) = (part(20), part(10));
            faults.lose = 5_000;
        }
    }
    scenario
}

fn delays(scenario: &Scenario, model: &Loop) -> Vec<Option<u64>> {
    let device = Box::new(PlantDevice::new(scenario, model));
    let at = (model.period_ns(), CYCLES);
    measure_delays(scenario, device, at, (8, 16)).expect("a measurement")
}

fn closed(scenario: &Scenario, model: &Loop, step: f64) -> Vec<CycleRow> {
    let device = Box::new(PlantDevice::new(scenario, model));
    let plan = CyclePlan {
        cycles: CYCLES,
        depth: 8,
        step,
    };
    let mut run = LoopRun::new(model, plan, MS).expect("a loop");
    run_loop(scenario, device, &mut run, CYCLES).expect("a run");
    run.rows().to_vec()
}

/// What is compared: predicted, lowest and highest that is expected, measured.
#[derive(Clone, Copy, Debug)]
struct Compared {
    predicted: f64,
    low: f64,
    high: f64,
    measured: f64,
}

impl Compared {
    fn of(predicted: &[f64], measured: &[f64]) -> Compared {
        let measured = mean_of(&measured[LEAD..]).expect("costs");
        let predicted = mean_of(&predicted[LEAD..]).expect("costs");
        let half = |of: Estimate| (of.high.expect("a bound") - of.low.expect("a bound")) / 2.0;
        let half = half(predicted).hypot(half(measured));
        Compared {
            predicted: predicted.value,
            low: predicted.value - half,
            high: predicted.value + half,
            measured: measured.value,
        }
    }

    fn agrees(self) -> bool {
        // A wide interval would agree with anything.
        let half = self.high - self.predicted;
        half < 0.2 * self.predicted && (self.low..=self.high).contains(&self.measured)
    }
}

fn cost_of(rows: &[CycleRow]) -> Vec<f64> {
    let sampled = rows.iter().filter(|row| row.ran());
    sampled.map(|row| row.output[0].powi(2)).collect()
}

fn all_links(delay: impl Fn(Option<u64>) -> Option<u64>) -> Vec<Compared> {
    let models = models();
    let cases = (0..20).map(|number| {
        let model = &models[number as usize / 5];
        let period_ns = model.period_ns();
        let measured = delays(&link(number, period_ns, number), model);
        let measured: Vec<Option<u64>> = measured.into_iter().map(&delay).collect();
        let predicted = sampled_costs(model, &times_of_delays(&measured, period_ns));
        let rows = closed(&link(number, period_ns, 1_000 + number), model, 0.0);
        Compared::of(&predicted, &cost_of(&rows))
    });
    cases.collect()
}

#[test]
fn the_cost_of_a_loop_over_a_link_is_the_one_predicted_from_the_delays_of_the_link() {
    let cases = all_links(|delay| delay);
    let agree = cases.iter().filter(|case| case.agrees()).count();
    assert!(agree >= 19, "{agree} of 20: {cases:#?}");
}

#[test]
fn a_prediction_without_the_delays_fails() {
    let cases = all_links(|delay| delay.map(|_| 0));
    let agree = cases.iter().filter(|case| case.agrees()).count();
    assert!(agree < 10, "{agree} of 20: {cases:#?}");
}

#[test]
fn the_overshoot_of_a_step_without_noise_is_within_the_predicted_range() {
    for (number, mut model) in (0..20).zip(
        models()
            .into_iter()
            .flat_map(|model| [(); 5].map(|()| model.clone())),
    ) {
        model.noise = Noise::on_input(&model.plant, 0.0);
        let period_ns = model.period_ns();
        let times = times_of_delays(&delays(&link(number, period_ns, number), &model), period_ns);
        let highest = |outputs: &[f64]| outputs.iter().copied().fold(0.0, f64::max);
        let peaks: Vec<f64> = (0..200)
            .map(|start| 50 * start)
            .map(|start| highest(&sampled_step(&model, &times[..start + 400], start, 1.0)))
            .collect();
        let (low, high) = peaks
            .iter()
            .fold((f64::MAX, 0.0_f64), |(low, high), &peak| {
                (low.min(peak), high.max(peak))
            });
        let rows = closed(&link(number, period_ns, 1_000 + number), &model, 1.0);
        let outputs: Vec<f64> = rows
            .iter()
            .filter(|row| row.ran())
            .map(|row| row.output[0])
            .collect();
        let measured = highest(&outputs);
        let allowed = 0.001 * high;
        assert!(
            low - allowed <= measured && measured <= high + allowed,
            "{number}: {measured} is not within {low} to {high}"
        );
    }
}

#[test]
fn a_row_of_a_cycle_has_what_happened_in_it() {
    let model = &models()[0];
    let rows = closed(&link(3, model.period_ns(), 7), model, 0.5);
    assert_eq!(rows.len() as u64, CYCLES);
    let lost = rows.iter().filter(|row| row.end != CycleEnd::Ok).count();
    assert!((300..1_200).contains(&lost), "{lost}");
    for row in rows.iter().filter(|row| row.end == CycleEnd::Ok) {
        let delay = row.delay_ns().expect("answered");
        // 1.2 ms each way, and up to 50 us more.
        assert!((2_400 * US..=2_500 * US).contains(&delay), "{row:?}");
        assert_eq!(row.intended_ns, row.cycle * model.period_ns());
        assert_eq!(
            row.reference[0],
            if row.cycle < CYCLES / 2 { 0.0 } else { 0.5 }
        );
    }
}
