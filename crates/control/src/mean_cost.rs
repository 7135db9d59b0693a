//! The mean cost at the samples of a run, and how it varies from run to run.
//!
//! With given times the loop is linear, so the sum T of its costs is a quadratic form of normal numbers, and the first three
//! cumulants of T are exact: beside P = E[z z'] the joint cumulants of z z' with T, once (D) and twice (F), go through
//! the maps of the loop. A cost z' Q z adds to them
//!
//! - to the variance 2 tr(QD) + 2 tr(QPQP), to the third cumulant 3 tr(QF) + 12 tr(QDQP) + 8 tr(QPQPQP),
//! - to D 2 PQP, to F 4 (DQP + PQD) + 8 PQPQP.
//!
//! The interval is that of a chi-squared number with these three (Buckley & Eagleson, "An approximation to the distribution of
//! quadratic forms in normal random variables", Australian Journal of Statistics 30A, 1988).

use crate::system::Matrix;
use crate::trace_cost::Interval;

/// What a normal number exceeds on one side in 2.5 %.
const Z: f64 = 1.959_964;

/// Degrees of freedom from which on a chi-squared number is taken for a normal one.
const MOST_FREEDOM: f64 = 1e9;

/// The mean cost at the samples of a run, as the model expects it.
#[derive(Clone, Debug, PartialEq)]
pub struct MeanCost {
    /// The expected cost at each sample that counts.
    pub costs: Vec<f64>,
    /// Their mean.
    pub value: f64,
    /// Variance of a measured mean, from run to run with the same times.
    pub variance: f64,
    /// Third cumulant of a measured mean.
    pub third: f64,
}

impl MeanCost {
    pub(crate) fn new(costs: &[f64], moments: &Moments) -> Option<MeanCost> {
        let n = costs.len() as f64;
        (!costs.is_empty()).then(|| MeanCost {
            costs: costs.to_vec(),
            value: costs.iter().sum::<f64>() / n,
            variance: moments.variance / n.powi(2),
            third: moments.third / n.powi(3),
        })
    }

    /// Of a run with so many samples that count.
    #[must_use]
    pub fn of_samples(self, samples: usize) -> MeanCost {
        let ratio = self.costs.len() as f64 / samples.max(1) as f64;
        MeanCost {
            variance: self.variance * ratio,
            third: self.third * ratio.powi(2),
            ..self
        }
    }

    /// The number of independent samples, each the square of a normal number, whose mean varies as much; `None` if
    /// nothing varies.
    pub fn independent(&self) -> Option<f64> {
        let independent = 2.0 * self.value.powi(2) / self.variance;
        (self.variance > 0.0 && independent.is_finite()).then_some(independent)
    }

    /// The interval in which 95 % of the measured means lie; `more` is the variance that the delays add from run to run.
    /// `None` if the numbers overflow.
    pub fn interval(&self, more: f64) -> Option<Interval> {
        let sd = (self.variance + more).sqrt();
        let skewness = self.third / sd.powi(3);
        let freedom = (8.0 / skewness.powi(2)).min(MOST_FREEDOM);
        // A chi-squared number by Wilson & Hilferty (1931).
        let spread = 2.0 / (9.0 * freedom);
        let bound = |z: f64| {
            let root = (1.0 - spread + z * spread.sqrt()).max(0.0);
            let off = (freedom * root.powi(3) - freedom) / (2.0 * freedom).sqrt();
            (self.value + sd * off).max(0.0)
        };
        let (low, high) = (bound(-Z), bound(Z));
        (sd.is_finite() && high.is_finite()).then_some(Interval { low, high })
    }
}

/// Moments of the state of a loop, and of the sum of its costs.
#[derive(Clone, Debug)]
pub(crate) struct Moments {
    /// P.
    state: Matrix,
    /// D and F; `None` until a cost counts.
    with_sum: Option<[Matrix; 2]>,
    variance: f64,
    third: f64,
}

impl Moments {
    pub(crate) fn at_rest(size: usize) -> Moments {
        Moments {
            state: Matrix::zeros(size, size),
            with_sum: None,
            variance: 0.0,
            third: 0.0,
        }
    }

    /// The state goes through this map.
    pub(crate) fn map(&mut self, map: &Matrix) {
        let with_sum = self.with_sum.iter_mut().flatten();
        for moment in std::iter::once(&mut self.state).chain(with_sum) {
            *moment = map * &*moment * map.transpose();
        }
    }

    /// Noise with this covariance adds to the state.
    pub(crate) fn add_noise(&mut self, noise: &Matrix) {
        self.state += noise;
    }

    /// The expected cost z' `weight` z, which is added to the sum if it counts. The weight is symmetric.
    pub(crate) fn cost(&mut self, weight: &Matrix, counts: bool) -> f64 {
        let state = &self.state;
        let cost = weight.dot(state);
        if counts {
            let zeros = || Matrix::zeros(state.nrows(), state.ncols());
            let [once, twice] = self.with_sum.get_or_insert_with(|| [zeros(), zeros()]);
            let weighted = weight * state;
            let squared = &weighted * &weighted;
            let mixed = &*once * &weighted;
            self.variance += 2.0 * (weight.dot(once) + squared.trace());
            self.third += 3.0 * weight.dot(twice)
                + 12.0 * weight.dot(&mixed)
                + 8.0 * (&squared * &weighted).trace();
            *twice += (&mixed + mixed.transpose()) * 4.0 + state * &squared * 8.0;
            *once += state * &weighted * 2.0;
        }
        cost
    }
}
