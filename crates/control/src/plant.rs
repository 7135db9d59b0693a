//! A plant that is simulated: exactly between events, whatever the times of the events are.

use crate::error::ControlError;
use crate::model::{Cost, Loop, Noise};
use crate::powers::{Powers, factor, normal};
use crate::system::{Matrix, StateSpace};
use nalgebra::DVector;
use std::sync::Arc;

/// Largest magnitude of a command and of a state. A plant beyond it has diverged.
const LARGEST: f64 = 1e100;

/// What a plant that has diverged measures, with the sign of its output; also the largest output.
const DIVERGED: f64 = 1e300;

/// Powers that one call computes at most. Only an unstable mode that is exactly 0 takes so many: it can be neither
/// stepped over at once nor grow. What is left of the time is skipped then.
const MOST_STEPS: u32 = 10_000;

/// The description of a simulated plant, checked. Clones share what was computed of it.
#[derive(Clone, Debug)]
pub struct PlantModel(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    system: StateSpace,
    limits: Option<Vec<(f64, f64)>>,
    powers: Powers,
    /// Times normal numbers: the noise of a measurement. `None` if there is none.
    measurement: Option<Matrix>,
}

impl PlantModel {
    /// A plant with noise, whose commands are clipped to `limits`, a lowest and a highest one for each input.
    ///
    /// # Errors
    /// [`ControlError::Feedthrough`], [`ControlError::Dimension`] or [`ControlError::Value`].
    pub fn new(
        system: StateSpace,
        noise: Noise,
        limits: Option<Vec<(f64, f64)>>,
    ) -> Result<PlantModel, ControlError> {
        let no_control = Matrix::zeros(system.inputs(), system.outputs());
        let Loop {
            plant: system,
            noise,
            limits,
            ..
        } = Loop {
            controller: StateSpace::gain(no_control),
            period_s: 1.0,
            cost: Cost::of_output(&system),
            plant: system,
            noise,
            limits,
        }
        .checked()?;
        for (key, matrix) in [
            ("noise.process", &noise.process),
            ("noise.measurement", &noise.measurement),
        ] {
            let is_possible = |value: &&f64| value.abs() <= LARGEST;
            if let Some(&value) = matrix.iter().find(|value| !is_possible(value)) {
                let reason = "is not a number up to 1e100";
                return Err(ControlError::Value { key, value, reason });
            }
        }
        Ok(PlantModel(Arc::new(Inner {
            powers: Powers::new(&system, &noise.process)?,
            measurement: (noise.measurement.amax() > 0.0).then(|| factor(&noise.measurement)),
            system,
            limits,
        })))
    }

    /// Its matrices.
    pub fn system(&self) -> &StateSpace {
        &self.0.system
    }
}

/// A plant at a time: it takes commands and gives measurements.
///
/// Between two calls it integrates `x' = A x + B v + w` exactly: transition, effect of the constant command and
/// covariance of the noise have no step size, and the result does not depend on how often it is looked at. It begins at
/// rest, at the time of the first call.
///
/// A plant with a state beyond 1e100 has diverged. It stays where it is, and its outputs are +-1e300, until
/// [`Plant::reset`]: a number that no working plant measures, and a finite one.
///
/// ```
/// use wiregauge_control::{Noise, Plant, PlantModel, TransferFunction};
///
/// let system = TransferFunction::parse("plant", 's', "1/s")?.state_space()?;
/// let noise = Noise::on_input(&system, 0.0);
/// let mut plant = Plant::new(PlantModel::new(system, noise, Some(vec![(-2.0, 2.0)]))?, 1);
/// plant.advance(5_000_000_000);
/// plant.apply(&[7.0]);
/// plant.advance(5_500_000_000);
/// assert!((plant.measure()[0] - 1.0).abs() < 1e-12);
/// # Ok::<(), wiregauge_control::ControlError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plant {
    model: PlantModel,
    seed: u64,
    random: fastrand::Rng,
    /// The states, then the commands in force.
    state: DVector<f64>,
    /// The state before a step.
    before: DVector<f64>,
    /// Normal numbers of a step.
    normal: DVector<f64>,
    time_ns: Option<u64>,
    is_diverged: bool,
}

impl Plant {
    /// At rest, with the command 0 (or the limit next to it). The same seed and the same calls give the same numbers.
    pub fn new(model: PlantModel, seed: u64) -> Plant {
        let (states, inputs) = (model.system().states(), model.system().inputs());
        let mut plant = Plant {
            seed,
            random: fastrand::Rng::with_seed(seed),
            state: DVector::zeros(states + inputs),
            before: DVector::zeros(states + inputs),
            normal: DVector::zeros(states),
            model,
            time_ns: None,
            is_diverged: false,
        };
        plant.reset();
        plant
    }

