//! `wiregauge help W07` and `wiregauge help warnings`: what a warning means. The help of commands is clap's.

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
    topic == "warnings" || number(topic).is_some()
}

/// The number of a code: 5 of `W05`, `w05` and `W5`.
fn number(code: &str) -> Option<u32> {
    let digits = code.strip_prefix(['W', 'w'])?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u32::MAX))
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
    let mut all = WARNINGS.iter();
    let found = all.find(|one| number(one.code) == number(topic));
    let Explained {
        code,
        finding,
        consequence,
        remedy,
        is_printed,
    } = found.with_context(|| {
        format!("unknown warning code {topic}\n  hint: wiregauge help warnings lists them")
    })?;
    let named = if *is_printed {
        ""
    } else {
        " (printed with --full)"
    };
    writeln!(out, "{HEADING}{code}{RESET} {finding}{named}\n")?;
    for (name, text) in [("Consequence", consequence), ("Remedy", remedy)] {
        writeln!(out, "{HEADING}{name}:{RESET}")?;
        writeln!(out, "  {}", wrapped(text, width - 2, "  ").trim_start())?;
    }
    Ok(Outcome::Done)
}
