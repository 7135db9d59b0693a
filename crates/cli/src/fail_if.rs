//! `--fail-if` of `wiregauge compare`: a difference that must not be there.

use crate::constraint;
use crate::point_filter::{PointFilter, filter};
use crate::values;
use wiregauge_compare::{Compared, ComparedPoint, Comparison, Figure, Key, Portion, Unmatched};
use wiregauge_record::{Better, Unit};
use wiregauge_stats::Estimate;
use wiregauge_tune::{Bound, Compliance};

/// What a comparison must not show.
#[derive(Clone, Debug, PartialEq)]
pub struct FailIf {
    /// As it was written.
    pub text: String,
    /// Where it must hold; `None`: at every point.
    points: Option<PointFilter>,
    figure: Figure,
    /// A part of 1.
    bound: f64,
    change: Change,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    Worse,
    Better,
    Different,
    More,
    Less,
}

const CHANGES: [(&str, Change); 5] = [
    ("worse", Change::Worse),
    ("better", Change::Better),
    ("different", Change::Different),
    ("more", Change::More),
    ("less", Change::Less),
];

/// What became of a condition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judged {
    /// Where it is met, in words.
    pub met: Vec<String>,
    /// Where it is neither met nor ruled out.
    pub undecided: Vec<String>,
}

/// A figure by its name; `below(2ms)` and `buffer(24MB/s)` by what they are for.
pub fn figure(text: &str) -> Result<Figure, String> {
    let text = text.trim();
    let argument = |name: &str| {
        text.strip_prefix(name)?
            .strip_prefix('(')?
            .strip_suffix(')')
    };
    if let Some(limit) = argument("below") {
        let ns = values::duration(limit.trim())?.as_nanos() as u64;
        return Ok(Figure::Below(ns));
    }
    if let Some(rate) = argument("buffer") {
        return Ok(Figure::Buffer(values::byte_rate(rate.trim())?));
    }
    if let Some(portion) = Portion::parse(text) {
        return Ok(Figure::Portion(portion));
    }
    constraint::figure(text).map(Figure::Named)
}

/// `p99 > 5% worse`, `in=48,depth=4: lost > 0.1% more`.
pub fn parse(text: &str) -> Result<FailIf, String> {
    let wrong = |why: &str| {
        format!(
            "`{text}` is not a valid condition: {why} ([POINT:] FIGURE > PERCENT% \
             worse|better|different|more|less; such as 'p99 > 5% worse' or 'in=48,depth=4: lost > 0.1% more')"
        )
    };
    let (points, rest) = match text.split_once(':') {
        Some((points, rest)) => (Some(filter(points).map_err(|why| wrong(&why))?), rest),
        None => (None, text),
    };
    let (name, rest) = rest
        .split_once('>')
        .ok_or_else(|| wrong("`>` is missing"))?;
    let figure = figure(name).map_err(|why| wrong(&why))?;
    let (percent, change) = rest
        .split_once('%')
        .ok_or_else(|| wrong("`%` is missing"))?;
    let percent: f64 = percent
        .trim()
        .parse()
        .map_err(|_| wrong(&format!("`{}` is not a number", percent.trim())))?;
    if !(0.0..=1e6).contains(&percent) {
        return Err(wrong("the limit must be 0 to 1000000 %"));
    }
    let word = change.trim();
    let change = CHANGES.into_iter().find(|(name, _)| *name == word);
    let (_, change) = change.ok_or_else(|| match word {
        "" => wrong("worse, better, different, more or less is missing"),
        _ => wrong(&format!(
            "`{word}` is not worse, better, different, more or less"
        )),
    })?;
    Ok(FailIf {
        text: text.trim().to_owned(),
        points,
        figure,
        bound: percent / 100.0,
        change,
    })
}

impl FailIf {
    /// The figure that it limits.
    pub fn figure(&self) -> Figure {
        self.figure
    }

    fn selects(&self, key: &Key) -> bool {
        let points = self.points.as_ref();
        points.is_none_or(|points| points.wants(key.parts()))
    }

    /// Holds a comparison to it. An error says why the condition says nothing of these runs.
    pub fn judge(&self, comparison: &Comparison) -> Result<Judged, String> {
        let mut judged = Judged::default();
        let mut judges = 0;
        for point in comparison.points.iter().filter(|p| self.selects(&p.point)) {
            for compared in point.figures.iter().filter(|c| c.figure == self.figure) {
                judges += 1;
                self.judge_one(point, compared, &mut judged);
            }
        }
        if judges == 0 {
            return Err(self.why_nothing(comparison));
        }
        if !self.figure.has_interval() {
            return Err(format!("{} has no interval, so no verdict", self.figure));
        }
        let unmatched = comparison
            .unmatched
            .iter()
            .filter(|u| self.selects(&u.point));
        judged
            .undecided
            .extend(unmatched.map(|Unmatched { point, missing_in }| {
                format!("at {point}: not measured in {}", missing_in.join(", "))
            }));
        Ok(judged)
    }

    fn why_nothing(&self, comparison: &Comparison) -> String {
        let selected = comparison.points.iter().find(|p| self.selects(&p.point));
        let Some(point) = selected else {
            let points: Vec<String> = comparison
                .points
                .iter()
                .map(|p| p.point.to_string())
                .collect();
            return format!(
                "no compared point matches; compared points: {}",
                points.join("; ")
            );
        };
        let figures: Vec<String> = point.figures.iter().map(|c| c.figure.to_string()).collect();
        format!(
            "runs of kind {1} have no {0}; they have {2}",
            self.figure,
            comparison.kind,
            figures.join(", ")
        )
    }

