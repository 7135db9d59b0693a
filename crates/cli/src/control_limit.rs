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
#[derive(Clone, Debug)]
pub enum ControlLimit {
    /// `control.cost<20`, `control.growth<1`.
    Figure(Constraint),
    /// A verdict.
    Verdict(&'static Verdict),
}

/// A verdict that can be required.
#[derive(Debug)]
pub struct Verdict {
    /// Its word in the tables.
    name: &'static str,
    /// The word where it is open.
    open: &'static str,
    /// What it is about.
    about: &'static str,
    found: fn(&LoopVerdicts) -> &'static str,
}

static VERDICTS: [Verdict; 3] = [
    Verdict {
        name: "held",
        open: "",
        about: "on this trace",
        found: |all| all.on_trace,
    },
    Verdict {
        name: "holds",
        open: "no statement",
        about: "in the long run",
        found: |all| all.long_run,
    },
    Verdict {
        name: "proved",
        open: "not proved",
        about: "in any order",
        found: |all| all.any_order,
    },
];

/// `control.cost<20`, `control.growth<1`, `held`, `holds`, `proved`.
pub fn parse(text: &str) -> Result<ControlLimit, String> {
    let verdict = VERDICTS.iter().find(|known| known.name == text.trim());
    match verdict {
        Some(verdict) => Ok(ControlLimit::Verdict(verdict)),
        None if text.contains(['<', '>', '=']) => {
            constraint::of_control(text).map(ControlLimit::Figure)
        }
        None => Err(
            "use control.cost<NUMBER or control.growth<NUMBER, or a verdict: held, holds or proved"
                .into(),
        ),
    }
}

impl ControlLimit {
    /// As it was written.
    pub fn text(&self) -> &str {
        match self {
            ControlLimit::Figure(constraint) => &constraint.text,
            ControlLimit::Verdict(verdict) => verdict.name,
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
        Some(found) => Held::new(limit, limit.judge(Some(found)), &found, false, None),
        None => Held::missed("unbounded: the loop did not hold".into()),
    }
}

impl Verdict {
    fn judge(&self, assessment: &Assessment) -> Held {
        let found = (self.found)(&LoopVerdicts::of(assessment));
        let line = format!("{}: {found}", self.about);
        let (compliance, value) = if found == self.name {
            (Compliance::Met, String::new())
        } else if found == self.open {
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
