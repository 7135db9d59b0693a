//! What measured delays do to a control loop, in tables: the verdict on this trace, the one in the long run, the one in any
//! order, each under its own heading, and what would lower the cost.

mod any_order;
mod delays;
mod finding;
mod long_run;
mod on_trace;
mod shown;
mod summary;
mod words;

use super::{Tables, heading, taken};
use crate::load::{ControlPoint, Controls};
use shown::Shown;
use wiregauge_control::Assessment;
use wiregauge_control::ControlError;
use wiregauge_quantity::grouped;
use wiregauge_run::RunFile;
pub use words::loop_figure;

/// The three verdicts on one point, in the words of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopVerdicts {
    /// `held`, `did not hold`
    pub on_trace: &'static str,
    /// `holds`, `near the limit`, `does not hold`, `no statement`
    pub long_run: &'static str,
    /// `proved`, `not proved`, `broken`
    pub any_order: &'static str,
}

impl LoopVerdicts {
    /// Of an assessment.
    pub fn of(assessment: &Assessment) -> LoopVerdicts {
        LoopVerdicts {
            on_trace: on_trace::verdict(&assessment.on_trace),
            long_run: long_run::verdict(assessment),
            any_order: any_order::verdict(&assessment.any_order.verdict),
        }
    }
}

/// Tables of it, beside what the run was.
pub fn of_controls(file: &RunFile, controls: &Controls) -> Tables {
    let shown = Shown::new(controls);
    let mut tables = vec![delays::table(&shown)];
    tables.extend(on_trace::tables(&shown));
    tables.push(long_run::table(&shown));
    tables.push(any_order::table(&shown));
    tables.extend(any_order::margins(&shown));
    let mut notes = vec![finding::note(&shown)];
    notes.extend(long_run::notes(&shown));
    notes.extend(any_order::notes(&shown));
    notes.extend(self::notes(&shown));
    Tables {
        heading: heading::of_exchange(file),
        note: heading::note(&file.conditions),
        set_off: vec![file.plan.address.clone()],
        brief: Some(summary::brief(&shown)),
        tables,
        notes,
        ..Tables::default()
    }
}

/// Points without a row, and why.
fn not_computed(shown: &Shown<'_>) -> Vec<String> {
    let points = &shown.controls.points;
    let mut reasons: Vec<&ControlError> = Vec::new();
    for reason in points.iter().filter_map(|point| point.reason.as_ref()) {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let say = |reason: &ControlError| {
        let of_it = points.iter().filter(|p| p.reason.as_ref() == Some(reason));
        let which: Vec<u32> = of_it.map(|point| point.point.index).collect();
        let which = shown.places.bracketed(&which);
        match reason {
            ControlError::TooLong { .. } => format!(
                "Not computed{which}: {reason}. Ignore responses that take longer (--deadline), or measure with a shorter \
                 --timeout or a greater --depth."
            ),
            _ => format!("No response arrived in time{which}: these points have no row."),
        }
    };
    reasons.into_iter().map(say).collect()
}

fn notes(shown: &Shown<'_>) -> Vec<String> {
    let controls = shown.controls;
    let of_unsent = "a cycle without a request";
    let mut notes = vec![
        words::rules(controls),
        taken::note(controls.taken, controls.period_ns, of_unsent),
    ];
    let unsent: u64 = controls.points.iter().map(|p| p.cycles.unsent).sum();
    if unsent > 0 {
        let cycles: u64 = controls.points.iter().map(|p| p.cycles.cycles).sum();
        notes.push(format!(
            "In {} of {} cycles no request could be sent; they count as cycles without a response.",
            grouped(unsent),
            grouped(cycles)
        ));
    }
    let cut = controls.points.iter().filter(|p| p.cycles.left_out > 0);
    let cut: Vec<&ControlPoint> = cut.collect();
    if let Some(first) = cut.first() {
        let which: Vec<u32> = cut.iter().map(|point| point.point.index).collect();
        notes.push(format!(
            "Only the first {} cycles are used{}: more would not fit in memory.",
            grouped(first.cycles.cycles),
            shown.places.bracketed(&which)
        ));
    }
    notes.extend(not_computed(shown));
    notes
}