    /// As new; time begins again with the next call of [`Plant::advance`].
    pub fn reset(&mut self) {
        self.random = fastrand::Rng::with_seed(self.seed);
        self.time_ns = None;
        self.is_diverged = false;
        self.state.fill(0.0);
        self.apply(&vec![0.0; self.model.system().inputs()]);
    }

    /// Its description.
    pub fn model(&self) -> &PlantModel {
        &self.model
    }

    /// True if a state is beyond 1e100.
    pub fn is_diverged(&self) -> bool {
        self.is_diverged
    }

    /// The states.
    pub fn state(&self) -> &[f64] {
        &self.state.as_slice()[..self.model.system().states()]
    }

    /// The commands in force, one for each input.
    pub fn command(&self) -> &[f64] {
        &self.state.as_slice()[self.model.system().states()..]
    }

    /// Lets time pass until `now_ns`. A time before that of the last call changes nothing.
    pub fn advance(&mut self, now_ns: u64) {
        let mut left_ns = now_ns.saturating_sub(self.time_ns.unwrap_or(now_ns));
        self.time_ns = self.time_ns.max(Some(now_ns));
        let inner = Arc::clone(&self.model.0);
        let is_still = !inner.powers.is_noisy() && self.state.iter().all(|&value| value == 0.0);
        if is_still {
            return;
        }
        let mut budget = MOST_STEPS;
        while left_ns > 0 && !self.is_diverged {
            let power = left_ns.trailing_zeros();
            left_ns &= left_ns - 1;
            self.step(&inner.powers, power, &mut budget);
        }
    }

    /// Lets 2^`power` ns pass.
    fn step(&mut self, powers: &Powers, power: u32, budget: &mut u32) {
        if self.is_diverged || *budget == 0 {
            return;
        }
        let Some(step) = powers.get(power) else {
            for _ in 0..2 {
                self.step(powers, power - 1, budget);
            }
            return;
        };
        *budget -= 1;
        std::mem::swap(&mut self.state, &mut self.before);
        self.state.gemv(1.0, &step.phi, &self.before, 0.0);
        let states = self.normal.len();
        if let Some(factor) = &step.noise {
            for value in self.normal.iter_mut() {
                *value = normal(&mut self.random);
            }
            (self.state.rows_mut(0, states)).gemv(1.0, factor, &self.normal, 1.0);
        }
        for value in self.state.rows_mut(0, states).iter_mut() {
            if value.abs() > LARGEST {
                *value = LARGEST.copysign(*value);
                self.is_diverged = true;
            }
        }
    }

    /// True if this is a command: a finite number up to 1e100 for each input.
    pub fn accepts(&self, command: &[f64]) -> bool {
        command.len() == self.model.system().inputs()
            && command.iter().all(|value| value.abs() <= LARGEST)
    }

    /// Applies a command from now on, clipped to the limits. Nothing changes if it [is none](Plant::accepts).
    pub fn apply(&mut self, command: &[f64]) {
        if !self.accepts(command) {
            return;
        }
        let states = self.model.system().states();
        let limits = self.model.0.limits.as_deref();
        for (input, &value) in command.iter().enumerate() {
            let (low, high) = limits.map_or((f64::NEG_INFINITY, f64::INFINITY), |all| all[input]);
            self.state[states + input] = value.max(low).min(high);
        }
    }

    /// The outputs now, with the noise of a measurement.
    pub fn measure(&mut self) -> Vec<f64> {
        let inner = Arc::clone(&self.model.0);
        let c = &inner.system.c;
        let clipped = |value: f64| value.clamp(-DIVERGED, DIVERGED);
        let mut outputs: Vec<f64> = (c.row_iter())
            .map(|row| {
                let terms = row.iter().zip(self.state());
                let output: f64 = terms.map(|(c, x)| clipped(c * x)).sum();
                match self.is_diverged {
                    true => DIVERGED.copysign(output),
                    false => clipped(output),
                }
            })
            .collect();
        if let (Some(factor), false) = (&inner.measurement, self.is_diverged) {
            for column in factor.column_iter() {
                let normal = normal(&mut self.random);
                for (output, factor) in outputs.iter_mut().zip(column.iter()) {
                    *output += factor * normal;
                }
            }
        }
        outputs
    }
}
