//! How the exchanges of a run became the cycles of a control loop, and what is assumed where it was measured with another
//! period.

use crate::load::Taken;
use wiregauge_quantity::{exact_time, flag_time};

/// In a sentence or two; `unsent`: what a tick is at which no request can be sent.
pub(super) fn note(taken: Taken, period_ns: u64, unsent: &str) -> String {
    let period = exact_time(period_ns);
    let measured = match taken {
        Taken::AsScheduled => {
            return format!(
                "Each exchange is a cycle: the run has a schedule of {period}, and response times start at the \
                 intended start."
            );
        }
        Taken::Replayed => "as fast as possible".to_owned(),
        Taken::ReplayedFrom { every_ns } => format!("with a schedule of {}", exact_time(every_ns)),
    };
    format!(
        "The run was measured {measured}; its response times, from their actual start, are replayed on ticks of {period}, \
         and a tick at which as many requests as the depth are still outstanding is {unsent}. At the period of the loop \
         responses may be slower or faster: to measure that, repeat the run with --interval {}.",
        flag_time(period_ns)
    )
}
