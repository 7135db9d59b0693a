//! The contents of a page, by the question that a part answers.

use super::escape::{id, words};
use crate::figures::Figure;
use std::fmt::Write;

/// Questions, and the beginnings of the names of the figures that answer them.
const QUESTIONS: [(&str, &[&str]); 9] = [
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
    (
        "How low can the latency be without stalls?",
        &["stalls-", "service-"],
    ),
    ("What do output and command do?", &["signals-"]),
    (
        "What is the effect of the delay on the loop?",
        &["control-"],
    ),
];

/// A section of the page.
pub(super) struct Section {
    id: &'static str,
    title: &'static str,
    question: &'static str,
    content: String,
}

impl Section {
    /// Its id, its title, the question that it answers (without one it is not in the contents), and its content.
    pub(super) fn new(
        (id, title, question, content): (&'static str, &'static str, &'static str, String),
    ) -> Section {
        Section {
            id,
            title,
            question,
            content,
        }
    }

    /// Without content it is left out.
    pub(super) fn is_shown(&self) -> bool {
        !self.content.is_empty()
    }

    pub(super) fn link(&self) -> String {
        format!("<a href=\"#{}\">{}</a>", self.id, self.title)
    }

    pub(super) fn markup(&self) -> String {
        let Section {
            id, title, content, ..
        } = self;
        format!("<section id=\"{id}\">\n<h2>{title}</h2>\n{content}</section>\n")
    }
}

/// The contents; `figures` follow `before` other figures.
pub(super) fn of(sections: &[Section], figures: &[Figure], before: usize) -> String {
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
    for section in sections {
        match questions
            .iter_mut()
            .find(|(known, _)| *known == section.question)
        {
            Some((_, links)) => links.insert(0, section.link()),
            None if section.question.is_empty() => {}
            None => questions.push((section.question, vec![section.link()])),
        }
    }
    for (question, links) in questions.iter().filter(|(_, links)| !links.is_empty()) {
        let _ = writeln!(out, "<li>{question} {}</li>", links.join(", "));
    }
    out.push_str("</ul>\n</nav>\n");
    out
}
