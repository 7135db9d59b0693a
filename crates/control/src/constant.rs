//! The loop with a constant delay: what the measured one is compared with.

use crate::error::ControlError;
use crate::flow::spectral_radius;
use crate::model::Loop;
use crate::pattern::{Flows, Layout, period_map};
use crate::schedule::{Rules, schedule};
use crate::system::Matrix;
use serde::Serialize;

/// A loop whose every answer takes the same time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ConstantDelay {
    /// That time in nanoseconds.
    pub delay_ns: u64,
    /// Growth per cycle; below 1 the loop is stable.
    pub growth: f64,
    /// Cost rate; `None` if it is not stable.
    pub cost: Option<f64>,
    /// The outputs' part of the cost rate at the samples; `None` if it is not stable.
    pub variance: Option<f64>,
}

/// In the long run, all cycles alike; every answer comes, and counts whenever it comes.
pub fn constant_delay(
    model: &Loop,
    flows: &mut Flows,
    period_ns: u64,
    delay_ns: u64,
) -> ConstantDelay {
    let periods = usize::try_from(delay_ns / period_ns).unwrap_or(usize::MAX / 2);
    let delays = vec![Some(delay_ns); 3 * periods + 4];
    let made = schedule(&delays, period_ns, flows.ticks(), Rules::default());
    // Places of commands are used in turn, so a whole turn is one map. At the trace's end they are no longer needed.
    let layout = Layout::of(model, made.slots);
    let turn = made.slots.max(1);
    let size = layout.at_reference();
    let part = |whole: &Matrix| whole.view((0, 0), (size, size)).into_owned();
    let mut map = Matrix::identity(size, size);
    let mut noise = Matrix::zeros(size, size);
    let mut cost = Matrix::zeros(size, size);
    let mut noise_cost = 0.0;
    let end = made.cycles.len() - periods - 1;
    for &pattern in &made.cycles[end - turn..end] {
        let one = period_map(model, flows, layout, &made.patterns[pattern as usize]);
        let [moved, added, spent] = [&one.map, &one.noise, &one.cost].map(part);
        noise_cost += spent.dot(&noise) + one.noise_cost;
        cost += map.transpose() * spent * &map;
        noise = &moved * noise * moved.transpose() + added;
        map = moved * map;
    }
    let growth = spectral_radius(&map).powf(1.0 / turn as f64);
    let steady = (growth < 1.0).then(|| stationary(map, noise));
    let (n, c) = (layout.states, &model.plant.c);
    let weight = c.transpose() * &model.cost.output * c;
    ConstantDelay {
        delay_ns,
        growth,
        cost: (steady.as_ref())
            .map(|now| (cost.dot(now) + noise_cost) / (turn as f64 * model.period_s)),
        variance: steady.map(|now| weight.dot(&now.view((0, 0), (n, n)))),
    }
}

/// The loop without any delay.
///
/// # Errors
/// [`ControlError::Unstable`] if it is unstable then: nothing that delays do matters.
pub fn without_delay(model: &Loop, flows: &mut Flows) -> Result<ConstantDelay, ControlError> {
    let found = constant_delay(model, flows, model.period_ns(), 0);
    match found.cost {
        Some(_) => Ok(found),
        None => Err(ControlError::Unstable {
            growth: found.growth,
        }),
    }
}

/// `P = M P M' + R` by doubling (Smith 1968).
fn stationary(mut map: Matrix, noise: Matrix) -> Matrix {
    let mut sum = noise;
    for _ in 0..64 {
        let more = &map * &sum * map.transpose();
        let is_over = more.norm() <= 1e-17 * sum.norm();
        sum += more;
        if is_over {
            break;
        }
        map = &map * &map;
    }
    sum
}
