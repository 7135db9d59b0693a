//! A run as it is printed: for machines as JSON, for people as one table and one sentence, or as all
//! tables.

use crate::args::Look;
use crate::caller::Session;
use crate::output::style::{CAUTION, HEADING, RESET};
use std::io::{self, Write};
use wiregauge_report::Reported;
use wiregauge_report::tables::{self, Table, Tables, Warning};
use wiregauge_run::Run;

/// Prints a run to standard output, after what became of its limits.
pub fn run<K: Reported>(
    run: &Run<K>,
    verdict: Option<String>,
    look: Look,
    session: &Session<'_>,
) -> anyhow::Result<()> {
    if look.json {
        let mut out = session.caller.words();
        // The kind is kept, so that `| head` is known as such.
        serde_json::to_writer_pretty(&mut out, &run.file).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(out.flush()?);
    }
    let mut tables = K::tables(run, look.confidence);
    if K::is_unanswered(&run.file) && !look.full {
        tables = tables.without_figures();
    }
    tables.verdict = verdict;
    tables.ending = run.ending_line().filter(|_| !look.error_follows);
    people(&tables, look.quiet, look.full, session)
}

/// Prints figures that are no stored run to standard output, for machines.
pub fn json_value(value: &serde_json::Value, session: &Session<'_>) -> anyhow::Result<()> {
    json(&mut session.caller.words(), value)
}

