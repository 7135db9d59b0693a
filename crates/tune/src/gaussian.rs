//! Gaussian process regression (Rasmussen & Williams 2006, algorithm 2.1): what is known between and
//! beyond noisy measurements, and how well.

/// Where something was measured: coordinates, and one label for each unordered axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spot {
    pub at: [f64; 3],
    pub labels: [usize; 2],
}

/// How far a figure strays from its trend, and over what distance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel {
    /// Standard deviation of the strays.
    pub sigma: f64,
    /// Distance over which they fade.
    pub reach: f64,
    /// Standard deviation of the level of each label.
    pub label_sigma: f64,
}

/// The level of all is not known beforehand: as good as no prior in logarithms of figures that differ
/// by some factor from their trend.
const LEVEL_VARIANCE: f64 = 9.0;

impl Kernel {
    /// Exponential in the distance: continuous but rough, as packets and frames make it.
    fn covariance(&self, a: &Spot, b: &Spot) -> f64 {
        let square: f64 = (0..3).map(|axis| (a.at[axis] - b.at[axis]).powi(2)).sum();
        let shared = (0..2).filter(|&i| a.labels[i] == b.labels[i]).count() as f64;
        let apart = if shared < 2.0 { 0.5 } else { 1.0 };
        LEVEL_VARIANCE
            + self.label_sigma.powi(2) * shared
            + apart * self.sigma.powi(2) * (-square.sqrt() / self.reach).exp()
    }

    fn variance(&self) -> f64 {
        LEVEL_VARIANCE + 2.0 * self.label_sigma.powi(2) + self.sigma.powi(2)
    }
}

/// Lower triangle of a Cholesky decomposition, row after row.
#[derive(Clone, Debug)]
struct Cholesky {
    rows: Vec<Vec<f64>>,
}

impl Cholesky {
    fn of(matrix: impl Fn(usize, usize) -> f64, n: usize) -> Option<Cholesky> {
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(n);
        for i in 0..n {
            let mut row = Vec::with_capacity(i + 1);
            for j in 0..i {
                let other: &Vec<f64> = &rows[j];
                row.push((matrix(i, j) - dot(&row, &other[..j])) / other[j]);
            }
            let rest = matrix(i, i) - dot(&row, &row);
            if rest.is_nan() || rest <= 0.0 {
                return None;
            }
            row.push(rest.sqrt());
            rows.push(row);
        }
        Some(Cholesky { rows })
    }

    /// Solves L x = b.
    fn forward(&self, b: &[f64]) -> Vec<f64> {
        let mut x = Vec::with_capacity(b.len());
        for (row, b) in self.rows.iter().zip(b) {
            let n = x.len();
            x.push((b - dot(&x, &row[..n])) / row[n]);
        }
        x
    }

    /// Solves Lᵀ x = b.
    fn backward(&self, b: &[f64]) -> Vec<f64> {
        let mut x = b.to_vec();
        for i in (0..x.len()).rev() {
            x[i] /= self.rows[i][i];
            let known = x[i];
            for (j, value) in x.iter_mut().enumerate().take(i) {
                *value -= self.rows[i][j] * known;
            }
        }
        x
    }

    fn log_determinant(&self) -> f64 {
        let diagonal = self.rows.iter().enumerate().map(|(i, row)| row[i].ln());
        2.0 * diagonal.sum::<f64>()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// What was measured, made ready to be asked.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    kernel: Kernel,
    spots: Vec<Spot>,
    cholesky: Cholesky,
    weights: Vec<f64>,
    /// Logarithm of the likelihood of all values, but for a constant.
    pub evidence: f64,
}

impl Process {
    /// `None` if the covariance is singular.
    pub fn new(kernel: Kernel, spots: &[Spot], values: &[f64], variances: &[f64]) -> Option<Self> {
        let covariance = |i: usize, j: usize| {
            let noise = if i == j { variances[i] } else { 0.0 };
            kernel.covariance(&spots[i], &spots[j]) + noise
        };
        let cholesky = Cholesky::of(covariance, spots.len())?;
        let half = cholesky.forward(values);
        let evidence = -0.5 * (dot(&half, &half) + cholesky.log_determinant());
        let weights = cholesky.backward(&half);
        Some(Process {
            kernel,
            spots: spots.to_vec(),
            cholesky,
            weights,
            evidence,
        })
    }

    /// Mean and standard deviation of the figure itself, without the noise of a measurement.
    pub fn at(&self, spot: &Spot) -> (f64, f64) {
        let covariances: Vec<f64> = (self.spots.iter())
            .map(|other| self.kernel.covariance(spot, other))
            .collect();
        let explained = self.cholesky.forward(&covariances);
        let variance = self.kernel.variance() - dot(&explained, &explained);
        (dot(&covariances, &self.weights), variance.max(0.0).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: Kernel = Kernel {
        sigma: 0.2,
        reach: 0.5,
        label_sigma: 0.3,
    };

    fn spot(x: f64, label: usize) -> Spot {
        Spot {
            at: [x, 0.0, 0.0],
            labels: [label, 0],
        }
    }

    #[test]
    fn what_was_measured_exactly_is_met_and_what_lies_between_is_uncertain() {
        let spots = [spot(0.0, 0), spot(1.0, 0)];
        let process = Process::new(KERNEL, &spots, &[1.0, 2.0], &[1e-8; 2]).unwrap();
        for (spot, value) in spots.iter().zip([1.0, 2.0]) {
            let (mean, sd) = process.at(spot);
            assert!((mean - value).abs() < 1e-3 && sd < 1e-3, "{mean} {sd}");
        }
        let (mean, sd) = process.at(&spot(0.5, 0));
        assert!((mean - 1.5).abs() < 0.01, "{mean}");
        assert!((0.05..0.2).contains(&sd), "{sd}");
    }

    #[test]
    fn two_noisy_values_at_one_place_come_to_their_weighted_mean() {
        let spots = [spot(0.3, 0), spot(0.3, 0)];
        let process = Process::new(KERNEL, &spots, &[1.0, 4.0], &[0.01, 0.02]).unwrap();
        let (mean, sd) = process.at(&spots[0]);
        // (1 / 0.01 + 4 / 0.02) / (1 / 0.01 + 1 / 0.02), and the prior's variance is far larger.
        assert!((mean - 2.0).abs() < 0.01, "{mean}");
        let expected = (1.0f64 / 150.0).sqrt();
        assert!((sd / expected - 1.0).abs() < 0.01, "{sd}");
    }

    #[test]
    fn the_level_of_a_label_that_was_never_measured_is_unknown() {
        let spots = [spot(0.0, 0), spot(1.0, 0)];
        let process = Process::new(KERNEL, &spots, &[1.0, 1.0], &[1e-6; 2]).unwrap();
        let (_, other) = process.at(&spot(0.0, 1));
        assert!(other > KERNEL.label_sigma, "{other}");
    }

    #[test]
    fn a_kernel_that_strays_as_the_values_do_is_more_likely() {
        let spots: Vec<Spot> = (0..12).map(|i| spot(f64::from(i) / 11.0, 0)).collect();
        let values: Vec<f64> = (0..12).map(|i| 0.2 * f64::from(i % 3)).collect();
        let evidence = |sigma| {
            let kernel = Kernel { sigma, ..KERNEL };
            let process = Process::new(kernel, &spots, &values, &[1e-4; 12]).unwrap();
            process.evidence
        };
        assert!(evidence(0.2) > evidence(0.01) && evidence(0.2) > evidence(3.0));
    }
}
