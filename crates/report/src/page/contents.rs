//! The contents of a page, by the question that a part answers.

use super::escape::{id, words};
use crate::figures::Figure;
use std::fmt::Write;

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
pub(super) fn of(sections: &[(&str, &str)], figures: &[Figure], before: usize) -> String {
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
    out.push_str("</ul>\n</nav>\n");
    out
}
