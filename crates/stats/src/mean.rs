//! The mean of a time series of real numbers, and what another run of the same length is expected to measure.

use crate::dependence::{Dependence, FEWEST};
use crate::interval::student;
use crate::types::{Confidence, Estimate};

/// The mean of values in time order with its 95 % interval, wider where neighbours are correlated; without bounds for
/// fewer than eight values. `None` without values, or if one of them is not finite.
///
/// ```
/// let mean = wiregauge_stats::mean_of(&[1.0; 20]).expect("values");
/// assert_eq!((mean.value, mean.low, mean.high), (1.0, Some(1.0), Some(1.0)));
/// ```
pub fn mean_of(values: &[f64]) -> Option<Estimate> {
    let n = values.len();
    if n == 0 || !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let value = values.iter().sum::<f64>() / n as f64;
    if n < FEWEST {
        return Some(Estimate {
            value,
            low: None,
            high: None,
        });
    }
    let dependence = Dependence::of(n, |i| values[i]);
    let squares: f64 = values.iter().map(|x| (x - value).powi(2)).sum();
    let error = (squares / (n - 1) as f64 * dependence.tau / n as f64).sqrt();
    let half = student(dependence.dof, Confidence::NINETY_FIVE) * error;
    Some(Estimate {
        value,
        low: Some(value - half),
        high: Some(value + half),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_correlated_series_contains_the_true_mean_as_often_as_it_says() {
        let mut inside = 0;
        for seed in 0..400 {
            let mut uniform = crate::dependence::testing::uniform(seed + 1);
            let mut x = 0.0;
            let values: Vec<f64> = (0..3_000)
                .map(|_| {
                    x = 0.9 * x + uniform() - 0.5;
                    x
                })
                .collect();
            let mean = mean_of(&values[200..]).expect("values");
            let (low, high) = mean.low.zip(mean.high).expect("bounds");
            inside += u32::from(low <= 0.0 && 0.0 <= high);
        }
        assert!((364..=398).contains(&inside), "{inside} of 400");
    }

    #[test]
    fn too_few_values_have_no_interval_and_what_is_no_number_no_mean() {
        assert_eq!(mean_of(&[]), None);
        assert_eq!(mean_of(&[1.0, f64::NAN]), None);
        assert_eq!(mean_of(&[1.0; 7]).expect("values").low, None);
    }
}
