//! A linear system as four matrices, of a plant (continuous time) or of a controller (one step a period).

use crate::error::ControlError;
use nalgebra::DMatrix;

/// A real matrix of any size.
pub type Matrix = DMatrix<f64>;

/// `x' = A x + B u`, `y = C x + D u`; for a controller `x(k+1) = A x(k) + B e(k)`, `u(k) = C x(k) + D e(k)`.
///
/// ```
/// use wiregauge_control::{Matrix, StateSpace};
///
/// let integrator = StateSpace::new(
///     "plant",
///     Matrix::zeros(1, 1),
///     Matrix::identity(1, 1),
///     Matrix::identity(1, 1),
///     Matrix::zeros(1, 1),
/// )?;
/// assert_eq!((integrator.states(), integrator.inputs(), integrator.outputs()), (1, 1, 1));
/// # Ok::<(), wiregauge_control::ControlError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StateSpace {
    /// States x states.
    pub a: Matrix,
    /// States x inputs.
    pub b: Matrix,
    /// Outputs x states.
    pub c: Matrix,
    /// Outputs x inputs.
    pub d: Matrix,
}

/// The names of its matrices as a key of the model.
const KEYS: [(&str, [&str; 4]); 2] = [
    ("plant", ["plant.a", "plant.b", "plant.c", "plant.d"]),
    (
        "controller",
        [
            "controller.a",
            "controller.b",
            "controller.c",
            "controller.d",
        ],
    ),
];

impl StateSpace {
    /// A system with these matrices; `key` is `plant` or `controller`.
    ///
    /// # Errors
    /// [`ControlError::Dimension`] if they do not fit together, [`ControlError::Value`] for an entry that is not finite.
    pub fn new(
        key: &'static str,
        a: Matrix,
        b: Matrix,
        c: Matrix,
        d: Matrix,
    ) -> Result<StateSpace, ControlError> {
        let keys = KEYS.iter().find(|(name, _)| *name == key);
        let [key_a, key_b, key_c, key_d] = keys.map_or([key; 4], |(_, keys)| *keys);
        let states = a.ncols();
        expect(key_a, &a, (states, states), "it is square")?;
        expect(
            key_b,
            &b,
            (states, b.ncols()),
            "it has a row for each row of a",
        )?;
        expect(
            key_c,
            &c,
            (c.nrows(), states),
            "it has a column for each column of a",
        )?;
        expect(
            key_d,
            &d,
            (c.nrows(), b.ncols()),
            "it has a row for each row of c and a column for each column of b",
        )?;
        for (key, matrix) in [(key_a, &a), (key_b, &b), (key_c, &c), (key_d, &d)] {
            if let Some(&value) = matrix.iter().find(|value| !value.is_finite()) {
                let reason = "is not a finite number";
                return Err(ControlError::Value { key, value, reason });
            }
        }
        Ok(StateSpace { a, b, c, d })
    }

    /// A gain without states: `u = D e`.
    pub fn gain(d: Matrix) -> StateSpace {
        let (outputs, inputs) = d.shape();
        StateSpace {
            a: Matrix::zeros(0, 0),
            b: Matrix::zeros(0, inputs),
            c: Matrix::zeros(outputs, 0),
            d,
        }
    }

    /// Number of states.
    pub fn states(&self) -> usize {
        self.a.nrows()
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.b.ncols()
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.c.nrows()
    }
}

/// Fails if a matrix does not have this shape.
pub(crate) fn expect(
    key: &'static str,
    matrix: &Matrix,
    shape: (usize, usize),
    reason: &'static str,
) -> Result<(), ControlError> {
    match matrix.shape() == shape {
        true => Ok(()),
        false => Err(ControlError::Dimension {
            key,
            rows: matrix.nrows(),
            columns: matrix.ncols(),
            expected: format!("{} x {}", shape.0, shape.1),
            reason,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_that_do_not_fit_are_named() {
        let two = Matrix::identity(2, 2);
        let made = |b: Matrix, c: Matrix, d: Matrix| StateSpace::new("plant", two.clone(), b, c, d);
        let refused = |b, c, d| made(b, c, d).expect_err("they do not fit").to_string();
        let (b, c, d) = (
            Matrix::zeros(2, 1),
            Matrix::zeros(1, 2),
            Matrix::zeros(1, 1),
        );
        assert!(made(b.clone(), c.clone(), d.clone()).is_ok());
        assert_eq!(
            refused(Matrix::zeros(3, 1), c.clone(), d.clone()),
            "plant.b has 3 x 1 entries, 2 x 1 expected: it has a row for each row of a"
        );
        assert!(refused(b.clone(), Matrix::zeros(1, 3), d).contains("plant.c has 1 x 3"));
        let broken = Matrix::from_element(1, 1, f64::NAN);
        assert!(refused(b, c, broken).contains("plant.d: NaN is not a finite number"));
    }
}
