//! Jitter margin (Kao and Lincoln 2004) in the sampled-data form: delays that may vary in any order.
//!
//! With each delay in [L, L+J] and N = J/h, the command in force differs from the one at the constant delay L by the
//! last few steps of the command. In the mean square that is at most `h Ntilde^2` times the steps, with
//! `Ntilde^2 = n^2 + 2 n g + g`, n = floor N, g = N - n. By the small gain theorem the loop is stable if
//! `Ntilde < 1/gamma`, gamma = the largest `|(z-1) C P_alias / (1 + P C)|`, z = e^jw. P is the sampled plant with the
//! delay L; P_alias the gain from a signal in continuous time to the sampled output,
//! `P_alias^2 = h G Rd G*`, `G = Cp (zI - Phi)^-1`, `Rd = integral of e^As B B' e^A's` over a period. That is the sum
//! over all aliases.

use crate::flow::{Flow, spectral_radius};
use crate::model::Loop;
use crate::pattern::Flows;
use crate::register::{FINE_TICKS, MOST_PERIODS, constant_delay};
use crate::system::{Matrix, StateSpace};
use nalgebra::{Complex, DMatrix, Schur};
use serde::Serialize;
use std::f64::consts::PI;

type ComplexMatrix = DMatrix<Complex<f64>>;

/// How much a delay may vary, in any order.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct JitterMargin {
    /// The least delay L, in seconds.
    pub least_s: f64,
    /// Every sequence of delays in [L, L + margin) is stable, without losses and with answers in order or the newest
    /// one in force. Seconds; infinite (null in JSON) if the command never reaches the output; 0 if the loop is unstable with the
    /// constant delay L, or L is longer than 64 periods, for which nothing is computed.
    pub margin_s: f64,
    /// The gain gamma; `None` if the loop is unstable with the constant delay L, or L is longer than 64 periods.
    pub gain: Option<f64>,
    /// Frequency of the gain in rad/s.
    pub frequency_rad_s: f64,
}

/// Jitter margin of a loop whose least delay is `least_s` seconds.
pub fn jitter_margin(model: &Loop, least_s: f64) -> JitterMargin {
    let h = model.period_s;
    let unstable = JitterMargin {
        least_s,
        margin_s: 0.0,
        gain: None,
        frequency_rad_s: 0.0,
    };
    let mut flows = Flows::new(model, FINE_TICKS);
    let ticks = (least_s / h * f64::from(FINE_TICKS)).round() as u64;
    if ticks > MOST_PERIODS * u64::from(FINE_TICKS) {
        return unstable;
    }
    let (layout, period) = constant_delay(model, &mut flows, ticks);
    let closed = period.core(layout).into_owned();
    if spectral_radius(&closed) >= 1.0 {
        return unstable;
    }
    let response = Response::of(model, least_s);
    let poles = [&closed, &response.phi, &model.controller.a];
    let poles: Vec<_> = poles.into_iter().flat_map(eigenvalues).collect();
    let (gain, angle) = highest(|angle| response.gain(angle), grid(&poles));
    JitterMargin {
        margin_s: periods_of_gain(gain) * h,
        gain: Some(gain),
        frequency_rad_s: angle / h,
        ..unstable
    }
}

/// The largest N with `Ntilde(N) < 1/gain`.
fn periods_of_gain(gain: f64) -> f64 {
    if gain <= 0.0 {
        return f64::INFINITY;
    }
    let limit = 1.0 / gain;
    let n = limit.floor();
    n + (limit * limit - n * n) / (2.0 * n + 1.0)
}

/// What the frequency response is computed from.
struct Response {
    /// Transition of the plant over a period.
    phi: Matrix,
    /// Effect of the command that comes into force in this period, and of the one before it.
    input: Matrix,
    old_input: Matrix,
    output: Matrix,
    /// A root of `h Rd`.
    alias: Matrix,
    /// Periods of the delay, rounded down.
    periods: i32,
    controller: StateSpace,
}

impl Response {
    fn of(model: &Loop, least_s: f64) -> Response {
        let (plant, h) = (&model.plant, model.period_s);
        let (n, m) = plant.b.shape();
        let mut a = Matrix::zeros(n + m, n + m);
        a.view_mut((0, 0), (n, n)).copy_from(&plant.a);
        a.view_mut((0, n), (n, m)).copy_from(&plant.b);
        let none = Matrix::zeros(n + m, n + m);
        let periods = (least_s / h).floor();
        let rest = (1.0 - (least_s / h - periods)) * h;
        let whole = Flow::new(&a, &none, &none, h).phi;
        let input = Flow::new(&a, &none, &none, rest)
            .phi
            .view((0, n), (n, m))
            .into_owned();
        let driven = &plant.b * plant.b.transpose();
        let covariance = Flow::new(&plant.a, &driven, &Matrix::zeros(n, n), h).noise * h;
        let eigen = covariance.symmetric_eigen();
        let roots = eigen.eigenvalues.map(|value| value.max(0.0).sqrt());
        Response {
            phi: whole.view((0, 0), (n, n)).into_owned(),
            old_input: whole.view((0, n), (n, m)) - &input,
            input,
            output: plant.c.clone(),
            alias: eigen.eigenvectors * Matrix::from_diagonal(&roots),
            periods: periods as i32,
            controller: model.controller.clone(),
        }
    }

