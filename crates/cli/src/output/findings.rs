//! What `doctor` found, in lines of 80 columns; commands stay in one piece, ready for a shell.

use super::style::{BAD, CAUTION, HEADING, RESET, TYPE};
use crate::platform::ADMINISTRATOR;
use std::io::{self, Write};
use std::path::Path;
use textwrap::Options;
use wiregauge_doctor::{Change, Ended, Finding, Level, Step, Undone, alike};

const WIDTH: usize = 80;
/// As wide as `problem `.
const INDENT: &str = "        ";

/// The connection to the device, above the findings.
pub fn connection(out: &mut impl Write, connection: Option<&str>) -> io::Result<()> {
    let Some(connection) = connection else {
        return Ok(());
    };
    let text = wrapped(&format!("connection: {connection}"), INDENT);
    let text = text.trim_start().trim_start_matches("connection:");
    writeln!(out, "{HEADING}connection{RESET}:{text}\n")
}

/// All of them, the worst first as they come; the good ones in one line.
pub fn findings(out: &mut impl Write, findings: &[Finding]) -> io::Result<()> {
    if findings.is_empty() {
        return writeln!(
            out,
            "nothing to check: this host and the connection to the device have nothing of this kind"
        );
    }
    for one in findings {
        match one.level {
            Level::Hurts => finding(out, one, format!("{BAD}problem{RESET} "))?,
            Level::Note => finding(out, one, format!("{CAUTION}note{RESET}    "))?,
            Level::Unknown | Level::Good => {}
        }
    }
    for one in findings.iter().filter(|one| one.level == Level::Unknown) {
        let text = match one.evidence.is_empty() {
            true => format!("{}: {}", one.check, one.title),
            false => format!("{}: {} ({})", one.check, one.title, one.evidence.join("; ")),
        };
        let text = wrapped(&text, INDENT);
        writeln!(out, "{HEADING}unknown{RESET} {}", text.trim_start())?;
    }
    // A check that looks at several things may find one good and another one not: it is not good.
    let is_found = |name: &str| {
        let mut others = findings.iter().filter(|one| one.level != Level::Good);
        others.any(|one| one.check == name)
    };
    let good: Vec<&str> = findings
        .iter()
        .filter(|one| one.level == Level::Good && !is_found(&one.check))
        .map(|one| one.check.as_str())
        .collect();
    match good.len() {
        0 => Ok(()),
        count => writeln!(
            out,
            "{}",
            wrapped(&format!("{count} good: {}", good.join(", ")), "")
        ),
    }
}

fn finding(out: &mut impl Write, finding: &Finding, level: String) -> io::Result<()> {
    let title = wrapped(&format!("{}: {}", finding.check, finding.title), INDENT);
    let title = title.trim_start();
    let (name, title) = title.split_once(':').unwrap_or(("", title));
    writeln!(out, "{level}{HEADING}{name}{RESET}:{title}")?;
    for (at, seen) in finding.evidence.iter().enumerate() {
        labelled(out, if at == 0 { "found" } else { "" }, seen)?;
    }
    if let Some(cost) = &finding.cost {
        labelled(out, "effect", &cost.text)?;
        labelled(out, "", &format!("(source: {})", cost.source))?;
    }
    for (at, remedy) in finding.remedy.iter().enumerate() {
        let label = if at == 0 { "fix" } else { "" };
        writeln!(out, "{INDENT}{label:6} {TYPE}{remedy}{RESET}")?;
    }
    writeln!(out)
}

fn labelled(out: &mut impl Write, label: &str, text: &str) -> io::Result<()> {
    let lines = wrapped(text, &format!("{INDENT}{:6} ", ""));
    writeln!(out, "{INDENT}{label:6} {}", lines.trim_start())
}

fn wrapped(text: &str, indent: &str) -> String {
    let options = Options::new(WIDTH)
        .initial_indent(indent)
        .subsequent_indent(indent)
        .break_words(false);
    textwrap::fill(text, options)
}

/// That some of it can be changed, by the command that was typed and `--fix`.
pub fn fixable(out: &mut impl Write, changes: &[Change], again: &str) -> io::Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    let settings = settings(changes.len());
    writeln!(
        out,
        "{settings} can be changed now, and restored with --undo:"
    )?;
    writeln!(out, "  {TYPE}{again} --fix{RESET}")
}

/// What `--fix` did.
pub fn fixed(out: &mut impl Write, all: &[Step], again: &str) -> io::Result<()> {
    if all.is_empty() {
        return writeln!(out, "nothing to change");
    }
    writeln!(out, "{HEADING}Changed{RESET}")?;
    steps(out, all, again)?;
    match all
        .iter()
        .filter(|step| step.ended == Ended::Written)
        .count()
    {
        0 => Ok(()),
        count => writeln!(
            out,
            "{} changed; to restore: wiregauge doctor --undo",
            settings(count)
        ),
    }
}

/// What `--undo` did.
pub fn undone(out: &mut impl Write, undone: &Undone, file: &Path, again: &str) -> io::Result<()> {
    match undone {
        Undone::Nothing => writeln!(
            out,
            "nothing to undo: {} does not exist\nchanges made by --fix as {ADMINISTRATOR} must be undone as {ADMINISTRATOR}",
            file.display()
        ),
        Undone::ByRestart => writeln!(
            out,
            "nothing to undo: the computer was restarted since, which restored the settings"
        ),
        Undone::Steps { steps: all } => {
            writeln!(out, "{HEADING}Restored{RESET}")?;
            steps(out, all, again)
        }
    }
}

fn settings(count: usize) -> String {
    match count {
        1 => "1 setting".into(),
        _ => format!("{count} settings"),
    }
}

fn steps(out: &mut impl Write, all: &[Step], again: &str) -> io::Result<()> {
    let mut ends: Vec<(&Ended, &Option<String>, &str)> = Vec::new();
    for step in all {
        let end = (&step.ended, &step.before, step.wanted.as_str());
        if !ends.contains(&end) {
            ends.push(end);
        }
    }
    for end in ends {
        let these = all
            .iter()
            .filter(|step| (&step.ended, &step.before, step.wanted.as_str()) == end);
        for (pattern, group) in alike(these.collect(), |step| &step.path) {
            let times = match group.len() {
                1 => String::new(),
                many => format!("  ({many} times)"),
            };
            writeln!(out, "  {}{times}", one(&pattern, group[0]))?;
        }
    }
    if all.iter().any(Step::failed) {
        writeln!(
            out,
            "run as {ADMINISTRATOR} to apply the rest: {TYPE}{again}{RESET}"
        )?;
    }
    Ok(())
}

/// One setting and what became of it.
pub fn step(step: &Step) -> String {
    one(&step.path.display().to_string(), step)
}

fn one(path: &str, step: &Step) -> String {
    let Step {
        before,
        wanted,
        ended,
        ..
    } = step;
    let before = before.as_deref().unwrap_or("unknown");
    match ended {
        Ended::Written => format!("{path}: {before} -> {wanted}"),
        Ended::WasSo => format!("{path}: already {before}"),
        Ended::LeftAlone => {
            format!("{path}: {before}, changed by another program in the meantime; kept")
        }
        Ended::Gone => format!("{path}: no longer exists"),
        Ended::Refused { why } => format!("{path}: {before}, not {wanted}: {why}"),
    }
}
