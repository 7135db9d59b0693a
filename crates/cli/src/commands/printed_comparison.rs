//! A comparison on the terminal or as Markdown.

use super::printed::{self, wrapped};
use crate::args::{CompareArgs, TableFormat};
use crate::caller::Session;
use crate::output::style::{CAUTION, HEADING, RESET};
use std::io::Write;
use wiregauge_compare::Comparison;
use wiregauge_report::tables::{ComparisonTables, Table, of_comparison};

/// Columns of words, which read better from the left.
const WORDS: &[&str] = &["figure", "verdict"];

/// Prints it to standard output; with every figure if that is asked for or figures were chosen.
pub fn print(
    comparison: &Comparison,
    args: &CompareArgs,
    session: &Session<'_>,
) -> anyhow::Result<()> {
    let printed = of_comparison(comparison);
    let mut out = session.caller.words();
    match args.format {
        TableFormat::Text => text(&mut out, &printed, args, session.caller.width())?,
        TableFormat::Md => out.write_all(printed.markdown().as_bytes())?,
    }
    Ok(out.flush()?)
}

fn text(
    out: &mut impl Write,
    printed: &ComparisonTables,
    args: &CompareArgs,
    width: usize,
) -> std::io::Result<()> {
    for line in &printed.heading {
        writeln!(out, "{}", wrapped(line, width, "  "))?;
    }
    writeln!(out)?;
    for line in &printed.answer {
        writeln!(out, "{HEADING}{}{RESET}", wrapped(line, width, "  "))?;
    }
    if let Some(caveat) = &printed.caveat {
        writeln!(out, "{CAUTION}{}{RESET}", wrapped(caveat, width, "  "))?;
    }
    for sentence in &printed.hosts {
        writeln!(out, "{}", wrapped(sentence, width, "  "))?;
    }
    let table = match args.full || !args.only.is_empty() {
        true => &printed.figures,
        false => &printed.important,
    };
    if !table.rows.is_empty() {
        printed::table(out, &readable(table), width)?;
    }
    if let Some(changed) = &printed.changed {
        writeln!(out, "\n{HEADING}{}{RESET}", changed.title)?;
        for row in &changed.rows {
            let line = format!("{}: {} -> {}", row[0], row[1], row[2]);
            writeln!(out, "  {}", wrapped(&line, width - 2, "    "))?;
        }
    }
    if !printed.notes.is_empty() {
        writeln!(out)?;
    }
    for note in &printed.notes {
        let note = wrapped(&format!("note: {note}"), width, "  ");
        let words = note.strip_prefix("note:").unwrap_or(&note);
        writeln!(out, "{CAUTION}note:{RESET}{words}")?;
    }
    if table.rows.len() < printed.figures.rows.len() {
        writeln!(out, "\nall values: --full")?;
    }
    Ok(())
}

/// The point stands in a line above its figures, and words begin at the left.
fn readable(table: &Table) -> Table {
    let points: Vec<String> = table.rows.iter().map(|row| row[0].clone()).collect();
    let mut table = table.labelled(1, &points);
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
