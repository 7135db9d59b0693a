//! What may happen in one period, and the linear maps that it amounts to.

use crate::flow::Flow;
use crate::model::Loop;
use crate::system::Matrix;
use nalgebra::{DMatrixView, DVector};
use std::collections::HashMap;

/// Where a command comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// The command in this place: 0 is the one computed at this period's sample.
    Stored(u16),
    /// Zero, because an answer was missed.
    Zero,
}

/// What happens from just before a sample to just before the next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// The controller ran: it has a new command, in place 0.
    pub ran: bool,
    /// Before that, commands that move from a place to another, all at once.
    pub moves: Vec<(u16, u16)>,
    /// Tick in the period, and which command comes into force then. In order.
    pub switches: Vec<(u32, Source)>,
}

/// One period as maps on `z = [x | controller | v | places | r]`, from just before its sample.
#[derive(Clone, Debug)]
pub struct PeriodMap {
    /// `z` at the end, without noise.
    pub map: Matrix,
    /// Covariance of the noise at the end.
    pub noise: Matrix,
    /// Cost of a start at z: z' cost z.
    pub cost: Matrix,
    /// Cost of the period's own noise.
    pub noise_cost: f64,
}

/// Where the parts of `z` stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// States of the plant.
    pub states: usize,
    /// States of the controller.
    pub controller: usize,
    /// Inputs of the plant.
    pub inputs: usize,
    /// Outputs of the plant.
    pub outputs: usize,
    /// Places of commands, the one of the current period included.
    pub places: usize,
}

impl Layout {
    /// Of a loop with so many places beside that of the current command.
    pub fn of(model: &Loop, slots: usize) -> Layout {
        Layout {
            states: model.plant.states(),
            controller: model.controller.states(),
            inputs: model.plant.inputs(),
            outputs: model.plant.outputs(),
            places: slots + 1,
        }
    }

    /// First of the controller's states.
    pub fn at_controller(&self) -> usize {
        self.states
    }

    /// First of the command in force.
    pub fn at_command(&self) -> usize {
        self.states + self.controller
    }

    /// First of the command in this place.
    pub fn at_place(&self, place: usize) -> usize {
        self.at_command() + self.inputs * (1 + place)
    }

    /// First of the reference; what stands before is disturbed by noise.
    pub fn at_reference(&self) -> usize {
        self.at_place(self.places)
    }

    /// Length of `z`.
    pub fn length(&self) -> usize {
        self.at_reference() + self.outputs
    }

    /// What moves between events: x, v and r.
    fn flowing(&self) -> Vec<usize> {
        let command = self.at_command()..self.at_command() + self.inputs;
        let reference = self.at_reference()..self.length();
        (0..self.states).chain(command).chain(reference).collect()
    }
}

/// Flows of a loop on a grid of ticks, each computed once.
#[derive(Clone, Debug)]
pub struct Flows {
    a: Matrix,
    noise: Matrix,
    cost: Matrix,
    tick_s: f64,
    ticks: u32,
    known: HashMap<u32, Flow>,
}

impl Flows {
    /// Of this loop, its period divided into so many ticks.
    pub fn new(model: &Loop, ticks: u32) -> Flows {
        let (n, m, p) = (
            model.plant.states(),
            model.plant.inputs(),
            model.plant.outputs(),
        );
        let length = n + m + p;
        let mut a = Matrix::zeros(length, length);
        a.view_mut((0, 0), (n, n)).copy_from(&model.plant.a);
        a.view_mut((0, n), (n, m)).copy_from(&model.plant.b);
        let mut noise = Matrix::zeros(length, length);
        noise
            .view_mut((0, 0), (n, n))
            .copy_from(&model.noise.process);
        let mut error = Matrix::zeros(p, length);
        error.view_mut((0, 0), (p, n)).copy_from(&model.plant.c);
        error
            .view_mut((0, n + m), (p, p))
            .copy_from(&(-Matrix::identity(p, p)));
        let mut cost = error.transpose() * &model.cost.output * error;
        let mut of_state = cost.view_mut((0, 0), (n, n));
        of_state += &model.cost.state;
        let mut of_input = cost.view_mut((n, n), (m, m));
        of_input += &model.cost.input;
        Flows {
            a,
            noise,
            cost,
            tick_s: model.period_s / f64::from(ticks),
            ticks,
            known: HashMap::new(),
        }
    }

    /// Over so many ticks.
    pub fn over(&mut self, ticks: u32) -> &Flow {
        let Flows {
            a,
            noise,
            cost,
            tick_s,
            ..
        } = self;
        let known = self.known.entry(ticks);
        known.or_insert_with(|| Flow::new(a, noise, cost, *tick_s * f64::from(ticks)))
    }

    /// Ticks a period.
    pub fn ticks(&self) -> u32 {
        self.ticks
    }
}

