//! Whether it would be better to hold each command until a constant delay is over.

use crate::model::Loop;
use crate::pattern::Flows;
use crate::schedule::{Rules, schedule};
use crate::trace::Maps;
use serde::Serialize;

/// Cycles that are enough to compare costs.
const ENOUGH: usize = 20_000;

/// Shares of the answers that a buffer waits for.
const SHARES: [f64; 7] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0];

/// The best buffer: each command comes into force this long after its sample, one that arrives later at once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Buffer {
    /// Nanoseconds after the sample.
    pub delay_ns: u64,
    /// Cost rate with it.
    pub cost: f64,
    /// Cost rate over the same cycles without.
    pub cost_without: f64,
}

impl Buffer {
    /// True if it saves more than 1 % of the cost.
    pub fn is_worth_it(&self) -> bool {
        self.cost < 0.99 * self.cost_without
    }
}

/// The buffer with the lowest cost on the first part of a trace. `None` if the loop does not hold on it.
pub fn best_buffer(
    model: &Loop,
    flows: &mut Flows,
    delays: &[Option<u64>],
    period_ns: u64,
    rules: Rules,
) -> Option<Buffer> {
    let delays = &delays[..delays.len().min(ENOUGH)];
    let mut sorted: Vec<u64> = delays.iter().flatten().copied().collect();
    sorted.sort_unstable();
    let mut cost = |hold_ns: u64| {
        let held: Vec<Option<u64>> = (delays.iter())
            .map(|delay| delay.map(|delay| delay.max(hold_ns)))
            .collect();
        let made = schedule(&held, period_ns, flows.ticks(), rules);
        let maps = Maps::new(model, flows, &made);
        if maps.growth() >= 1.0 {
            return None;
        }
        let run = maps.usual_noise();
        Some(run.cost.iter().sum::<f64>() / (held.len() as f64 * model.period_s))
    };
    let cost_without = cost(0)?;
    let last = sorted.len().checked_sub(1)?;
    let latest = rules.deadline_ns.unwrap_or(u64::MAX);
    let mut holds: Vec<u64> = SHARES
        .map(|share| sorted[(share * last as f64) as usize])
        .into();
    holds.retain(|hold| *hold <= latest);
    holds.dedup();
    let found = holds.into_iter().filter_map(|delay_ns| {
        Some(Buffer {
            delay_ns,
            cost: cost(delay_ns)?,
            cost_without,
        })
    });
    found.min_by(|a, b| a.cost.total_cmp(&b.cost))
}
