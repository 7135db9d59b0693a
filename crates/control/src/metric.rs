//! Coordinates in which random products of matrices shrink, or grow, evenly: no matrix is much larger than it must be.

use crate::system::Matrix;

/// New coordinates `root z`, in which a mean-square Lyapunov function `z' P z` is the squared length.
#[derive(Clone, Debug)]
pub(crate) struct Metric {
    root: Matrix,
    inverse: Matrix,
}

impl Metric {
    /// Of matrices with their probabilities: `P = sum of (L/c)^k W`, `L P = sum of w M' P M`, c a little above the
    /// growth of L. `None` if numbers overflow.
    pub(crate) fn of<'a>(
        matrices: impl Iterator<Item = (&'a Matrix, f64)> + Clone,
    ) -> Option<Metric> {
        let n = matrices.clone().next()?.0.nrows();
        let mean = |p: &Matrix| {
            let all = matrices.clone();
            all.fold(Matrix::zeros(n, n), |sum, (matrix, weight)| {
                sum + matrix.transpose() * p * matrix * weight
            })
        };
        // Growth of the mean square, and units in which the states are about equally large.
        let (mut p, mut growth) = (Matrix::identity(n, n), 0.0);
        for _ in 0..60 {
            let after = mean(&p);
            growth = after.norm() / p.norm();
            if !(growth > 0.0 && growth.is_finite()) {
                return None;
            }
            p = &after / after.norm() + &p * 0.1;
            p /= p.norm();
        }
        let units = Matrix::from_diagonal(&p.diagonal().map(|entry| entry.max(1e-12)));
        let discount = 1.0 / (1.05 * growth).max(1e-6);
        let mut p = units.clone();
        for _ in 0..400 {
            let after = &units + mean(&p) * discount;
            let is_settled = (&after - &p).norm() < 1e-6 * after.norm();
            p = after;
            if is_settled || !p.norm().is_finite() {
                break;
            }
        }
        let root = nalgebra::Cholesky::new((&p + p.transpose()) * 0.5)?;
        let root = root.l().transpose();
        let inverse = root.clone().try_inverse()?;
        Some(Metric { root, inverse })
    }

    /// A map of z.
    pub(crate) fn map(&self, matrix: &Matrix) -> Matrix {
        &self.root * matrix * &self.inverse
    }

    /// A covariance of z.
    pub(crate) fn covariance(&self, matrix: &Matrix) -> Matrix {
        &self.root * matrix * self.root.transpose()
    }

    /// A quadratic form of z.
    pub(crate) fn form(&self, matrix: &Matrix) -> Matrix {
        self.inverse.transpose() * matrix * &self.inverse
    }
}
