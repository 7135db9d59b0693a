//! The section on the cycles of a run with a schedule: how many missed their deadline (the period).

use super::escape::{prose, text};
use super::sections;
use crate::Subject;
use crate::load::{DeadlinePoint, Deadlines};
use crate::tables::of_deadlines;
use crate::units::{grouped, percent, time};
use std::fmt::Write;
use wiregauge_run::AnyRun;

/// Empty if no run has a schedule.
pub(super) fn section(subjects: &[Subject]) -> String {
    let mut out = String::new();
    for subject in subjects {
        let (Some(deadlines), AnyRun::Exchange(run)) = (&subject.deadlines, &subject.run) else {
            continue;
        };
        if subjects.len() > 1 {
            let _ = writeln!(out, "<h3>{}</h3>", text(&subject.label));
        }
        let _ = writeln!(out, "<p class=\"lead\">{}</p>", prose(&answer(deadlines)));
        let tables = of_deadlines(&run.file, deadlines);
        out.push_str(&sections::rendered(&tables.tables));
        for note in &tables.notes {
            let _ = writeln!(out, "<p><small>{}</small></p>", prose(note));
        }
        let other = "For another period or deadline: wiregauge deadline.";
        let _ = writeln!(out, "<p><small>{other}</small></p>");
    }
    out
}

/// The cycles of all points, and the worst of them.
fn answer(deadlines: &Deadlines) -> String {
    let points = &deadlines.points;
    let sum = |of: fn(&DeadlinePoint) -> u64| points.iter().map(of).sum::<u64>();
    let (cycles, missed) = (
        sum(|point| point.cycles.cycles),
        sum(|point| point.cycles.missed),
    );
    let period = time(deadlines.control_loop.period_ns as f64);
    let mut words = format!(
        "{} of {} cycles of {period} missed their deadline, the end of the cycle",
        grouped(missed),
        grouped(cycles)
    );
    let worst = points
        .iter()
        .max_by(|a, b| a.cycles.share.value.total_cmp(&b.cycles.share.value));
    match worst {
        Some(worst) if missed > 0 && points.len() > 1 => {
            let _ = write!(
                words,
                "; most at {}: {}",
                worst.point,
                percent(worst.cycles.share.value)
            );
        }
        _ => {}
    }
    words + "."
}
