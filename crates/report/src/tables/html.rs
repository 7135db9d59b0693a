//! A table as HTML, for pages.

use super::Table;
use crate::page::escape::{text, words};

/// How the heads of columns begin that have several values in a cell.
const LIST: &str = "peaks:";

impl Table {
    /// A `<table>` with its title as caption. Cells are right-aligned by the class `numbers`, lists left-aligned.
    pub fn html(&self) -> String {
        // Of cells that are markup.
        let cells = |open: &str, close: &str, cells: &[String]| -> String {
            let cells = cells.iter().zip(&self.columns).map(|(cell, head)| {
                let class = match head.starts_with(LIST) {
                    true => " class=\"list\"",
                    false => "",
                };
                format!("<{open}{class}>{cell}{close}")
            });
            cells.collect()
        };
        let heads: Vec<String> = self.columns.iter().map(|head| words(head)).collect();
        let heads = cells("th scope=\"col\"", "</th>", &heads);
        let rows = self.written(words, |cell| text(cell).into_owned());
        let rows: String = rows
            .iter()
            .map(|row| format!("<tr>{}</tr>\n", cells("td", "</td>", row)))
            .collect();
        let notes = self.notes.iter().map(String::as_str);
        let notes: String = notes
            .chain(self.footnotes())
            .map(|note| format!("<p><small>{}</small></p>\n", words(note)))
            .collect();
        format!(
            "<table class=\"numbers\"><caption>{}</caption>\n<thead><tr>{heads}</tr></thead>\n\
             <tbody>\n{rows}</tbody></table>\n{notes}",
            words(&self.title)
        )
    }
}
