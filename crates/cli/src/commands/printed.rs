//! A run as it is printed: for machines as JSON, for people as tables with what to make of them.

use crate::args::Look;
use crate::caller::Session;
use crate::output::style::{CAUTION, HEADING, RESET};
use std::io::Write;
use wiregauge_report::tables::{self, Tables};
use wiregauge_run::{Loop, RunFile, RunKind, Stream};

/// Prints an exchange run to standard output.
pub fn exchange(file: &RunFile, look: Look, session: &Session<'_>) -> anyhow::Result<()> {
    print(file, look, session, || {
        tables::of_exchange(file, look.confidence)
    })
}

/// Prints a stream run to standard output.
pub fn stream(file: &RunFile<Stream>, look: Look, session: &Session<'_>) -> anyhow::Result<()> {
    print(file, look, session, || tables::of_stream(file))
}

/// Prints a loop run to standard output.
pub fn closed_loop(file: &RunFile<Loop>, look: Look, session: &Session<'_>) -> anyhow::Result<()> {
    print(file, look, session, || tables::of_loop(file))
}

/// Prints the one table of a loop run that has published figures beside its own.
#[cfg(feature = "loop")]
pub fn loop_beside_published(
    file: &RunFile<Loop>,
    look: Look,
    session: &Session<'_>,
) -> anyhow::Result<()> {
    let tell = || Tables {
        tables: tables::loop_beside_published(file).into_iter().collect(),
        ..Tables::default()
    };
    print(
        file,
        Look {
            quiet: true,
            ..look
        },
        session,
        tell,
    )
}

fn print<K: RunKind>(
    file: &RunFile<K>,
    look: Look,
    session: &Session<'_>,
    tell: impl Fn() -> Tables,
) -> anyhow::Result<()> {
    let mut out = session.caller.words();
    match look.json {
        true => json(&mut out, file)?,
        false => {
            let mut tables = tell();
            if look.error_follows {
                tables.failed = None;
            }
            text(&mut out, &tables, look.quiet)?;
        }
    }
    out.flush()?;
    Ok(())
}

/// Prints a run of any kind for machines.
pub fn json<K: RunKind>(out: &mut impl Write, file: &RunFile<K>) -> anyhow::Result<()> {
    // The kind is kept, so that `| head` is known as such.
    serde_json::to_writer_pretty(&mut *out, file).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

/// Prints what there is to tell of a run for people.
pub fn text(out: &mut impl Write, printed: &Tables, quiet: bool) -> std::io::Result<()> {
    if !quiet {
        heading(out, printed)?;
    }
    for table in &printed.tables {
        writeln!(out, "\n{HEADING}{}{RESET}", table.title)?;
        write!(out, "{}", table.text())?;
    }
    if !quiet {
        if !printed.floors.is_empty() {
            let (title, what) = (tables::FLOORS, tables::FLOORS_ARE);
            writeln!(out, "\n{HEADING}{title}{RESET} ({what})")?;
        }
        for line in &printed.floors {
            writeln!(out, "  {line}")?;
        }
        for note in &printed.notes {
            writeln!(out, "\n{note}")?;
        }
    }
    for warning in &printed.warnings {
        writeln!(out, "\n{CAUTION}warning:{RESET} {warning}")?;
    }
    if let Some(error) = &printed.failed {
        writeln!(out, "\n{CAUTION}the run failed:{RESET} {error}")?;
    }
    Ok(())
}

fn heading(out: &mut impl Write, printed: &Tables) -> std::io::Result<()> {
    let mut lines = printed.heading.iter();
    let mut rest = lines.next().map_or("", String::as_str);
    for part in &printed.set_off {
        if let Some((before, after)) = rest.split_once(part.as_str()) {
            write!(out, "{before}{HEADING}{part}{RESET}")?;
            rest = after;
        }
    }
    writeln!(out, "{rest}")?;
    for line in lines {
        writeln!(out, "  {line}")?;
    }
    Ok(())
}
