//! The parts of the page between its frame: headings, summary, figures, tables, conditions.

use super::escape::{id, prose, svg, text, words};
use super::live::live_form;
use super::parts::{folded, lead, list, notes, notice, of_each, scrolled, tables, words_table};
use super::uplot::Uplot;
use super::{differences, summary};
use crate::Subject;
use crate::figures::Figure;
use crate::tables::{ComparisonTables, Warning};
use std::fmt::Write;
use wiregauge_run::State;

/// Runs that the title names.
const TITLED: usize = 5;

/// More of them would be a page of its own: they are folded behind the first.
const CONDITIONS_SHOWN: usize = 12;

/// A comparison of more figures than this is not a table for the eye.
const MOST_COMPARED: usize = 300;

/// Of several runs without a section on what differs between them.
const NOT_COMPARED: &str = "<p>These runs are not compared: they are of different kinds or of loops, or have no point \
                            in common (same sizes, same depth or queue).</p>\n";

pub(super) fn title(subjects: &[Subject]) -> String {
    match subjects {
        [] => "No run".into(),
        [one] => {
            let run = &one.run;
            format!("{} with {}", run.title(), run.links())
        }
        several => {
            let labels = several.iter().take(TITLED);
            let labels: Vec<&str> = labels.map(|one| one.label.as_str()).collect();
            let more = match several.len() > TITLED {
                true => " and more",
                false => "",
            };
            format!("{} runs: {}{more}", several.len(), labels.join(", "))
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
    let heading = |subject: &Subject| {
        let name = match subjects.len() {
            1 => String::new(),
            _ => format!("<strong>{}</strong>: ", text(&subject.label)),
        };
        let lines = subject.tables.heading.iter();
        let lines = lines.map(|line| words(line.trim()));
        let note = subject.tables.note.iter();
        let note = note.map(|line| text(line).into_owned());
        let lines: Vec<String> = lines.chain(note).collect();
        let when = match subject.run.conditions().started.as_str() {
            "" => String::new(),
            started => format!("<br><small>measured {}</small>", text(started)),
        };
        format!("<p>{name}{}{when}</p>\n", lines.join("<br>"))
    };
    subjects.iter().map(heading).collect()
}

/// The table of each run with what limits it and what deserves a second look.
pub(super) fn summary(subjects: &[Subject], comparisons: &[ComparisonTables]) -> String {
    let before = match (subjects.len(), comparisons.is_empty()) {
        (0, _) => return "<p>This report has no runs.</p>\n".into(),
        (1, _) => String::new(),
        (_, false) => differing(subjects),
        (_, true) => NOT_COMPARED.to_owned() + &differing(subjects),
    };
    before + &of_each(subjects, |subject| one(subject) + &warnings(subject))
}

fn one(subject: &Subject) -> String {
    let unfinished = summary::unfinished(&*subject.run);
    let is_unfinished = unfinished.is_some();
    let unfinished = unfinished.map(|words| notice("notice bad", &prose(&words)));
    let brief = subject.tables.brief.as_ref();
    let table = brief.and_then(|brief| brief.tables(usize::MAX).next());
    let table = match table.filter(|table| !table.rows.is_empty()) {
        Some(table) => tables(&[table]),
        None if is_unfinished => String::new(),
        None => "<p>There are no results to summarise.</p>\n".into(),
    };
    let said = summary::said(subject);
    unfinished.unwrap_or_default() + &table + &list(said.iter())
}

fn warnings(subject: &Subject) -> String {
    let named = |class: &str, name: &str, markup: &str| {
        notice(class, &format!("<strong>{name}:</strong>{markup}"))
    };
    let mut out = String::new();
    // A failed run is reported at the top of its summary.
    let failed = matches!(subject.run.state(), State::Failed { .. });
    if let Some(error) = subject.tables.failed.as_ref().filter(|_| !failed) {
        out += &named("notice bad", "The run failed", &prose(error));
    }
    for (at, reason) in subject.loaded.missing() {
        let why = format!(
            "cannot read the samples of point {}: {}",
            at + 1,
            text(reason)
        );
        out += &named("notice bad", "Not shown", &why);
    }
    let warning = |one: &Warning| named("notice", one.code, &prose(&one.to_string()));
    let all = subject.tables.warnings.iter();
    let (shown, hidden): (Vec<&Warning>, Vec<&Warning>) =
        all.partition(|warning| warning.is_printed);
    out.extend(shown.into_iter().map(warning));
    if !hidden.is_empty() {
        let mut codes: Vec<&str> = hidden.iter().map(|warning| warning.code).collect();
        codes.dedup();
        let title = format!("Warnings that change no answer: {}", codes.join(", "));
        out += &folded(&title, &hidden.into_iter().map(warning).collect::<String>());
    }
    out
}

/// The conditions that are not the same in all runs, side by side.
fn differing(subjects: &[Subject]) -> String {
    let conditions = differences::of(subjects);
    let labels = subjects.iter().map(|subject| subject.label.as_str());
    let heads: Vec<&str> = std::iter::once("Condition").chain(labels).collect();
    let rows = conditions.iter();
    let rows = rows.map(|(name, values)| (name.as_str(), values.as_slice()));
    let table = words_table("Conditions that differ", &heads, rows);
    match conditions.len() {
        0 => "<p>All stored conditions are the same.</p>\n".into(),
        1..=CONDITIONS_SHOWN => table,
        many => folded(&format!("{many} conditions differ"), &table),
    }
}

/// `before` figures are on the page already.
pub(super) fn figures(figures: &[Figure], before: usize) -> String {
    let mut out = String::new();
    for (at, figure) in figures.iter().enumerate() {
        let number = before + at + 1;
        let name = format!("figure-{number}-{}", id(&figure.name));
        let live = live_form(figure).map_or(String::new(), |(form, kind)| {
            format!(" data-live=\"{form}\" data-kind=\"{kind}\"")
        });
        let _ = writeln!(
            out,
            "<figure id=\"{name}\"{live}>\n<h3 id=\"{name}-title\">Figure {number}: {}</h3>\n\
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
    comparisons.iter().map(comparison).collect()
}

fn comparison(compared: &ComparisonTables) -> String {
    let caveat = compared.caveat.as_ref();
    let caveat = caveat.map(|words| format!("<p>{}</p>\n", prose(words)));
    let hosts = compared.hosts.iter();
    let hosts = hosts.map(|line| format!("<p>{}</p>\n", prose(line)));
    let important = compared.important.with_last_column_second();
    let all = compared.figures.rows.len();
    let figures = match all <= MOST_COMPARED {
        true => folded(
            &format!("All {all} compared figures"),
            &tables(std::slice::from_ref(&compared.figures)),
        ),
        false => format!("<p>For all {all} figures: <code>wiregauge compare</code>.</p>\n"),
    };
    [
        format!("<h3>{}</h3>\n", text(&compared.heading.join("; "))),
        lead(&compared.answer.join(" ")),
        caveat.unwrap_or_default(),
        hosts.collect(),
        scrolled(&important, "pairs"),
        figures,
        notes(&compared.notes),
    ]
    .concat()
}

pub(super) fn all_tables(subjects: &[Subject]) -> String {
    of_each(subjects, |subject| {
        let notes = subject.tables.notes.iter();
        let notes = notes.map(|note| format!("<p>{}</p>\n", prose(note)));
        tables(&subject.tables.tables) + &notes.collect::<String>()
    })
}

pub(super) fn conditions(subjects: &[Subject]) -> String {
    let mut number = 0;
    of_each(subjects, |subject| {
        let groups = subject.tables.conditions.iter();
        let groups = groups.filter(|(_, pairs)| !pairs.is_empty());
        let groups = groups.map(|(group, pairs)| {
            let rows = pairs.iter();
            let rows = rows.map(|(name, value)| (name.as_str(), std::slice::from_ref(value)));
            words_table(group, &[], rows)
        });
        let groups: String = groups.collect();
        let mut out = format!("<div class=\"groups\">\n{groups}</div>\n");
        if !subject.tables.command.is_empty() {
            number += 1;
            let _ = writeln!(
                out,
                "<p>{}</p>\n<div class=\"command\"><pre><code \
                 id=\"command-{number}\">{}</code></pre><button type=\"button\" data-copy=\"command-{number}\" \
                 hidden>Copy</button></div>",
                what_repeats(&subject.run.conditions().command),
                unbroken_words(&subject.tables.command)
            );
        }
        out
    })
}

/// A command of which a line is broken between words only, never behind a hyphen.
fn unbroken_words(command: &str) -> String {
    let words = command.split(' ');
    let words = words.map(|word| format!("<span>{}</span>", text(word)));
    words.collect::<Vec<_>>().join(" ")
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
        let title = "<small>Licence of uPlot 1.6.32, included in this file</small>";
        out += &folded(title, &format!("<pre>{}</pre>", text(uplot.licence)));
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
