//! The same fit without some of the points, once for each point: how much each figure hangs on one of
//! them (the jackknife), and how far off each point is when the others tell it.

use crate::fit::Fit;
use crate::{Observation, Setting};
use statrs::distribution::{ContinuousCDF, StudentsT};
use wiregauge_stats::Estimate;

/// Up to so many points each is left out by itself; more of them go in so many groups, which takes no
/// longer than that.
const MOST_FITS: usize = 40;

/// Fits without one group of points each.
#[derive(Clone, Debug)]
pub(crate) struct Refits {
    /// Of each point, the group with which it is left out.
    pub(crate) group: Vec<usize>,
    /// Of each group, the fit without it; `None` where too few points are left.
    pub(crate) without: Vec<Option<Fit>>,
}

impl Refits {
    pub(crate) fn of(points: &[Observation]) -> Refits {
        let groups = points.len().min(MOST_FITS);
        let mut group: Vec<usize> = (0..points.len()).map(|nth| nth % groups).collect();
        if points.len() > groups {
            // Points lie in the order of their settings; a group shall not be all of one depth.
            fastrand::Rng::with_seed(points.len() as u64).shuffle(&mut group);
        }
        let without = (0..groups)
            .map(|left_out| {
                let rest: Vec<Observation> = points
                    .iter()
                    .zip(&group)
                    .filter(|&(_, &group)| group != left_out)
                    .map(|(point, _)| *point)
                    .collect();
                (rest.len() >= 2).then(|| Fit::of(&rest))
            })
            .collect();
        Refits { group, without }
    }

    /// A figure of the whole fit with its 95 % interval: the jackknife's standard error (Efron and
    /// Tibshirani, "An Introduction to the Bootstrap", 1993, ch. 11), by groups where there are
    /// groups, and Student's t with one degree of freedom less than groups. A bound below 0 is 0.
    pub(crate) fn estimate(&self, value: f64, figure: impl Fn(&Fit) -> Option<f64>) -> Estimate {
        let unknown = Estimate {
            value,
            low: None,
            high: None,
        };
        let all: Option<Vec<f64>> = self
            .without
            .iter()
            .map(|fit| fit.as_ref().and_then(&figure))
            .collect();
        let Some(all) = all.filter(|all| all.len() >= 4) else {
            return unknown;
        };
        let n = all.len() as f64;
        let mean = all.iter().sum::<f64>() / n;
        let squares: f64 = all.iter().map(|one| (one - mean).powi(2)).sum();
        let error = ((n - 1.0) / n * squares).sqrt();
        let Ok(t) = StudentsT::new(0.0, 1.0, n - 1.0) else {
            return unknown;
        };
        let reach = t.inverse_cdf(0.975) * error;
        if !reach.is_finite() {
            return unknown;
        }
        Estimate {
            value,
            low: Some((value - reach).max(0.0)),
            high: Some(value + reach),
        }
    }
}

/// What one takes alone over what it takes in the slowest stage; `None` where that is nothing.
pub(crate) fn saturation_depth(fit: &Fit, out_bytes: u32, in_bytes: u32) -> Option<f64> {
    let at = Setting {
        out_bytes,
        in_bytes,
        depth: 1,
    };
    let (alone, slowest) = (fit.alone.of(at, fit.steps), fit.slowest_ns(at));
    (slowest > 0.0).then(|| (alone / slowest).max(1.0))
}
