//! The section on a control loop: the finding, its verdicts and costs, figures, tables, the model.

use super::escape::text;
use super::parts::{folded, lead, notes, of_each, tables};
use super::sections;
use crate::Subject;
use crate::control_report::{ControlDrawn, ControlReport};
use crate::tables::Table;

/// The section for all runs that were computed with a loop, and the number of its figures; empty if there are none.
pub(super) fn section(subjects: &[Subject]) -> (String, usize) {
    let mut numbered = 0;
    let section = of_each(subjects, |subject| {
        let report = subject.control.as_ref();
        report.map_or_else(String::new, |report| one(report, &mut numbered))
    });
    (section, numbered)
}

fn one(report: &ControlReport, numbered: &mut usize) -> String {
    let (finding, others) = match report.tables.notes.split_first() {
        Some((finding, others)) => (finding.as_str(), others),
        None => ("", &[][..]),
    };
    let brief = report.tables.brief.as_ref();
    let verdicts: Vec<Table> =
        brief.map_or_else(Vec::new, |brief| brief.tables(usize::MAX).collect());
    let mut out = lead(finding) + &tables(&verdicts);
    if let Some((best, rest)) = report.drawn.split_first() {
        if !best.place.is_empty() {
            let lowest = match best.has_cost {
                true => ", the lowest cost",
                false => "",
            };
            out += &format!("<h3>At {}{lowest}</h3>\n", text(&best.place));
        }
        out += &point(best, numbered);
        for other in rest {
            let title = format!("Figures at {}", text(&other.place));
            out += &folded(&title, &point(other, numbered));
        }
    }
    if report.not_drawn > 0 {
        out += &format!(
            "<p>{} more points are in the tables only: the points with the lowest costs have figures.</p>\n",
            report.not_drawn
        );
    }
    out += &tables(&report.tables.tables);
    out += &notes(others);
    for (name, model) in &report.model {
        let model = format!("<pre><code>{}</code></pre>", text(model.trim_end()));
        out += &folded(&text(name), &model);
    }
    out
}

fn point(point: &ControlDrawn, numbered: &mut usize) -> String {
    let figures = sections::figures(&point.figures, *numbered);
    *numbered += point.figures.len();
    figures
}
