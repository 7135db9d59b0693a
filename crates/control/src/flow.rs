//! What a linear system with noise does over a time: transition, covariance, cost.

use crate::system::Matrix;

/// `x(t+dt) = Phi x(t) + noise` and the cost `integral of x' Q x` over that time.
///
/// Van Loan (1978) by two matrix exponentials, as JitterTime's and Jitterbug's `calcc2d.m`; the time is halved until
/// the exponent is small and doubled back, which keeps fast poles from overflowing.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Transition.
    pub phi: Matrix,
    /// Covariance of the noise at the end.
    pub noise: Matrix,
    /// Cost of a start at x: x' cost x.
    pub cost: Matrix,
    /// Cost of the noise.
    pub noise_cost: f64,
}

impl Flow {
    /// Of `x' = A x + w` with noise of the intensity `noise`, cost matrix `cost`, over `dt` seconds.
    pub fn new(a: &Matrix, noise: &Matrix, cost: &Matrix, dt: f64) -> Flow {
        let n = a.nrows();
        let size = one_norm(a) * dt;
        let halvings = if size > 1.0 {
            size.log2().ceil() as i32
        } else {
            0
        };
        let dt = dt / 2f64.powi(halvings);
        let mut block = Matrix::zeros(3 * n, 3 * n);
        block.view_mut((0, 0), (n, n)).copy_from(&(-a));
        block.view_mut((0, n), (n, n)).fill_with_identity();
        block.view_mut((n, n), (n, n)).copy_from(&(-a));
        block.view_mut((n, 2 * n), (n, n)).copy_from(noise);
        block
            .view_mut((2 * n, 2 * n), (n, n))
            .copy_from(&a.transpose());
        let exponential = (block * dt).exp();
        let phi = exponential.view((2 * n, 2 * n), (n, n)).transpose();
        let covariance = &phi * exponential.view((n, 2 * n), (n, n));
        let noise_cost = (cost * &phi * exponential.view((0, 2 * n), (n, n))).trace();

        let mut block = Matrix::zeros(2 * n, 2 * n);
        block.view_mut((0, 0), (n, n)).copy_from(&(-a.transpose()));
        block.view_mut((0, n), (n, n)).copy_from(cost);
        block.view_mut((n, n), (n, n)).copy_from(a);
        let exponential = (block * dt).exp();
        let of_start = phi.transpose() * exponential.view((0, n), (n, n));
        let mut flow = Flow {
            phi,
            noise: covariance,
            cost: of_start,
            noise_cost,
        };
        (0..halvings).for_each(|_| flow.double());
        flow.noise = symmetric(&flow.noise);
        flow.cost = symmetric(&flow.cost);
        flow
    }

    /// Over twice the time.
    fn double(&mut self) {
        let Flow {
            phi,
            noise,
            cost,
            noise_cost,
        } = self;
        *noise_cost = 2.0 * *noise_cost + (&*cost * &*noise).trace();
        *cost = &*cost + phi.transpose() * &*cost * &*phi;
        *noise = &*noise + &*phi * &*noise * phi.transpose();
        *phi = &*phi * &*phi;
    }
}

/// The part of a matrix that is equal to its transpose.
pub(crate) fn symmetric(matrix: &Matrix) -> Matrix {
    (matrix + matrix.transpose()) * 0.5
}

/// Largest sum of a column.
fn one_norm(matrix: &Matrix) -> f64 {
    let columns = matrix.column_iter();
    columns
        .map(|column| column.iter().map(|value| value.abs()).sum())
        .fold(0.0, f64::max)
}

/// The largest magnitude of an eigenvalue, by squaring again and again (Gelfand): `|M^N|^(1/N)` with N = 2^40. Right to
/// about 1e-10, whatever the matrix.
pub fn spectral_radius(matrix: &Matrix) -> f64 {
    let mut power = matrix.clone();
    let mut logarithm = 0.0;
    let mut exponent = 1.0;
    for _ in 0..40 {
        let norm = power.norm();
        if norm == 0.0 {
            return 0.0;
        }
        if !norm.is_finite() {
            return f64::INFINITY;
        }
        logarithm += exponent * norm.ln();
        power /= norm;
        power = &power * &power;
        exponent /= 2.0;
    }
    logarithm.exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pole_of_minus_100_000_over_a_second_does_not_overflow() {
        let one = Matrix::identity(1, 1);
        let flow = Flow::new(&(&one * -1e5), &one, &one, 1.0);
        let is_near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-9;
        assert_eq!(flow.phi[0], 0.0);
        assert!(is_near(flow.noise[0], 0.5e-5) && is_near(flow.cost[0], 0.5e-5));
        assert!(
            is_near(flow.noise_cost, 0.5e-5 * (1.0 - 0.5e-5)),
            "{}",
            flow.noise_cost
        );
    }

    #[test]
    fn the_spectral_radius_is_right_for_rotations_jordan_blocks_and_nilpotent_ones() {
        let of = |n, entries: &[f64]| spectral_radius(&Matrix::from_row_slice(n, n, entries));
        assert!((of(2, &[0.0, -0.5, 0.5, 0.0]) - 0.5).abs() < 1e-9);
        assert!((of(3, &[0.9, 1e3, 0.0, 0.0, 0.9, 1e3, 0.0, 0.0, 0.9]) - 0.9).abs() < 1e-9);
        assert_eq!(of(2, &[0.0, 7.0, 0.0, 0.0]), 0.0);
        assert_eq!(spectral_radius(&Matrix::zeros(0, 0)), 0.0);
    }
}
