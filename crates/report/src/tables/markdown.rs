//! A run as Markdown, to be pasted into an issue: GitHub's dialect, readable as plain text too.

use super::{Table, Tables};
use std::fmt::Write;
use wiregauge_run::Stored;

impl Table {
    /// The table in GitHub's Markdown, all columns right-aligned, without its title, and what its marks mean.
    pub fn markdown(&self) -> String {
        let notes = self.footnotes();
        let notes: String = notes
            .iter()
            .map(|note| format!("\n{}\n", line_of(note)))
            .collect();
        grid(&self.columns, &self.written(escape, quoted), "-:") + &notes
    }
}

/// Everything that there is to tell of a run.
pub(super) fn document(stored: &dyn Stored, tables: &Tables) -> String {
    let title = format!("wiregauge {}: {}", stored.kind(), stored.links());
    let mut out = format!("## {}\n\n", escape(&title));
    if let Some(ending) = &tables.ending {
        let _ = writeln!(out, "**{}**\n", line_of(ending));
    }
    for line in &tables.heading {
        let _ = writeln!(out, "{}\n", line_of(line));
    }
    for line in &tables.note {
        let _ = writeln!(out, "{}\n", begun(quoted(line)));
    }
    if stored.points() == 0 {
        out += "No point was finished.\n\n";
    }
    for table in tables.tables.iter().filter(|table| !table.rows.is_empty()) {
        let _ = writeln!(out, "### {}\n\n{}", escape(&table.title), table.markdown());
    }
    for note in &tables.notes {
        let _ = writeln!(out, "{}\n", line_of(note));
    }
    if !tables.warnings.is_empty() {
        let warnings = tables.warnings.iter();
        let warnings: Vec<String> = warnings.map(|w| format!("{}: {w}", w.code)).collect();
        let _ = writeln!(out, "### Warnings\n\n{}", list(&warnings));
    }
    if !tables.conditions.is_empty() {
        out += "### Conditions\n\n";
    }
    for (title, values) in &tables.conditions {
        let rows: Vec<Vec<String>> = values
            .iter()
            .map(|(name, value)| vec![quoted(name), quoted(value)])
            .collect();
        let columns = [title.clone(), String::new()];
        let _ = writeln!(out, "{}", grid(&columns, &rows, ":-"));
    }
    let _ = write!(out, "### Measured with\n\n{}", code(&tables.command));
    out
}

/// Cells of Markdown under their heads; `rule` is `-:` for right-aligned columns, `:-` for left-aligned ones.
fn grid(columns: &[String], rows: &[Vec<String>], rule: &str) -> String {
    let heads: Vec<String> = columns.iter().map(|name| escape(name)).collect();
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        let widths = cells.chain(&heads[at..=at]).map(|c| c.chars().count());
        widths.max().unwrap_or(0).max(rule.len())
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let line = |cells: &[String]| {
        let cells = cells.iter().zip(&widths).map(|(cell, &width)| {
            if rule.starts_with(':') {
                format!(" {cell:<width$} |")
            } else {
                format!(" {cell:>width$} |")
            }
        });
        format!("|{}\n", cells.collect::<String>())
    };
    let dashes = |&width: &usize| rule.replace('-', &"-".repeat(width - 1));
    let rules: Vec<String> = widths.iter().map(dashes).collect();
    let mut out = line(&heads) + &line(&rules);
    for row in rows {
        out += &line(row);
    }
    out
}

fn list(items: &[String]) -> String {
    items
        .iter()
        .map(|item| format!("- {}\n", line_of(item)))
        .collect()
}

/// Words of this program that begin a line.
pub(super) fn line_of(text: &str) -> String {
    begun(escape(text))
}

/// Markdown that begins a line: no list, no quotation, no rule begins with it.
fn begun(text: String) -> String {
    let marks = text.starts_with(['-', '+', '=']);
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    if marks {
        format!("\\{text}")
    } else if digits.len() < text.len() && digits.starts_with(['.', ')']) {
        let number = &text[..text.len() - digits.len()];
        format!("{number}\\{digits}")
    } else {
        text
    }
}

/// A block of code whose fence cannot be ended by what is in it.
fn code(text: &str) -> String {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}sh\n{text}\n{fence}\n")
}

/// Words of this program that Markdown takes as they stand, on one line, with proper signs.
pub(super) fn escape(text: &str) -> String {
    quoted(&crate::signs::proper(text))
}

/// Words of a user or a device that Markdown takes as they stand, on one line.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut before = ' ';
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            c if c.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            // An entity: a backslash before it stops no HTML in some dialects.
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            '\\' | '`' | '*' | '[' | ']' | '|' | '~' | '$' | '#' | '!' => out.extend(['\\', c]),
            // Between letters it marks nothing up.
            '_' if !before.is_alphanumeric() => out += "\\_",
            c => out.push(c),
        }
        before = c;
    }
    out
}