    /// `|(z-1) C (1 + P C)^-1 P_alias|` at z = e^jw; `None` on a pole of plant or controller.
    fn gain(&self, angle: f64) -> Option<f64> {
        let z = Complex::from_polar(1.0, angle);
        let complex = |matrix: &Matrix| matrix.map(|value| Complex::new(value, 0.0));
        let resolvent = |a: &Matrix, right: &ComplexMatrix| {
            let n = a.nrows();
            (ComplexMatrix::from_diagonal_element(n, n, z) - complex(a))
                .lu()
                .solve(right)
        };
        let controller = &self.controller;
        let mut c = complex(&controller.d);
        if controller.states() > 0 {
            c += complex(&controller.c) * resolvent(&controller.a, &complex(&controller.b))?;
        }
        let input = complex(&self.input) + complex(&self.old_input) * (Complex::from(1.0) / z);
        let output = complex(&self.output);
        let delay = z.powi(-self.periods);
        let plant = &output * resolvent(&self.phi, &input)? * delay;
        let alias = &output * resolvent(&self.phi, &complex(&self.alias))?;
        let outputs = output.nrows();
        let difference = ComplexMatrix::identity(outputs, outputs) + plant * &c;
        let closed = c * difference.lu().solve(&alias)? * (z - Complex::from(1.0));
        let gain = match closed.nrows().min(closed.ncols()) {
            0 => 0.0,
            1 => closed.norm(),
            _ => closed.singular_values().max(),
        };
        gain.is_finite().then_some(gain)
    }
}

/// Eigenvalues, or none if they are not found.
fn eigenvalues(matrix: &Matrix) -> Vec<Complex<f64>> {
    if matrix.is_empty() {
        return Vec::new();
    }
    let schur = Schur::try_new(matrix.clone(), f64::EPSILON, 10_000);
    schur.map_or(Vec::new(), |schur| {
        schur.complex_eigenvalues().iter().copied().collect()
    })
}

/// Angles in (0, pi]: evenly and logarithmically spaced, and around each pole at the width of its peak.
fn grid(poles: &[Complex<f64>]) -> Vec<f64> {
    const POINTS: u32 = 200;
    let share = |i: u32| f64::from(i) / f64::from(POINTS - 1);
    let even = (0..POINTS).map(|i| 1e-3 + (PI - 1e-3) * share(i));
    let logarithmic = (0..POINTS).map(|i| PI * 10f64.powf(-4.5 * (1.0 - share(i))));
    let near = poles.iter().flat_map(|pole| {
        let (radius, angle) = pole.to_polar();
        let width = (1.0 - radius).abs();
        [-4.0, -2.0, -1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0, 2.0, 4.0]
            .map(|steps| angle.abs() + steps * width)
    });
    let mut angles: Vec<f64> = even.chain(logarithmic).chain(near).collect();
    angles.retain(|angle| *angle > 1e-9 && *angle <= PI);
    angles.push(PI);
    angles.sort_unstable_by(f64::total_cmp);
    angles.dedup();
    angles
}

/// The highest value and where it is, its neighbourhood searched ever more finely.
fn highest(value: impl Fn(f64) -> Option<f64>, angles: Vec<f64>) -> (f64, f64) {
    let points: Vec<(f64, f64)> = (angles.into_iter())
        .filter_map(|angle| Some((value(angle)?, angle)))
        .collect();
    let at = |index: usize| points.get(index).map_or(0.0, |(gain, _)| *gain);
    let mut peaks: Vec<usize> = (0..points.len())
        .filter(|&i| at(i) >= at(i + 1) && (i == 0 || at(i) >= at(i - 1)))
        .collect();
    peaks.sort_unstable_by(|&a, &b| at(b).total_cmp(&at(a)));
    let mut best = (0.0, 0.0);
    for &peak in peaks.iter().take(8) {
        let mut top = points[peak];
        let mut low = points[peak.saturating_sub(1)].1;
        let mut high = points[(peak + 1).min(points.len() - 1)].1;
        for _ in 0..12 {
            let step = (high - low) / 6.0;
            for i in 0..=6 {
                let angle = low + step * f64::from(i);
                if let Some(gain) = value(angle)
                    && gain > top.0
                {
                    top = (gain, angle);
                }
            }
            (low, high) = ((top.1 - step).max(low), (top.1 + step).min(high));
        }
        if top.0 > best.0 {
            best = top;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pid::Pid;
    use crate::register::constant_delay;
    use crate::transfer::TransferFunction;

    #[test]
    fn the_gain_is_that_of_the_closed_loop_in_state_space() {
        let plant = TransferFunction::parse("plant", 's', "5/(s^3+2s^2+9s+1)");
        let controller = Pid::new(0.8, 3.0, 0.2).state_space(0.3);
        let plant = plant.and_then(|plant| plant.state_space()).expect("proper");
        let model = Loop::new(plant, controller.expect("right"), 0.3).expect("fits");
        for delay in [0.0, 0.12, 0.3, 0.81] {
            let response = Response::of(&model, delay);
            let mut flows = Flows::new(&model, FINE_TICKS);
            let ticks = (delay / 0.3 * f64::from(FINE_TICKS)).round() as u64;
            let (layout, period) = constant_delay(&model, &mut flows, ticks);
            let closed = period.core(layout).map(|value| Complex::new(value, 0.0));
            let size = layout.at_reference();
            for angle in [0.01, 0.5, 1.3, PI] {
                let z = Complex::from_polar(1.0, angle);
                let mut inputs = ComplexMatrix::zeros(size, 3);
                let alias = response.alias.map(|value| Complex::new(value, 0.0));
                inputs.view_mut((0, 0), (3, 3)).copy_from(&alias);
                let solved = (ComplexMatrix::from_diagonal_element(size, size, z) - closed.clone())
                    .lu()
                    .solve(&inputs)
                    .expect("no pole");
                // The command of this period, times z - 1.
                let command = solved.row(layout.at_place(0)) * (z - Complex::from(1.0));
                let found = response.gain(angle).expect("no pole");
                let expected = command.norm();
                assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
            }
        }
    }
}
