//! What was found, for people: the setting in one line, then what proves it, what else there is, why
//! it is so, what it cost to find out, and how to use it.

use super::found::{Ended, Found};
use super::task::Kind;
use super::trade_offs::Row;
use super::usage;
use crate::limit_value::{shown, with_bounds};
use crate::output::style::{CAUTION, HEADING, RESET, TYPE};
use std::io::{self, Write};
use wiregauge_command_line::quoted;
use wiregauge_quantity as units;
use wiregauge_report::load::Tuned;
use wiregauge_report::tables::of_tuned;
use wiregauge_tune::{Choice, Compliance};

/// A sweep that would have cost less than this factor more is not worth a sentence.
const WORTH_SAYING: f64 = 1.2;

/// Prints it, with the tables of `tuned`, which is the same in the form that a page reads. `kept`: its run is stored.
pub fn tell(
    out: &mut dyn Write,
    found: &Found,
    rows: &[Row],
    tuned: &Tuned,
    quiet: bool,
    kept: bool,
) -> io::Result<()> {
    let Some(best) = &found.advice.best else {
        return failures(out, found);
    };
    headline(out, found, best)?;
    for table in of_tuned(tuned) {
        writeln!(out, "\n{HEADING}{}{RESET}", table.title)?;
        write!(out, "{}", table.text())?;
    }
    if let Some(row) = found.better_in_probe(rows) {
        let (name, figure) = (found.task.name(&row.at), found.task.figure);
        let value = shown(figure, row.objective.unwrap_or_default());
        let n = units::grouped(row.n);
        writeln!(
            out,
            "  {name} was better in a probe ({figure} {value}, n {n}), but no run confirmed it."
        )?;
    }
    failures(out, found)?;
    if !quiet {
        if !tuned.why.is_empty() {
            writeln!(out, "\nWhy this setting: {}", tuned.why.join("; "))?;
        }
        cost(out, found)?;
        to_use(out, found, best)?;
        if let Some(dir) = found.best_run.as_ref().filter(|_| kept) {
            // A reader that has seen enough (`| head`) is no failure.
            let _ = writeln!(out, "\nstored in {}", dir.display());
        }
    }
    Ok(())
}

/// The setting that was found, the objective there, and what became of the constraints: one line, without colours.
pub fn answer(found: &Found, best: &Choice) -> String {
    anstream::adapter::strip_str(&styled(found, best)).to_string()
}

fn styled(found: &Found, best: &Choice) -> String {
    let task = &found.task;
    let (figure, name) = (task.figure, task.name(&best.at));
    let value = with_bounds(figure, &best.objective);
    // What breaks a constraint is not the best, however large it is.
    let what = match best.keeps_all() {
        true => "best".to_owned(),
        false if found.keeps(&best.at) => "best setting".to_owned(),
        false => {
            // Another one may meet them all in a probe.
            let may_meet = !is_violated(best) || found.settings().iter().any(|at| found.keeps(at));
            let meets = match may_meet {
                true => "is proven to meet",
                false => "meets",
            };
            let confirmed = if best.confirmed { " confirmed" } else { "" };
            format!(
                "{CAUTION}no setting {meets} all constraints; the closest one{confirmed}{RESET}"
            )
        }
    };
    let limits = match (found.limits(), best.confirmed && best.keeps_all()) {
        (None, _) => String::new(),
        (Some(limits), true) => format!(". {limits}"),
        (Some(limits), false) => format!(". {CAUTION}{limits}{RESET}"),
    };
    format!("{what}: {HEADING}{name}{RESET}: {figure} {value}{limits}")
}

fn headline(out: &mut dyn Write, found: &Found, best: &Choice) -> io::Result<()> {
    writeln!(out, "{}", styled(found, best))?;
    let note = match &found.ended {
        Ended::Complete => return Ok(()),
        Ended::OutOfTime => {
            "the time limit was reached before the search ended: a better setting may exist"
        }
        Ended::Interrupted => "interrupted: this is the best setting found so far",
        Ended::Dead(_) => "the link failed: this is the best setting found so far",
    };
    writeln!(out, "{CAUTION}note:{RESET} {note}")
}

fn is_violated(best: &Choice) -> bool {
    let mut verdicts = best.constraints.iter();
    verdicts.any(|verdict| verdict.compliance == Compliance::Violated)
}

fn failures(out: &mut dyn Write, found: &Found) -> io::Result<()> {
    if found.failing.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{CAUTION}The link failed at{RESET}")?;
    for failing in &found.failing {
        let error = failing.error.replace('\n', " ");
        writeln!(out, "  {}: {error}", found.task.name(&failing.at))?;
    }
    Ok(())
}

fn cost(out: &mut dyn Write, found: &Found) -> io::Result<()> {
    let advice = &found.advice;
    let effort = |amount: u64| match found.task.kind {
        Kind::Exchanges(_) => format!("{} exchanges", units::grouped(amount)),
        Kind::Stream(_) => format!("{} of streaming", units::time(amount as f64 * 1e6)),
    };
    let took = units::time(found.took.as_secs_f64() * 1e9);
    let measurements = advice.probes.len();
    let spent = effort(advice.spent);
    write!(
        out,
        "\nThe search took {took}: {measurements} measurements, {spent}."
    )?;
    let times = advice.exhaustive as f64 / advice.spent.max(1) as f64;
    if times >= WORTH_SAYING {
        let all = effort(advice.exhaustive);
        write!(
            out,
            " A sweep of all settings: {all}, {times:.1} times as much."
        )?;
    }
    writeln!(out)
}

fn to_use(out: &mut dyn Write, found: &Found, best: &Choice) -> io::Result<()> {
    let usage = usage::of(&found.task, &best.at);
    let start = usage.start.map_or_else(String::new, |prefix| {
        format!("{prefix} PROGRAM  # the host settings of this search")
    });
    writeln!(out, "\n{HEADING}How to use it{RESET}")?;
    for (label, text) in [
        ("measure", quoted(&usage.command)),
        ("Python", usage.python),
        ("C", usage.c),
        ("MATLAB", usage.matlab),
        ("start", start),
    ] {
        for (at, line) in text.lines().enumerate() {
            let label = if at == 0 { label } else { "" };
            writeln!(out, "  {label:<9}{TYPE}{line}{RESET}")?;
        }
    }
    Ok(())
}
