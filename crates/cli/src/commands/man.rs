//! `wiregauge man`: write the man pages. What clap_mangen does not know of is added here: exit status, environment, examples.

use crate::Outcome;
use crate::args::Arguments;
use crate::caller::Session;
use crate::output::files;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use roff::{Roff, bold, roman};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const EXIT_STATUS: [(&str, &str); 5] = [
    ("0", "Success."),
    (
        "1",
        "A stated limit (--require, --subject-to, --fail-if) was missed, or is undecided (without --undecided pass).",
    ),
    ("2", "Usage error."),
    (
        "3",
        "The link or the storage failed, or an output could not be written. What was measured before is kept.",
    ),
    (
        "130",
        "Interrupted (Ctrl-C, SIGTERM, or SIGHUP: the terminal was closed). All samples are kept.",
    ),
];

const ENVIRONMENT: [(&str, &str); 4] = [
    (
        "WIREGAUGE_RUNS",
        "Directory of the stored runs (default: wiregauge/runs in $XDG_DATA_HOME, or in ~/.local/share; on Windows in %LOCALAPPDATA%).",
    ),
    (
        "WIREGAUGE_WORKER",
        "Name of the machine that runs the command for a campaign (wiregauge.campaign in Python); stored with the run.",
    ),
    ("NO_COLOR", "If set, nothing is coloured."),
    (
        "COLUMNS",
        "Width of the output if it does not go to a terminal.",
    ),
];

/// Writes a page for the program and one for each command.
pub fn write(directory: &Path, force: bool, session: &Session<'_>) -> anyhow::Result<Outcome> {
    files::directory(directory)?;
    let mut program = Arguments::command().disable_help_subcommand(true);
    program.build();
    let commands = program.get_subcommands();
    let commands: Vec<&Command> = commands.filter(|one| !one.is_hide_set()).collect();
    let others: Vec<String> = commands
        .iter()
        .map(|command| format!("{}(1)", name_of(command)))
        .collect();
    let mut pages = vec![page(&program, &others.join(", "), directory)?];
    for command in commands {
        pages.push(page(command, "wiregauge(1)", directory)?);
    }
    for (path, _) in &pages {
        files::check(path, force)?;
    }
    for (path, text) in &pages {
        files::write(path, text, force, session.caller)?;
    }
    Ok(Outcome::Done)
}

fn name_of(command: &Command) -> String {
    let name = command.get_display_name();
    name.unwrap_or_else(|| command.get_name()).to_owned()
}

/// The page of a command, and the name of its file.
fn page(command: &Command, others: &str, directory: &Path) -> io::Result<(PathBuf, Vec<u8>)> {
    let mut text = Vec::new();
    let path = directory.join(format!("{}.1", name_of(command)));
    render(command, others, &mut text)?;
    Ok((path, text))
}

fn render(command: &Command, others: &str, to: &mut Vec<u8>) -> io::Result<()> {
    let man = Man::new(command.clone());
    man.render_title(to)?;
    man.render_name_section(to)?;
    man.render_synopsis_section(to)?;
    man.render_description_section(to)?;
    if command.get_arguments().next().is_some() {
        man.render_options_section(to)?;
    }
    if command.get_subcommands().next().is_some() {
        man.render_subcommands_section(to)?;
    }
    let mut more = Roff::new();
    let help = command.get_after_help().map(ToString::to_string);
    let help = help.unwrap_or_default();
    let (examples, notes) = divided(&help);
    for (title, lines) in [("EXAMPLES", examples), ("NOTES", notes)] {
        if !lines.is_empty() {
            more.control("SH", [title]);
            more.control("nf", []);
            for line in lines.lines() {
                let line = line.strip_prefix("  ").unwrap_or(line);
                more.text([roman(line)]);
            }
            more.control("fi", []);
        }
    }
    for (title, entries) in [
        ("EXIT STATUS", &EXIT_STATUS[..]),
        ("ENVIRONMENT", &ENVIRONMENT),
    ] {
        more.control("SH", [title]);
        for (name, meaning) in entries {
            more.control("TP", []);
            more.text([bold(*name)]);
            more.text([roman(*meaning)]);
        }
    }
    more.control("SH", ["SEE ALSO"]);
    more.text([roman(others)]);
    to.write_all(more.render().as_bytes())
}

/// The examples below a command's flags, without their heading, and the paragraphs after them.
fn divided(help: &str) -> (&str, &str) {
    let Some(rest) = help
        .strip_prefix("Examples:\n")
        .or_else(|| help.strip_prefix("Example:\n"))
    else {
        return ("", help);
    };
    let end = rest
        .match_indices("\n\n")
        .find(|(at, _)| !rest[at + 2..].starts_with(' '))
        .map_or(rest.len(), |(at, _)| at);
    (&rest[..end], rest[end..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_end_where_a_paragraph_is_not_indented() {
        let help = "Examples:\n  # one\n  a b\n\n  # two\n  c\n\nLists: 1,2.\n\nMore.";
        assert_eq!(
            divided(help),
            ("  # one\n  a b\n\n  # two\n  c", "Lists: 1,2.\n\nMore.")
        );
        assert_eq!(divided("Examples:\n  a"), ("  a", ""));
        assert_eq!(divided("Notes only."), ("", "Notes only."));
    }
}
