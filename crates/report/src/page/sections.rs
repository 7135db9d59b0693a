//! The parts of the page between its frame: headings, summary, figures, tables, conditions.

use super::contents::row_id;
use super::escape::{id, prose, svg, text, words};
use super::live::live_form;
use super::uplot::Uplot;
use super::{differences, summary};
use crate::Subject;
use crate::figures::Figure;
use crate::tables::{ComparisonTables, Table, Warning};
use std::fmt::Write;
use wiregauge_run::State;

/// More of them would be a page of its own: they are folded behind the first.
const CONDITIONS_SHOWN: usize = 12;

/// A table of more rows scrolls by itself.
const ROWS_SHOWN: usize = 60;

/// A comparison of more figures than this is not a table for the eye.
const MOST_COMPARED: usize = 300;

/// Of several runs without a section on what differs between them.
const NOT_COMPARED: &str = "<p>These runs are not compared: they are of different kinds or of loops, or have no point \
                            in common (same sizes, same depth or queue).</p>\n";

pub(super) fn title(subjects: &[Subject]) -> String {
    match subjects {
        [] => "No run".into(),
        [one] => format!("{} with {}", one.run.title(), one.run.links()),
        [first, rest @ ..] => {
            let mut title = format!("{} runs: {}", subjects.len(), first.label);
            for (at, subject) in rest.iter().enumerate() {
                if at == 4 {
                    title.push_str(" and more");
                    break;
                }
                let _ = write!(title, ", {}", subject.label);
            }
            title
        }
    }
}

/// What came out, in a sentence; of several runs one each.
pub(super) fn answer(sentences: &[String]) -> String {
    // A value keeps its unit on its line.
    let held = |words: &str| {
        let units = ["µs", "us", "ms", "B", "kB/s", "MB/s", "GB/s", "%"];
        units.iter().fold(words.to_owned(), |words, unit| {
            (0..10).fold(words, |words, digit| {
                words.replace(&format!("{digit} {unit}"), &format!("{digit}\u{a0}{unit}"))
            })
        })
    };
    let sentence = |words: &String| format!("<p class=\"answer\">{}</p>\n", held(&prose(words)));
    sentences.iter().map(sentence).collect()
}

/// What was measured, on what, as `wiregauge show` heads it.
pub(super) fn headings(subjects: &[Subject]) -> String {
    let mut out = String::new();
    for subject in subjects {
        let name = match subjects.len() {
            1 => String::new(),
            _ => format!("<strong>{}</strong>: ", text(&subject.label)),
        };
        let note = subject.tables.note.iter();
        let note = note.map(|line| text(line).into_owned());
        let lines: Vec<_> = subject
            .tables
            .heading
            .iter()
            .map(|line| words(line.trim()))
            .chain(note)
            .collect();
        let started = &subject.run.conditions().started;
        let when = match started.is_empty() {
            true => String::new(),
            false => format!("<br><small>measured {}</small>", text(started)),
        };
        let _ = writeln!(out, "<p>{name}{}{when}</p>", lines.join("<br>"));
    }
    out
}

/// The table of each run with what limits it and what deserves a second look. `is_compared`: what differs between the
/// runs has a section.
pub(super) fn summary(subjects: &[Subject], is_compared: bool) -> String {
    if subjects.is_empty() {
        return "<p>This report has no runs.</p>\n".into();
    }
    let several = subjects.len() > 1;
    let mut out = String::new();
    if several {
        if !is_compared {
            out.push_str(NOT_COMPARED);
        }
        out.push_str(&differing(subjects));
    }
    for subject in subjects {
        if several {
            let _ = writeln!(out, "<h3>{}</h3>", text(&subject.label));
        }
        out.push_str(&one(subject));
        out.push_str(&warnings(subject));
    }
    out
}

fn one(subject: &Subject) -> String {
    let mut out = String::new();
    let unfinished = summary::unfinished(&*subject.run);
    if let Some(unfinished) = &unfinished {
        let _ = writeln!(
            out,
            "<div class=\"notice bad\" role=\"note\"><p>{}</p></div>",
            prose(unfinished)
        );
    }
    let brief = subject.tables.brief.as_ref();
    let table = brief.and_then(|brief| brief.tables(usize::MAX).next());
    match table.filter(|table| !table.rows.is_empty()) {
        Some(table) => out.push_str(&one_table(&table, &[])),
        None if unfinished.is_some() => {}
        None => out.push_str("<p>There are no results to summarise.</p>\n"),
    }
    let items: String = summary::said(subject)
        .iter()
        .map(|line| format!("<li>{}</li>\n", prose(line)))
        .collect();
    if !items.is_empty() {
        let _ = writeln!(out, "<ul class=\"said\">\n{items}</ul>");
    }
    out
}

