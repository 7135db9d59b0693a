//! What a result has where it should meet a limit: the value, its interval, and how far it is beyond the limit.

use crate::constraint::{Constraint, Relation};
use std::cmp::Ordering;
use wiregauge_quantity::{of_unit, percent, times};
use wiregauge_record::{Figure, Times};
use wiregauge_report::tables::loop_figure;
use wiregauge_stats::Estimate;
use wiregauge_tune::Compliance;

/// A limit at one place of a result.
#[derive(Clone)]
pub struct Held {
    /// Whether it is met.
    pub compliance: Compliance,
    /// Of two places with the same compliance the larger one is worse.
    pub excess: f64,
    /// The value for a sentence; empty where the limit says it.
    pub value: String,
    /// The same with its interval, and why that decides nothing.
    pub line: String,
}

impl Held {
    /// Of a value that is known. `is_scheduled`: a bare `p99` is counted from the intended start. `why`: why a bound is
    /// missing, where that is known.
    pub fn new(
        limit: &Constraint,
        compliance: Compliance,
        found: &Estimate,
        is_scheduled: bool,
        why: Option<String>,
    ) -> Held {
        let counted = match limit.figure {
            Figure::Time(Times::Answer, _) if is_scheduled => " from the intended start",
            _ => "",
        };
        let value = shown(limit.figure, found.value) + counted;
        let interval = interval(limit.figure, found);
        let within = |more: &str| match &interval {
            Some(interval) => format!("{value} ({interval}{more})"),
            None => value.clone(),
        };
        let (value, line) = match compliance {
            Compliance::Met => (value.clone(), within("")),
            Compliance::Undecided => {
                let why = match (found.low.and(found.high), why) {
                    (Some(_), _) => String::new(),
                    (None, Some(why)) => format!("; {why}"),
                    (None, None) => {
                        "; too few independent samples, or drift: use a longer run".into()
                    }
                };
                let short = match &interval {
                    Some(interval) => format!("{value}; {interval}"),
                    None => value.clone(),
                };
                (short, within(&why))
            }
            Compliance::Violated => {
                let beyond = beyond(limit, found.value);
                (value.clone() + &beyond, within("") + &beyond)
            }
        };
        Held {
            compliance,
            excess: match limit.is_lower() {
                true => -found.value,
                false => found.value,
            },
            value,
            line,
        }
    }

    /// Of a limit that nothing could meet, for this reason.
    pub fn missed(why: String) -> Held {
        Held {
            compliance: Compliance::Violated,
            excess: f64::INFINITY,
            value: why.clone(),
            line: why,
        }
    }

    /// The worse one is greater.
    pub fn compare(&self, other: &Held) -> Ordering {
        let by_compliance = self.compliance.cmp(&other.compliance);
        by_compliance.then(self.excess.total_cmp(&other.excess))
    }

    /// With the place behind both, if the limit is not met there: one that is met is met at every place.
    pub fn at(mut self, place: &str) -> Held {
        if self.compliance == Compliance::Met {
            return self;
        }
        if !self.value.is_empty() {
            self.value += place;
        }
        self.line += place;
        self
    }
}

/// `, 3.65 times the limit`; nothing where the limit is 0, or is reached exactly.
pub fn beyond(limit: &Constraint, value: f64) -> String {
    let ratio = value / limit.value;
    if limit.relation == Relation::Equal || limit.value <= 0.0 || ratio == 1.0 {
        String::new()
    } else if limit.is_lower() {
        format!(", {} below the limit", percent(1.0 - ratio))
    } else if ratio < 2.0 {
        format!(", {} above the limit", percent(ratio - 1.0))
    } else {
        format!(", {} the limit", times(ratio))
    }
}

/// A value of a figure, with its unit.
pub fn shown(figure: Figure, value: f64) -> String {
    match figure {
        Figure::Control(of) => loop_figure(of, value),
        _ => of_unit(figure.unit(), value),
    }
}

/// True of what was seen, and tells no more than that: it has no interval.
fn is_exact(figure: Figure, found: &Estimate) -> bool {
    figure.is_bare() || (found.low == Some(found.value) && found.high == found.low)
}

/// A value and its interval.
pub fn with_bounds(figure: Figure, found: &Estimate) -> String {
    let value = shown(figure, found.value);
    match interval(figure, found) {
        Some(interval) => format!("{value} ({interval})"),
        None => value,
    }
}

