//! Peaks of a distribution: many devices answer in 7-9 ms or in 30-35 ms, and a mean of 12 ms
//! describes neither.
//!
//! Density on the logarithmic axis is estimated from spacings: k neighbours over the distance that
//! they span, whose relative noise is 1/sqrt(k) wherever one looks, so that no bandwidth must fit
//! both a narrow peak and a heavy tail (Loftsgaarden & Quesenberry 1965). The samples are cut at
//! the deepest valley that noise does not explain, at any scale k, then each part again.

use crate::coarse;
use crate::quantization::{self, Cell};
use crate::types::Mode;

/// Smallest share and number of samples that a mode may hold.
const SHARE: f64 = 0.01;
const SAMPLES: f64 = 10.0;

/// A valley is at most this part of the lower of the peaks beside it.
const VALLEY: f64 = 0.6;

/// The depth of a valley, in standard deviations, must pass `WINDOWS` sqrt(2 ln(N/j)) + `CAUTION`.
/// The root is the noise of the largest of N/j independent windows (Duembgen & Spokoiny 2001); the
/// two constants were set by simulation to the false-alarm rates in `docs/statistics.md`.
const WINDOWS: f64 = 1.5;
const CAUTION: f64 = 0.4;

/// Beyond this many samples only every m-th of the ordered ones is looked at.
const POINTS: u64 = 1 << 14;

/// Samples in order, thinned: where each lies on the logarithmic axis, and its value.
struct Points {
    y: Vec<f64>,
    value: Vec<u64>,
    /// Samples that each point stands for.
    weight: f64,
}

/// The modes of `n` samples given as cells, ascending.
pub(crate) fn find(cells: impl Iterator<Item = Cell> + Clone, n: u64) -> Vec<Mode> {
    let (Some(first), Some(last)) = (cells.clone().next(), cells.clone().last()) else {
        return Vec::new();
    };
    let (min, max) = (first.value, last.value);
    let points = spread(cells, n);
    let fewest = (SAMPLES / points.weight)
        .max(SHARE * points.y.len() as f64)
        .ceil() as usize;
    let mut cuts = vec![0, points.y.len()];
    if min < max {
        cut(&points, 0, points.y.len(), fewest, &mut cuts);
    }
    cuts.sort_unstable();
    coarse::join(&points.y, &mut cuts);
    let mut modes: Vec<Mode> = cuts
        .windows(2)
        .map(|w| describe(&points, w[0], w[1]))
        .collect();
    if let Some(first) = modes.first_mut() {
        first.low = min as f64;
    }
    if let Some(last) = modes.last_mut() {
        last.high = max as f64;
    }
    modes
}

/// Every m-th sample, each level spread evenly over the step of the clock around it.
fn spread(cells: impl Iterator<Item = Cell> + Clone, n: u64) -> Points {
    let step = quantization::step(cells.clone(), n);
    let every = n.div_ceil(POINTS);
    let mut points = Points {
        y: Vec::new(),
        value: Vec::new(),
        weight: every as f64,
    };
    let mut next = every / 2;
    let mut before = 0;
    for Cell {
        value,
        count,
        width,
    } in cells
    {
        let half = step.max(width as f64) / 2.0;
        let from = (value as f64 - half).max(0.0);
        let to = value as f64 + half;
        while next < before + count {
            let part = ((next - before) as f64 + 0.5) / count as f64;
            points.y.push((from + part * (to - from)).ln());
            points.value.push(value);
            next += every;
        }
        before += count;
    }
    points
}

/// Appends to `cuts` where the points `from..to` fall apart, if they do.
fn cut(points: &Points, from: usize, to: usize, fewest: usize, cuts: &mut Vec<usize>) {
    let n = to - from;
    if n < 2 * fewest {
        return;
    }
    let mut best: Option<(f64, usize)> = None;
    let mut k = n / 4;
    let narrowest = ((SAMPLES - 1.0) / points.weight).ceil() as usize;
    while k >= narrowest {
        let peaks = Peaks::new(&points.y[from..to], k);
        for j in [k, k / 3, k / 9].into_iter().filter(|&j| j > 0) {
            if let Some((clearness, at)) = peaks.valley(points, from, j, fewest)
                && best.is_none_or(|(most, _)| clearness > most)
            {
                best = Some((clearness, at));
            }
        }
        if k == narrowest {
            break;
        }
        k = (k * 2 / 3).max(narrowest);
    }
    if let Some((_, at)) = best {
        cuts.push(at);
        cut(points, from, at, fewest, cuts);
        cut(points, at, to, fewest, cuts);
    }
}

