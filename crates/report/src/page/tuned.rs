//! The section on the search that a run confirmed: the goal, the constraints, the front, the reasons.

use super::escape::{prose, text, words};
use super::sections;
use crate::Subject;
use crate::load::{Limit, Tuned};
use crate::tables::Table;
use std::fmt::Write;
use wiregauge_quantity::{grouped, of_unit, rate, significant, time};
use wiregauge_record::Figure;
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
        let items: String = best
            .constraints
            .iter()
            .map(|limit| format!("<li>{}</li>\n", words(&constraint(limit))))
            .collect();
        let _ = writeln!(out, "<ul class=\"said\">\n{items}</ul>");
    }
    if !tuned.front.is_empty() {
        out.push_str(&sections::rendered(&[front(tuned)]));
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

fn constraint(limit: &Limit) -> String {
    let verdict = match limit.verdict.as_str() {
        "met" => "met",
        "violated" => "missed",
        _ => "undecided",
    };
    match &limit.found {
        Some(found) => format!("{}: {verdict}, {}", limit.text, value(&limit.figure, found)),
        None => format!("{}: {verdict}", limit.text),
    }
}

/// In the unit of the figure.
fn shown(figure: &str, value: f64) -> String {
    match Figure::parse(figure) {
        Some(figure) => of_unit(figure.unit(), value),
        None => significant(value),
    }
}

/// With its interval, in the unit of the figure.
fn value(figure: &str, found: &Estimate) -> String {
    let show = |value: f64| shown(figure, value);
    let bound = |bound: Option<f64>| bound.map_or("?".to_owned(), show);
    let shown = show(found.value);
    match (found.low, found.high) {
        (None, None) => shown,
        (Some(low), Some(high)) if low >= high => shown,
        (low, high) => format!("{shown} (95 % interval {} to {})", bound(low), bound(high)),
    }
}

fn front(tuned: &Tuned) -> Table {
    let knee = match tuned.front.iter().any(|row| row.is_knee) {
        true => "; knee: the highest ratio of throughput to latency",
        false => "",
    };
    let throughput = match tuned.objective.carried.as_deref() {
        Some("in") => "IN throughput",
        Some("out") => "OUT throughput",
        _ => "OUT + IN throughput",
    };
    let mut table = Table::new(
        format!("Best trade-offs of latency and throughput{knee}"),
        &[
            "setting",
            "mean latency",
            "p99",
            throughput,
            "measured by",
            "",
        ],
    );
    for row in &tuned.front {
        let mut marks = Vec::new();
        marks.extend(row.is_best.then_some("chosen"));
        marks.extend(row.is_knee.then_some("knee"));
        marks.extend(row.unproven.as_deref());
        table.row(vec![
            row.setting.name(),
            time(row.latency_ns.value),
            row.latency_p99_ns
                .as_ref()
                .map_or("-".to_owned(), |p99| time(p99.value)),
            rate(row.throughput()),
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