/// `95 %: 8.331 ms .. ?`; `None` of what was seen.
fn interval(figure: Figure, found: &Estimate) -> Option<String> {
    if is_exact(figure, found) {
        return None;
    }
    let show = |bound: f64| shown(figure, bound);
    Some(match (found.low, found.high) {
        (None, None) => "no 95 % interval".into(),
        (Some(low), Some(high)) => format!("95 %: {} to {}", show(low), show(high)),
        (low, high) => {
            let bound = |bound: Option<f64>| bound.map_or("?".into(), show);
            format!("95 %: {} .. {}", bound(low), bound(high))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraint::{of_exchanges, of_streams};

    fn held(text: &str, value: f64, low: Option<f64>, high: Option<f64>) -> Held {
        let limit = of_exchanges(text).or_else(|_| of_streams(text));
        let limit = limit.expect("a limit");
        let found = Estimate { value, low, high };
        Held::new(&limit, limit.judge(Some(found)), &found, true, None)
    }

    #[test]
    fn a_met_limit_has_its_value_and_says_from_when_it_counts() {
        let met = held("p99<2ms", 3.1e5, Some(3e5), Some(4e5));
        assert_eq!(met.compliance, Compliance::Met);
        assert_eq!(met.value, "310.0 us from the intended start");
        let rtt = held("rtt.p99<2ms", 3.1e5, Some(3e5), Some(4e5));
        assert_eq!(rtt.value, "310.0 us");
    }

    #[test]
    fn only_a_limit_that_is_not_met_names_a_place() {
        let at = |value| held("lost=0", value, Some(value), Some(value)).at(" at depth 4");
        assert_eq!((at(0.0).value, at(0.0).line), ("0".into(), "0".into()));
        assert_eq!(at(3.0).value, "3 at depth 4");
    }

    #[test]
    fn a_missed_limit_says_how_far() {
        let missed = held("rtt.p99<2ms", 7.3e6, Some(7e6), None);
        assert_eq!(missed.value, "7.300 ms, 3.65 times the limit");
        assert_eq!(
            missed.line,
            "7.300 ms (95 %: 7.000 ms .. ?), 3.65 times the limit"
        );
        let text = |text, value| held(text, value, Some(value), Some(value)).line;
        assert_eq!(
            text("max<2ms", 2.1e6),
            "2.100 ms from the intended start, 5 % above the limit"
        );
        assert_eq!(text("lost=0", 3.0), "3");
        assert_eq!(
            text("in.rate>10MB/s", 2e6),
            "2.000 MB/s, 80 % below the limit"
        );
        assert_eq!(text("stalls<3", 3.0), "3");
    }

    #[test]
    fn an_undecided_limit_has_the_interval_and_why_it_decides_nothing() {
        let open = held("rtt.p99<2ms", 1.2e6, Some(1e6), None);
        assert_eq!(open.value, "1.200 ms; 95 %: 1.000 ms .. ?");
        assert_eq!(
            open.line,
            "1.200 ms (95 %: 1.000 ms .. ?; too few independent samples, or drift: use a longer run)"
        );
        let open = held("rtt.p99<2ms", 1.2e6, Some(1e6), Some(3e6));
        assert_eq!(open.line, "1.200 ms (95 %: 1.000 ms to 3.000 ms)");
    }

    #[test]
    fn a_limit_that_a_drift_leaves_open_says_so_and_asks_for_no_longer_run() {
        let limit = of_exchanges("rtt.p99<2ms").expect("a limit");
        let found = Estimate {
            value: 1.2e6,
            low: Some(1e6),
            high: None,
        };
        let why = Some("the times drift".to_owned());
        let open = Held::new(&limit, limit.judge(Some(found)), &found, true, why);
        assert_eq!(open.line, "1.200 ms (95 %: 1.000 ms .. ?; the times drift)");
    }

    #[test]
    fn a_value_without_bounds_says_so() {
        let found = Estimate {
            value: 27.5e3,
            low: None,
            high: None,
        };
        let p99 = of_exchanges("p99<20ms").expect("a constraint").figure;
        assert_eq!(with_bounds(p99, &found), "27.50 us (no 95 % interval)");
    }
}
