//! What delays do in the long run: mean-square growth and cost under random delays with the statistics of a trace.
//!
//! Jump-linear system: in mode i (state of the chain, answers under way) the second moments `X_i = E[z z' in mode i]`
//! go to `X_j = sum p_ij (M X_i M' + pi_i R)`. They are not divided by the probability of the mode: Jitterbug's manual
//! mixes both.

use crate::chain::{BurstChain, DelayChain, fit_bursts};
use crate::krylov::{fixed_point, largest};
use crate::metric::MeanSquare;
use crate::model::Loop;
use crate::modes::{Grid, Modes, TooMany};
use crate::pattern::{Flows, Layout, period_map};
use crate::schedule::{Rules, events};
use crate::system::Matrix;
use nalgebra::DVector;
use serde::Serialize;

/// Ticks a period: the error of the cost is about 1e-4 or less.
pub const LONG_RUN_TICKS: u32 = 16;
/// Shorter traces give no statement.
const FEWEST_CYCLES: usize = 200;
/// Modes, and steps between them, at most.
const MOST_MODES: usize = 20_000;
/// Multiplications of an iteration at most, of which some hundred are needed.
const MOST_WORK: f64 = 2e7;
/// So near to 1 the sample decides as much as the loop, and averages over a trace are too low.
const NEAR: f64 = 0.02;

/// The long run of a loop under random delays.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stationary {
    /// Growth per cycle of the mean square of the state; below 1 the loop holds.
    pub growth: f64,
    /// Mean cost rate; `None` (infinite) if the growth is 1 or more, or so near to 1 that it does not converge.
    pub cost: Option<f64>,
    /// The growth is within 0.02 of 1: uncertain, as is the cost.
    pub is_near_limit: bool,
    /// Modes of the computation.
    pub modes: usize,
}

/// Why there is no statement on the long run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NoLongRun {
    /// A trace of fewer than 200 cycles.
    #[error("{cycles} cycles are too few for a statement on the long run (200 needed)")]
    TooShort {
        /// Cycles of the trace.
        cycles: usize,
    },
    /// More combinations of answers under way than can be computed.
    #[error("too many combinations of outstanding responses; a deadline would limit them")]
    TooManyModes,
    /// The numbers overflow, or do not converge.
    #[error("the computation does not converge")]
    NotConverged,
}

/// What the bursts of a trace do.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bursts {
    /// No correlation of neighbouring cycles, or fewer than 30 bursts.
    None,
    /// A chain was fitted.
    Found {
        /// The chain.
        chain: BurstChain,
        /// The long run under it.
        long_run: Stationary,
    },
    /// A chain was fitted, but there is no statement on the long run under it.
    NotComputed {
        /// The chain.
        chain: BurstChain,
        /// Why.
        reason: NoLongRun,
    },
}

/// In the long run: the verdict on the statistics of a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LongRun {
    /// Independent delays with the trace's distribution.
    pub independent: Stationary,
    /// With the bursts of the trace.
    pub bursts: Bursts,
    /// Independent delays mislead: only one of both holds, or the costs differ by more than 5 %.
    pub differs: bool,
    /// Ticks a period of the grid: as demanded, or fewer if there were too many modes.
    pub ticks: u32,
}

/// The long run of a loop with the statistics of these delays (ns, `None`: lost), on a grid of `ticks` a period
/// ([`LONG_RUN_TICKS`]); on a coarser one, down to 4, where there are too many modes.
///
/// # Errors
/// [`NoLongRun`] says why there is no statement.
pub fn long_run(
    model: &Loop,
    delays: &[Option<u64>],
    period_ns: u64,
    rules: Rules,
    ticks: u32,
) -> Result<LongRun, NoLongRun> {
    if delays.len() < FEWEST_CYCLES {
        return Err(NoLongRun::TooShort {
            cycles: delays.len(),
        });
    }
    let mut computation = Computation {
        model,
        period_ns,
        rules,
        ticks,
        oldest: oldest_in_force(delays, period_ns, ticks, rules) + 1,
    };
    loop {
        let chain = DelayChain::independent(delays, period_ns, computation.ticks, rules);
        match computation.run(&chain) {
            Ok(independent) => return Ok(with_bursts(&computation, delays, independent)),
            Err(NoLongRun::TooManyModes) if computation.ticks >= 8 => computation.ticks /= 2,
            Err(reason) => return Err(reason),
        }
    }
}

