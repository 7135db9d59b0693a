//! Spectral radius and linear equations of an operator that is known only by what it does to a vector (Arnoldi).

use crate::flow::spectral_radius;
use crate::system::Matrix;
use nalgebra::DVector;

/// Vectors of a basis at most; fewer for long ones, which take memory.
const BASIS: usize = 30;
const BASIS_OF_LONG: usize = 12;
const LONG: usize = 100_000;
const RESTARTS: usize = 60;

/// Orthonormal vectors, and the operator in them: `L V = V H + rest`, the last row of `H` being the rest.
struct Basis {
    vectors: Vec<DVector<f64>>,
    hessenberg: Matrix,
    /// The operator leads out of the space of these vectors no more.
    is_complete: bool,
}

/// The space of start, L start, L^2 start ...; `None` if a number overflows.
fn arnoldi(
    apply: &mut dyn FnMut(&[f64], &mut [f64]),
    start: &DVector<f64>,
    most: usize,
) -> Option<Basis> {
    let mut vectors = vec![start.normalize()];
    let mut hessenberg = Matrix::zeros(most + 1, most);
    for column in 0..most {
        let mut image = DVector::zeros(start.len());
        apply(vectors[column].as_slice(), image.as_mut_slice());
        let before = image.norm();
        if !before.is_finite() {
            return None;
        }
        // Twice is enough (Kahan, Parlett).
        for _ in 0..2 {
            for (row, vector) in vectors.iter().enumerate() {
                let part = vector.dot(&image);
                hessenberg[(row, column)] += part;
                image.axpy(-part, vector, 1.0);
            }
        }
        let rest = image.norm();
        if rest <= 1e-11 * before || before == 0.0 {
            let hessenberg = hessenberg.view((0, 0), (column + 2, column + 1));
            return Some(Basis {
                vectors,
                hessenberg: hessenberg.into_owned(),
                is_complete: true,
            });
        }
        hessenberg[(column + 1, column)] = rest;
        vectors.push(image / rest);
    }
    Some(Basis {
        vectors,
        hessenberg,
        is_complete: false,
    })
}

fn basis_size(length: usize) -> usize {
    let most = if length > LONG { BASIS_OF_LONG } else { BASIS };
    most.min(length)
}

/// Spectral radius, to about 1e-9, of the operator on the space that `start` reaches. For an operator that maps
/// positive semidefinite matrices to such ones, and a positive definite start, that is the whole spectral radius.
/// `None` if it does not settle.
pub(crate) fn largest(
    apply: &mut dyn FnMut(&[f64], &mut [f64]),
    start: DVector<f64>,
) -> Option<f64> {
    let most = basis_size(start.len());
    let mut start = start;
    let mut last = f64::INFINITY;
    for restart in 0..RESTARTS {
        let basis = arnoldi(apply, &start, most)?;
        let size = basis.hessenberg.ncols();
        let square = basis.hessenberg.view((0, 0), (size, size)).into_owned();
        let radius = spectral_radius(&square);
        // Rounding is felt where the eigenvectors are nearly parallel.
        let tolerance = [1e-9, 1e-8, 1e-7][restart * 3 / RESTARTS];
        if basis.is_complete || radius == 0.0 || (radius - last).abs() <= tolerance * radius {
            return Some(radius);
        }
        last = radius;
        // The last power of the operator in this space; a higher one would leave too little to span the next space.
        let mut power = DVector::zeros(size);
        power[0] = 1.0;
        for _ in 0..size {
            power = &square * power;
            power /= power.norm();
        }
        start = (basis.vectors.iter().zip(power.iter()))
            .fold(DVector::zeros(start.len()), |sum, (vector, part)| {
                sum + vector * *part
            });
        if start.norm().is_nan() {
            return None;
        }
    }
    None
}

/// `x = L x + b` by GMRES with restarts, to a residual of 1e-10 of b; `None` if it does not settle.
pub(crate) fn fixed_point(
    apply: &mut dyn FnMut(&[f64], &mut [f64]),
    b: &DVector<f64>,
) -> Option<DVector<f64>> {
    let most = basis_size(b.len());
    let mut x = b.clone();
    for _ in 0..RESTARTS {
        let mut residual = DVector::zeros(b.len());
        apply(x.as_slice(), residual.as_mut_slice());
        residual += b - &x;
        let norm = residual.norm();
        if norm <= (1e-10 * b.norm()).max(1e-15 * x.norm()) {
            return Some(x);
        }
        if !norm.is_finite() {
            return None;
        }
        let basis = arnoldi(apply, &residual, most)?;
        let size = basis.hessenberg.ncols();
        let system = Matrix::identity(size + 1, size) - &basis.hessenberg;
        let mut right = DVector::zeros(size + 1);
        right[0] = norm;
        let qr = system.qr();
        let parts = qr
            .r()
            .solve_upper_triangular(&(qr.q().transpose() * right))?;
        for (vector, part) in basis.vectors.iter().zip(parts.iter()) {
            x.axpy(*part, vector, 1.0);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operator(matrix: Matrix) -> impl FnMut(&[f64], &mut [f64]) {
        move |x, y| y.copy_from_slice((&matrix * DVector::from_column_slice(x)).as_slice())
    }

    /// Of 80 x 80, larger than a basis.
    fn of(entry: impl FnMut(usize, usize) -> f64) -> Option<f64> {
        largest(
            &mut operator(Matrix::from_fn(80, 80, entry)),
            DVector::from_element(80, 1.0),
        )
    }

    #[test]
    fn the_spectral_radius_is_found_for_close_periodic_and_nilpotent_operators() {
        let is_near = |found: Option<f64>, expected: f64| {
            let found = found.expect("it settles");
            assert!((found - expected).abs() < 1e-7, "{found} {expected}");
        };
        is_near(
            of(|i, j| if i == j { 0.9 - 0.001 * i as f64 } else { 0.0 }),
            0.9,
        );
        is_near(of(|i, j| if (i + 1) % 80 == j { 0.5 } else { 0.0 }), 0.5);
        is_near(
            of(|i, j| match (i, j) {
                (0, 1) | (1, 2) | (2, 0) => 0.8,
                _ if i == j && i > 2 => 0.7,
                _ => 0.0,
            }),
            0.8,
        );
        let nilpotent = of(|i, j| if i + 1 == j && i < 3 { 1.0 } else { 0.0 });
        assert!(nilpotent.expect("it settles") < 1e-3);
    }

    #[test]
    fn a_fixed_point_solves_its_equation() {
        let matrix = Matrix::from_fn(80, 80, |i, j| {
            if i == j {
                0.99
            } else {
                0.004 / (1.0 + i.abs_diff(j) as f64).powi(3)
            }
        });
        let b = DVector::from_fn(80, |i, _| i as f64);
        let x = fixed_point(&mut operator(matrix.clone()), &b).expect("it settles");
        assert!((&matrix * &x + &b - &x).norm() < 2e-10 * b.norm());
        let zero = DVector::zeros(80);
        assert_eq!(fixed_point(&mut operator(matrix), &zero), Some(zero));
    }
}
