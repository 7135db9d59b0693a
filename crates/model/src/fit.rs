//! From points to the few numbers: Gauss and Newton's steps, each a non-negative least squares (the
//! knee is homogeneous, so its linear approximation is its own value with the slopes as weights);
//! which steps of size, and how sharp a knee, by what leaving each point out would do.

use crate::knee::{Knee, SHARPNESS, Slowest, knee};
use crate::nnls::{self, COLUMNS, Row};
use crate::terms::{Columns, Cost, Steps, Ways};
use crate::{Observation, Setting};

/// Relative error that a model of so few numbers has in any case; a point known better than this does
/// not weigh more.
const FLOOR: f64 = 0.02;
/// Steps want so many sizes, or a straight line is as good.
const SIZES_FOR_STEPS: usize = 3;
/// Steps of size are taken where they make the mean square of the errors so much smaller.
const CLEARLY: f64 = 0.64;
const MOST_ROUNDS: usize = 25;
/// A sum of squares that shrinks by less than this part of it has come to its end.
const SETTLED: f64 = 1e-5;

/// What can be chosen beside the knee.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Form {
    steps: Option<Steps>,
    overlap: bool,
}

const PLAIN: Form = Form {
    steps: None,
    overlap: false,
};

impl Form {
    fn overlapping(self) -> Form {
        Form {
            overlap: true,
            ..self
        }
    }
}

/// The fitted numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fit {
    /// The only depth that there was.
    pub(crate) only_depth: Option<u32>,
    pub(crate) steps: Option<Steps>,
    pub(crate) sharpness: f64,
    /// In the slowest stage, what is fixed and what bytes cost pass at once.
    pub(crate) overlap: bool,
    /// One alone.
    pub(crate) alone: Cost,
    /// In its slowest stage; all zero where there is only one depth.
    pub(crate) slowest: Cost,
    /// How many coefficients could be chosen.
    pub(crate) coefficients: usize,
    /// How long a place of the queue stays empty between two, which is in the TRT and not in the RTT.
    pub(crate) between_ns: f64,
    /// Mean square of what leaving a point out would make of its residual, and its standard error.
    left_out: (f64, f64),
}

impl Fit {
    /// Fits so many points as there are: at least one, all positive.
    pub(crate) fn of(points: &[Observation]) -> Fit {
        let data = Data::of(points);
        let straight = data.best_sharpness(PLAIN, None);
        let mut found = vec![straight];
        if data.sizes_vary_where_deep() {
            let overlap = data.best_sharpness(PLAIN.overlapping(), None);
            if overlap.left_out.0 < CLEARLY * found[0].left_out.0 {
                found[0] = overlap;
            }
        }
        if data.sizes >= SIZES_FOR_STEPS {
            // Steps of size and the knee have little to do with each other, so that the knee of the
            // straight line will do to compare them.
            let start = (found[0].alone, found[0].slowest);
            for steps in Steps::ALL {
                let form = Form {
                    steps: Some(steps),
                    overlap: found[0].overlap,
                };
                found.push(data.descend(form, found[0].sharpness, start));
            }
        }
        // The simplest whose error is within one standard error of the best's (Hastie, Tibshirani,
        // Friedman, "The Elements of Statistical Learning", 7.10), and steps only where they are
        // clearly better: with noise one of six kinds is easily a little better than none.
        let plain = found[0].left_out.0;
        found.retain(|fit| fit.steps.is_none() || fit.left_out.0 < CLEARLY * plain);
        let best = found
            .iter()
            .min_by(|a, b| a.left_out.0.total_cmp(&b.left_out.0))
            .map_or(f64::INFINITY, |fit| fit.left_out.0 + fit.left_out.1);
        let first = found
            .iter()
            .position(|fit| fit.left_out.0 <= best)
            .unwrap_or(0);
        let mut fit = found.swap_remove(first);
        if fit.steps.is_some() {
            let form = Form {
                steps: fit.steps,
                overlap: fit.overlap,
            };
            fit = data.best_sharpness(form, Some((fit.alone, fit.slowest)));
        }
        fit.between_ns = between(points);
        fit
    }

    pub(crate) fn knee(&self, at: Setting) -> Knee {
        let alone = self.alone.of(at, self.steps);
        if let Some(depth) = self.only_depth {
            let by_alone = 1.0 / f64::from(depth.max(1));
            return Knee {
                time: alone * by_alone,
                by_alone,
                by_fixed: 0.0,
                by_bytes: 0.0,
            };
        }
        knee(alone, self.slowest_at(at), at.depth, self.sharpness)
    }

    fn slowest_at(&self, at: Setting) -> Slowest {
        let fixed = self.slowest.fixed_ns;
        let bytes = self.slowest.of(at, self.steps) - fixed;
        if self.overlap {
            Slowest::Overlap(fixed, bytes)
        } else {
            Slowest::Sum(fixed, bytes)
        }
    }

