//! All that is said about one loop with one trace of delays.

use crate::buffer::{Buffer, best_buffer};
use crate::delays::Delays;
use crate::error::ControlError;
use crate::model::Loop;
use crate::on_trace::{OnTrace, on_trace};
use crate::pattern::Flows;
use crate::schedule::Rules;
use serde::Serialize;

/// Ticks a period. A delay is rounded to a tick: of a constant delay that changes the cost by that of half a tick at
/// most, of delays that vary by a small part of it, as roundings up and down cancel (a test holds both).
pub const TICKS: u32 = 256;

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
    Ok(Assessment {
        period_ns,
        rules,
        delays: Delays::of(delays, period_ns, rules.deadline_ns).ok_or(ControlError::NoAnswer)?,
        on_trace: verdict,
        buffer,
    })
}