/// Prints a value for machines.
pub fn json(out: &mut dyn Write, value: &serde_json::Value) -> anyhow::Result<()> {
    // The kind is kept, so that `| head` is known as such.
    serde_json::to_writer_pretty(&mut *out, value).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

/// Prints what was computed from a run to standard output: `full`, or its one table and sentence.
pub fn computed(tables: &Tables, full: bool, session: &Session<'_>) -> anyhow::Result<()> {
    people(tables, false, full, session)
}

fn people(tables: &Tables, quiet: bool, full: bool, session: &Session<'_>) -> anyhow::Result<()> {
    let mut out = session.caller.words();
    let extent = Extent {
        quiet,
        full,
        width: session.caller.width(),
        table_width: session.caller.table_width(),
    };
    text(&mut out, tables, extent)?;
    Ok(out.flush()?)
}

/// How much of a run is printed for people.
#[derive(Clone, Copy)]
pub struct Extent {
    /// Tables only.
    pub quiet: bool,
    /// All tables, and warnings with consequence and remedy.
    pub full: bool,
    /// Columns for sentences.
    pub width: usize,
    /// Columns for tables.
    pub table_width: usize,
}

/// Prints what there is to tell of a run for people.
pub fn text(out: &mut impl Write, printed: &Tables, extent: Extent) -> io::Result<()> {
    let brief = printed.brief.as_ref().filter(|_| !extent.full);
    if let Some(ending) = &printed.ending {
        let line = wrapped(ending, extent.width, "  ");
        writeln!(out, "{CAUTION}{line}{RESET}")?;
    }
    if !extent.quiet {
        heading(out, printed, extent.width)?;
    }
    let answer = brief.map(|brief| &brief.answer);
    let answer: Vec<&str> = printed
        .verdict
        .iter()
        .chain(answer)
        .map(String::as_str)
        .collect();
    if !extent.quiet && !answer.is_empty() {
        let answer = wrapped(&answer.join(" "), extent.width, "  ");
        writeln!(out, "\n{HEADING}{answer}{RESET}")?;
    }
    match brief {
        Some(brief) => {
            for one in brief.tables(extent.table_width) {
                table(out, &one, extent.width)?;
            }
        }
        None => all(out, printed, extent)?,
    }
    let is_shown = |warning: &&Warning| extent.full || brief.is_none() || warning.is_printed;
    let (shown, named): (Vec<&Warning>, Vec<&Warning>) =
        printed.warnings.iter().partition(is_shown);
    warnings(out, &shown, extent)?;
    if brief.is_some() && !extent.quiet {
        writeln!(
            out,
            "\n{}",
            wrapped(&more(&shown, &named), extent.width, "  ")
        )?;
    }
    Ok(())
}

/// Where there is more.
fn more(shown: &[&Warning], named: &[&Warning]) -> String {
    let mut codes: Vec<&str> = named.iter().map(|warning| warning.code).collect();
    codes.dedup();
    let also = match codes.is_empty() {
        true => String::new(),
        false => format!(" and {}", codes.join(", ")),
    };
    let about = shown.iter().chain(named).next();
    let about = about.map_or(String::new(), |warning| {
        format!("; about a warning: wiregauge help {}", warning.code)
    });
    format!("all tables{also}: --full{about}")
}

/// Every table, the floors and the notes.
fn all(out: &mut impl Write, printed: &Tables, extent: Extent) -> io::Result<()> {
    for one in &printed.tables {
        table(out, one, usize::MAX)?;
    }
    if extent.quiet {
        return Ok(());
    }
    if !printed.floors.is_empty() {
        let (title, what) = (tables::FLOORS, tables::FLOORS_ARE);
        writeln!(out, "\n{HEADING}{title}{RESET} ({what})")?;
    }
    for line in &printed.floors {
        writeln!(out, "  {line}")?;
    }
    for note in &printed.notes {
        writeln!(out, "\n{}", wrapped(note, extent.width, ""))?;
    }
    Ok(())
}

/// Prints a table with what stands below it.
pub fn table(out: &mut impl Write, table: &Table, width: usize) -> io::Result<()> {
    let title = wrapped(&table.title, width, "  ");
    write!(out, "\n{HEADING}{title}{RESET}\n{}", table.rows_text())?;
    for line in table.below() {
        let line = wrapped(line, width.saturating_sub(2), "    ");
        writeln!(out, "  {line}")?;
    }
    Ok(())
}

/// Each in a line, or with --full in a paragraph.
fn warnings(out: &mut impl Write, warnings: &[&Warning], extent: Extent) -> io::Result<()> {
    for (at, warning) in warnings.iter().enumerate() {
        let code = warning.code;
        let text = match extent.full {
            true => warning.to_string(),
            false => warning.finding.clone(),
        };
        let text = wrapped(&format!("{code}: {text}"), extent.width, "  ");
        let words = text.split_once(':').map_or("", |(_, words)| words);
        let between = match at == 0 || extent.full {
            true => "\n",
            false => "",
        };
        writeln!(out, "{between}{CAUTION}{code}:{RESET}{words}")?;
    }
    Ok(())
}

/// Lines of at most `width` columns; those after the first begin with `indent`.
pub fn wrapped(text: &str, width: usize, indent: &str) -> String {
    let options = textwrap::Options::new(width)
        .subsequent_indent(indent)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .break_words(false);
    textwrap::fill(text, options)
}

fn heading(out: &mut impl Write, printed: &Tables, width: usize) -> io::Result<()> {
    let lines = printed.heading.iter().chain(&printed.note).enumerate();
    let lines: Vec<String> = lines
        .map(|(at, line)| match at {
            0 => wrapped(line, width, "  "),
            _ => format!("  {}", wrapped(line, width.saturating_sub(2), "    ")),
        })
        .collect();
    let text = lines.join("\n");
    let mut rest = text.as_str();
    for part in &printed.set_off {
        if let Some((before, after)) = rest.split_once(part.as_str()) {
            write!(out, "{before}{HEADING}{part}{RESET}")?;
            rest = after;
        }
    }
    writeln!(out, "{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_below_a_table_is_wrapped_as_its_title_is() {
        let mut printed = Table::new("RTT in us", &["n", "p50"]);
        printed.row(vec!["100".into(), "15.22 ~".into()]);
        printed
            .notes
            .push("~ no 95 % interval: too few samples".into());
        let mut out = Vec::new();
        table(&mut out, &printed, 30).expect("memory");
        let text = String::from_utf8(out).expect("text");
        assert!(
            text.ends_with("\n  ~ no 95 % interval: too few\n    samples\n"),
            "{text}"
        );
    }
}
