//! Exact mean and covariance of a loop along its schedule, as JitterTime computes them: no random numbers.

use crate::flow::symmetric;
use crate::model::Loop;
use crate::pattern::{Flows, Layout, PeriodMap, period_map};
use crate::schedule::Schedule;
use crate::system::Matrix;
use nalgebra::DVector;

/// Beyond this a variance is called unbounded.
const UNBOUNDED: f64 = 1e280;

/// Cycles that bring a loop from rest to its usual variance, at least.
const LEAD: usize = 200;

/// The maps of a schedule's patterns for one loop.
#[derive(Clone, Debug)]
pub struct Maps<'a> {
    model: &'a Loop,
    schedule: &'a Schedule,
    layout: Layout,
    maps: Vec<PeriodMap>,
}

/// What noise does along a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct NoiseRun {
    /// Cost of each cycle, integrated over its period.
    pub cost: Vec<f64>,
    /// At the start of each cycle: the outputs' part of the cost rate, which is the variance of a single output of
    /// weight 1.
    pub variance: Vec<f64>,
    /// Covariance of `z` at the end.
    pub end: Matrix,
}

impl<'a> Maps<'a> {
    /// Computes each pattern's maps once.
    pub fn new(model: &'a Loop, flows: &mut Flows, schedule: &'a Schedule) -> Maps<'a> {
        let layout = Layout::of(model, schedule.slots);
        let made = schedule.patterns.iter();
        let maps = made
            .map(|pattern| period_map(model, flows, layout, pattern))
            .collect();
        Maps {
            model,
            schedule,
            layout,
            maps,
        }
    }

    /// Where the parts of `z` stand.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Cycles of the schedule.
    pub fn cycles(&self) -> usize {
        self.schedule.cycles.len()
    }

    /// The map of a cycle.
    pub fn of_cycle(&self, cycle: usize) -> &PeriodMap {
        &self.maps[self.schedule.cycles[cycle] as usize]
    }

    /// The loop with its noise from a covariance of `z` without the reference (`None`: at rest), for the first `cycles`.
    /// It ends early once the variance is unbounded.
    pub fn noise(&self, start: Option<&Matrix>, cycles: usize) -> NoiseRun {
        let size = self.layout.at_reference();
        let part = |whole: &Matrix| whole.view((0, 0), (size, size)).into_owned();
        let core: Vec<[Matrix; 4]> = (self.maps.iter())
            .map(|map| {
                let moved = part(&map.map);
                [
                    moved.clone(),
                    moved.transpose(),
                    part(&map.noise),
                    part(&map.cost),
                ]
            })
            .collect();
        let (n, c) = (self.layout.states, &self.model.plant.c);
        let mut weight = Matrix::zeros(size, size);
        let of_state = c.transpose() * &self.model.cost.output * c;
        weight.view_mut((0, 0), (n, n)).copy_from(&of_state);
        let mut now = start.cloned().unwrap_or_else(|| Matrix::zeros(size, size));
        let mut half = Matrix::zeros(size, size);
        let mut run = NoiseRun {
            cost: Vec::with_capacity(cycles),
            variance: Vec::with_capacity(cycles),
            end: Matrix::zeros(0, 0),
        };
        for &pattern in self.schedule.cycles.iter().take(cycles) {
            let [map, transposed, noise, cost] = &core[pattern as usize];
            let spent = cost.dot(&now) + self.maps[pattern as usize].noise_cost;
            run.cost.push(spent);
            run.variance.push(weight.dot(&now));
            if spent > UNBOUNDED || !spent.is_finite() {
                break;
            }
            half.gemm(1.0, map, &now, 0.0);
            now.copy_from(noise);
            now.gemm(1.0, &half, transposed, 1.0);
        }
        run.end = symmetric(&now);
        run
    }

    /// The loop with its noise over the whole trace, from the variance that it has after it has run for a while.
    pub fn usual_noise(&self) -> NoiseRun {
        let cycles = self.schedule.cycles.len();
        let lead = self.noise(None, cycles.min(LEAD.max(cycles / 20))).end;
        self.noise(Some(&lead), cycles)
    }

    /// Cost of the noise-free loop with this reference, from rest.
    pub fn cost_of_step(&self, reference: &[f64]) -> f64 {
        let mut z = DVector::zeros(self.layout.length());
        let at = self.layout.at_reference();
        z.rows_mut(at, reference.len()).copy_from_slice(reference);
        let mut cost = 0.0;
        for &pattern in &self.schedule.cycles {
            let map = &self.maps[pattern as usize];
            cost += map.cost_of(&z);
            z = &map.map * z;
        }
        cost
    }

    /// Growth of the noise-free loop per cycle: above 1 it did not hold on this trace (largest Lyapunov exponent of this
    /// product of maps). The first fifth is left out: it still has the transient.
    pub fn growth(&self) -> f64 {
        let size = self.layout.at_reference();
        let core: Vec<Matrix> = (self.maps.iter())
            .map(|map| map.map.view((0, 0), (size, size)).into_owned())
            .collect();
        let cycles = &self.schedule.cycles;
        let first = cycles.len() / 5;
        // Any start that no symmetry of the loop can be orthogonal to.
        let places = self.layout.at_place(0);
        let fresh = || {
            DVector::from_fn(size, |i, _| match i < places {
                true => (1.0 + i as f64).sqrt().fract() + 0.1,
                // Nothing waits there yet.
                false => 0.0,
            })
        };
        let mut now = fresh();
        let mut next = now.clone();
        let mut sum = 0.0;
        for (cycle, &pattern) in cycles.iter().enumerate() {
            now /= now.norm();
            next.gemv(1.0, &core[pattern as usize], &now, 0.0);
            std::mem::swap(&mut now, &mut next);
            let mut norm = now.norm();
            if norm < 1e-200 {
                // Deadbeat: nothing is left of it.
                now = fresh();
                norm = 1e-12;
            }
            if cycle >= first {
                sum += norm.ln();
            }
        }
        (sum / (cycles.len() - first).max(1) as f64).exp()
    }
}
