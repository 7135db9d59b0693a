//! What a plant does in 1, 2, 4, 8 ... ns, computed once each: any time is a sum of these.
//! So a request costs some products of a small matrix and a vector, and no matrix exponential: 2 us with four states.

use crate::error::ControlError;
use crate::flow::Flow;
use crate::system::{Matrix, StateSpace};
use nalgebra::SymmetricEigen;
use std::sync::OnceLock;

/// Powers of two in a `u64`.
const POWERS: usize = 64;

/// Powers that are computed at once: together 34 s.
const USUAL: u32 = 35;

/// A step in which more can grow than this is taken in two halves, because its numbers could overflow.
const MOST_GROWTH: f64 = 1e100;

/// What happens in such a time.
#[derive(Debug)]
pub(crate) struct Power {
    /// Of states and commands; the commands stay.
    pub phi: Matrix,
    /// Times independent normal numbers: the noise on the states. `None` if there is none.
    pub noise: Option<Matrix>,
}

/// All of them, of one plant.
#[derive(Debug)]
pub(crate) struct Powers {
    /// Of states and commands.
    a: Matrix,
    /// Of states and commands; those of the commands are 0.
    noise: Matrix,
    states: usize,
    /// 2^index ns; `None` where numbers could overflow.
    powers: [OnceLock<Option<Power>>; POWERS],
}

impl Powers {
    /// Of a plant with process noise of this intensity.
    ///
    /// # Errors
    /// [`ControlError::Value`] if it grows too much even within 1 ns.
    pub fn new(system: &StateSpace, noise: &Matrix) -> Result<Powers, ControlError> {
        let (states, inputs) = (system.states(), system.inputs());
        let size = states + inputs;
        let mut a = Matrix::zeros(size, size);
        a.view_mut((0, 0), (states, states)).copy_from(&system.a);
        a.view_mut((0, states), (states, inputs))
            .copy_from(&system.b);
        let mut all_noise = Matrix::zeros(size, size);
        let of_states = &mut all_noise.view_mut((0, 0), (states, states));
        of_states.copy_from(noise);
        let powers = Powers {
            a,
            noise: all_noise,
            states,
            powers: [const { OnceLock::new() }; POWERS],
        };
        // Now rather than within an exchange.
        for power in 0..USUAL {
            let _ = powers.get(power);
        }
        match powers.get(0) {
            Some(_) => Ok(powers),
            None => Err(ControlError::Value {
                key: "plant",
                value: system.a.amax().max(system.b.amax()),
                reason: "as its largest entry makes it change too much within 1 ns to be simulated",
            }),
        }
    }

    /// True if noise acts on the states.
    pub fn is_noisy(&self) -> bool {
        self.noise.amax() > 0.0
    }

    /// What happens in 2^`power` ns; `None` if its numbers could overflow.
    pub fn get(&self, power: u32) -> Option<&Power> {
        let made = self.powers[power as usize].get_or_init(|| self.make(power));
        made.as_ref()
    }

    fn make(&self, power: u32) -> Option<Power> {
        let no_cost = Matrix::zeros(self.a.nrows(), self.a.ncols());
        let seconds = 2f64.powi(power as i32) * 1e-9;
        let flow = Flow::new(&self.a, &self.noise, &no_cost, seconds);
        let is_possible = |matrix: &Matrix, most: f64| {
            // `amax` passes over what is not a number.
            matrix.iter().all(|value| value.abs() <= most)
        };
        let is_usable = is_possible(&flow.phi, MOST_GROWTH)
            && is_possible(&flow.noise, MOST_GROWTH * MOST_GROWTH);
        is_usable.then(|| {
            let states = flow.noise.view((0, 0), (self.states, self.states));
            Power {
                noise: self.is_noisy().then(|| factor(&states.into_owned())),
                phi: flow.phi,
            }
        })
    }
}

/// A matrix F with F F' = this covariance. Rounding may have made it slightly indefinite: that is taken as 0.
pub(crate) fn factor(covariance: &Matrix) -> Matrix {
    let n = covariance.nrows();
    if n == 0 {
        return covariance.clone();
    }
    // Variances of a chain of integrators differ by many orders of magnitude: decompose the correlations.
    let deviations = covariance
        .diagonal()
        .map(|variance| variance.max(0.0).sqrt());
    let correlations = Matrix::from_fn(n, n, |row, column| {
        let scale = deviations[row] * deviations[column];
        match scale > 0.0 {
            true => (covariance[(row, column)] / scale).clamp(-1.0, 1.0),
            false => 0.0,
        }
    });
    let eigen = SymmetricEigen::new(correlations);
    let mut factor = eigen.eigenvectors;
    for (mut column, value) in factor.column_iter_mut().zip(eigen.eigenvalues.iter()) {
        column *= value.max(0.0).sqrt();
        column.component_mul_assign(&deviations);
    }
    factor
}

/// A number of the standard normal distribution (Marsaglia's polar method).
pub(crate) fn normal(random: &mut fastrand::Rng) -> f64 {
    loop {
        let (x, y) = (2.0 * random.f64() - 1.0, 2.0 * random.f64() - 1.0);
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            return x * (-2.0 * square.ln() / square).sqrt();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_gives_its_covariance_back_even_if_that_is_singular() {
        let half = Matrix::from_row_slice(3, 2, &[1.0, 2.0, 3e-9, 4e-9, 0.0, 0.0]);
        let covariance = &half * half.transpose();
        let factor = factor(&covariance);
        let error = &factor * factor.transpose() - &covariance;
        for (at, error) in error.iter().enumerate() {
            let scale = (covariance[(at % 3, at % 3)] * covariance[(at / 3, at / 3)]).sqrt();
            assert!(error.abs() <= 1e-14 * scale, "{error}");
        }
    }

    #[test]
    fn normal_numbers_have_the_moments_of_the_normal_distribution() {
        let mut random = fastrand::Rng::with_seed(1);
        let count = 100_000;
        let mut moments = [0.0; 4];
        for _ in 0..count {
            let value = normal(&mut random);
            for (power, moment) in moments.iter_mut().enumerate() {
                *moment += value.powi(power as i32 + 1) / f64::from(count);
            }
        }
        // Standard deviations of these estimates: sqrt(1, 2, 15, 96) / sqrt(count). Bounds of 4.
        for (moment, (expected, variance)) in
            moments
                .into_iter()
                .zip([(0.0, 1.0f64), (1.0, 2.0), (0.0, 15.0), (3.0, 96.0)])
        {
            let bound = 4.0 * (variance / f64::from(count)).sqrt();
            assert!((moment - expected).abs() < bound, "{moments:?}");
        }
    }
}
