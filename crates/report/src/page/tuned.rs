//! The section on the search that a run confirmed: the goal, the constraints, the front, the confirmation.

use super::escape::{prose, text, words};
use super::measure::{Measure, digits};
use super::sections;
use crate::Subject;
use crate::load::{Confirmed, Limit, Tuned};
use crate::tables::Table;
use crate::units::{grouped, percent};
use std::fmt::Write;
use wiregauge_record::{Figure, Unit};
use wiregauge_stats::Estimate;

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
    if let Some(best) = &tuned.best {
        let _ = writeln!(out, "<p>{}</p>", prose(&choice(tuned, best)));
        let items: String = best
            .constraints
            .iter()
            .map(|limit| format!("<li>{}</li>\n", words(&constraint(limit))))
            .collect();
        let _ = writeln!(out, "<ul class=\"said\">\n{items}</ul>");
    }
    if !tuned.front.is_empty() {
        out.push_str(&sections::rendered(&[front(tuned)]));
        if tuned
            .front
            .iter()
            .any(|row| row.is_best && tuned.is_beaten(row))
        {
            let note = format!(
                "beaten in both: a probe has a shorter latency and a higher throughput than the chosen setting, whose aim \
                 is {}",
                tuned.objective.figure
            );
            let _ = writeln!(out, "<p><small>{}</small></p>", prose(&note));
        }
    }
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

fn choice(tuned: &Tuned, best: &Confirmed) -> String {
    let how = match best.confirmed {
        true => "confirmed by this run",
        false => "not confirmed by a separate run",
    };
    format!(
        "Chosen: {}; {how}: {} {}.",
        best.setting.name(),
        tuned.objective.figure,
        value(&tuned.objective.figure, &best.objective)
    )
}

fn constraint(limit: &Limit) -> String {
    let verdict = match limit.verdict.as_str() {
        "met" => "met",
        "violated" => "missed",
        _ => "not proven",
    };
    match &limit.found {
        Some(found) => format!("{}: {verdict}, {}", limit.text, value(&limit.figure, found)),
        None => format!("{}: {verdict}", limit.text),
    }
}

/// In the unit of the figure.
pub(super) fn shown(figure: &str, value: f64) -> String {
    match Figure::parse(figure).map(|figure| figure.unit()) {
        Some(Unit::Time) => Measure::RttTail.show(value),
        Some(Unit::Rate) => Measure::Rate.show(value),
        Some(Unit::Share) => percent(value),
        Some(Unit::Frequency) => format!("{}/s", digits(value)),
        _ => digits(value),
    }
}

/// With its interval, in the unit of the figure.
fn value(figure: &str, found: &Estimate) -> String {
    let show = |value: f64| shown(figure, value);
    let shown = show(found.value);
    match (found.low, found.high) {
        (Some(low), Some(high)) if low < high => {
            format!("{shown} (95 % interval {} to {})", show(low), show(high))
        }
        _ => shown,
    }
}

fn front(tuned: &Tuned) -> Table {
    let knee = match tuned.front.iter().any(|row| row.is_knee) {
        true => "; knee: the highest ratio of throughput to latency",
        false => "",
    };
    let mut table = Table::new(
        format!("Best trade-offs of latency and throughput{knee}"),
        &["setting", "mean latency", "throughput", "measured by", ""],
    );
    for row in &tuned.front {
        let mut marks = Vec::new();
        marks.extend(row.is_best.then_some("chosen"));
        marks.extend((row.is_best && tuned.is_beaten(row)).then_some("beaten in both"));
        marks.extend(row.is_knee.then_some("knee"));
        table.row(vec![
            row.setting.name(),
            Measure::RttTail.show(row.latency_ns.value),
            Measure::Rate.show(row.bytes_s),
            if row.confirmed {
                "confirmation"
            } else {
                "probe"
            }
            .to_owned(),
            marks.join(", "),
        ]);
    }
    table
}
