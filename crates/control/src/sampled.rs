//! Cost and step of a loop at its samples, for given times of samples and commands: what a run over a link measures.

use crate::flow::symmetric;
use crate::mean_cost::{MeanCost, Moments};
use crate::model::Loop;
use crate::pattern::Flows;
use crate::schedule::on_grid;
use crate::system::Matrix;
use nalgebra::DVector;
use std::collections::HashMap;

/// Divisions of a period.
const TICKS: u32 = 256;

/// Beyond this a cost is unbounded.
const UNBOUNDED: f64 = 1e280;

/// When a cycle's sample was taken and when its command came into force, in nanoseconds since the first tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CycleTimes {
    /// `None`: the controller saw no sample and did not run.
    pub sample_ns: Option<u64>,
    /// `None`: the command never came into force.
    pub command_ns: Option<u64>,
}

/// Cycles whose samples are taken at their ticks and whose commands take these delays (`None`: the sample was lost).
pub fn times_of_delays(delays: &[Option<u64>], period_ns: u64) -> Vec<CycleTimes> {
    let ticks = (0u64..).map(|cycle| cycle.saturating_mul(period_ns));
    let times = delays.iter().zip(ticks).map(|(delay, tick)| CycleTimes {
        sample_ns: delay.map(|_| tick),
        command_ns: delay.map(|delay| tick.saturating_add(delay)),
    });
    times.collect()
}

/// The expected cost of each cycle with a sample, `(y-r)' Qy (y-r) + u' Qu u` with r = 0, the measured output y and the
/// command u that is computed from it; from rest. Ends early once it is unbounded.
pub fn sampled_costs(model: &Loop, times: &[CycleTimes]) -> Vec<f64> {
    simulated(model, times, usize::MAX).0
}

/// The mean of [`sampled_costs`] without the first ones, and how a measured one varies; `None` if it is unbounded, or
/// without a sample that counts.
pub fn mean_cost(model: &Loop, times: &[CycleTimes], left_out: usize) -> Option<MeanCost> {
    let samples = times.iter().filter(|time| time.sample_ns.is_some()).count();
    let (costs, moments) = simulated(model, times, left_out);
    match costs.len() < samples {
        true => None,
        false => MeanCost::new(costs.get(left_out..)?, &moments),
    }
}

/// The expected cost of each cycle, and the moments of the sum of all but the first ones.
fn simulated(model: &Loop, times: &[CycleTimes], left_out: usize) -> (Vec<f64>, Moments) {
    let events = Events::of(times, model.period_ns());
    let mut maps = Maps::new(model, events.places);
    let weights: Vec<Matrix> = (0..events.places)
        .map(|place| maps.weight(model, place))
        .collect();
    let mut moments = Moments::at_rest(maps.size);
    let mut costs = Vec::with_capacity(times.len());
    let mut tick = events.first();
    for event in &events.all {
        maps.flow(event.tick - tick, |map, noise| {
            moments.map(map);
            moments.add_noise(noise);
        });
        tick = event.tick;
        if event.is_command {
            moments.map(&maps.applied[event.place]);
            continue;
        }
        let (map, noise) = &maps.sampled[event.place];
        moments.map(map);
        moments.add_noise(noise);
        let spent = moments.cost(&weights[event.place], costs.len() >= left_out);
        costs.push(spent);
        if spent > UNBOUNDED || !spent.is_finite() {
            break;
        }
    }
    (costs, moments)
}

/// The first output at each sample from cycle `start` on, at which the reference of the first output goes from 0 to
/// `size`: from rest, without noise, commands clipped to the limits of the model.
pub fn sampled_step(model: &Loop, times: &[CycleTimes], start: usize, size: f64) -> Vec<f64> {
    let times = times.get(start..).unwrap_or_default();
    let events = Events::of(times, model.period_ns());
    let mut maps = Maps::new(model, events.places);
    let m = model.plant.inputs();
    let controller = &model.controller;
    let (n, nc) = (model.plant.states(), controller.states());
    let mut now = DVector::zeros(maps.size);
    let mut reference = DVector::zeros(model.plant.outputs());
    reference[0] = size;
    let mut outputs = Vec::with_capacity(times.len());
    let mut tick = events.first();
    for event in &events.all {
        maps.flow(event.tick - tick, |map, _| now = map * &now);
        tick = event.tick;
        let place = maps.at_place(event.place);
        if event.is_command {
            now = &maps.applied[event.place] * now;
            continue;
        }
        outputs.push((model.plant.c.row(0) * now.rows(0, n))[0]);
        now = &maps.sampled[event.place].0 * now;
        let mut pushed = now.rows_mut(n, nc);
        pushed += &controller.b * &reference;
        let mut command = now.rows_mut(place, m);
        command += &controller.d * &reference;
        for (value, (low, high)) in command
            .iter_mut()
            .zip(model.limits.as_deref().unwrap_or_default())
        {
            *value = value.max(*low).min(*high);
        }
    }
    outputs
}

/// A sample, or a command that comes into force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    tick: u64,
    /// A sample comes before a command of the same tick.
    is_command: bool,
    cycle: usize,
    /// Where its command waits.
    place: usize,
}

struct Events {
    all: Vec<Event>,
    /// Places of commands that wait; one more is for commands that never come into force.
    places: usize,
}

