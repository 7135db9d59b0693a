//! Least squares with coefficients that are not negative: Lawson and Hanson's active set ("Solving
//! Least Squares Problems", 1974, ch. 23) on the normal equations, for ten columns at most. The crates
//! that do it bring a whole matrix library, and none gives the leverages, which are needed to know
//! what leaving a point out would do.

/// Columns at most: fixed, and bytes and steps of two ways, of two stages.
pub(crate) const COLUMNS: usize = 10;
/// More steps than this mean that rounding makes a column come and go.
const STEPS: usize = 60;
/// Columns whose own part, after the others, is less than this are taken for combinations of them.
const RANK: f64 = 1e-10;

/// A row: what is not used is 0, and stays out of the fit.
pub(crate) type Row = [f64; COLUMNS];
type Square = [Row; COLUMNS];

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Solution {
    /// A coefficient a column, none negative.
    pub(crate) coefficients: Row,
    factor: Factor,
    used: Used,
    lengths: Row,
}

impl Solution {
    /// How much this row draws the fit to itself: 0 not at all, 1 entirely.
    pub(crate) fn leverage(&self, row: &Row) -> f64 {
        let mut picked = [0.0; COLUMNS];
        for (at, &c) in self.used.columns().iter().enumerate() {
            picked[at] = row[c] / self.lengths[c];
        }
        let y = self.factor.forward(&picked);
        y[..self.used.count]
            .iter()
            .map(|v| v * v)
            .sum::<f64>()
            .min(1.0)
    }
}

/// Which columns take part, in the order in which they came.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Used {
    at: [usize; COLUMNS],
    count: usize,
}

impl Used {
    fn columns(&self) -> &[usize] {
        &self.at[..self.count]
    }

    fn push(&mut self, column: usize) {
        self.at[self.count] = column;
        self.count += 1;
    }

    fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let before = *self;
        self.count = 0;
        for &column in before.columns().iter().filter(|&&column| keep(column)) {
            self.push(column);
        }
    }
}

/// The coefficients with the smallest sum of squares of `rows * coefficients - target`.
pub(crate) fn solve(rows: &[Row], target: &[f64]) -> Solution {
    // Columns in nanoseconds and in bytes differ by many powers of ten: all are made of length one.
    let mut lengths = [0.0; COLUMNS];
    for row in rows {
        for (length, value) in lengths.iter_mut().zip(row) {
            *length += value * value;
        }
    }
    for length in &mut lengths {
        *length = if *length > 0.0 { length.sqrt() } else { 1.0 };
    }
    let mut gram: Square = [[0.0; COLUMNS]; COLUMNS];
    let mut right = [0.0; COLUMNS];
    for (row, &y) in rows.iter().zip(target) {
        let mut scaled = *row;
        for (value, length) in scaled.iter_mut().zip(&lengths) {
            *value /= length;
        }
        for (c, products) in gram.iter_mut().enumerate() {
            right[c] += scaled[c] * y;
            for (product, other) in products.iter_mut().zip(&scaled) {
                *product += scaled[c] * other;
            }
        }
    }

    let (used, factor, mut coefficients) = active_set(&gram, &right);
    for (coefficient, length) in coefficients.iter_mut().zip(&lengths) {
        *coefficient /= length;
    }
    Solution {
        coefficients,
        factor,
        used,
        lengths,
    }
}

/// The columns that take part, their factor, and all coefficients.
fn active_set(gram: &Square, right: &Row) -> (Used, Factor, Row) {
    let mut x = [0.0; COLUMNS];
    let mut used = Used {
        at: [0; COLUMNS],
        count: 0,
    };
    let mut taken = Factor::EMPTY;
    let mut refused = [false; COLUMNS];
    let enough = 1e-10 * right.iter().fold(0.0f64, |most, v| most.max(v.abs()));
    for _ in 0..STEPS {
        let gradient = |c: usize| {
            let explained: f64 = gram[c].iter().zip(&x).map(|(g, x)| g * x).sum();
            right[c] - explained
        };
        let candidates = (0..COLUMNS).filter(|c| !used.columns().contains(c) && !refused[*c]);
        let best = candidates
            .map(|c| (c, gradient(c)))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((next, _)) = best.filter(|&(_, gain)| gain > enough) else {
            break;
        };
        used.push(next);
        let Some(mut factor) = Factor::of(gram, &used) else {
            // A combination of those that take part already: it explains nothing more.
            used.retain(|column| column != next);
            refused[next] = true;
            continue;
        };
        // Back to where no coefficient is negative, dropping the first that would become so.
        loop {
            let found = factor.solve(right, &used);
            let mut step = 1.0f64;
            for (&c, &new) in used.columns().iter().zip(&found) {
                if new <= 0.0 {
                    step = step.min(x[c] / (x[c] - new).max(f64::MIN_POSITIVE));
                }
            }
            for (&c, &new) in used.columns().iter().zip(&found) {
                x[c] += step * (new - x[c]);
            }
            taken = factor;
            let all = used.count;
            if step < 1.0 {
                used.retain(|c| x[c] > 1e-14);
            }
            if used.count == all {
                break;
            }
            for (c, x) in x.iter_mut().enumerate() {
                if !used.columns().contains(&c) {
                    *x = 0.0;
                }
            }
            factor = match Factor::of(gram, &used) {
                Some(factor) => factor,
                None => break,
            };
        }
    }
    (used, taken, x)
}