fn warnings(subject: &Subject) -> String {
    let mut out = String::new();
    // A failed run is reported at the top of its summary.
    let failed = matches!(subject.run.state(), State::Failed { .. });
    if let Some(error) = subject.tables.failed.as_ref().filter(|_| !failed) {
        let _ = writeln!(
            out,
            "<div class=\"notice bad\" role=\"note\"><p><strong>The run failed:</strong>{}</p></div>",
            prose(error)
        );
    }
    for (at, reason) in subject.loaded.missing() {
        let _ = writeln!(
            out,
            "<div class=\"notice bad\" role=\"note\"><p><strong>Not shown:</strong>cannot read the samples of \
             point {}: {}</p></div>",
            at + 1,
            text(reason)
        );
    }
    let notice = |warning: &Warning| {
        let (code, words) = (warning.code, prose(&warning.to_string()));
        format!(
            "<div class=\"notice\" role=\"note\"><p><strong>{code}:</strong>{words}</p></div>\n"
        )
    };
    let all = subject.tables.warnings.iter();
    let (shown, folded): (Vec<&Warning>, Vec<&Warning>) =
        all.partition(|warning| warning.is_printed);
    out.extend(shown.into_iter().map(notice));
    if !folded.is_empty() {
        let mut codes: Vec<&str> = folded.iter().map(|warning| warning.code).collect();
        codes.dedup();
        let notices: String = folded.into_iter().map(notice).collect();
        let _ = writeln!(
            out,
            "<details><summary>Warnings that change no answer: {}</summary>\n{notices}</details>",
            codes.join(", ")
        );
    }
    out
}

/// The conditions that are not the same in all runs, side by side.
fn differing(subjects: &[Subject]) -> String {
    let conditions = differences::of(subjects);
    if conditions.is_empty() {
        return "<p>All stored conditions are the same.</p>\n".into();
    }
    let labels: String = subjects
        .iter()
        .map(|s| format!("<th scope=\"col\">{}</th>", text(&s.label)))
        .collect();
    let rows: String = conditions
        .iter()
        .map(|(name, values)| {
            let cells: String = values
                .iter()
                .map(|v| format!("<td>{}</td>", text(v)))
                .collect();
            format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", text(name))
        })
        .collect();
    let table = format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Conditions that differ\">\
         <table class=\"words\"><caption>Conditions that differ</caption><thead><tr><th \
         scope=\"col\">Condition</th>{labels}</tr></thead><tbody>{rows}</tbody></table></div>\n"
    );
    match conditions.len() <= CONDITIONS_SHOWN {
        true => table,
        false => format!(
            "<details><summary>{} conditions differ</summary>{table}</details>\n",
            conditions.len()
        ),
    }
}

/// `before` figures are on the page already. With the key of a point, all of them are of that point.
pub(super) fn figures(figures: &[Figure], before: usize, point: Option<&str>) -> String {
    let point = point.map_or(String::new(), |key| {
        format!(" data-point=\"{}\"", text(key))
    });
    let mut out = String::new();
    for (at, figure) in figures.iter().enumerate() {
        let number = before + at + 1;
        let name = format!("figure-{number}-{}", id(&figure.name));
        let live = live_form(figure).map_or(String::new(), |(form, kind)| {
            format!(" data-live=\"{form}\" data-kind=\"{kind}\"")
        });
        let _ = writeln!(
            out,
            "<figure id=\"{name}\"{live}{point}>\n<h3 id=\"{name}-title\">Figure {number}: {}</h3>\n\
             <div class=\"drawn\" role=\"group\" aria-labelledby=\"{name}-title\" tabindex=\"0\">{}</div>\n\
             <figcaption>{}</figcaption>\n</figure>",
            words(&figure.title),
            svg(&figure.svg),
            prose(&figure.caption),
        );
    }
    out
}

/// What differs between runs, and how sure that is.
pub(super) fn comparisons(comparisons: &[ComparisonTables]) -> String {
    let mut out = String::new();
    for tables in comparisons {
        let _ = writeln!(out, "<h3>{}</h3>", text(&tables.heading.join("; ")));
        let answer = tables.answer.join(" ");
        let _ = writeln!(out, "<p class=\"lead\">{}</p>", prose(&answer));
        if let Some(caveat) = &tables.caveat {
            let _ = writeln!(out, "<p>{}</p>", prose(caveat));
        }
        for line in &tables.hosts {
            let _ = writeln!(out, "<p>{}</p>", prose(line));
        }
        let important = tables.important.with_last_column_second();
        let _ = writeln!(
            out,
            "<div class=\"scroll pairs{}\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n{}</div>",
            long(&important),
            words(&important.title),
            important.html(&[])
        );
        let all = tables.figures.rows.len();
        if all <= MOST_COMPARED {
            let _ = writeln!(
                out,
                "<details><summary>All {all} compared figures</summary>\n{}</details>",
                rendered(std::slice::from_ref(&tables.figures))
            );
        } else {
            let _ = writeln!(
                out,
                "<p>For all {all} figures: <code>wiregauge compare</code>.</p>"
            );
        }
        for note in &tables.notes {
            let _ = writeln!(out, "<p><small>{}</small></p>", prose(note));
        }
    }
    out
}

