//! The section on the search that a run confirmed: the goal, the constraints, the front, the reasons.

use super::escape::{prose, text};
use super::sections;
use crate::Subject;
use crate::load::Tuned;
use crate::tables::of_tuned;
use std::fmt::Write;
use wiregauge_quantity::grouped;

/// Empty if no run confirmed a search.
pub(super) fn section(subjects: &[Subject]) -> String {
    let mut out = String::new();
    for subject in subjects {
        let Some(tuned) = &subject.tuned else {
            continue;
        };
        if subjects.len() > 1 {
            let _ = writeln!(out, "<h3>{}</h3>", text(&subject.label));
        }
        one(&mut out, tuned);
    }
    out
}

fn one(out: &mut String, tuned: &Tuned) {
    let _ = writeln!(out, "<p class=\"lead\">{}</p>", prose(&goal(tuned)));
    out.push_str(&sections::rendered(&of_tuned(tuned)));
    for line in &tuned.why {
        let _ = writeln!(out, "<p><small>{}</small></p>", prose(line));
    }
}

fn goal(tuned: &Tuned) -> String {
    let constraints: Vec<&str> = tuned.constraints.iter().map(|c| &c.text[..]).collect();
    let subject_to = match constraints.is_empty() {
        true => String::new(),
        false => format!(", subject to {}", constraints.join(" and ")),
    };
    let ended = match tuned.ended.as_str() {
        "complete" => String::new(),
        ended => format!(" The search ended early: {ended}."),
    };
    format!(
        "Goal: {} {}{subject_to}. The search made {} measurements.{ended}",
        tuned.objective.sense,
        tuned.objective.figure,
        grouped(tuned.probes.len() as u64)
    )
}
