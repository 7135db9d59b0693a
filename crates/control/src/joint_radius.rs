//! Joint spectral radius: the growth of the worst product of some matrices, in any order.
//!
//! Gripenberg (1996): a product is pursued only while its norm allows more growth than is known already. The norm is
//! that of a Lyapunov function of the set, in which the single matrices are nearly as small as they can be.

use crate::flow::spectral_radius;
use crate::metric::{MeanSquare, Metric};
use crate::system::Matrix;
use serde::Serialize;

/// How far to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointSearch {
    /// Factors of a product at most.
    pub depth: usize,
    /// Difference of the bounds at which to stop.
    pub tolerance: f64,
    /// Products in all at most.
    pub products: usize,
    /// Stop as soon as the radius is known to lie on one side of 1.
    pub decides: bool,
}

/// Bounds of a joint spectral radius.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JointRadius {
    /// Growth per factor of the worst product that was found.
    pub lower: f64,
    /// No sequence grows faster.
    pub upper: f64,
    /// Indices of that product's factors, the first one applied first.
    pub word: Vec<usize>,
}

/// A product that may be continued.
struct Product {
    matrix: Matrix,
    bound: f64,
    word: Vec<usize>,
}

/// Bounds of the joint spectral radius of square matrices of one size.
pub fn joint_radius(matrices: &[Matrix], search: JointSearch) -> JointRadius {
    let mut found: Option<JointRadius> = None;
    for factors in in_metrics(matrices) {
        let other = bounds(&factors, search);
        let known = match found.take() {
            None => other,
            Some(mut known) => {
                if other.lower > known.lower {
                    (known.lower, known.word) = (other.lower, other.word);
                }
                known.upper = known.upper.min(other.upper).max(known.lower);
                known
            }
        };
        let is_decided = known.upper < 1.0 || known.lower >= 1.0;
        let is_tight = known.upper - known.lower <= search.tolerance * 1.01;
        if is_tight || search.decides && is_decided {
            return known;
        }
        found = Some(known);
    }
    found.unwrap_or_else(|| bounds(matrices, search))
}

/// Bounds from the norms and radii of products.
fn bounds(factors: &[Matrix], search: JointSearch) -> JointRadius {
    let mut found = JointRadius {
        lower: 0.0,
        upper: 0.0,
        word: Vec::new(),
    };
    let mut live = Vec::new();
    for (index, factor) in factors.iter().enumerate() {
        let radius = spectral_radius(factor);
        if radius > found.lower || found.word.is_empty() {
            (found.lower, found.word) = (radius, vec![index]);
        }
        live.push(Product {
            matrix: factor.clone(),
            bound: norm(factor),
            word: vec![index],
        });
    }
    let upper = |live: &[Product], lower: f64| {
        let bounds = live.iter().map(|product| product.bound);
        bounds.fold(lower + search.tolerance, f64::max)
    };
    let mut products = live.len();
    found.upper = upper(&live, found.lower);
    for length in 2..=search.depth {
        let is_decided = search.decides && (found.upper < 1.0 || found.lower >= 1.0);
        live.retain(|product| product.bound > found.lower + search.tolerance);
        products += live.len() * factors.len();
        if is_decided || live.is_empty() || products > search.products {
            break;
        }
        let mut longer = Vec::new();
        for product in &live {
            for (index, factor) in factors.iter().enumerate() {
                let matrix = factor * &product.matrix;
                let size = norm(&matrix).powf(1.0 / length as f64);
                let bound = size.min(product.bound);
                if size > found.lower {
                    let radius = spectral_radius(&matrix).powf(1.0 / length as f64);
                    if radius > found.lower {
                        found.lower = radius;
                        found.word = product.word.iter().copied().chain([index]).collect();
                    }
                }
                if bound > found.lower + search.tolerance {
                    let word = product.word.iter().copied().chain([index]).collect();
                    longer.push(Product {
                        matrix,
                        bound,
                        word,
                    });
                }
            }
        }
        live = longer;
        found.upper = found.upper.min(upper(&live, found.lower)).max(found.lower);
    }
    found
}

/// Largest singular value.
fn norm(matrix: &Matrix) -> f64 {
    match matrix.is_empty() {
        true => 0.0,
        false => spectral_radius_of_symmetric(&(matrix.transpose() * matrix)).sqrt(),
    }
}

fn spectral_radius_of_symmetric(matrix: &Matrix) -> f64 {
    matrix.symmetric_eigenvalues().amax()
}

/// The same matrices in the metric, of several, in which the largest of them is smallest; and in that of their mean
/// square, in which long products may be smaller.
fn in_metrics(matrices: &[Matrix]) -> Vec<Vec<Matrix>> {
    let weight = 1.0 / matrices.len() as f64;
    let weighted = matrices.iter().map(|matrix| (matrix, weight));
    let Some(mean_square) = MeanSquare::of(weighted.collect()) else {
        return Vec::new();
    };
    let in_metric = |metric: &Metric| -> Vec<Matrix> {
        let moved = matrices.iter().map(|matrix| metric.map(matrix));
        moved.collect()
    };
    let radius = matrices.iter().map(spectral_radius).fold(0.0, f64::max);
    let wanted = match radius < 1.0 {
        true => (1.0 + radius) / 2.0,
        false => radius * 1.01,
    };
    let mut best: Option<(f64, Vec<Matrix>)> = None;
    for above in [0.01, 0.05, 0.5, 4.0] {
        let Some(mean) = mean_square.metric(above) else {
            continue;
        };
        let common = mean.common(matrices, wanted);
        for metric in [Some(mean), common].into_iter().flatten() {
            let moved = in_metric(&metric);
            let largest = moved.iter().map(norm).fold(0.0, f64::max);
            if best.as_ref().is_none_or(|(size, _)| largest < *size) {
                best = Some((largest, moved));
            }
        }
    }
    let mean = mean_square.metric(0.05).map(|metric| in_metric(&metric));
    let best = best.map(|(_, moved)| moved);
    best.into_iter().chain(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEARCH: JointSearch = JointSearch {
        depth: 12,
        tolerance: 0.01,
        products: 20_000,
        decides: false,
    };

    #[test]
    fn the_radius_of_two_shears_is_the_golden_ratio() {
        let a = Matrix::from_row_slice(2, 2, &[1.0, 1.0, 0.0, 1.0]);
        let found = joint_radius(&[a.clone(), a.transpose()], SEARCH);
        let golden = (1.0 + 5f64.sqrt()) / 2.0;
        assert!((found.lower - golden).abs() < 1e-9, "{found:?}");
        let holds = found.upper >= golden && found.upper < golden + 0.03;
        assert!(holds, "{found:?}");
        assert_eq!(found.word.len(), 2);
    }

    #[test]
    fn a_single_matrix_has_its_own_radius_and_a_nilpotent_one_none() {
        let a = Matrix::from_row_slice(2, 2, &[0.9, 100.0, 0.0, 0.8]);
        let found = joint_radius(&[a], SEARCH);
        assert!((found.lower - 0.9).abs() < 1e-9 && found.upper < 1.0);
        let nilpotent = Matrix::from_row_slice(2, 2, &[0.0, 1.0, 0.0, 0.0]);
        let found = joint_radius(&[nilpotent], SEARCH);
        assert!(found.lower == 0.0 && found.upper < 0.1, "{found:?}");
    }
}
