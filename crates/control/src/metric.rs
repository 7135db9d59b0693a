//! Coordinates in which random products of matrices shrink, or grow, evenly: no matrix is much larger than it must be.

use crate::flow::symmetric;
use crate::krylov::{fixed_point, largest};
use crate::system::Matrix;
use nalgebra::DVector;

/// Rounds over all matrices in the search for a common Lyapunov function.
const MOST_ROUNDS: usize = 50;
/// A metric that is more distorted than this, against the first one, is of no use, and its numbers may be wrong.
const MOST_DISTORTION: f64 = 1e5;

/// New coordinates `root z`, in which a Lyapunov function `z' P z` is the squared length.
#[derive(Clone, Debug)]
pub(crate) struct Metric {
    root: Matrix,
    inverse: Matrix,
}

/// The mean square under random products: matrices and their probabilities.
#[derive(Clone, Debug)]
pub(crate) struct MeanSquare<'a> {
    matrices: Vec<(&'a Matrix, f64)>,
    /// W: weights of the states, by their sizes and their effects.
    weights: Matrix,
    growth: f64,
}

impl<'a> MeanSquare<'a> {
    /// `None` if all are zero, or numbers overflow.
    pub(crate) fn of(matrices: Vec<(&'a Matrix, f64)>) -> Option<MeanSquare<'a>> {
        let n = matrices.first()?.0.nrows();
        let mut made = MeanSquare {
            matrices,
            weights: Matrix::identity(n, n),
            growth: 0.0,
        };
        let sizes = settled(n, |x| made.mean(|matrix| matrix * x * matrix.transpose()))?;
        let effects = settled(n, |p| made.mean(|matrix| matrix.transpose() * p * matrix))?;
        let weights = sizes.zip_map(&effects, |size, effect| {
            (effect.max(1e-12) / size.max(1e-12)).sqrt()
        });
        made.weights = Matrix::from_diagonal(&weights);
        let start = DVector::from_column_slice(made.weights.as_slice());
        made.growth = largest(&mut |x, y| made.adjoint(x, y), start)?.max(1e-6);
        Some(made)
    }

    /// `P = sum of (L/c)^k W`, `L P = sum of w M' P M`; c is `above` more than the growth of L, as a share of it. The
    /// less, the longer products count.
    pub(crate) fn metric(&self, above: f64) -> Option<Metric> {
        let discount = 1.0 / (self.growth * (1.0 + above));
        let mut discounted = |x: &[f64], y: &mut [f64]| {
            self.adjoint(x, y);
            y.iter_mut().for_each(|y| *y *= discount);
        };
        let start = DVector::from_column_slice(self.weights.as_slice());
        let p = fixed_point(&mut discounted, &start)?;
        let n = self.weights.nrows();
        let p = Matrix::from_column_slice(n, n, p.as_slice());
        let root = nalgebra::Cholesky::new(symmetric(&p))?.l().transpose();
        let inverse = root.clone().try_inverse()?;
        Some(Metric { root, inverse })
    }

    fn mean(&self, image: impl Fn(&Matrix) -> Matrix) -> Matrix {
        let n = self.weights.nrows();
        let all = self.matrices.iter();
        all.fold(Matrix::zeros(n, n), |sum, (matrix, weight)| {
            sum + image(matrix) * *weight
        })
    }

    fn adjoint(&self, x: &[f64], y: &mut [f64]) {
        let n = self.weights.nrows();
        let p = Matrix::from_column_slice(n, n, x);
        let after = self.mean(|matrix| matrix.transpose() * &p * matrix);
        y.copy_from_slice(after.as_slice());
    }
}

/// The diagonal of what a linear map of matrices makes of the identity after some rounds, a tenth of it kept in each.
fn settled(n: usize, map: impl Fn(&Matrix) -> Matrix) -> Option<DVector<f64>> {
    let mut x = Matrix::identity(n, n);
    for _ in 0..60 {
        let after = map(&x);
        let size = after.norm();
        if !(size > 0.0 && size.is_finite()) {
            return None;
        }
        x = after / size + &x * 0.1;
        x /= x.norm();
    }
    Some(x.diagonal())
}

impl Metric {
    /// A metric in which no matrix is larger than `wanted`, or as near to that as some rounds lead, starting here. Each
    /// round widens `P` until it is above `M' P M / wanted^2` of each matrix.
    pub(crate) fn common(&self, matrices: &[Matrix], wanted: f64) -> Option<Metric> {
        let mut metric = self.clone();
        for _ in 0..MOST_ROUNDS {
            let mut is_settled = true;
            for matrix in matrices {
                let image = metric.map(matrix) / wanted;
                let eigen = symmetric(&(image.transpose() * image)).symmetric_eigen();
                if eigen.eigenvalues.max() > 1.0 + 1e-9 {
                    is_settled = false;
                    // P = root' root becomes root' U max(1, value) U' root.
                    let sizes = eigen.eigenvalues.map(|value| value.max(1.0).sqrt());
                    metric.root = Matrix::from_diagonal(&sizes)
                        * eigen.eigenvectors.transpose()
                        * &metric.root;
                    metric.inverse = metric.root.clone().try_inverse()?;
                }
            }
            let distortion = (&metric.root * &self.inverse).norm();
            if distortion.is_nan() || distortion > MOST_DISTORTION {
                return None;
            }
            if is_settled {
                break;
            }
        }
        Some(metric)
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