pub(super) fn rendered(tables: &[Table]) -> String {
    tables.iter().map(|table| one_table(table, &[])).collect()
}

/// The class of a table of so many rows that it scrolls by itself.
fn long(table: &Table) -> &'static str {
    match table.rows.len() > ROWS_SHOWN {
        true => " long",
        false => "",
    }
}

/// A table that scrolls; its rows can have ids.
fn one_table(table: &Table, rows: &[String]) -> String {
    let long = long(table);
    format!(
        "<div class=\"scroll wide{long}\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n{}</div>\n",
        words(&table.title),
        table.html(rows)
    )
}

pub(super) fn all_tables(subjects: &[Subject]) -> String {
    let mut out = String::new();
    for (number, subject) in subjects.iter().enumerate() {
        if subjects.len() > 1 {
            let _ = writeln!(out, "<h3>{}</h3>", text(&subject.label));
        }
        if let Some((first, others)) = subject.tables.tables.split_first() {
            let rows = (0..first.rows.len()).map(|row| row_id(number, row));
            out.push_str(&one_table(first, &rows.collect::<Vec<_>>()));
            out.push_str(&rendered(others));
        }
        for note in &subject.tables.notes {
            let _ = writeln!(out, "<p>{}</p>", prose(note));
        }
    }
    out
}

pub(super) fn conditions(subjects: &[Subject]) -> String {
    let mut out = String::new();
    for (number, subject) in subjects.iter().enumerate() {
        if subjects.len() > 1 {
            let _ = writeln!(out, "<h3>{}</h3>", text(&subject.label));
        }
        out.push_str("<div class=\"groups\">\n");
        for (group, pairs) in subject
            .tables
            .conditions
            .iter()
            .filter(|(_, pairs)| !pairs.is_empty())
        {
            let rows: String = pairs
                .iter()
                .map(|(name, value)| {
                    format!(
                        "<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n",
                        text(name),
                        text(value)
                    )
                })
                .collect();
            let _ = writeln!(
                out,
                "<div class=\"scroll\"><table class=\"words\"><caption>{}</caption>\n<tbody>{rows}</tbody></table></div>",
                text(group)
            );
        }
        out.push_str("</div>\n");
        if !subject.tables.command.is_empty() {
            let _ = writeln!(
                out,
                "<p>{}</p>\n<div class=\"command\"><pre><code \
                 id=\"command-{number}\">{}</code></pre><button type=\"button\" data-copy=\"command-{number}\" \
                 hidden>Copy</button></div>",
                what_repeats(&subject.run.conditions().command),
                unbroken_words(&subject.tables.command)
            );
        }
    }
    out
}

/// A command of which a line is broken between words only, never behind a hyphen.
pub(super) fn unbroken_words(command: &str) -> String {
    let words = command.split(' ');
    let words: Vec<String> = words
        .map(|word| format!("<span>{}</span>", text(word)))
        .collect();
    words.join(" ")
}

/// What the command of a run does if it is used again.
fn what_repeats(command: &[String]) -> &'static str {
    match command.get(1).map(String::as_str) {
        Some("tune") => "Command to repeat the whole search that ended with this run:",
        _ => "Command to repeat this run:",
    }
}

pub(super) fn footer(subjects: &[Subject], uplot: Option<&Uplot>, note: &str) -> String {
    let mut measured: Vec<&str> = subjects
        .iter()
        .map(|s| &s.run.conditions().version[..])
        .filter(|version| !version.is_empty())
        .collect();
    measured.dedup();
    let measured = match &measured[..] {
        [] => String::new(),
        versions => format!(" Measured with wiregauge {}.", text(&versions.join(", "))),
    };
    let mut out = format!(
        "<footer>\n<hr>\n<p><small>Page made by wiregauge {}.{measured} This file works offline.</small></p>\n",
        env!("CARGO_PKG_VERSION")
    );
    if !note.is_empty() {
        let _ = writeln!(out, "<p><small>{note}</small></p>");
    }
    if let Some(uplot) = uplot {
        let _ = writeln!(
            out,
            "<details><summary><small>Licence of uPlot 1.6.32, included in this \
             file</small></summary><pre>{}</pre></details>",
            text(uplot.licence)
        );
    }
    out.push_str("</footer>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_of_a_search_is_not_called_that_of_the_run_that_confirms_its_setting() {
        let of = |command: &str| what_repeats(&[String::from("wiregauge"), command.into()]);
        assert_eq!(of("exchange"), "Command to repeat this run:");
        assert!(of("tune").contains("the whole search"), "{}", of("tune"));
    }
}