    /// Time in the slowest stage.
    pub(crate) fn slowest_ns(&self, at: Setting) -> f64 {
        self.slowest_at(at).time(self.sharpness)
    }

    pub(crate) fn trt_ns(&self, at: Setting) -> f64 {
        self.knee(at).time
    }

    /// By Little's law: those outstanding are the time of one over the time between two.
    pub(crate) fn rtt_ns(&self, at: Setting) -> f64 {
        let cycle = f64::from(at.depth.max(1)) * self.trt_ns(at);
        (cycle - self.between_ns).max(0.0)
    }
}

/// Points with what is the same for every fit of them.
struct Data<'a> {
    points: &'a [Observation],
    weights: Vec<f64>,
    only_depth: Option<u32>,
    alone: Ways,
    slowest: Ways,
    sizes: usize,
}

impl<'a> Data<'a> {
    fn of(points: &'a [Observation]) -> Data<'a> {
        let shallow = points.iter().map(|p| p.at.depth).min().unwrap_or(1);
        let deeper: Vec<Observation> = points
            .iter()
            .copied()
            .filter(|point| point.at.depth > shallow)
            .collect();
        let mut sizes: Vec<(u32, u32)> = points
            .iter()
            .map(|point| (point.at.out_bytes, point.at.in_bytes))
            .collect();
        sizes.sort_unstable();
        sizes.dedup();
        Data {
            points,
            weights: points
                .iter()
                .map(|p| 1.0 / (p.trt_ns * (FLOOR * FLOOR + p.error * p.error).sqrt()))
                .collect(),
            only_depth: deeper.is_empty().then_some(shallow),
            alone: Ways::of(points),
            slowest: Ways::of(&deeper),
            sizes: sizes.len(),
        }
    }

    fn sizes_vary_where_deep(&self) -> bool {
        let none = Ways::Apart {
            out: false,
            in_: false,
        };
        self.only_depth.is_none() && self.slowest != none
    }

    fn columns(&self, steps: Option<Steps>) -> (Columns, Columns) {
        let columns = |ways| Columns { ways, steps };
        (columns(self.alone), columns(self.slowest))
    }

    /// Of these steps, the knee whose points are predicted best by the others.
    fn best_sharpness(&self, form: Form, start: Option<(Cost, Cost)>) -> Fit {
        let start = start.unwrap_or_else(|| self.start(form.steps));
        let mut best: Option<Fit> = None;
        let all = if self.only_depth.is_some() {
            &SHARPNESS[..1]
        } else {
            &SHARPNESS[..]
        };
        for &sharpness in all {
            let fit = self.descend(form, sharpness, start);
            let better = best
                .as_ref()
                .is_none_or(|best| fit.left_out.0 < best.left_out.0 * (1.0 - 1e-6));
            if better {
                best = Some(fit);
            }
        }
        best.expect("there is at least one sharpness")
    }

    /// Where to begin: the shallowest points as if nothing waited there, the deepest as if all did.
    fn start(&self, steps: Option<Steps>) -> (Cost, Cost) {
        let (alone, slowest) = self.columns(steps);
        let depth = |pick: fn(u32, u32) -> u32| self.points.iter().map(|p| p.at.depth).reduce(pick);
        let of = |columns: Columns, depth: Option<u32>, outstanding: bool| {
            let there = self
                .points
                .iter()
                .filter(|point| Some(point.at.depth) == depth);
            let rows: Vec<Row> = there
                .map(|point| {
                    let mut row = [0.0; COLUMNS];
                    columns.write(point.at, 1.0 / point.trt_ns, &mut row);
                    row
                })
                .collect();
            let at_once = if outstanding {
                f64::from(depth.unwrap_or(1))
            } else {
                1.0
            };
            let found = nnls::solve(&rows, &vec![at_once; rows.len()]);
            columns.cost(&found.coefficients)
        };
        (
            of(alone, depth(u32::min), true),
            of(slowest, depth(u32::max), false),
        )
    }

    /// From `start` to where no step makes the sum of squares smaller.
    fn descend(&self, form: Form, sharpness: f64, start: (Cost, Cost)) -> Fit {
        // A slowest stage of nothing has no slope to come back by.
        let start = match start {
            (_, slowest) if slowest == Cost::default() => self.start(form.steps),
            start => start,
        };
        let (alone, slowest) = self.columns(form.steps);
        let mut fit = Fit {
            only_depth: self.only_depth,
            steps: form.steps,
            sharpness,
            overlap: form.overlap,
            alone: start.0,
            slowest: start.1,
            coefficients: alone.count() + self.only_depth.map_or(slowest.count(), |_| 0),
            between_ns: 0.0,
            left_out: (f64::INFINITY, 0.0),
        };
        let target: Vec<f64> = self
            .points
            .iter()
            .zip(&self.weights)
            .map(|(point, weight)| point.trt_ns * weight)
            .collect();
        let mut squares = self.squares(&fit);
        let mut rows = vec![[0.0; COLUMNS]; self.points.len()];
        let mut leverages = Vec::new();
        for _ in 0..MOST_ROUNDS {
            for ((point, weight), row) in self.points.iter().zip(&self.weights).zip(&mut rows) {
                let slope = fit.knee(point.at);
                let (first, second) = row.split_at_mut(alone.count());
                alone.write(point.at, slope.by_alone * weight, first);
                if self.only_depth.is_none() {
                    slowest.write(point.at, slope.by_bytes * weight, second);
                    second[0] = slope.by_fixed * weight;
                }
            }
            let found = nnls::solve(&rows, &target);
            leverages.clear();
            leverages.extend(rows.iter().map(|row| found.leverage(row)));
            let (first, second) = found.coefficients.split_at(alone.count());
            let wanted = (alone.cost(first), slowest.cost(second));
            let mut part = 1.0;
            let next = loop {
                let mut next = fit.clone();
                next.alone = between_costs(fit.alone, wanted.0, part);
                next.slowest = between_costs(fit.slowest, wanted.1, part);
                let after = self.squares(&next);
                if after <= squares {
                    break Some((next, after));
                }
                part /= 2.0;
                if part < 1e-3 {
                    break None;
                }
            };
            let Some((next, after)) = next else { break };
            let gain = squares - after;
            (fit, squares) = (next, after);
            if gain <= SETTLED * squares || squares < 1e-18 {
                break;
            }
        }
        fit.left_out = self.left_out(&fit, &leverages);
        fit
    }

    fn residual(&self, fit: &Fit, nth: usize) -> f64 {
        let point = &self.points[nth];
        fit.trt_ns(point.at) / point.trt_ns - 1.0
    }

    fn squares(&self, fit: &Fit) -> f64 {
        (0..self.points.len())
            .map(|nth| {
                let weight = self.weights[nth] * self.points[nth].trt_ns;
                (weight * self.residual(fit, nth)).powi(2)
            })
            .sum()
    }

    /// Residual / (1 - leverage) is what a linear fit without the point would miss it by (Allen 1974,
    /// PRESS). A point that nothing else tells about counts as missed altogether.
    fn left_out(&self, fit: &Fit, leverages: &[f64]) -> (f64, f64) {
        let squares: Vec<f64> = leverages
            .iter()
            .enumerate()
            .map(|(nth, &leverage)| {
                let rest = 1.0 - leverage;
                let missed = if rest > 1e-6 {
                    (self.residual(fit, nth) / rest).abs().min(1.0)
                } else {
                    1.0
                };
                missed * missed
            })
            .collect();
        let n = squares.len().max(1) as f64;
        let mean = squares.iter().sum::<f64>() / n;
        let spread = squares.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        (mean, (spread / n).sqrt())
    }
}

fn between_costs(from: Cost, to: Cost, part: f64) -> Cost {
    let mix = |from: f64, to: f64| from + part * (to - from);
    Cost {
        fixed_ns: mix(from.fixed_ns, to.fixed_ns),
        out_ns_a_byte: mix(from.out_ns_a_byte, to.out_ns_a_byte),
        in_ns_a_byte: mix(from.in_ns_a_byte, to.in_ns_a_byte),
        out_ns_a_step: mix(from.out_ns_a_step, to.out_ns_a_step),
        in_ns_a_step: mix(from.in_ns_a_step, to.in_ns_a_step),
    }
}

/// Median of what is in `depth` times the TRT and not in the RTT.
fn between(points: &[Observation]) -> f64 {
    let mut rest: Vec<f64> = points
        .iter()
        .filter(|point| point.rtt_ns > 0.0)
        .map(|point| (f64::from(point.at.depth.max(1)) * point.trt_ns - point.rtt_ns).max(0.0))
        .collect();
    rest.sort_by(f64::total_cmp);
    match rest.len() {
        0 => 0.0,
        n if n % 2 == 1 => rest[n / 2],
        n => (rest[n / 2 - 1] + rest[n / 2]) / 2.0,
    }
}

/// The part of some point's time from which on it tells of what makes it.
pub(crate) const REPORTED_SHARE: f64 = 0.25;

/// Whether some point's time is made by the slowest stage to a part that is worth it.
pub(crate) fn slowest_is_reported(fit: &Fit, points: &[Observation]) -> bool {
    fit.only_depth.is_none()
        && points.iter().any(|point| {
            let knee = fit.knee(point.at);
            let alone = knee.by_alone * fit.alone.of(point.at, fit.steps);
            knee.time - alone >= REPORTED_SHARE * knee.time
        })
}
