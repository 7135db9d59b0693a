//! The generalised Pareto distribution, which excesses over a high threshold approach whatever the
//! values follow: its fit, what it says of a level and of a share, and how well excesses follow it.

use crate::interval::student;
use crate::types::Confidence;

/// Logarithm of the rarity beyond which values are not distinguished: one in 10^26.
const RAREST: f64 = 60.0;

/// A shape that may be above this one does not show that a tail ends. Tails like that of a normal
/// distribution have slightly negative shapes at every threshold that a run reaches, and still go on
/// without end (Fisher & Tippett 1928; Coles 2001, 3.3).
const MAY_NOT_END: f64 = -0.25;

/// The heaviest shape that is asked for its likelihood.
const HEAVIEST: f64 = 4.0;

/// A generalised Pareto distribution of excesses: P(X > x) = (1 + shape x / scale)^(-1 / shape).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pareto {
    pub(crate) shape: f64,
    pub(crate) scale: f64,
}

impl Pareto {
    /// Zhang & Stephens, "A new and efficient estimation method for the generalized Pareto
    /// distribution", Technometrics 51 (2009) 316: the likelihood, in which the shape has been
    /// maximised for each b = -shape / scale, averages b over a grid. It never fails to converge,
    /// as the maximum itself may, and has less bias.
    pub(crate) fn fit(excesses: &[f64]) -> Option<Pareto> {
        // Excesses stand in descending order.
        let n = excesses.len();
        let (largest, quartile) = (*excesses.first()?, excesses[n - n.div_ceil(4)]);
        let shape = |b: f64| excesses.iter().map(|x| (-b * x).ln_1p()).sum::<f64>() / n as f64;
        let count = 20 + n.isqrt();
        let grid: Vec<(f64, f64)> = (0..count)
            .map(|j| {
                let root = (count as f64 / (j as f64 + 0.5)).sqrt();
                let b = 1.0 / largest + (1.0 - root) / (3.0 * quartile);
                let k = shape(b);
                (b, n as f64 * ((-b / k).ln() - k - 1.0))
            })
            .filter(|(_, likelihood)| likelihood.is_finite())
            .collect();
        let best = grid.iter().map(|g| g.1).fold(f64::NEG_INFINITY, f64::max);
        let weight = |likelihood: f64| (likelihood - best).exp();
        let total: f64 = grid.iter().map(|g| weight(g.1)).sum();
        let b = grid.iter().map(|g| g.0 * weight(g.1)).sum::<f64>() / total;
        let k = shape(b);
        let scale = -k / b;
        (scale > 0.0 && scale.is_finite()).then_some(Pareto { shape: k, scale })
    }

    /// The excess that one in `ratio` exceeds.
    pub(crate) fn level(self, ratio: f64) -> f64 {
        self.scale * growth(self.shape, ratio)
    }

    /// Bounds of that excess: all for which the likelihood, maximised over the shape, is not
    /// too far below its maximum (profile likelihood, Coles 4.3.3), counted as if there were only
    /// so many `independent` excesses. The uncertainty of the share above the threshold is added. The
    /// upper bound does not rely on an end of the tail that is not sure.
    pub(crate) fn interval(
        self,
        excesses: &[f64],
        ratio: f64,
        independent: f64,
        sure: Confidence,
    ) -> (f64, f64) {
        let t = student(independent - 1.0, sure);
        let here = self.level(ratio);
        let best = maximum(
            |level| profile(excesses, ratio, here * level.exp()),
            -1.0,
            1.0,
        );
        let deepest = best - 0.5 * t * t * excesses.len() as f64 / independent;
        let inside = |log: f64| profile(excesses, ratio, here * log.exp()) >= deepest;
        // A change of the share by one part in sqrt(independent).
        let by_share = t / independent.sqrt() * self.scale * (self.shape * ratio.ln()).exp() / here;
        let bound = |sign: f64| {
            let mut step = 0.05;
            while inside(sign * step) && step < 20.0 {
                step *= 2.0;
            }
            let (mut within, mut outside) = (step / 2.0, step);
            for _ in 0..12 {
                let middle = 0.5 * (within + outside);
                if inside(sign * middle) {
                    within = middle;
                } else {
                    outside = middle;
                }
            }
            sign * within.hypot(by_share)
        };
        let endless = self.endless(excesses, independent).map_or(0.0, |scale| {
            let error = t / independent.sqrt() * (1.0_f64).hypot(1.0 / ratio.ln());
            scale * ratio.ln() * error.exp()
        });
        let high = here * bound(1.0).exp();
        (here * bound(-1.0).exp(), high.max(endless))
    }

