//! Least squares with coefficients that are not negative: Lawson and Hanson's active set ("Solving
//! Least Squares Problems", 1974, ch. 23) on the normal equations, for a dozen columns at most. The
//! crates that do it bring a whole matrix library, and none gives the leverages, which are needed to
//! know what leaving a point out would do.

/// More steps than this mean that rounding makes a column come and go.
const STEPS: usize = 60;
/// Columns whose own part, after the others, is less than this are taken for combinations of them.
const RANK: f64 = 1e-10;

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Solution {
    /// A coefficient a column, none negative.
    pub(crate) coefficients: Vec<f64>,
    /// Of each row, how much it draws the fit to itself: 0 not at all, 1 entirely.
    pub(crate) leverages: Vec<f64>,
}

/// The coefficients with the smallest sum of squares of `rows * coefficients - target`.
pub(crate) fn solve(rows: &[Vec<f64>], target: &[f64]) -> Solution {
    let columns = rows.first().map_or(0, Vec::len);
    // Columns in nanoseconds and in bytes differ by many powers of ten: all are made of length one.
    let lengths: Vec<f64> = (0..columns)
        .map(|c| rows.iter().map(|row| row[c] * row[c]).sum::<f64>().sqrt())
        .collect();
    let scaled = |row: &[f64], c: usize| {
        if lengths[c] > 0.0 {
            row[c] / lengths[c]
        } else {
            0.0
        }
    };
    let mut gram = vec![vec![0.0; columns]; columns];
    let mut right = vec![0.0; columns];
    for (row, &y) in rows.iter().zip(target) {
        for c in 0..columns {
            let value = scaled(row, c);
            right[c] += value * y;
            for (other, sum) in gram[c].iter_mut().enumerate().take(c + 1) {
                *sum += value * scaled(row, other);
            }
        }
    }
    for c in 0..columns {
        for other in 0..c {
            gram[other][c] = gram[c][other];
        }
    }

    let (used, x) = active_set(&gram, &right);
    let factor = Factor::of(&gram, &used);
    let leverages = rows
        .iter()
        .map(|row| {
            let picked: Vec<f64> = used.iter().map(|&c| scaled(row, c)).collect();
            factor.as_ref().map_or(0.0, |factor| {
                factor
                    .forward(&picked)
                    .iter()
                    .map(|v| v * v)
                    .sum::<f64>()
                    .min(1.0)
            })
        })
        .collect();
    let coefficients = x
        .iter()
        .zip(&lengths)
        .map(|(x, &length)| if length > 0.0 { x / length } else { 0.0 })
        .collect();
    Solution {
        coefficients,
        leverages,
    }
}

/// The columns that take part, and all coefficients.
fn active_set(gram: &[Vec<f64>], right: &[f64]) -> (Vec<usize>, Vec<f64>) {
    let columns = right.len();
    let mut x = vec![0.0; columns];
    let mut used: Vec<usize> = Vec::new();
    let mut refused = vec![false; columns];
    let enough = 1e-10 * right.iter().fold(0.0f64, |most, v| most.max(v.abs()));
    for _ in 0..STEPS {
        let gradient = |c: usize| {
            let explained: f64 = gram[c].iter().zip(&x).map(|(g, x)| g * x).sum();
            right[c] - explained
        };
        let candidates = (0..columns).filter(|c| !used.contains(c) && !refused[*c]);
        let best = candidates
            .map(|c| (c, gradient(c)))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((next, _)) = best.filter(|&(_, gain)| gain > enough) else {
            break;
        };
        used.push(next);
        if Factor::of(gram, &used).is_none() {
            // A combination of those that take part already: it explains nothing more.
            used.pop();
            refused[next] = true;
            continue;
        }
        // Back to where no coefficient is negative, dropping the first that would become so.
        while let Some(factor) = Factor::of(gram, &used) {
            let wanted: Vec<f64> = used.iter().map(|&c| right[c]).collect();
            let found = factor.solve(&wanted);
            let mut step = 1.0f64;
            for (&c, &new) in used.iter().zip(&found) {
                if new <= 0.0 {
                    step = step.min(x[c] / (x[c] - new).max(f64::MIN_POSITIVE));
                }
            }
            for (&c, &new) in used.iter().zip(&found) {
                x[c] += step * (new - x[c]);
            }
            if step >= 1.0 {
                break;
            }
            let all = used.len();
            used.retain(|&c| x[c] > 1e-14);
            if used.len() == all {
                break;
            }
            for c in 0..columns {
                if !used.contains(&c) {
                    x[c] = 0.0;
                }
            }
        }
    }
    (used, x)
}

/// Cholesky's factor of some rows and columns of a symmetric matrix.
struct Factor {
    lower: Vec<Vec<f64>>,
}

impl Factor {
    /// `None` where the columns depend on each other.
    fn of(matrix: &[Vec<f64>], picked: &[usize]) -> Option<Factor> {
        let n = picked.len();
        let mut lower = vec![vec![0.0; n]; n];
        for i in 0..n {
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
        Some(Factor { lower })
    }

    fn forward(&self, right: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; right.len()];
        for i in 0..right.len() {
            let before: f64 = (0..i).map(|k| self.lower[i][k] * y[k]).sum();
            y[i] = (right[i] - before) / self.lower[i][i];
        }
        y
    }

    fn solve(&self, right: &[f64]) -> Vec<f64> {
        let y = self.forward(right);
        let n = y.len();
        let mut x = vec![0.0; n];
        for i in (0..n).rev() {
            let after: f64 = (i + 1..n).map(|k| self.lower[k][i] * x[k]).sum();
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

    #[test]
    fn a_column_that_would_be_negative_takes_no_part() {
        // scipy.optimize.nnls([[1, 0], [1, 1], [1, 2]], [2, 1, 0.5]) gives [7/6, 0].
        let rows = [vec![1.0, 0.0], vec![1.0, 1.0], vec![1.0, 2.0]];
        let found = solve(&rows, &[2.0, 1.0, 0.5]);
        assert!(close(found.coefficients[0], 3.5 / 3.0), "{found:?}");
        assert_eq!(found.coefficients[1], 0.0);
        // The mean of three: each draws a third of it.
        assert!(
            found.leverages.iter().all(|&h| close(h, 1.0 / 3.0)),
            "{found:?}"
        );
    }

    #[test]
    fn a_column_twice_is_used_once() {
        let rows = [vec![1.0, 1.0], vec![2.0, 2.0], vec![3.0, 3.0]];
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