/// Age in periods of the oldest command that came into force in a trace. An answer that takes longer is overtaken by
/// newer ones, but for an improbable run of losses, and would only add places and modes.
fn oldest_in_force(delays: &[Option<u64>], period_ns: u64, ticks: u32, rules: Rules) -> u32 {
    let (_, events) = events(delays, period_ns, ticks, rules);
    let ages = events.iter().filter(|event| !event.is_zero);
    let oldest = ages.map(|event| event.tick / u64::from(ticks) - event.cycle);
    u32::try_from(oldest.max().unwrap_or(0)).unwrap_or(u32::MAX - 1)
}

fn with_bursts(
    computation: &Computation<'_>,
    delays: &[Option<u64>],
    independent: Stationary,
) -> LongRun {
    let Computation {
        period_ns,
        rules,
        ticks,
        ..
    } = *computation;
    let bursts = match fit_bursts(delays, period_ns, ticks, rules) {
        None => Bursts::None,
        Some(chain) => match computation.run(&chain.chain) {
            Ok(long_run) => Bursts::Found { chain, long_run },
            Err(reason) => Bursts::NotComputed { chain, reason },
        },
    };
    let differs = match &bursts {
        Bursts::Found { long_run, .. } => match (independent.cost, long_run.cost) {
            (Some(a), Some(b)) => (a - b).abs() > 0.05 * a.min(b),
            (None, None) => false,
            _ => true,
        },
        _ => false,
    };
    LongRun {
        independent,
        bursts,
        differs,
        ticks,
    }
}

/// Mean-square growth and cost of a loop whose delays are a chain, on a grid of `ticks` a period.
///
/// # Errors
/// [`NoLongRun::TooManyModes`] or [`NoLongRun::NotConverged`].
pub fn stationary(
    model: &Loop,
    chain: &DelayChain,
    period_ns: u64,
    rules: Rules,
    ticks: u32,
) -> Result<Stationary, NoLongRun> {
    let computation = Computation {
        model,
        period_ns,
        rules,
        ticks,
        oldest: u32::MAX,
    };
    computation.run(chain)
}

/// What a computation is about, whatever the chain.
struct Computation<'a> {
    model: &'a Loop,
    period_ns: u64,
    rules: Rules,
    ticks: u32,
    /// Commands that are older, in periods, never come into force.
    oldest: u32,
}

impl Computation<'_> {
    fn run(&self, chain: &DelayChain) -> Result<Stationary, NoLongRun> {
        let zero = self.rules.zero_tick(self.period_ns, self.ticks);
        let grid = Grid {
            ticks: self.ticks,
            rules: self.rules,
            zero: zero.map(|tick| u32::try_from(tick).unwrap_or(u32::MAX)),
            oldest: self.oldest,
        };
        let modes =
            Modes::of(chain, grid, MOST_MODES).map_err(|TooMany| NoLongRun::TooManyModes)?;
        let layout = Layout::of(self.model, modes.places - 1);
        let length = layout.at_reference();
        if modes.steps.len() as f64 * 2.0 * (length as f64).powi(3) > MOST_WORK {
            return Err(NoLongRun::TooManyModes);
        }
        let mut moments = Moments::of(self.model, &modes, layout, self.ticks);
        moments.balance();
        let growth = moments.growth().ok_or(NoLongRun::NotConverged)?;
        let is_near_limit = (growth - 1.0).abs() < NEAR;
        let cost = match growth < 1.0 - 1e-9 {
            true => moments.cost(self.model.period_s),
            false => None,
        };
        if cost.is_none() && growth < 1.0 && !is_near_limit {
            return Err(NoLongRun::NotConverged);
        }
        Ok(Stationary {
            growth,
            cost,
            is_near_limit,
            modes: modes.share.len(),
        })
    }
}

/// The affine map of the second moments of all modes.
struct Moments<'a> {
    modes: &'a Modes,
    /// Length of z without the reference.
    length: usize,
    of_patterns: Vec<OfPattern>,
}

/// One pattern's map, noise and cost.
struct OfPattern {
    map: Matrix,
    noise: Matrix,
    cost: Matrix,
    noise_cost: f64,
}

