//! How the exchanges of a run became the cycles of a control loop, and what is assumed where it was measured with another
//! period.

use crate::load::Taken;
use wiregauge_quantity::{exact_time, flag_time};

/// What becomes of a tick at which no request can be sent.
#[derive(Clone, Copy, Debug)]
pub(super) enum Skipped {
    /// It is a missed cycle.
    Missed,
    /// It is a cycle without an answer.
    Unanswered,
}

/// In a sentence or two.
pub(super) fn note(taken: Taken, period_ns: u64, has_depth: bool, skipped: Skipped) -> String {
    let period = exact_time(period_ns);
    let outstanding = outstanding(has_depth, skipped);
    match taken {
        Taken::AsScheduled => format!(
            "Each exchange is a cycle: the run has a schedule of {period}, and response times start at the \
             intended start."
        ),
        Taken::Replayed => format!(
            "The run was measured as fast as possible; its responses are replayed on ticks of {period}, and \
             {outstanding}. {}",
            at_its_period(taken, period_ns, has_depth)
        ),
        Taken::ReplayedFrom { every_ns } => format!(
            "The run has a schedule of {}, not of {period}: its response times, from their actual start, are \
             replayed on ticks of {period}, and {outstanding}. {}",
            exact_time(every_ns),
            at_its_period(taken, period_ns, has_depth)
        ),
    }
}

/// When no request can be sent in a replay.
fn outstanding(has_depth: bool, skipped: Skipped) -> String {
    let which = match has_depth {
        true => "as many requests as the depth are",
        false => "a response is",
    };
    let what = match (skipped, has_depth) {
        (Skipped::Missed, true) => "missed, whatever the deadline",
        (Skipped::Missed, false) => "missed",
        (Skipped::Unanswered, _) => "a cycle without a request",
    };
    format!("a tick at which {which} still outstanding is {what}")
}

/// What a replay does not know, and how to measure it.
fn at_its_period(taken: Taken, period_ns: u64, has_depth: bool) -> String {
    let differ = match (taken, has_depth) {
        (Taken::Replayed, true) => {
            "responses may be slower (the link idles between ticks) or faster (fewer requests are outstanding)"
        }
        (_, true) => {
            "the link may idle longer or less between ticks, so responses may be slower or faster"
        }
        (Taken::Replayed, false) => "the link idles between ticks, so responses may be slower",
        (_, false) => "responses may be slower or faster",
    };
    format!(
        "At the period of the loop {differ}: to measure that, repeat the run with --interval {}.",
        flag_time(period_ns)
    )
}