/// The maps of a pattern.
pub fn period_map(model: &Loop, flows: &mut Flows, layout: Layout, pattern: &Pattern) -> PeriodMap {
    let length = layout.length();
    let (mut map, mut noise) = sample(model, layout, pattern);
    let mut cost = Matrix::zeros(length, length);
    let mut noise_cost = 0.0;
    let flowing = layout.flowing();
    let mut now = 0;
    let end = [(flows.ticks(), None)];
    let switches = pattern
        .switches
        .iter()
        .map(|&(tick, source)| (tick, Some(source)));
    for (tick, source) in switches.chain(end) {
        if tick > now {
            let flow = flows.over(tick - now);
            now = tick;
            let part = noise.select_rows(&flowing).select_columns(&flowing);
            noise_cost += flow.cost.dot(&part) + flow.noise_cost;
            let rows = map.select_rows(&flowing);
            cost += rows.transpose() * &flow.cost * rows;
            let moved = spread(&flow.phi, &flowing, length, true);
            map = &moved * map;
            noise =
                &moved * noise * moved.transpose() + spread(&flow.noise, &flowing, length, false);
        }
        if let Some(source) = source {
            let switch = switched(layout, source);
            map = &switch * map;
            noise = &switch * noise * switch.transpose();
        }
    }
    PeriodMap {
        map,
        noise,
        cost,
        noise_cost,
    }
}

/// A matrix of the flowing part in one of all of `z`; the rest stays as it is (`keeps`), or is zero.
fn spread(part: &Matrix, flowing: &[usize], length: usize, keeps: bool) -> Matrix {
    let mut whole = match keeps {
        true => Matrix::identity(length, length),
        false => Matrix::zeros(length, length),
    };
    for (i, &row) in flowing.iter().enumerate() {
        for (j, &column) in flowing.iter().enumerate() {
            whole[(row, column)] = part[(i, j)];
        }
    }
    whole
}

/// The sample at the start of a period, and the noise of its measurement.
fn sample(model: &Loop, layout: Layout, pattern: &Pattern) -> (Matrix, Matrix) {
    let length = layout.length();
    let mut map = Matrix::identity(length, length);
    let inputs = layout.inputs;
    for &(_, to) in &pattern.moves {
        map.rows_mut(layout.at_place(to.into()), inputs).fill(0.0);
    }
    for &(from, to) in &pattern.moves {
        let (from, to) = (layout.at_place(from.into()), layout.at_place(to.into()));
        map.view_mut((to, from), (inputs, inputs))
            .fill_with_identity();
    }
    let fresh = layout.at_place(0);
    map.rows_mut(fresh, inputs).fill(0.0);
    let mut of_noise = Matrix::zeros(length, layout.outputs);
    if pattern.ran {
        let (plant, controller) = (&model.plant, &model.controller);
        let at = layout.at_controller();
        let mut set = |row: usize, from_state: &Matrix, from_error: &Matrix| {
            let rows = from_error.nrows();
            map.rows_mut(row, rows).fill(0.0);
            map.view_mut((row, 0), (rows, layout.states))
                .copy_from(&(-from_error * &plant.c));
            map.view_mut((row, at), (rows, layout.controller))
                .copy_from(from_state);
            map.view_mut((row, layout.at_reference()), from_error.shape())
                .copy_from(from_error);
            of_noise
                .view_mut((row, 0), from_error.shape())
                .copy_from(&(-from_error));
        };
        set(fresh, &controller.c, &controller.d);
        set(at, &controller.a, &controller.b);
    }
    let noise = &of_noise * &model.noise.measurement * of_noise.transpose();
    (map, noise)
}

/// A command comes into force. One that waited leaves its place empty: what is left there would never decay, and hide
/// that the loop does.
fn switched(layout: Layout, source: Source) -> Matrix {
    let length = layout.length();
    let mut map = Matrix::identity(length, length);
    map.rows_mut(layout.at_command(), layout.inputs).fill(0.0);
    if let Source::Stored(place) = source {
        let from = layout.at_place(place.into());
        map.view_mut((layout.at_command(), from), (layout.inputs, layout.inputs))
            .fill_with_identity();
        if place > 0 {
            map.rows_mut(from, layout.inputs).fill(0.0);
        }
    }
    map
}

impl PeriodMap {
    /// The part without the reference, which is what decides about stability.
    pub fn core(&self, layout: Layout) -> DMatrixView<'_, f64, nalgebra::Const<1>, nalgebra::Dyn> {
        let end = layout.at_reference();
        self.map.view((0, 0), (end, end))
    }

    /// Cost of a start at z without noise.
    pub fn cost_of(&self, z: &DVector<f64>) -> f64 {
        (z.transpose() * &self.cost * z)[0]
    }
}