    /// The scale of the exponential distribution of these excesses, if the fitted one ends and that is
    /// not sure: an upper bound is then at least that of the exponential one, which does not end.
    fn endless(self, excesses: &[f64], independent: f64) -> Option<f64> {
        let highest = self.shape + 2.0 * (1.0 + self.shape) / independent.sqrt();
        (self.shape < 0.0 && highest > MAY_NOT_END)
            .then(|| excesses.iter().sum::<f64>() / excesses.len() as f64)
    }

    /// The part of the excesses that are larger than this one.
    pub(crate) fn exceeded(self, excess: f64) -> f64 {
        if self.shape.abs() < 1e-6 {
            return (-excess / self.scale).exp();
        }
        let growth = self.shape * excess / self.scale;
        if growth <= -1.0 {
            return 0.0;
        }
        (-growth.ln_1p() / self.shape).exp()
    }

    /// The upper bound of that part, from the same profile likelihood as `interval`, asked the other way
    /// round: the level is given, and its rarity varies. The uncertainty of the `share` of all values
    /// that lie above the threshold is added.
    pub(crate) fn exceeded_at_most(
        self,
        excesses: &[f64],
        excess: f64,
        share: f64,
        independent: f64,
        sure: Confidence,
    ) -> f64 {
        let t = student(independent - 1.0, sure);
        let at = |rarity: f64| profile(excesses, rarity.exp(), excess);
        let here = -self.exceeded(excess).ln();
        // The maximum lies near the fit, or without end where the fitted distribution ends earlier.
        let (from, to) = if here < RAREST {
            ((here * 0.5).max(1e-3), here * 2.0 + 0.1)
        } else {
            (1e-3, RAREST)
        };
        let best_at = place_of_maximum(at, from, to);
        let deepest = at(best_at) - 0.5 * t * t * excesses.len() as f64 / independent;
        let middle = here.min(RAREST);
        let by_share = t * ((1.0 - share) / independent).sqrt();
        let oftener = edge(|step| at(best_at - step) >= deepest, best_at - 1e-6);
        let oftener = oftener.unwrap_or(best_at);
        let oftener = (middle - best_at + oftener).max(0.0).hypot(by_share);
        let endless = self.endless(excesses, independent).map_or(0.0, |scale| {
            let rarity = excess / scale;
            (by_share.hypot(rarity * t / independent.sqrt()) - rarity).exp()
        });
        (oftener - middle).exp().max(endless).min(1.0)
    }

    /// Anderson and Darling's statistic: how far the excesses, in descending order, lie from the
    /// distribution, the tail weighted as much as the beginning.
    pub(crate) fn misfit(self, excesses: &[f64]) -> f64 {
        let n = excesses.len();
        let above = |place: usize| self.exceeded(excesses[place]).max(f64::MIN_POSITIVE);
        let below = |place: usize| (1.0 - self.exceeded(excesses[place])).max(f64::MIN_POSITIVE);
        let sum: f64 = (1..=n)
            .map(|i| (2 * i - 1) as f64 * (below(n - i).ln() + above(i - 1).ln()))
            .sum();
        -(n as f64) - sum / n as f64
    }

    /// The gap between neighbouring excesses that is the least likely: how many excesses, in descending
    /// order, lie beyond it, and how long it is in standard exponential units. Excesses that follow
    /// the distribution make all their gaps independent and alike in these units (Renyi, "On the
    /// theory of order statistics", 1953), so that the longest of n exceeds ln(n / p) with a probability
    /// of about p.
    pub(crate) fn widest_gap(self, excesses: &[f64]) -> (usize, f64) {
        let exponential = |excess: f64| -self.exceeded(excess).max(f64::MIN_POSITIVE).ln();
        let gaps = excesses.windows(2).enumerate().map(|(at, pair)| {
            let beyond = at + 1;
            let gap = exponential(pair[0]) - exponential(pair[1]);
            (beyond, beyond as f64 * gap)
        });
        gaps.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0))
    }

    /// What `misfit` exceeds in one case of a hundred where the excesses do follow a distribution
    /// of this shape, both its parameters fitted as here. From 20,000 simulated samples of 300 a row; of
    /// 100 and of 1,000 they are the same within 4 % from -0.3 on. Near those of Choulakian & Stephens,
    /// "Goodness-of-fit tests for the generalized Pareto distribution", Technometrics 43 (2001) 478,
    /// table 2, whose k is minus the shape. Linear between the rows; a test simulates them anew.
    pub(crate) fn misfit_by_chance(self) -> f64 {
        const ROWS: [(f64, f64); 9] = [
            (-0.9, 1.81),
            (-0.5, 1.66),
            (-0.3, 1.60),
            (-0.1, 1.43),
            (0.1, 1.34),
            (0.3, 1.24),
            (0.5, 1.17),
            (0.9, 1.08),
            (1.5, 1.02),
        ];
        let [(least, _), .., (most, _)] = ROWS;
        let shape = self.shape.clamp(least, most);
        let after = ROWS
            .partition_point(|row| row.0 < shape)
            .clamp(1, ROWS.len() - 1);
        let [(x0, y0), (x1, y1)] = [ROWS[after - 1], ROWS[after]];
        y0 + (y1 - y0) * (shape - x0) / (x1 - x0)
    }
}