impl Events {
    fn of(times: &[CycleTimes], period_ns: u64) -> Events {
        let mut all = Vec::with_capacity(2 * times.len());
        for (cycle, time) in times.iter().enumerate() {
            let mut add = |at_ns: u64, is_command| {
                all.push(Event {
                    tick: on_grid(at_ns, period_ns, TICKS),
                    is_command,
                    cycle,
                    place: 0,
                });
            };
            let Some(sample_ns) = time.sample_ns else {
                continue;
            };
            add(sample_ns, false);
            if let Some(command_ns) = time.command_ns {
                add(command_ns.max(sample_ns), true);
            }
        }
        all.sort_unstable();
        // Place 0 is of commands that never come into force.
        let mut waiting: Vec<Option<usize>> = vec![];
        for event in &mut all {
            let has_command = times[event.cycle].command_ns.is_some();
            let wanted = match event.is_command {
                true => Some(event.cycle),
                false => None,
            };
            if !has_command {
                continue;
            }
            let found = waiting.iter().position(|cycle| *cycle == wanted);
            let slot = found.unwrap_or_else(|| {
                waiting.push(None);
                waiting.len() - 1
            });
            waiting[slot] = match event.is_command {
                true => None,
                false => Some(event.cycle),
            };
            event.place = slot + 1;
        }
        Events {
            all,
            places: waiting.len() + 1,
        }
    }

    fn first(&self) -> u64 {
        self.all.first().map_or(0, |event| event.tick)
    }
}

/// The linear maps on `z = [x | controller | v | places | last measured outputs]`.
struct Maps {
    flows: Flows,
    known: HashMap<u32, (Matrix, Matrix)>,
    states: usize,
    controller: usize,
    inputs: usize,
    outputs: usize,
    size: usize,
    /// A sample whose command goes to this place, and the noise that it adds.
    sampled: Vec<(Matrix, Matrix)>,
    /// The command in this place comes into force.
    applied: Vec<Matrix>,
}

impl Maps {
    fn new(model: &Loop, places: usize) -> Maps {
        let (states, inputs) = (model.plant.states(), model.plant.inputs());
        let (controller, outputs) = (model.controller.states(), model.plant.outputs());
        let mut maps = Maps {
            flows: Flows::new(model, TICKS),
            known: HashMap::new(),
            states,
            controller,
            inputs,
            outputs,
            size: states + controller + inputs * (1 + places) + outputs,
            sampled: Vec::new(),
            applied: Vec::new(),
        };
        maps.sampled = (0..places)
            .map(|place| maps.sample_to(model, place))
            .collect();
        maps.applied = (0..places).map(|place| maps.apply(place)).collect();
        maps
    }

    fn at_command(&self) -> usize {
        self.states + self.controller
    }

    fn at_place(&self, place: usize) -> usize {
        self.at_command() + self.inputs * (1 + place)
    }

    fn at_output(&self) -> usize {
        self.size - self.outputs
    }

    /// Of the last measured outputs, and of the command in this place that was computed from them.
    fn weight(&self, model: &Loop, place: usize) -> Matrix {
        let mut weight = Matrix::zeros(self.size, self.size);
        for (at, of) in [
            (self.at_output(), &model.cost.output),
            (self.at_place(place), &model.cost.input),
        ] {
            weight
                .view_mut((at, at), of.shape())
                .copy_from(&symmetric(of));
        }
        weight
    }

    fn sample_to(&self, model: &Loop, place: usize) -> (Matrix, Matrix) {
        let (n, nc, p) = (self.states, self.controller, self.outputs);
        let controller = &model.controller;
        // The error is that of the reference 0.
        let (nothing, as_output) = (Matrix::zeros(p, nc), -Matrix::identity(p, p));
        let mut map = Matrix::identity(self.size, self.size);
        let mut of_noise = Matrix::zeros(self.size, p);
        for (row, from_state, from_error) in [
            (self.at_place(place), &controller.c, &controller.d),
            (n, &controller.a, &controller.b),
            (self.at_output(), &nothing, &as_output),
        ] {
            let rows = from_error.nrows();
            map.rows_mut(row, rows).fill(0.0);
            let seen = -from_error * &model.plant.c;
            map.view_mut((row, 0), (rows, n)).copy_from(&seen);
            map.view_mut((row, n), (rows, nc)).copy_from(from_state);
            let mut noise = of_noise.view_mut((row, 0), from_error.shape());
            noise.copy_from(&-from_error);
        }
        let noise = &of_noise * &model.noise.measurement * of_noise.transpose();
        (map, noise)
    }

    fn apply(&self, place: usize) -> Matrix {
        let (at, m) = (self.at_command(), self.inputs);
        let mut map = Matrix::identity(self.size, self.size);
        map.rows_mut(at, m).fill(0.0);
        let mut from = map.view_mut((at, self.at_place(place)), (m, m));
        from.fill_with_identity();
        map
    }

    /// Lets so many ticks pass, a period at most at once.
    fn flow(&mut self, ticks: u64, mut step: impl FnMut(&Matrix, &Matrix)) {
        let mut left = ticks;
        while left > 0 {
            let now = left.min(u64::from(TICKS)) as u32;
            left -= u64::from(now);
            let (n, m, at, size) = (self.states, self.inputs, self.at_command(), self.size);
            let flows = &mut self.flows;
            let (map, noise) = self.known.entry(now).or_insert_with(|| {
                let flow = flows.over(now);
                let mut map = Matrix::identity(size, size);
                let mut noise = Matrix::zeros(size, size);
                let part = |from: (usize, usize), shape| flow.phi.view(from, shape);
                map.view_mut((0, 0), (n, n))
                    .copy_from(&part((0, 0), (n, n)));
                map.view_mut((0, at), (n, m))
                    .copy_from(&part((0, n), (n, m)));
                let of_states = flow.noise.view((0, 0), (n, n));
                noise.view_mut((0, 0), (n, n)).copy_from(&of_states);
                (map, noise)
            });
            step(map, noise);
        }
    }
}
