//! In any order: does a loop hold under every sequence of the delays that were seen?

use crate::attack::{Cycle, DelayRange, worst_cycle};
use crate::jitter_margin::{JitterMargin, jitter_margin};
use crate::misses::misses;
use crate::model::Loop;
use crate::schedule::{OnMiss, Order, Rules};
use serde::Serialize;

/// More losses in a row than this are not tried by products of blocks.
const MOST_MISSES: u32 = 12;

/// In any order: the verdict on a range of delays and a number of losses in a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AnyOrder {
    /// What holds.
    pub verdict: Verdict,
    /// The range that it is about. A sample does not bound what may come.
    pub range: DelayRange,
    /// Jitter margin at the least delay.
    pub margin: JitterMargin,
    /// Jitter, in seconds, that must be below the margin: that of the answers, and more for losses and for answers that
    /// overtake each other. `None`: the margin does not cover these rules.
    pub demanded_s: Option<f64>,
}

/// What is known of all sequences.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every sequence is stable.
    Proved,
    /// Neither a proof nor a sequence that breaks the loop was found.
    NotProved {
        /// If not, no proof was possible, whatever the numbers: a miss that sets zero, or that skips the controller, is
        /// covered for a constant delay only, and no delay of more than 64 periods is.
        is_covered: bool,
    },
    /// The loop is unstable under these delays when they repeat.
    Broken(Cycle),
}

/// The verdict on every sequence of delays in this range.
pub fn any_order(model: &Loop, range: DelayRange, period_ns: u64, rules: Rules) -> AnyOrder {
    let period = period_ns as f64;
    let margin = jitter_margin(model, range.least_ns as f64 / period * model.period_s);
    let demanded =
        demanded_periods(range, period_ns, rules).map(|periods| periods * model.period_s);
    let losses = range.losses_in_a_row;
    // The rounding of the margin is far below this.
    let is_within = demanded.is_some_and(|demanded| demanded <= margin.margin_s * (1.0 - 1e-9));
    let is_proved = margin.gain.is_some() && is_within
        || range.jitter_ns == 0
            && losses <= MOST_MISSES
            && misses(model, range.least_ns, losses, period_ns, rules, losses)
                .is_ok_and(|found| found.proved >= Some(losses));
    let verdict = match is_proved {
        true => Verdict::Proved,
        false => {
            let worst = worst_cycle(model, range, period_ns, rules);
            match worst.growth >= 1.0 {
                true => Verdict::Broken(worst),
                false => Verdict::NotProved {
                    is_covered: demanded.is_some() && margin.gain.is_some() || range.jitter_ns == 0,
                },
            }
        }
    };
    AnyOrder {
        verdict,
        range,
        margin,
        demanded_s: demanded,
    }
}

/// Periods of jitter, in order and without losses, that are as bad as this range with these rules.
///
/// An answer counts no later than the next one that is not lost: m more periods. By arrival, one may come into force
/// after it that is `floor N` periods older, and one more to be safe.
fn demanded_periods(range: DelayRange, period_ns: u64, rules: Rules) -> Option<f64> {
    let mut periods = range.jitter_ns as f64 / period_ns as f64;
    let is_out_of_order = rules.order == Order::Arrival && range.jitter_ns >= period_ns;
    if is_out_of_order {
        periods += (range.jitter_ns / period_ns) as f64 + 1.0;
    }
    if range.losses_in_a_row > 0 {
        if rules.on_miss != OnMiss::Hold {
            return None;
        }
        periods += f64::from(range.losses_in_a_row);
    }
    Some(periods)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_and_answers_by_arrival_demand_more_margin() {
        let of = |jitter_ns, losses_in_a_row, order, on_miss| {
            let range = DelayRange {
                least_ns: 5,
                jitter_ns,
                losses_in_a_row,
            };
            let rules = Rules {
                order,
                on_miss,
                ..Rules::default()
            };
            demanded_periods(range, 100, rules)
        };
        let (hold, skip) = (OnMiss::Hold, OnMiss::Skip);
        assert_eq!(of(150, 0, Order::Newest, skip), Some(1.5));
        assert_eq!(of(50, 2, Order::Newest, hold), Some(2.5));
        assert_eq!(of(99, 0, Order::Arrival, hold), Some(0.99));
        assert_eq!(of(100, 0, Order::Arrival, hold), Some(3.0));
        assert_eq!(of(150, 2, Order::Arrival, hold), Some(5.5));
        assert_eq!(of(50, 1, Order::Newest, skip), None);
    }
}
