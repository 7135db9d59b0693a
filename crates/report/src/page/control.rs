//! The section on a control loop: the finding, its verdicts and costs, figures, tables, the model.

use super::escape::{prose, text};
use super::sections;
use crate::control_report::{ControlDrawn, ControlReport};
use crate::tables::Table;
use crate::{Subject, figures::Figure};
use std::fmt::Write;

/// The section for all runs that were computed with a loop, and the number of its figures; empty if there are none.
pub(super) fn section(subjects: &[Subject]) -> (String, usize) {
    let mut out = String::new();
    let mut numbered = 0;
    for subject in subjects {
        let Some(report) = &subject.control else {
            continue;
        };
        if subjects.len() > 1 {
            let _ = writeln!(out, "<h3>{}</h3>", text(&subject.label));
        }
        one(&mut out, report, &mut numbered);
    }
    (out, numbered)
}

fn one(out: &mut String, report: &ControlReport, numbered: &mut usize) {
    let (finding, notes) = match report.tables.notes.split_first() {
        Some((finding, notes)) => (finding.as_str(), notes),
        None => ("", &[][..]),
    };
    let _ = writeln!(out, "<p class=\"lead\">{}</p>", prose(finding));
    let brief = report.tables.brief.as_ref();
    let verdicts: Vec<Table> =
        brief.map_or_else(Vec::new, |brief| brief.tables(usize::MAX).collect());
    out.push_str(&sections::rendered(&verdicts));
    if let Some((best, others)) = report.drawn.split_first() {
        if !best.place.is_empty() {
            let lowest = match best.has_cost {
                true => ", the lowest cost",
                false => "",
            };
            let _ = writeln!(out, "<h3>At {}{lowest}</h3>", text(&best.place));
        }
        point(out, best, numbered);
        for other in others {
            let _ = writeln!(
                out,
                "<details><summary>Figures at {}</summary>",
                text(&other.place)
            );
            point(out, other, numbered);
            out.push_str("</details>\n");
        }
    }
    if report.not_drawn > 0 {
        let _ = writeln!(
            out,
            "<p>{} more points are in the tables only: the points with the lowest costs have figures.</p>",
            report.not_drawn
        );
    }
    out.push_str(&sections::rendered(&report.tables.tables));
    for note in notes {
        let _ = writeln!(out, "<p><small>{}</small></p>", prose(note));
    }
    for (name, model) in &report.model {
        let _ = writeln!(
            out,
            "<details><summary>{}</summary><pre><code>{}</code></pre></details>",
            text(name),
            text(model.trim_end())
        );
    }
}

fn point(out: &mut String, point: &ControlDrawn, numbered: &mut usize) {
    let figures: &[Figure] = &point.figures;
    out.push_str(&sections::figures(figures, *numbered));
    *numbered += figures.len();
}