impl<'a> Moments<'a> {
    fn of(model: &Loop, modes: &'a Modes, layout: Layout, ticks: u32) -> Moments<'a> {
        let mut flows = Flows::new(model, ticks);
        let length = layout.at_reference();
        let core = |matrix: &Matrix| matrix.view((0, 0), (length, length)).into_owned();
        let of_patterns = modes.patterns.iter().map(|pattern| {
            let period = period_map(model, &mut flows, layout, pattern);
            OfPattern {
                map: core(&period.map),
                noise: core(&period.noise),
                cost: core(&period.cost),
                noise_cost: period.noise_cost,
            }
        });
        Moments {
            modes,
            length,
            of_patterns: of_patterns.collect(),
        }
    }

    /// Changes to coordinates in which the numbers are about equally large: units differ by orders of magnitude.
    fn balance(&mut self) {
        let mut weights = vec![0.0; self.of_patterns.len()];
        for step in &self.modes.steps {
            let probability: f64 = step.to.iter().map(|(_, probability)| probability).sum();
            weights[step.pattern] += probability * self.modes.share[step.from];
        }
        let maps = self.of_patterns.iter().map(|one| &one.map);
        let mean_square = MeanSquare::of(maps.zip(weights).collect());
        let Some(metric) = mean_square.and_then(|it| it.metric(0.05)) else {
            return;
        };
        for one in &mut self.of_patterns {
            one.map = metric.map(&one.map);
            one.noise = metric.covariance(&one.noise);
            one.cost = metric.form(&one.cost);
        }
    }

    /// The identity in each mode.
    fn identities(&self) -> DVector<f64> {
        let one = Matrix::identity(self.length, self.length);
        let all = std::iter::repeat_n(one.as_slice(), self.modes.share.len());
        DVector::from_iterator(self.modes.share.len() * one.len(), all.flatten().copied())
    }

    /// `y_j = sum p_ij M x_i M'`.
    fn apply(&self, x: &[f64], y: &mut [f64]) {
        let (n, square) = (self.length, self.length * self.length);
        y.fill(0.0);
        let (mut half, mut whole) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
        for step in &self.modes.steps {
            let map = &self.of_patterns[step.pattern].map;
            let moments = &x[step.from * square..][..square];
            congruence(map, moments, &mut half, &mut whole);
            for &(to, probability) in &step.to {
                let target = &mut y[to * square..][..square];
                for (target, value) in target.iter_mut().zip(whole.as_slice()) {
                    *target += probability * value;
                }
            }
        }
    }

    fn growth(&self) -> Option<f64> {
        largest(&mut |x, y| self.apply(x, y), self.identities())
    }

    /// Mean cost rate.
    fn cost(&self, period_s: f64) -> Option<f64> {
        let square = self.length * self.length;
        let mut noise = DVector::zeros(self.modes.share.len() * square);
        for step in &self.modes.steps {
            let of_pattern = &self.of_patterns[step.pattern].noise;
            for &(to, probability) in &step.to {
                let weight = probability * self.modes.share[step.from];
                for (sum, value) in noise.as_mut_slice()[to * square..][..square]
                    .iter_mut()
                    .zip(of_pattern.as_slice())
                {
                    *sum += weight * value;
                }
            }
        }
        let moments = fixed_point(&mut |x, y| self.apply(x, y), &noise)?;
        let mut cost = 0.0;
        for step in &self.modes.steps {
            let one = &self.of_patterns[step.pattern];
            let moments = &moments.as_slice()[step.from * square..][..square];
            let of_start: f64 = (one.cost.as_slice().iter().zip(moments))
                .map(|(cost, moment)| cost * moment)
                .sum();
            let probability: f64 = step.to.iter().map(|(_, probability)| probability).sum();
            cost += probability * (of_start + self.modes.share[step.from] * one.noise_cost);
        }
        Some(cost / period_s)
    }
}

/// `whole = M X M'` for a symmetric X.
fn congruence(map: &Matrix, x: &[f64], half: &mut Matrix, whole: &mut Matrix) {
    let n = map.nrows();
    // X M' as sums of columns, then its transpose M X times M', of which only the upper part is computed.
    for (i, half_i) in half.as_mut_slice().chunks_exact_mut(n).enumerate() {
        half_i.fill(0.0);
        for (k, x_k) in x.chunks_exact(n).enumerate() {
            add(half_i, map[(i, k)], x_k);
        }
    }
    half.transpose_to(whole);
    std::mem::swap(half, whole);
    for (i, whole_i) in whole.as_mut_slice().chunks_exact_mut(n).enumerate() {
        whole_i.fill(0.0);
        for (k, half_k) in half.as_slice().chunks_exact(n).enumerate() {
            add(&mut whole_i[..=i], map[(i, k)], &half_k[..=i]);
        }
    }
    whole.fill_lower_triangle_with_upper_triangle();
}

/// `sum += factor x`.
fn add(sum: &mut [f64], factor: f64, x: &[f64]) {
    for (sum, x) in sum.iter_mut().zip(x) {
        *sum += factor * x;
    }
}