    fn judge_one(&self, point: &ComparedPoint, compared: &Compared, judged: &mut Judged) {
        let (point, figure) = (&point.point, compared.figure);
        let Some(found) = compared.judged() else {
            let unknown = format!("{point} {figure}: unknown on one side or both");
            judged.undecided.push(unknown);
            return;
        };
        let text = format!("{point} {figure}: {}", shown(figure, &found));
        let longer = match found.low.and(found.high) {
            Some(_) => "",
            None => ": too few independent samples, or drift. Repeat each side with a longer run",
        };
        match self.compliance(figure.better(), found) {
            Compliance::Met => {}
            Compliance::Violated => judged.met.push(text),
            Compliance::Undecided => judged.undecided.push(text + longer),
        }
    }

    /// Whether a change is within the bound, by its interval.
    fn compliance(&self, better: Better, found: Estimate) -> Compliance {
        // As a change for the worse, the better or either, so that more of it is more to object to.
        let is_better_low = better == Better::Lower;
        let (up, down) = match self.change {
            Change::Different => (true, true),
            Change::More => (true, false),
            Change::Less => (false, true),
            Change::Worse => (is_better_low, !is_better_low),
            Change::Better => (!is_better_low, is_better_low),
        };
        let negative = Estimate {
            value: -found.value,
            low: found.high.map(|high| -high),
            high: found.low.map(|low| -low),
        };
        let changes = [(up, found), (down, negative)].into_iter();
        let changes = changes.filter(|(is_limited, _)| *is_limited);
        let bound = Bound::AtMost(self.bound);
        let judged = changes.map(|(_, change)| Compliance::by_interval(bound, change));
        judged.max().unwrap_or(Compliance::Undecided)
    }
}

/// A change with its interval, relative or in percentage points.
fn shown(figure: Figure, found: &Estimate) -> String {
    let unit = match figure.unit() {
        Unit::Share => "percentage points",
        _ => "%",
    };
    let percent = |part: f64| format!("{:+.2} {unit}", part * 100.0);
    let bound = |bound: Option<f64>| bound.map_or_else(|| "?".to_owned(), percent);
    let value = percent(found.value);
    match (found.low, found.high) {
        (None, None) => format!("{value} (no interval)"),
        (low, high) => format!("{value} ({} to {})", bound(low), bound(high)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_names_a_figure_a_bound_and_a_way() {
        let condition = parse(" in=1k, depth=4 : below(1000us) > 0.5 % less").unwrap();
        assert_eq!(condition.points, filter("in=1k, depth=4").ok());
        assert_eq!(condition.figure, Figure::Below(1_000_000));
        assert_eq!((condition.bound, condition.change), (0.005, Change::Less));
        assert_eq!(parse("p99>5%worse").unwrap().bound, 0.05);
        let buffer = parse("buffer(24MB/s) > 5% more").unwrap().figure;
        assert_eq!(buffer, Figure::Buffer(24_000_000));
    }

    #[test]
    fn a_condition_is_met_by_the_interval_and_not_by_the_estimate() {
        let judged = |text: &str, low, high| {
            let condition = parse(text).unwrap();
            let found = Estimate {
                value: 0.08,
                low,
                high,
            };
            condition.compliance(Better::Lower, found)
        };
        let [ruled_out, met, open] = [Compliance::Met, Compliance::Violated, Compliance::Undecided];
        assert_eq!(judged("p99 > 5% worse", Some(0.06), Some(0.1)), met);
        assert_eq!(judged("p99 > 5% worse", Some(0.06), None), met);
        assert_eq!(judged("p99 > 5% worse", Some(0.03), Some(0.1)), open);
        assert_eq!(judged("p99 > 5% different", Some(0.06), Some(0.1)), met);
        assert_eq!(judged("p99 > 5% different", None, Some(0.1)), open);
        assert_eq!(judged("p99 > 5% better", Some(0.03), Some(0.1)), ruled_out);
        assert_eq!(judged("p99 > 5% less", None, Some(0.1)), open);
        assert_eq!(judged("p99 > 10% worse", Some(0.06), Some(0.1)), ruled_out);
        assert_eq!(judged("p99 > 0% worse", Some(0.0), Some(0.1)), open);
    }

    #[test]
    fn what_is_no_condition_says_why() {
        for (text, why) in [
            ("p99 < 5% worse", "`>` is missing"),
            ("p98 > 5% worse", "unknown figure `p98`"),
            ("p99 > 5 worse", "`%` is missing"),
            ("p99 > five% worse", "`five` is not a number"),
            ("p99 > -5% worse", "the limit must be 0 to 1000000 %"),
            ("p99 > nan% worse", "the limit must be 0 to 1000000 %"),
            (
                "p99 > 5%",
                "worse, better, different, more or less is missing",
            ),
            ("p99 > 5% slower", "`slower` is not worse"),
            (
                "48: p99 > 5% worse",
                "`48` is not a valid selection of points",
            ),
            ("below(2) > 5% worse", "`2` is not a duration"),
            ("", "`>` is missing"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