/// The largest step, up to `most`, that is still inside; `None` if all are.
fn edge(inside: impl Fn(f64) -> bool, most: f64) -> Option<f64> {
    let mut step = 0.05_f64.min(most);
    while inside(step) {
        if step >= most {
            return None;
        }
        step = (step * 2.0).min(most);
    }
    let (mut within, mut outside) = (0.0, step);
    for _ in 0..14 {
        let middle = 0.5 * (within + outside);
        if inside(middle) {
            within = middle;
        } else {
            outside = middle;
        }
    }
    Some(within)
}

/// Level over scale: (ratio^shape - 1) / shape.
fn growth(shape: f64, ratio: f64) -> f64 {
    let log = ratio.ln();
    if shape.abs() < 1e-6 {
        log
    } else {
        (shape * log).exp_m1() / shape
    }
}

/// The largest log-likelihood of all distributions with this level.
fn profile(excesses: &[f64], ratio: f64, level: f64) -> f64 {
    maximum(
        |shape| {
            let scale = level / growth(shape, ratio);
            let n = excesses.len() as f64;
            if shape.abs() < 1e-6 {
                return -n * scale.ln() - excesses.iter().sum::<f64>() / scale;
            }
            let b = shape / scale;
            if 1.0 + b * excesses[0] <= 0.0 {
                return f64::NEG_INFINITY;
            }
            let logs: f64 = excesses.iter().map(|x| (b * x).ln_1p()).sum();
            -n * scale.ln() - (1.0 + 1.0 / shape) * logs
        },
        -0.9,
        HEAVIEST,
    )
}

/// The largest value of a function with one maximum.
fn maximum(of: impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    of(place_of_maximum(&of, low, high))
}

/// Where a function with one maximum has it: golden section.
fn place_of_maximum(of: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_895;
    let (mut a, mut b) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
    let (mut at_a, mut at_b) = (of(a), of(b));
    for _ in 0..20 {
        if at_a > at_b {
            high = b;
            (b, at_b) = (a, at_a);
            a = high - GOLDEN * (high - low);
            at_a = of(a);
        } else {
            low = a;
            (a, at_a) = (b, at_b);
            b = low + GOLDEN * (high - low);
            at_b = of(b);
        }
    }
    if at_a > at_b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles of a generalised Pareto distribution, descending, as excesses are.
    fn quantiles(shape: f64, scale: f64, n: usize) -> Vec<f64> {
        let p = |i: usize| (i as f64 + 0.5) / n as f64;
        (0..n)
            .map(|i| scale * (p(i).powf(-shape) - 1.0) / shape)
            .collect()
    }

    #[test]
    fn a_fit_finds_what_the_excesses_follow() {
        for shape in [-0.2, 0.01, 0.3, 0.7] {
            let fit = Pareto::fit(&quantiles(shape, 50.0, 2000)).unwrap();
            assert!((fit.shape - shape).abs() < 0.05, "{shape}: {fit:?}");
            assert!((fit.scale / 50.0 - 1.0).abs() < 0.1, "{shape}: {fit:?}");
        }
    }

    #[test]
    fn excesses_of_any_shape_misfit_by_chance_in_one_case_of_a_hundred() {
        let mut uniform = crate::dependence::testing::uniform(1);
        let cases = 1000;
        for shape in [-0.5_f64, -0.2, 0.01, 0.4, 1.0, 2.0] {
            let misfits = (0..cases).filter(|_| {
                let mut excesses: Vec<f64> = (0..300)
                    .map(|_| (uniform().powf(-shape) - 1.0) / shape)
                    .collect();
                excesses.sort_by(|a, b| b.total_cmp(a));
                let fit = Pareto::fit(&excesses).expect("a fit");
                fit.misfit(&excesses) > fit.misfit_by_chance()
            });
            // Binomial: 10 +- 3.1.
            let misfits = misfits.count();
            let few = (1..=20).contains(&misfits);
            assert!(few, "shape {shape}: {misfits} of {cases}");
        }
    }

    #[test]
    fn an_interval_holds_its_value_and_narrows_with_what_is_independent() {
        let excesses = quantiles(0.1, 50.0, 1000);
        let fit = Pareto::fit(&excesses).unwrap();
        let value = fit.level(1000.0);
        let width = |independent: f64| {
            let (low, high) = fit.interval(&excesses, 1000.0, independent, Confidence::NINETY_FIVE);
            assert!(low < value && value < high, "{low} {value} {high}");
            high / low
        };
        assert!(width(1000.0) < width(100.0));
        assert!(width(100.0) < width(40.0));
    }
}
