//! `wiregauge help W07` and `wiregauge help warnings`: what a warning means. The help of commands is
//! clap's.

use super::printed::wrapped;
use crate::Outcome;
use crate::caller::Session;
use crate::output::style::{HEADING, RESET};
use anyhow::Context;
use std::ffi::OsString;
use std::io::Write;
use wiregauge_report::tables::{Explained, WARNINGS};

/// The topic, if these words ask for the help of a warning.
pub fn topic(words: &[OsString]) -> Option<&str> {
    match words {
        [_, help, topic] if help == "help" => topic.to_str().filter(|topic| is_topic(topic)),
        _ => None,
    }
}

fn is_topic(topic: &str) -> bool {
    let number = topic.strip_prefix(['W', 'w']);
    topic == "warnings"
        || number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// Prints it.
pub fn run(topic: &str, session: &Session<'_>) -> anyhow::Result<Outcome> {
    let mut out = session.caller.words();
    let width = session.caller.width();
    if topic == "warnings" {
        for one in WARNINGS {
            writeln!(out, "{HEADING}{}{RESET} {}", one.code, one.finding)?;
        }
        return Ok(Outcome::Done);
    }
    let found = WARNINGS
        .iter()
        .find(|one| one.code.eq_ignore_ascii_case(topic));
    let Explained {
        code,
        finding,
        consequence,
        remedy,
    } = found.with_context(|| {
        format!("unknown warning code {topic}\nhint: wiregauge help warnings lists them")
    })?;
    writeln!(out, "{HEADING}{code}{RESET} {finding}\n")?;
    for (name, text) in [("Consequence", consequence), ("Remedy", remedy)] {
        writeln!(out, "{HEADING}{name}:{RESET}")?;
        writeln!(out, "  {}", wrapped(text, width - 2, "  ").trim_start())?;
    }
    Ok(Outcome::Done)
}
