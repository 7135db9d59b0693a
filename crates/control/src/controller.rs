//! The controller as a program runs it: one step a sample.

use crate::model::Loop;
use crate::system::StateSpace;
use nalgebra::DVector;

/// A controller with its state.
///
/// ```
/// use wiregauge_control::{Controller, Loop, Pid, TransferFunction};
///
/// let plant = TransferFunction::parse("plant", 's', "1/s")?.state_space()?;
/// let mut model = Loop::new(plant, Pid::new(2.0, 0.0, 0.0).state_space(0.01)?, 0.01)?;
/// model.limits = Some(vec![(-1.0, 1.0)]);
/// let mut controller = Controller::new(&model);
/// assert_eq!(controller.step(&[0.25]), [0.5]);
/// assert_eq!(controller.step(&[3.0]), [1.0]);
/// # Ok::<(), wiregauge_control::ControlError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Controller {
    system: StateSpace,
    limits: Option<Vec<(f64, f64)>>,
    state: DVector<f64>,
    before: DVector<f64>,
    error: DVector<f64>,
    command: DVector<f64>,
}

impl Controller {
    /// Of this loop, at rest.
    pub fn new(model: &Loop) -> Controller {
        let system = model.controller.clone();
        Controller {
            state: DVector::zeros(system.states()),
            before: DVector::zeros(system.states()),
            error: DVector::zeros(system.inputs()),
            command: DVector::zeros(system.outputs()),
            limits: model.limits.clone(),
            system,
        }
    }

    /// The command for a control error, clipped to the limits of the model: `u = Cc xc + Dc e`, `xc <- Ac xc + Bc e`.
    ///
    /// # Panics
    /// If the error has another length than the plant has outputs.
    pub fn step(&mut self, error: &[f64]) -> &[f64] {
        self.error.copy_from_slice(error);
        let StateSpace { a, b, c, d } = &self.system;
        self.command.gemv(1.0, d, &self.error, 0.0);
        self.command.gemv(1.0, c, &self.state, 1.0);
        std::mem::swap(&mut self.state, &mut self.before);
        self.state.gemv(1.0, b, &self.error, 0.0);
        self.state.gemv(1.0, a, &self.before, 1.0);
        let limits = self.limits.as_deref().unwrap_or_default();
        for (value, (low, high)) in self.command.iter_mut().zip(limits) {
            *value = value.max(*low).min(*high);
        }
        self.command.as_slice()
    }
}
