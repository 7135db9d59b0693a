//! `--require` of `wiregauge control`: a figure with its limit, or a verdict that must be reached at every point.

use crate::constraint::{self, Constraint};
use crate::limit_value::Held;
use wiregauge_control::Assessment;
use wiregauge_record::{Figure, LoopFigure};
use wiregauge_report::load::ControlPoint;
use wiregauge_report::tables::LoopVerdicts;
use wiregauge_stats::Estimate;
use wiregauge_tune::Compliance;

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

    /// What a point has where it should meet it.
    pub fn judge(&self, point: &ControlPoint) -> Held {
        let Some(assessment) = &point.assessment else {
            return Held::missed("no response arrived in time".into());
        };
        match self {
            ControlLimit::Figure(constraint) => of_figure(constraint, assessment),
            ControlLimit::Verdict(verdict) => verdict.judge(assessment),
        }
    }
}

fn of_figure(limit: &Constraint, assessment: &Assessment) -> Held {
    let found = &assessment.on_trace;
    let interval = found.interval.as_ref();
    let found = match limit.figure {
        Figure::Control(LoopFigure::Cost) => found.cost.map(|value| Estimate {
            value,
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
        }),
        _ => Some(Estimate {
            value: found.growth,
            low: Some(found.growth),
            high: Some(found.growth),
        }),
    };
    match found {
        Some(found) => Held::new(limit, limit.judge(Some(found)), &found, false),
        None => Held::missed("unbounded: the loop did not hold".into()),
    }
}

impl Verdict {
    fn judge(self, assessment: &Assessment) -> Held {
        let found = LoopVerdicts::of(assessment);
        let (found, met, open, of) = match self {
            Verdict::Held => (found.on_trace, "held", "", "on this trace"),
            Verdict::Holds => (found.long_run, "holds", "no statement", "in the long run"),
            Verdict::Proved => (found.any_order, "proved", "not proved", "in any order"),
        };
        let line = format!("{of}: {found}");
        let (compliance, value) = if found == met {
            (Compliance::Met, String::new())
        } else if found == open {
            (Compliance::Undecided, line.clone())
        } else {
            (Compliance::Violated, line.clone())
        };
        Held {
            compliance,
            excess: 0.0,
            value,
            line,
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
