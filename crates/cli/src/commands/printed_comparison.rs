//! A comparison on the terminal or as Markdown.

use crate::args::TableFormat;
use crate::caller::Session;
use crate::output::style::{CAUTION, HEADING, RESET};
use std::io::Write;
use wiregauge_compare::Comparison;
use wiregauge_report::tables::{ComparisonTables, Table, of_comparison};

/// Columns of words, which read better from the left.
const WORDS: &[&str] = &["point", "figure", "verdict", "what"];

/// Prints it to standard output.
pub fn print(
    comparison: &Comparison,
    format: TableFormat,
    session: &Session<'_>,
) -> anyhow::Result<()> {
    let printed = of_comparison(comparison);
    let mut out = session.caller.words();
    match format {
        TableFormat::Text => text(&mut out, printed)?,
        TableFormat::Md => out.write_all(printed.markdown().as_bytes())?,
    }
    Ok(out.flush()?)
}

fn text(out: &mut impl Write, printed: ComparisonTables) -> std::io::Result<()> {
    for line in &printed.heading {
        writeln!(out, "{line}")?;
    }
    writeln!(out)?;
    for (at, line) in printed.words.iter().enumerate() {
        match at {
            0 => writeln!(out, "{HEADING}{line}{RESET}")?,
            _ => writeln!(out, "  {line}")?,
        }
    }
    for table in printed.changed.into_iter().chain([printed.figures]) {
        writeln!(out, "\n{HEADING}{}{RESET}", table.title)?;
        write!(out, "{}", readable(table).text())?;
    }
    if !printed.notes.is_empty() {
        writeln!(out)?;
    }
    for note in &printed.notes {
        writeln!(out, "{CAUTION}note:{RESET} {note}")?;
    }
    Ok(())
}

/// The point stands once above its figures, and words begin at the left.
fn readable(mut table: Table) -> Table {
    if table.columns.first().is_some_and(|name| name == "point") {
        let mut last = String::new();
        for row in &mut table.rows {
            match row[0] == last {
                true => row[0].clear(),
                false => last.clone_from(&row[0]),
            }
        }
    }
    for at in 0..table.columns.len() {
        if !WORDS.contains(&table.columns[at].as_str()) {
            continue;
        }
        let cells = table.rows.iter().map(|row| row[at].chars().count());
        let width = cells
            .chain([table.columns[at].chars().count()])
            .max()
            .unwrap_or(0);
        for cell in table
            .rows
            .iter_mut()
            .map(|row| &mut row[at])
            .chain([&mut table.columns[at]])
        {
            *cell = format!("{cell:width$}");
        }
    }
    table
}
