//! The loop: plant, controller, period, noise, cost and limits, checked.

use crate::error::ControlError;
use crate::system::{Matrix, StateSpace, expect};

/// A plant in continuous time, and a controller that runs once a period.
///
/// The controller sees `e = r - (C x + n)` at each tick, `n` with the variance `measurement_noise`. Its command comes
/// into force when its answer arrives and stays until the next one (zero-order hold). The plant is `x' = A x + B v + w`
/// with white noise `w` of the intensity `process_noise`. The cost rate is
/// `E[(y-r)' Qy (y-r) + v' Qu v + x' Qx x]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// Continuous time, D = 0.
    pub plant: StateSpace,
    /// One step a period.
    pub controller: StateSpace,
    /// Seconds.
    pub period_s: f64,
    /// Noise and cost.
    pub noise: Noise,
    /// What is to be small.
    pub cost: Cost,
    /// Lowest and highest command, one pair an input; the linear verdicts do not know them.
    pub limits: Option<Vec<(f64, f64)>>,
}

/// What disturbs the loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Noise {
    /// Intensity of the noise on the states: its variance a second. States x states.
    pub process: Matrix,
    /// Variance of the noise of a measurement. Outputs x outputs.
    pub measurement: Matrix,
}

impl Noise {
    /// White noise of this intensity that adds to each command, and none on the measurement.
    pub fn on_input(plant: &StateSpace, intensity: f64) -> Noise {
        Noise {
            process: &plant.b * plant.b.transpose() * intensity,
            measurement: Matrix::zeros(plant.outputs(), plant.outputs()),
        }
    }
}

/// Weights of the cost rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// Of the control error. Outputs x outputs.
    pub output: Matrix,
    /// Of the command. Inputs x inputs.
    pub input: Matrix,
    /// Of the state. States x states.
    pub state: Matrix,
}

impl Cost {
    /// The mean square of the control error.
    pub fn of_output(plant: &StateSpace) -> Cost {
        Cost {
            output: Matrix::identity(plant.outputs(), plant.outputs()),
            input: Matrix::zeros(plant.inputs(), plant.inputs()),
            state: Matrix::zeros(plant.states(), plant.states()),
        }
    }
}

impl Loop {
    /// With noise of intensity 1 on the input, the mean square error as cost, and no limits.
    ///
    /// # Errors
    /// As [`Loop::checked`].
    pub fn new(
        plant: StateSpace,
        controller: StateSpace,
        period_s: f64,
    ) -> Result<Loop, ControlError> {
        Loop {
            noise: Noise::on_input(&plant, 1.0),
            cost: Cost::of_output(&plant),
            plant,
            controller,
            period_s,
            limits: None,
        }
        .checked()
    }

    /// The period in whole nanoseconds, at least one.
    pub fn period_ns(&self) -> u64 {
        ((self.period_s * 1e9).round() as u64).max(1)
    }

    /// The same, if all of it fits together.
    ///
    /// # Errors
    /// [`ControlError::Feedthrough`], [`ControlError::Dimension`] or [`ControlError::Value`].
    pub fn checked(self) -> Result<Loop, ControlError> {
        let (n, m, p) = (
            self.plant.states(),
            self.plant.inputs(),
            self.plant.outputs(),
        );
        if self.plant.d.iter().any(|&entry| entry != 0.0) {
            return Err(ControlError::Feedthrough);
        }
        if n == 0 || m == 0 || p == 0 {
            return Err(ControlError::Dimension {
                key: "plant",
                rows: n,
                columns: m.min(p),
                expected: "1 x 1 or more".into(),
                reason: "a plant has a state, an input and an output at least",
            });
        }
        let as_plant = "the plant has as many inputs and outputs";
        let d = &self.controller.d;
        expect(
            "controller.d",
            d,
            (m, p),
            "a row for each input and a column for each output of the plant",
        )?;
        expect(
            "noise.process",
            &self.noise.process,
            (n, n),
            "the plant has as many states",
        )?;
        expect(
            "noise.measurement",
            &self.noise.measurement,
            (p, p),
            as_plant,
        )?;
        expect("cost.output", &self.cost.output, (p, p), as_plant)?;
        expect("cost.input", &self.cost.input, (m, m), as_plant)?;
        expect(
            "cost.state",
            &self.cost.state,
            (n, n),
            "the plant has as many states",
        )?;
        for (key, matrix) in [
            ("noise.process", &self.noise.process),
            ("noise.measurement", &self.noise.measurement),
            ("cost.output", &self.cost.output),
            ("cost.input", &self.cost.input),
            ("cost.state", &self.cost.state),
        ] {
            if let Some(&value) =
                (matrix.diagonal().iter()).find(|value| value.is_nan() || **value < 0.0)
            {
                let reason = "on its diagonal is negative";
                return Err(ControlError::Value { key, value, reason });
            }
        }
        let value = self.period_s;
        if !(value > 0.0 && value.is_finite()) {
            let (key, reason) = ("period", "is not a period in seconds");
            return Err(ControlError::Value { key, value, reason });
        }
        let limits = self.limits.as_deref().unwrap_or_default();
        if self.limits.is_some() && limits.len() != m {
            return Err(ControlError::Dimension {
                key: "limits.input",
                rows: limits.len(),
                columns: 2,
                expected: format!("{m} x 2"),
                reason: "a lowest and a highest command for each input of the plant",
            });
        }
        if let Some(&(value, _)) = limits
            .iter()
            .find(|(low, high)| low.partial_cmp(high) != Some(std::cmp::Ordering::Less))
        {
            let (key, reason) = ("limits.input", "as lowest command is not below the highest");
            return Err(ControlError::Value { key, value, reason });
        }
        Ok(self)
    }
}