/// The densest windows of `k` spacings in a part of the points.
struct Peaks<'a> {
    y: &'a [f64],
    k: usize,
    /// Width of the narrowest window that begins at or before each point.
    before: Vec<f64>,
    /// Width of the narrowest window that begins at or after each point.
    after: Vec<f64>,
}

impl Peaks<'_> {
    fn new(y: &[f64], k: usize) -> Peaks<'_> {
        let mut before: Vec<f64> = (0..y.len() - k).map(|i| y[i + k] - y[i]).collect();
        let mut after = before.clone();
        for i in 1..before.len() {
            before[i] = before[i].min(before[i - 1]);
            let back = after.len() - 1 - i;
            after[back] = after[back].min(after[back + 1]);
        }
        Peaks {
            y,
            k,
            before,
            after,
        }
    }

    /// The deepest valley of `j` spacings that leaves `fewest` points on either side: how far it is
    /// beyond noise, and where to cut.
    fn valley(
        &self,
        points: &Points,
        from: usize,
        j: usize,
        fewest: usize,
    ) -> Option<(f64, usize)> {
        let (n, k) = (self.y.len(), self.k);
        let mut deepest = (0.0, 0);
        // The peak on the left ends no later than the valley, that on the right begins no sooner.
        for i in k - j..n - k {
            let middle = i + j / 2;
            if middle < fewest || n - middle < fewest {
                continue;
            }
            let lower_peak = self.before[i + j - k].max(self.after[i]);
            let ratio = (self.y[i + j] - self.y[i]) / lower_peak;
            if ratio > deepest.0 {
                deepest = (ratio, i);
            }
        }
        let ratio = deepest.0 * k as f64 / j as f64;
        if ratio * VALLEY < 1.0 {
            return None;
        }
        let windows = n as f64 / j as f64;
        let noise = WINDOWS * (2.0 * windows.ln()).sqrt() + CAUTION;
        let clearness = distance(j as f64 * points.weight, k as f64 * points.weight, ratio) - noise;
        if clearness < 0.0 {
            return None;
        }
        let at = widest_gap(points, from + deepest.1, j);
        let at = between_levels(points, at, from + fewest, from + n - fewest)?;
        Some((clearness, at))
    }
}

/// Standard deviations between two densities, from the mean spacing of `j` samples that is `ratio`
/// times that of `k` samples: root of the likelihood ratio of two exponential rates (Wilks 1938).
fn distance(j: f64, k: f64, ratio: f64) -> f64 {
    let likelihood = (j + k) * ((j * ratio + k) / (j + k)).ln() - j * ratio.ln();
    (2.0 * likelihood).max(0.0).sqrt()
}

/// The first point after the widest gap among the `k` from `at` on; between levels where it can.
fn widest_gap(points: &Points, at: usize, k: usize) -> usize {
    let gap = |i: &usize| points.y[*i] - points.y[i - 1];
    (at + 1..=at + k)
        .filter(|&i| points.value[i] != points.value[i - 1])
        .max_by(|a, b| gap(a).total_cmp(&gap(b)))
        .unwrap_or(at + k.div_ceil(2))
}

/// The place nearest to `at` in `from..=to` where another level begins: a level is in one mode.
fn between_levels(points: &Points, at: usize, from: usize, to: usize) -> Option<usize> {
    let at = at.clamp(from, to);
    let begins = |i: &usize| points.value[*i] != points.value[*i - 1];
    let before = (from.max(1)..=at).rev().find(begins);
    let after = (at.max(1)..=to).find(begins);
    before
        .into_iter()
        .chain(after)
        .min_by_key(|place| place.abs_diff(at))
}

fn describe(points: &Points, from: usize, to: usize) -> Mode {
    let n = to - from;
    let k = (n / 10).max(SAMPLES as usize).min(n - 1);
    let width = |i: &usize| points.y[i + k] - points.y[*i];
    let densest = (from..to - k)
        .min_by(|a, b| width(a).total_cmp(&width(b)))
        .unwrap_or(from);
    Mode {
        low: points.value[from] as f64,
        peak: points.value[densest + k / 2] as f64,
        high: points.value[to - 1] as f64,
        share: n as f64 / points.y.len() as f64,
    }
}