/// Cholesky's factor of some rows and columns of a symmetric matrix.
#[derive(Clone, Debug, PartialEq)]
struct Factor {
    lower: Square,
    count: usize,
}

impl Factor {
    const EMPTY: Factor = Factor {
        lower: [[0.0; COLUMNS]; COLUMNS],
        count: 0,
    };

    /// `None` where the columns depend on each other.
    fn of(matrix: &Square, used: &Used) -> Option<Factor> {
        let picked = used.columns();
        let mut lower: Square = [[0.0; COLUMNS]; COLUMNS];
        for i in 0..picked.len() {
            for j in 0..=i {
                let before: f64 = (0..j).map(|k| lower[i][k] * lower[j][k]).sum();
                let rest = matrix[picked[i]][picked[j]] - before;
                if i == j {
                    if rest <= RANK * matrix[picked[i]][picked[i]] {
                        return None;
                    }
                    lower[i][i] = rest.sqrt();
                } else {
                    lower[i][j] = rest / lower[j][j];
                }
            }
        }
        Some(Factor {
            lower,
            count: picked.len(),
        })
    }

    fn forward(&self, right: &Row) -> Row {
        let mut y = [0.0; COLUMNS];
        for i in 0..self.count {
            let before: f64 = (0..i).map(|k| self.lower[i][k] * y[k]).sum();
            y[i] = (right[i] - before) / self.lower[i][i];
        }
        y
    }

    fn solve(&self, right: &Row, used: &Used) -> Row {
        let mut picked = [0.0; COLUMNS];
        for (at, &c) in used.columns().iter().enumerate() {
            picked[at] = right[c];
        }
        let y = self.forward(&picked);
        let mut x = [0.0; COLUMNS];
        for i in (0..self.count).rev() {
            let after: f64 = (i + 1..self.count).map(|k| self.lower[k][i] * x[k]).sum();
            x[i] = (y[i] - after) / self.lower[i][i];
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * b.abs().max(1.0)
    }

    fn row(values: &[f64]) -> Row {
        let mut row = [0.0; COLUMNS];
        row[..values.len()].copy_from_slice(values);
        row
    }

    #[test]
    fn a_column_that_would_be_negative_takes_no_part() {
        // scipy.optimize.nnls([[1, 0], [1, 1], [1, 2]], [2, 1, 0.5]) gives [7/6, 0].
        let rows = [row(&[1.0, 0.0]), row(&[1.0, 1.0]), row(&[1.0, 2.0])];
        let found = solve(&rows, &[2.0, 1.0, 0.5]);
        assert!(close(found.coefficients[0], 3.5 / 3.0), "{found:?}");
        assert_eq!(found.coefficients[1], 0.0);
        // The mean of three: each draws a third of it.
        assert!(rows.iter().all(|row| close(found.leverage(row), 1.0 / 3.0)));
    }

    #[test]
    fn a_column_twice_is_used_once() {
        let rows = [row(&[1.0, 1.0]), row(&[2.0, 2.0]), row(&[3.0, 3.0])];
        let found = solve(&rows, &[2.0, 4.0, 6.0]);
        assert!(close(found.coefficients.iter().sum(), 2.0), "{found:?}");
    }

    proptest! {
        /// The conditions of Karush, Kuhn and Tucker: no column in use has a slope left, and none
        /// out of use would help by a positive coefficient.
        #[test]
        fn no_coefficient_is_negative_and_none_could_be_better(
            rows in prop::collection::vec(prop::collection::vec(0.0f64..10.0, 4), 5..12),
            target in prop::collection::vec(-5.0f64..10.0, 12),
        ) {
            let rows: Vec<Row> = rows.iter().map(|values| row(values)).collect();
            let target = &target[..rows.len()];
            let found = solve(&rows, target);
            let scale: f64 = target.iter().map(|y| y.abs()).sum::<f64>() + 1.0;
            for c in 0..4 {
                let x = found.coefficients[c];
                prop_assert!(x >= 0.0);
                let slope: f64 = rows.iter().zip(target).map(|(row, y)| {
                    let fitted: f64 = row.iter().zip(&found.coefficients).map(|(a, b)| a * b).sum();
                    row[c] * (y - fitted)
                }).sum();
                prop_assert!(slope <= 1e-5 * scale, "column {c}: {slope}");
                prop_assert!(x == 0.0 || slope.abs() <= 1e-5 * scale, "column {c}: {slope}");
            }
        }
    }
}
