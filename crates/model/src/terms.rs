//! What a size costs: a straight line of bytes. These are the columns of the fit.

use crate::{Observation, Setting};

/// How the sizes of the two ways vary among the points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ways {
    /// Each for itself, or not at all.
    Apart { out: bool, in_: bool },
    /// By a law, such as the equal sizes of an echo: a byte's cost is known for both directions as a sum only.
    /// `in = at_none + slope * out`.
    Together { at_none: f64, slope: f64 },
}

impl Ways {
    pub(crate) fn of(points: &[Observation]) -> Ways {
        let sizes = |f: fn(Setting) -> u32| points.iter().map(move |p| f64::from(f(p.at)));
        let (out, in_) = (|| sizes(|at| at.out_bytes), || sizes(|at| at.in_bytes));
        let varies = |mut sizes: Box<dyn Iterator<Item = f64> + '_>| {
            let first = sizes.next();
            sizes.any(|size| Some(size) != first)
        };
        let (out_varies, in_varies) = (varies(Box::new(out())), varies(Box::new(in_())));
        if out_varies && in_varies {
            let n = points.len() as f64;
            let (mean_out, mean_in) = (out().sum::<f64>() / n, in_().sum::<f64>() / n);
            let squares: f64 = out().map(|size| (size - mean_out).powi(2)).sum();
            let both: f64 = out()
                .zip(in_())
                .map(|(o, i)| (o - mean_out) * (i - mean_in))
                .sum();
            let slope = both / squares;
            let law = Ways::Together {
                at_none: mean_in - slope * mean_out,
                slope,
            };
            if slope > 0.0 && points.iter().all(|point| law.holds(point.at)) {
                return law;
            }
        }
        Ways::Apart {
            out: out_varies,
            in_: in_varies,
        }
    }

    /// Whether the sizes of a setting are as those that were measured.
    pub(crate) fn holds(self, at: Setting) -> bool {
        match self {
            Ways::Apart { .. } => true,
            Ways::Together { at_none, slope } => {
                let in_ = f64::from(at.in_bytes);
                (at_none + slope * f64::from(at.out_bytes) - in_).abs() <= 1.0 + 0.01 * in_
            }
        }
    }
}

/// What of a stage's columns belongs to what.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    pub(crate) fixed_ns: f64,
    pub(crate) out_ns_a_byte: f64,
    pub(crate) in_ns_a_byte: f64,
}

impl Cost {
    pub(crate) fn of(&self, at: Setting) -> f64 {
        self.fixed_ns
            + self.out_ns_a_byte * f64::from(at.out_bytes)
            + self.in_ns_a_byte * f64::from(at.in_bytes)
    }
}

/// The columns of a stage: a fixed one, and one for each way of varying.
impl Ways {
    /// How many there are, the fixed one included.
    pub(crate) fn columns(self) -> usize {
        match self {
            Ways::Apart { out, in_ } => 1 + usize::from(out) + usize::from(in_),
            Ways::Together { .. } => 2,
        }
    }

    /// Writes the row of a setting into `row`, each value times `by`.
    pub(crate) fn write(self, at: Setting, by: f64, row: &mut [f64]) {
        let mut places = row.iter_mut();
        let mut push = |value: f64| {
            if let Some(place) = places.next() {
                *place = value * by;
            }
        };
        push(1.0);
        let (out_bytes, in_bytes) = (f64::from(at.out_bytes), f64::from(at.in_bytes));
        match self {
            Ways::Apart { out, in_ } => {
                if out {
                    push(out_bytes);
                }
                if in_ {
                    push(in_bytes);
                }
            }
            Ways::Together { .. } => push(out_bytes + in_bytes),
        }
    }

    /// Names the coefficients.
    pub(crate) fn cost(self, coefficients: &[f64]) -> Cost {
        let mut left = coefficients.iter().copied();
        let mut next = || left.next().unwrap_or(0.0);
        let fixed_ns = next();
        let (out_ns_a_byte, in_ns_a_byte) = match self {
            Ways::Apart { out, in_ } => (
                if out { next() } else { 0.0 },
                if in_ { next() } else { 0.0 },
            ),
            Ways::Together { .. } => {
                let both = next();
                (both, both)
            }
        };
        Cost {
            fixed_ns,
            out_ns_a_byte,
            in_ns_a_byte,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(out_bytes: u32, in_bytes: u32) -> Observation {
        Observation {
            at: Setting {
                out_bytes,
                in_bytes,
                depth: 1,
            },
            trt_ns: 1.0,
            rtt_ns: 1.0,
            error: 0.0,
        }
    }

    #[test]
    fn the_equal_sizes_of_an_echo_are_one_way_of_varying() {
        let echo = [at(64, 64), at(512, 512), at(4096, 4096)];
        let Ways::Together { at_none, slope } = Ways::of(&echo) else {
            panic!("{:?}", Ways::of(&echo));
        };
        assert!(at_none.abs() < 1e-6 && (slope - 1.0).abs() < 1e-9);
        assert!(!Ways::of(&echo).holds(at(64, 4096).at));
    }
}
