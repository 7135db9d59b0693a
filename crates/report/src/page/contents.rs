//! The contents of a page: by the question that a part answers, and by point.

use super::escape::{id, text, words};
use super::names::places;
use crate::Subject;
use crate::figures::Figure;
use std::fmt::Write;

/// More points than this are folded.
const POINTS_SHOWN: usize = 16;

/// Questions, and the beginnings of the names of the figures that answer them.
const QUESTIONS: [(&str, &[&str]); 11] = [
    (
        "How long does an exchange take?",
        &["rtt-series", "rtt-histogram", "rtt-percentiles"],
    ),
    ("How many cycles miss their deadline?", &["deadline"]),
    (
        "How many exchanges per second?",
        &["trt-series", "trt-histogram", "rtt-trt-depth"],
    ),
    (
        "What is the effect of size?",
        &["rtt-size", "trt-size", "throughput-size"],
    ),
    ("What is the throughput?", &["rate-"]),
    ("How large must a buffer be?", &["gap-", "buffer-"]),
    ("Where does the time go?", &["connect-"]),
    (
        "How low can the latency be without stalls?",
        &["stalls-", "service-"],
    ),
    ("What do output and command do?", &["signals-"]),
    (
        "What is the effect of the delay on the loop?",
        &["control-"],
    ),
    ("What differs?", &["compare"]),
];

/// Sections, and the questions that they answer.
const SECTIONS: [(&str, &str); 5] = [
    ("What differs?", "comparison"),
    ("What is the effect of the delay on the loop?", "control"),
    ("How many cycles miss their deadline?", "deadline"),
    ("What are all the values?", "tables"),
    ("What were the conditions?", "conditions"),
];

/// The contents. `sections` are the ids of those that the page has, with their names; `figures` follow
/// `before` other figures.
pub(super) fn of(
    subjects: &[Subject],
    sections: &[(&str, &str)],
    figures: &[Figure],
    before: usize,
) -> String {
    let mut out = String::from("<nav class=\"contents\" aria-label=\"Contents\">\n<ul>\n");
    let answered = QUESTIONS.iter().map(|(question, names)| {
        let numbered = figures.iter().zip(before + 1..);
        let links: Vec<String> = numbered
            .filter(|(figure, _)| names.iter().any(|name| figure.name.starts_with(name)))
            .map(|(figure, number)| {
                let name = format!("figure-{number}-{}", id(&figure.name));
                format!("<a href=\"#{name}\">{}</a>", words(&figure.title))
            })
            .collect();
        (*question, links)
    });
    let mut questions: Vec<(&str, Vec<String>)> = answered.collect();
    for (question, section) in SECTIONS {
        let Some((id, name)) = sections.iter().find(|(id, _)| *id == section) else {
            continue;
        };
        let link = format!("<a href=\"#{id}\">{name}</a>");
        match questions.iter_mut().find(|(known, _)| *known == question) {
            Some((_, links)) => links.insert(0, link),
            None => questions.push((question, vec![link])),
        }
    }
    for (question, links) in questions.iter().filter(|(_, links)| !links.is_empty()) {
        let _ = writeln!(out, "<li>{question} {}</li>", links.join(", "));
    }
    out.push_str("</ul>\n");
    out.push_str(&points(subjects));
    out.push_str("</nav>\n");
    out
}

/// Every point with a link to its row in the first table; the script adds what shows and hides it.
fn points(subjects: &[Subject]) -> String {
    let mut items: Vec<String> = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    let mut settings: Vec<String> = Vec::new();
    for (subject, one) in subjects.iter().enumerate() {
        let places = places(one);
        let has_rows = rows(one) == places.len();
        for (row, named) in places.into_iter().enumerate() {
            if !settings.contains(&named.setting) {
                settings.push(named.setting);
            }
            if seen.contains(&named.key) {
                continue;
            }
            let name = text(&named.name.whole()).into_owned();
            let name = match has_rows {
                true => format!("<a href=\"#{}\">{name}</a>", row_id(subject, row)),
                false => name,
            };
            items.push(format!(
                "<li data-key=\"{}\">{name}</li>\n",
                text(&named.key)
            ));
            seen.push(named.key);
        }
    }
    if items.len() < 2 {
        return String::new();
    }
    let is_open = items.len() <= POINTS_SHOWN;
    let open = if is_open { " open" } else { "" };
    format!(
        "<details class=\"points\" id=\"points\"{open}><summary>{}</summary>\n<ul>\n{}</ul></details>\n",
        counted(items.len(), settings.len()),
        items.concat()
    )
}

/// How many are listed, and of how many points of the plan.
fn counted(listed: usize, points: usize) -> String {
    match listed == points {
        true => format!("{listed} points"),
        false => format!("{points} points, {listed} with each direction of both by itself"),
    }
}

/// Rows of the first table of a run.
fn rows(subject: &Subject) -> usize {
    let first = subject.tables.tables.first();
    first.map_or(0, |table| table.rows.len())
}

/// The id of a row of the first table of a run.
pub(super) fn row_id(subject: usize, row: usize) -> String {
    format!("point-{subject}-{row}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_counted_as_in_the_summary_and_the_list_says_why_it_is_longer() {
        assert_eq!(counted(12, 12), "12 points");
        let words = "12 points, 16 with each direction of both by itself";
        assert_eq!(counted(16, 12), words);
    }
}
