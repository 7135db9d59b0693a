//! Step responses along a trace, between the samples too.

use crate::model::Loop;
use crate::pattern::{Flows, Pattern, Source};
use crate::schedule::Schedule;
use nalgebra::DVector;
use serde::Serialize;

/// The part of the final value within which the output has settled.
const SETTLED: f64 = 0.02;

/// One step response: the reference of the first output goes from 0 to 1, the loop starts at rest and without noise.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Step {
    /// The first output, `samples` a period, from the step on.
    pub output: Vec<f64>,
    /// Its largest value above the final one, as a share of that; 0: it never passes it.
    pub overshoot: f64,
    /// Seconds from which on it stays within 2 % of the final value; `None`: not within the simulated time.
    pub settling_s: Option<f64>,
    /// Integral of the squared control error over the simulated time.
    pub squared_error: f64,
    /// The command reached a limit of the model.
    pub is_limited: bool,
}

/// How a step is simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepPlan {
    /// The cycle at which the reference changes.
    pub start: usize,
    /// Cycles to simulate; fewer at the end of the trace.
    pub cycles: usize,
    /// Outputs a period; divides the ticks of the grid.
    pub samples: u32,
    /// Where the output goes in the end.
    pub target: f64,
}

/// Simulates one step.
pub fn step(model: &Loop, flows: &mut Flows, schedule: &Schedule, plan: StepPlan) -> Step {
    let mut now = Simulated::new(model);
    let mut found = Step::default();
    let stride = (schedule.ticks / plan.samples).max(1);
    let end = schedule.cycles.len().min(plan.start + plan.cycles);
    for &index in &schedule.cycles[plan.start.min(end)..end] {
        let pattern = &schedule.patterns[index as usize];
        now.sample(pattern);
        let mut switches = pattern.switches.iter().peekable();
        for tick in (0..schedule.ticks).step_by(stride as usize) {
            found.output.push(now.output());
            let until = (tick + stride).min(schedule.ticks);
            let mut at = tick;
            while let Some(&(switch, source)) = switches.next_if(|(switch, _)| *switch < until) {
                found.squared_error += now.flow(flows, switch - at);
                at = switch;
                now.switch(source);
            }
            found.squared_error += now.flow(flows, until - at);
        }
    }
    found.is_limited = now.is_limited;
    let period = model.period_s / f64::from(schedule.ticks / stride);
    if plan.target != 0.0 {
        let relative = found.output.iter().map(|y| y / plan.target - 1.0);
        found.overshoot = relative.clone().fold(0.0, f64::max);
        let outside = relative.rposition_outside(SETTLED);
        found.settling_s = match outside {
            None => Some(0.0),
            Some(last) if last + 1 < found.output.len() => Some((last + 1) as f64 * period),
            Some(_) => None,
        };
    }
    found
}

trait Outside {
    fn rposition_outside(self, band: f64) -> Option<usize>;
}

impl<I: Iterator<Item = f64>> Outside for I {
    /// The last that is further from zero.
    fn rposition_outside(self, band: f64) -> Option<usize> {
        let outside = self
            .enumerate()
            .filter(|(_, value)| value.abs() > band || value.is_nan());
        outside.last().map(|(at, _)| at)
    }
}

/// The loop at one moment.
struct Simulated<'a> {
    model: &'a Loop,
    /// State of the plant, command in force, reference: what flows.
    flowing: DVector<f64>,
    scratch: DVector<f64>,
    controller: DVector<f64>,
    /// Commands by place.
    places: Vec<DVector<f64>>,
    is_limited: bool,
}

impl<'a> Simulated<'a> {
    fn new(model: &'a Loop) -> Simulated<'a> {
        let (n, m, p) = (
            model.plant.states(),
            model.plant.inputs(),
            model.plant.outputs(),
        );
        let mut flowing = DVector::zeros(n + m + p);
        flowing[n + m] = 1.0;
        Simulated {
            model,
            scratch: flowing.clone(),
            flowing,
            controller: DVector::zeros(model.controller.states()),
            places: vec![DVector::zeros(m)],
            is_limited: false,
        }
    }

    fn output(&self) -> f64 {
        let state = self.flowing.rows(0, self.model.plant.states());
        (self.model.plant.c.row(0) * state)[0]
    }

    fn sample(&mut self, pattern: &Pattern) {
        let old = self.places.clone();
        for &(from, to) in &pattern.moves {
            let to = usize::from(to);
            if self.places.len() <= to {
                self.places
                    .resize(to + 1, DVector::zeros(self.model.plant.inputs()));
            }
            self.places[to] = old[usize::from(from)].clone();
        }
        if pattern.ran {
            let (plant, controller) = (&self.model.plant, &self.model.controller);
            let (n, m) = (plant.states(), plant.inputs());
            let reference = self.flowing.rows(n + m, plant.outputs());
            let error = reference - &plant.c * self.flowing.rows(0, n);
            self.places[0] = &controller.c * &self.controller + &controller.d * &error;
            self.controller = &controller.a * &self.controller + &controller.b * &error;
        }
    }

    fn switch(&mut self, source: Source) {
        let (n, m) = (self.model.plant.states(), self.model.plant.inputs());
        for input in 0..m {
            let wanted = match source {
                // A command from before the step is zero, as the loop was at rest.
                Source::Stored(place) => self
                    .places
                    .get(usize::from(place))
                    .map_or(0.0, |u| u[input]),
                Source::Zero => 0.0,
            };
            let (low, high) =
                (self.model.limits.as_ref()).map_or((f64::MIN, f64::MAX), |limits| limits[input]);
            self.flowing[n + input] = wanted.clamp(low, high);
            self.is_limited |= wanted < low || wanted > high;
        }
    }

    /// Over so many ticks; returns the integral of the squared control error, all outputs together.
    fn flow(&mut self, flows: &mut Flows, ticks: u32) -> f64 {
        if ticks == 0 {
            return 0.0;
        }
        let flow = flows.over(ticks);
        let cost = (self.flowing.transpose() * &flow.cost * &self.flowing)[0];
        self.scratch.gemv(1.0, &flow.phi, &self.flowing, 0.0);
        std::mem::swap(&mut self.flowing, &mut self.scratch);
        cost
    }
}
