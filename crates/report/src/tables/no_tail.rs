//! Why nothing is said beyond the samples, and what would help.

use crate::units::{grouped, time};
use wiregauge_stats::NoTail;

/// Why nothing is said beyond the samples, and what would help.
pub(crate) fn no_tail(why: &NoTail) -> String {
    match *why {
        NoTail::TooFew {
            independent,
            needed,
            values_needed,
        } => format!(
            "the longest responses are worth {:.0} independent ones, and {needed:.0} are \
             needed. About {} exchanges would do (--count)",
            // 49.9 are not 50.
            independent.floor(),
            about(values_needed)
        ),
        NoTail::Unsteady => "long responses came more often in one part of the run than in another, so \
             there is no one tail. `wiregauge report` shows when; find what changed, or measure again \
             with --warmup, or for longer"
            .into(),
        NoTail::Gap { apart, from, to } => format!(
            "{} responses from {} on lie apart from the others, which end at {}: levels (a poll, a bus \
             frame, a timer), or a second cause, and no one tail. `wiregauge report` shows when they \
             came; only a run in which the limit itself is exceeded many times tells how often",
            grouped(apart),
            time(to),
            time(from)
        ),
        NoTail::Misfit {
            statistic,
            by_chance,
        } => {
            let found = match statistic < 1e6 {
                true => format!("A2 is {statistic:.2}, by chance at most {by_chance:.2}"),
                false => "they are all alike".into(),
            };
            format!(
                "the longest responses follow no such tail ({found}): they have several causes, or \
                 stand on levels (a poll, a bus frame, a timer). The histogram of `wiregauge report` \
                 shows which; only a run in which the limit itself is exceeded many times tells how often"
            )
        }
        NoTail::Unstable {
            shape,
            higher,
            by_chance,
        } => format!(
            "the shape of the tail changes from {shape:.2} to {higher:.2} at a higher threshold, by \
             chance at most by {by_chance:.2}, so it would change further. More exchanges allow a \
             higher threshold (--count)"
        ),
        NoTail::TooFar {
            asked,
            carried,
            values_needed,
        } => format!(
            "one in {} was asked for, and the run carries one in {}. About {} exchanges would do \
             (--count)",
            about(asked),
            about(carried),
            about(values_needed)
        ),
    }
}

/// A count of which two digits matter.
pub(super) fn about(count: f64) -> String {
    if !(1.0..1e15).contains(&count) {
        return format!("{count:.1e}");
    }
    let step = 10_f64.powf((count.log10().floor() - 1.0).max(0.0));
    grouped(((count / step).round() * step) as u64)
}
