//! Why nothing is said beyond the samples, and what would help.

use wiregauge_quantity::{LARGE, about, grouped, rounded_up, time};
use wiregauge_record::{Keeping, Limit, Point};
use wiregauge_run::RunFile;
use wiregauge_stats::NoTail;

/// How long a point was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extent {
    /// Time for each response, of a run that is limited by time.
    ns_per_response: Option<f64>,
    /// The cycles are those of a schedule behind which the point falls: its responses come later and later.
    falls_behind: bool,
}

impl Extent {
    /// Of a point with so many responses. `is_scheduled`: the cycles are those of the run's schedule.
    pub(crate) fn of(file: &RunFile, point: Point, responses: u64, is_scheduled: bool) -> Extent {
        let summary = file.points.iter().find(|summary| summary.point == point);
        let elapsed_ns = summary.map_or(0, |summary| summary.elapsed_ns);
        let is_timed = matches!(file.plan.limit, Limit::DurationNs(_));
        let is_known = elapsed_ns > 0 && responses > 0;
        let keeping = summary.and_then(|summary| summary.keeping(file.plan.schedule));
        Extent {
            falls_behind: is_scheduled && keeping == Some(Keeping::FallsBehind),
            ns_per_response: (is_timed && is_known).then(|| elapsed_ns as f64 / responses as f64),
        }
    }

    /// What so many responses require, in the unit of the flag that limits the run.
    fn needed(self, responses: f64) -> f64 {
        match self.ns_per_response {
            Some(ns) => (responses * ns / 1e9).max(1.0),
            None => responses,
        }
    }

    /// The remedy: so many responses.
    fn remedy(self, responses: f64) -> String {
        let (needed, flag) = (self.needed(responses), self.flag());
        let (unit, suffix) = match self.ns_per_response {
            Some(_) => ("s", "s"),
            None => ("exchanges", ""),
        };
        if needed >= LARGE {
            return format!("Use about {needed:.1e} {unit} ({flag})");
        }
        let needed = rounded_up(needed);
        format!(
            "Use about {} {unit} ({flag} {needed}{suffix})",
            grouped(needed)
        )
    }

    fn flag(self) -> &'static str {
        match self.ns_per_response {
            Some(_) => "--duration",
            None => "--count",
        }
    }
}

/// A point whose tail is not extrapolated.
#[derive(Clone, Copy)]
pub(super) struct Refused {
    /// Which.
    pub(super) point: Point,
    /// Why.
    pub(super) why: NoTail,
    /// How long it was measured.
    pub(super) extent: Extent,
}

impl Refused {
    /// True if one text describes both.
    fn is_like(&self, other: &Refused) -> bool {
        if self.extent.falls_behind || other.extent.falls_behind {
            return self.extent.falls_behind == other.extent.falls_behind;
        }
        match (self.why, other.why) {
            (NoTail::TooFew { .. }, NoTail::TooFew { .. })
            | (NoTail::TooFar { .. }, NoTail::TooFar { .. }) => {
                self.extent.flag() == other.extent.flag()
            }
            _ => no_tail(&self.why, self.extent) == no_tail(&other.why, other.extent),
        }
    }

    /// What the remedy requires, in the unit of its flag.
    fn needed(&self) -> f64 {
        match self.why {
            NoTail::TooFew { values_needed, .. } | NoTail::TooFar { values_needed, .. } => {
                self.extent.needed(values_needed)
            }
            _ => 0.0,
        }
    }

    /// Independent long responses, where they are too few.
    fn independent(&self) -> f64 {
        match self.why {
            NoTail::TooFew { independent, .. } => independent,
            _ => 0.0,
        }
    }
}

/// The places of the points that have the same reason, with the remedy of the one that needs most.
pub(super) fn by_reason(refused: &[Refused]) -> Vec<(Vec<u32>, String)> {
    let mut groups: Vec<Vec<Refused>> = Vec::new();
    for one in refused {
        match groups.iter_mut().find(|group| group[0].is_like(one)) {
            Some(group) => group.push(*one),
            None => groups.push(vec![*one]),
        }
    }
    let named = groups.into_iter().map(|mut group| {
        let points = group.iter().map(|one| one.point.index).collect();
        group.sort_by(|a, b| b.needed().total_cmp(&a.needed()));
        let independent = group.iter().map(Refused::independent).fold(0.0, f64::max);
        (points, text(&group[0].why, group[0].extent, independent))
    });
    named.collect()
}

/// Why nothing is said beyond the samples, and what would help.
pub(crate) fn no_tail(why: &NoTail, extent: Extent) -> String {
    text(why, extent, 0.0)
}

/// `most`: independent long responses of the point that has the most of them, among several with this reason.
fn text(why: &NoTail, extent: Extent, most: f64) -> String {
    if extent.falls_behind {
        return "the point falls behind its schedule, so responses come later and later, and there is no single tail"
            .into();
    }
    match *why {
        NoTail::TooFew {
            independent,
            needed,
            values_needed,
        } => {
            // 49.9 are not 50.
            let (fewest, most) = (independent.floor(), most.floor());
            let worth = match fewest < most {
                true => format!("{fewest:.0} to {most:.0}"),
                false => format!("{fewest:.0}"),
            };
            format!(
                "a tail requires {needed:.0} independent long responses, and this run has {worth}. {}",
                extent.remedy(values_needed)
            )
        }
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
             {by_chance:.2} by chance), so it is not stable. Use a longer run for a higher threshold ({})",
            extent.flag()
        ),
        NoTail::TooFar {
            asked,
            carried,
            values_needed,
        } => format!(
            "one in {} was requested, but the run supports estimates down to one in {}. {}",
            about(asked),
            about(carried),
            extent.remedy(values_needed)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTED: Extent = Extent {
        ns_per_response: None,
        falls_behind: false,
    };

    fn refused(depth: u32, why: NoTail, extent: Extent) -> Refused {
        let point = Point {
            index: depth - 1,
            out_bytes: 16,
            in_bytes: 48,
            depth,
            link: 0,
            together: false,
        };
        Refused { point, why, extent }
    }

    fn few(independent: f64, values_needed: f64) -> NoTail {
        NoTail::TooFew {
            independent,
            needed: 50.0,
            values_needed,
        }
    }

    #[test]
    fn points_with_the_same_reason_have_one_text_with_the_largest_count() {
        let found = by_reason(&[
            refused(1, few(41.7, 2_400.0), COUNTED),
            refused(2, NoTail::Unsteady, COUNTED),
            refused(3, few(29.2, 3_420.0), COUNTED),
        ]);
        let depths =
            |at: usize| -> Vec<u32> { found[at].0.iter().map(|index| index + 1).collect() };
        assert_eq!(found.len(), 2);
        assert_eq!((depths(0), depths(1)), (vec![1, 3], vec![2]));
        assert_eq!(
            found[0].1,
            "a tail requires 50 independent long responses, and this run has 29 to 41. Use about 3,500 exchanges \
             (--count 3500)"
        );
    }

    #[test]
    fn a_run_limited_by_time_needs_a_longer_time() {
        let every = |ms: f64| Extent {
            ns_per_response: Some(ms * 1e6),
            falls_behind: false,
        };
        // The second needs fewer responses, but each takes longer.
        let found = by_reason(&[
            refused(1, few(29.0, 4_000.0), every(1.0)),
            refused(2, few(29.0, 3_000.0), every(10.0)),
        ]);
        let [(points, text)] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!(points.len(), 2);
        assert!(text.ends_with("Use about 30 s (--duration 30s)"), "{text}");
    }
}
