//! What the sections of a page are made of: a part for each run, tables, lists, notes, notices, what is folded.

use super::escape::{prose, text, words};
use crate::Subject;
use crate::tables::Table;

/// A table of more rows scrolls by itself.
const ROWS_SHOWN: usize = 60;

/// What is said of each run, below its label if there are several; nothing of those of which nothing is said.
pub(super) fn of_each(subjects: &[Subject], mut one: impl FnMut(&Subject) -> String) -> String {
    let parts = subjects.iter().map(|subject| match one(subject) {
        said if said.is_empty() || subjects.len() == 1 => said,
        said => format!("<h3>{}</h3>\n{said}", text(&subject.label)),
    });
    parts.collect()
}

/// The first sentence of a section.
pub(super) fn lead(sentence: &str) -> String {
    format!("<p class=\"lead\">{}</p>\n", prose(sentence))
}

/// A list of sentences; empty without any.
pub(super) fn list<'a>(lines: impl Iterator<Item = &'a String>) -> String {
    let items: String = lines
        .map(|line| format!("<li>{}</li>\n", prose(line)))
        .collect();
    match items.is_empty() {
        true => items,
        false => format!("<ul class=\"said\">\n{items}</ul>\n"),
    }
}

/// Notes below tables, in small letters.
pub(super) fn notes(notes: &[String]) -> String {
    let small = |note: &String| format!("<p><small>{}</small></p>\n", prose(note));
    notes.iter().map(small).collect()
}

/// What deserves a second look; `markup` begins with its name.
pub(super) fn notice(class: &str, markup: &str) -> String {
    format!("<div class=\"{class}\" role=\"note\"><p>{markup}</p></div>\n")
}

/// What is seen when its title is pressed; both are markup.
pub(super) fn folded(title: &str, markup: &str) -> String {
    format!("<details><summary>{title}</summary>\n{markup}</details>\n")
}

/// Tables, each of which scrolls.
pub(super) fn tables(tables: &[Table]) -> String {
    tables.iter().map(|table| scrolled(table, "wide")).collect()
}

/// A table that scrolls, of this class.
pub(super) fn scrolled(table: &Table, class: &str) -> String {
    let long = match table.rows.len() > ROWS_SHOWN {
        true => " long",
        false => "",
    };
    format!(
        "<div class=\"scroll {class}{long}\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n{}</div>\n",
        words(&table.title),
        table.html()
    )
}

/// A table of names and the words of others, with these heads if there are any.
pub(super) fn words_table<'a>(
    title: &str,
    heads: &[&str],
    rows: impl Iterator<Item = (&'a str, &'a [String])>,
) -> String {
    let head = |head: &&str| format!("<th scope=\"col\">{}</th>", text(head));
    let heads: String = heads.iter().map(head).collect();
    let heads = match heads.is_empty() {
        true => heads,
        false => format!("<thead><tr>{heads}</tr></thead>\n"),
    };
    let rows: String = rows
        .map(|(name, values)| {
            let cell = |value: &String| format!("<td>{}</td>", text(value));
            let cells: String = values.iter().map(cell).collect();
            format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", text(name))
        })
        .collect();
    let title = text(title);
    format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{title}\"><table \
         class=\"words\"><caption>{title}</caption>\n{heads}<tbody>{rows}</tbody></table></div>\n"
    )
}
