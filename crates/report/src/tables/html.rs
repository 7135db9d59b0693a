//! A table as HTML, for pages.

use super::Table;
use crate::page::escape::{text, words};

impl Table {
    /// A `<table>` with its title as caption. Cells are right-aligned by the class `numbers`.
    pub fn html(&self) -> String {
        // Of cells that are markup.
        let cells = |open: &str, close: &str, cells: &[String]| -> String {
            let cells = cells.iter();
            cells.map(|cell| format!("<{open}>{cell}{close}")).collect()
        };
        let heads: Vec<String> = self.columns.iter().map(|head| words(head)).collect();
        let heads = cells("th scope=\"col\"", "</th>", &heads);
        let rows = self.written(words, |cell| text(cell).into_owned());
        let rows: String = rows
            .iter()
            .map(|row| format!("<tr>{}</tr>\n", cells("td", "</td>", row)))
            .collect();
        let below = self.below().into_iter();
        let below: String = below
            .map(|note| format!("<p><small>{}</small></p>\n", words(note)))
            .collect();
        format!(
            "<table class=\"numbers\"><caption>{}</caption>\n<thead><tr>{heads}</tr></thead>\n\
             <tbody>\n{rows}</tbody></table>\n{below}",
            words(&self.title)
        )
    }
}
