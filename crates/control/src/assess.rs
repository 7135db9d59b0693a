//! All that is said about one loop with one trace of delays.

use crate::any_order::{AnyOrder, any_order};
use crate::attack::DelayRange;
use crate::buffer::{Buffer, best_buffer};
use crate::delay_margin::{DelayMargin, delay_margin};
use crate::delays::Delays;
use crate::error::ControlError;
use crate::long_run::{LONG_RUN_TICKS, LongRun, long_run};
use crate::misses::{Misses, misses};
use crate::model::Loop;
use crate::on_trace::{OnTrace, on_trace};
use crate::pattern::Flows;
use crate::schedule::Rules;
use serde::Serialize;

/// Ticks a period. A delay is rounded to a tick: of a constant delay that changes the cost by that of half a tick at
/// most, of delays that vary by a small part of it, as roundings up and down cancel (a test holds both).
pub const TICKS: u32 = 256;

/// Runs of misses up to this length are tried.
const MOST_MISSES: u32 = 12;

/// A statement, or the reason why there is none.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Stated<T> {
    /// It could be made.
    Made(T),
    /// It could not.
    None {
        /// Why.
        reason: String,
    },
}

impl<T> Stated<T> {
    fn of<E: std::fmt::Display>(found: Result<T, E>) -> Stated<T> {
        match found {
            Ok(found) => Stated::Made(found),
            Err(error) => Stated::None {
                reason: error.to_string(),
            },
        }
    }
}

/// Three separate verdicts, none of which follows from another, and what could be done.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Assessment {
    /// Of the loop, in nanoseconds.
    pub period_ns: u64,
    /// How answers became commands.
    pub rules: Rules,
    /// The delays themselves.
    pub delays: Delays,
    /// What these delays, in this order, did.
    pub on_trace: OnTrace,
    /// What random delays with the same statistics do in the long run.
    pub long_run: Stated<LongRun>,
    /// What any sequence of delays within the range that was seen may do.
    pub any_order: AnyOrder,
    /// Misses in a row, all other answers having the median delay.
    pub misses: Stated<Misses>,
    /// How long a constant delay the loop bears.
    pub delay_margin: DelayMargin,
    /// The buffer with the lowest cost; `None` if the loop does not hold on the trace.
    pub buffer: Option<Buffer>,
}

/// Assesses a loop whose answers took these times from the start of their cycle, in nanoseconds (`None`: lost).
///
/// # Errors
/// As [`on_trace`].
pub fn assess(
    model: &Loop,
    delays: &[Option<u64>],
    rules: Rules,
) -> Result<Assessment, ControlError> {
    let period_ns = model.period_ns();
    let mut flows = Flows::new(model, TICKS);
    let verdict = on_trace(model, &mut flows, delays, period_ns, rules)?;
    let buffer = match verdict.cost {
        Some(_) => best_buffer(model, &mut flows, delays, period_ns, rules),
        None => None,
    };
    let found = Delays::of(delays, period_ns, rules.deadline_ns).ok_or(ControlError::NoAnswer)?;
    let range = DelayRange::of(delays, rules).ok_or(ControlError::NoAnswer)?;
    let longest = range.losses_in_a_row;
    let most = MOST_MISSES;
    Ok(Assessment {
        period_ns,
        rules,
        on_trace: verdict,
        long_run: Stated::of(long_run(model, delays, period_ns, rules, LONG_RUN_TICKS)),
        any_order: any_order(model, range, period_ns, rules),
        misses: Stated::of(misses(
            model,
            found.median_ns,
            longest,
            period_ns,
            rules,
            most,
        )),
        delay_margin: delay_margin(model),
        buffer,
        delays: found,
    })
}
