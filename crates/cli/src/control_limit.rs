//! `--require` of `wiregauge control`: a figure with its limit, or a verdict that must be reached at every point.

use crate::constraint::{self, Constraint};
use wiregauge_control::Assessment;
use wiregauge_record::{Figure, LoopFigure};
use wiregauge_report::load::ControlPoint;
use wiregauge_report::tables::{LoopVerdicts, loop_figure};

/// What a control loop must keep.
#[derive(Clone, Debug, PartialEq)]
pub enum ControlLimit {
    /// `control.cost<20`, `control.growth<1`.
    Figure(Constraint),
    /// A verdict.
    Verdict(Verdict),
}

/// A verdict that can be required, by its word in the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// On this trace.
    Held,
    /// In the long run.
    Holds,
    /// In any order.
    Proved,
}

/// How a point keeps a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It does.
    Met,
    /// It does not: what was found.
    Violated(String),
    /// Nothing decides it: what was found.
    NotProven(String),
}

/// `control.cost<20`, `control.growth<1`, `held`, `holds`, `proved`.
pub fn parse(text: &str) -> Result<ControlLimit, String> {
    let verdict = match text.trim() {
        "held" => Verdict::Held,
        "holds" => Verdict::Holds,
        "proved" => Verdict::Proved,
        other if !other.contains(['<', '>', '=']) => {
            return Err(
                "use control.cost<NUMBER or control.growth<NUMBER, or a verdict: held, holds or proved"
                    .into(),
            );
        }
        _ => return constraint::of_control(text).map(ControlLimit::Figure),
    };
    Ok(ControlLimit::Verdict(verdict))
}

impl ControlLimit {
    /// As it was written.
    pub fn text(&self) -> &str {
        match self {
            ControlLimit::Figure(constraint) => &constraint.text,
            ControlLimit::Verdict(Verdict::Held) => "held",
            ControlLimit::Verdict(Verdict::Holds) => "holds",
            ControlLimit::Verdict(Verdict::Proved) => "proved",
        }
    }

    /// Whether a point keeps it.
    pub fn judge(&self, point: &ControlPoint) -> Kept {
        let Some(assessment) = &point.assessment else {
            return Kept::Violated("no response arrived in time".into());
        };
        match self {
            ControlLimit::Figure(constraint) => of_figure(constraint, assessment),
            ControlLimit::Verdict(verdict) => verdict.judge(assessment),
        }
    }
}

fn of_figure(limit: &Constraint, assessment: &Assessment) -> Kept {
    let found = &assessment.on_trace;
    if limit.figure != Figure::Control(LoopFigure::Cost) {
        return match limit.holds(found.growth) {
            true => Kept::Met,
            false => Kept::Violated(loop_figure(LoopFigure::Growth, found.growth)),
        };
    }
    let shown = |value| loop_figure(LoopFigure::Cost, value);
    let Some(cost) = found.cost else {
        return Kept::Violated("unbounded (the loop did not hold)".into());
    };
    let Some(interval) = found.interval else {
        let text = format!("{} (no 95 % interval: use a longer run)", shown(cost));
        return match limit.holds(cost) {
            true => Kept::NotProven(text),
            false => Kept::Violated(text),
        };
    };
    let text = format!(
        "{} (95 %: {} to {})",
        shown(cost),
        shown(interval.low),
        shown(interval.high)
    );
    match (limit.holds(interval.high), limit.holds(interval.low)) {
        (true, _) => Kept::Met,
        (false, true) => Kept::NotProven(text),
        (false, false) => Kept::Violated(text),
    }
}

impl Verdict {
    fn judge(self, assessment: &Assessment) -> Kept {
        let found = LoopVerdicts::of(assessment);
        match (self, found.on_trace, found.long_run, found.any_order) {
            (Verdict::Held, "held", _, _)
            | (Verdict::Holds, _, "holds", _)
            | (Verdict::Proved, _, _, "proved") => Kept::Met,
            (Verdict::Held, found, _, _) => Kept::Violated(format!("on this trace: {found}")),
            (Verdict::Holds, _, found @ "no statement", _) => {
                Kept::NotProven(format!("in the long run: {found}"))
            }
            (Verdict::Holds, _, found, _) => Kept::Violated(format!("in the long run: {found}")),
            (Verdict::Proved, _, _, found @ "not proved") => {
                Kept::NotProven(format!("in any order: {found}"))
            }
            (Verdict::Proved, _, _, found) => Kept::Violated(format!("in any order: {found}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_figure_or_a_verdict() {
        for text in [
            "control.cost<20",
            "control.growth<1",
            "held",
            "holds",
            "proved",
        ] {
            assert_eq!(parse(text).expect("a limit").text(), text);
        }
        for text in ["hold", "broken", ""] {
            let why = parse(text).expect_err(text);
            assert!(why.contains("held, holds or proved"), "{text}: {why}");
        }
        for text in ["cost<20", "p99<2ms", "control.cost>1"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
