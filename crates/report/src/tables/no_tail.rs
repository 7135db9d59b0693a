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
            "the longest responses are worth {:.0} independent samples, but {needed:.0} are required. Use about {} \
             exchanges (--count)",
            // 49.9 are not 50.
            independent.floor(),
            about(values_needed)
        ),
        NoTail::Unsteady => "long responses were more frequent in one part of the run than in another, so \
             there is no single tail. `wiregauge report` shows when; find what changed, or measure again with \
             --warmup or a longer run"
            .into(),
        NoTail::Gap { apart, from, to } => format!(
            "{} responses from {} are separate from the others, which end at {}: levels (a poll, a bus frame, \
             a timer) or a second cause, so there is no single tail. `wiregauge report` shows when they \
             occurred; only a run that exceeds the limit many times gives the rate",
            grouped(apart),
            time(to),
            time(from)
        ),
        NoTail::Levels { distinct, over } => format!(
            "the {} longest responses have only {} different values: discrete levels (a clock, a poll, a bus \
             frame), which no tail continues. Only a run that exceeds the limit many times gives the rate",
            grouped(over),
            grouped(distinct)
        ),
        NoTail::Disagrees {
            value,
            counted,
            fitted,
        } => format!(
            "{} responses exceed {}, but by the fitted tail it would be {fitted:.1}: it does not describe this \
             run. Only a run that exceeds the limit many times gives the rate",
            grouped(counted),
            time(value)
        ),
        NoTail::Misfit {
            statistic,
            by_chance,
        } => {
            let found = match statistic < 1e6 {
                true => format!("A2 is {statistic:.2}, expected at most {by_chance:.2}"),
                false => "they are all equal".into(),
            };
            format!(
                "the longest responses do not follow a generalised Pareto tail ({found}): they have several \
                 causes or discrete levels (a poll, a bus frame, a timer). The histogram of `wiregauge report` \
                 shows which; only a run that exceeds the limit many times gives the rate"
            )
        }
        NoTail::Unstable {
            shape,
            higher,
            by_chance,
        } => format!(
            "the shape of the tail changes from {shape:.2} to {higher:.2} at a higher threshold (at most \
             {by_chance:.2} by chance), so it is not stable. Use more exchanges for a higher threshold \
             (--count)"
        ),
        NoTail::TooFar {
            asked,
            carried,
            values_needed,
        } => format!(
            "one in {} was requested, but the run supports estimates down to one in {}. Use about {} exchanges \
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
