//! What was found, for people: the setting in one line, then what proves it, what else there is, why
//! it is so, what it cost to find out, and how to use it.

use super::found::{Ended, Found};
use super::modelled;
use super::task::Kind;
use super::trade_offs::Row;
use super::usage;
use crate::constraint::Constraint;
use crate::limit_value::{is_exact, shown, with_bounds};
use crate::output::style::{CAUTION, HEADING, RESET, TYPE};
use std::io::{self, Write};
use wiregauge_command_line::quoted;
use wiregauge_quantity::{self as units, RateUnit, TimeUnit};
use wiregauge_record::{Carried, Figure};
use wiregauge_report::tables::Table;
use wiregauge_stats::Estimate;
use wiregauge_tune::{Choice, Compliance, Difference, Sense};

/// Rows of a front that are printed; the others are in the JSON.
const ROWS: usize = 12;

/// What a row of a probe is worth beside a confirmed one.
const PROBES: &str = "A probe is a short measurement of the search: its figures scatter, and may exceed the limit of \
                      the link. Only confirmed rows are reliable results.";
const KNEE: &str = "knee: the highest ratio of throughput to latency";

/// A sweep that would have cost less than this factor more is not worth a sentence.
const WORTH_SAYING: f64 = 1.2;

/// Prints it.
pub fn tell(out: &mut dyn Write, found: &Found, quiet: bool, kept: bool) -> io::Result<()> {
    let Some(best) = &found.advice.best else {
        return failures(out, found);
    };
    headline(out, found, best)?;
    print(out, &proof(found, best))?;
    if let Some(nearer) = found.advice.nearer() {
        let constraint = &found.task.constraints[nearer.constraint];
        let how = match found.keeps(&nearer.at) {
            true => "met all constraints in a probe, but no new run confirmed it",
            false => "came closer in a probe",
        };
        writeln!(
            out,
            "  {} {how}: {} ({}).",
            found.task.name(&nearer.at),
            measured(constraint, nearer.value),
            effort(found, nearer.exchanges)
        )?;
    }
    if let Some(text) = found.no_interval() {
        writeln!(out, "{CAUTION}note:{RESET} {text}")?;
    }
    let rows = found.rows();
    if rows.len() > 1 {
        front(out, found, &rows)?;
    }
    methods(out, found)?;
    if !quiet {
        why(out, found)?;
    }
    failures(out, found)?;
    if !quiet {
        aside(out, found)?;
        cost(out, found)?;
        to_use(out, found, best)?;
        if let Some(dir) = found.best_run.as_ref().filter(|_| kept) {
            // A reader that has seen enough (`| head`) is no failure.
            let _ = writeln!(out, "\nstored in {}", dir.display());
        }
    }
    Ok(())
}

fn print(out: &mut dyn Write, table: &Table) -> io::Result<()> {
    writeln!(out, "\n{HEADING}{}{RESET}", table.title)?;
    write!(out, "{}", table.text())
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
            let which = match found.advice.nearer() {
                None => "the closest one",
                Some(_) => "the one that was measured again",
            };
            format!("{CAUTION}no setting {meets} all constraints; {which}{RESET}")
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
    match &found.ended {
        Ended::Complete => Ok(()),
        Ended::OutOfTime => writeln!(
            out,
            "{CAUTION}note:{RESET} the time limit was reached before the search ended: a better setting may exist"
        ),
        Ended::Interrupted => writeln!(
            out,
            "{CAUTION}note:{RESET} interrupted: this is the best setting found so far"
        ),
        Ended::Dead(_) => writeln!(
            out,
            "{CAUTION}note:{RESET} the link failed: this is the best setting found so far"
        ),
    }
}

fn is_violated(best: &Choice) -> bool {
    let mut verdicts = best.constraints.iter();
    verdicts.any(|verdict| verdict.compliance == Compliance::Violated)
}

fn effort(found: &Found, amount: u64) -> String {
    match found.task.kind {
        Kind::Exchanges(_) => format!("{} exchanges", units::grouped(amount)),
        Kind::Stream(_) => units::time(amount as f64 * 1e6),
    }
}

/// The figure of a constraint and its value.
fn measured(constraint: &Constraint, value: f64) -> String {
    let (figure, value) = (constraint.figure, shown(constraint.figure, value));
    match constraint.way {
        Some(way) => format!("{}.{figure} {value}", way.name()),
        None => format!("{figure} {value}"),
    }
}

/// The figures of the run that confirms.
fn proof(found: &Found, best: &Choice) -> Table {
    let amount = effort(found, found.task.counted(&best.at, best.exchanges));
    let title = match best.confirmed {
        true if !best.keeps_all() => format!("Measured again by a new run of {amount}"),
        true => format!("Confirmed by a new run of {amount}"),
        false => format!(
            "Not confirmed: the value is from a search probe of {amount}, which is biased towards the best"
        ),
    };
    let columns = ["figure", "required", "measured", "95 % from", "to", ""];
    let mut table = Table::new(title, &columns);
    let row = |figure: Figure, asked: String, found: Option<&Estimate>, verdict: &str| {
        let bound = |bound: Option<f64>| bound.map_or("?".into(), |bound| shown(figure, bound));
        let (value, low, high) = match found {
            None => ("-".into(), "-".into(), "-".into()),
            Some(one) if is_exact(figure, one) => {
                (shown(figure, one.value), "-".into(), "-".into())
            }
            Some(one) => (shown(figure, one.value), bound(one.low), bound(one.high)),
        };
        vec![figure.to_string(), asked, value, low, high, verdict.into()]
    };
    let asked = match found.task.sense {
        Sense::Maximise => "largest",
        Sense::Minimise => "smallest",
    };
    table.row(row(
        found.task.figure,
        asked.into(),
        Some(&best.objective),
        "",
    ));
    for (constraint, verdict) in found.verdicts() {
        let asked = constraint.text.find(['<', '>', '=']);
        let asked = asked.map_or("", |at| &constraint.text[at..]);
        let kept = match verdict.compliance {
            Compliance::Met => "met",
            Compliance::Violated => "missed",
            Compliance::Undecided => "undecided",
        };
        let mut cells = row(
            constraint.figure,
            asked.to_owned(),
            verdict.found.as_ref(),
            kept,
        );
        if let Some(way) = constraint.way {
            cells[0] = format!("{}.{}", way.name(), cells[0]);
        }
        table.row(cells);
    }
    table
}

fn front(out: &mut dyn Write, found: &Found, rows: &[Row]) -> io::Result<()> {
    let shown = thinned(rows);
    let time = TimeUnit::fitting(rows[rows.len() / 2].latency.value);
    let fastest = rows.iter().map(|row| row.carried).fold(0.0, f64::max);
    let speed = RateUnit::fitting(fastest);
    let (what, mean, second) = match found.task.kind {
        Kind::Exchanges(_) => ("RTT", "mean RTT", "exchanges/s"),
        Kind::Stream(_) => ("transfer time", "mean time", "transfers/s"),
    };
    let title = format!(
        "Best measured trade-offs of latency and throughput, and the chosen setting; {what} in {}, throughput {}",
        time.name(),
        match found.carried() {
            Carried::In => "IN",
            Carried::Out => "OUT",
            Carried::Both => "in both directions",
        }
    );
    let columns = [
        "setting",
        mean,
        "p99",
        speed.name(),
        second,
        "n",
        "measured by",
        "note",
    ];
    let mut table = Table::new(title, &columns);
    for row in &shown {
        let marks = [
            row.is_best.then(|| "chosen".to_owned()),
            row.is_knee.then(|| "knee".to_owned()),
            found.unproven(&row.at),
        ];
        table.row(vec![
            found.task.name(&row.at),
            time.show(row.latency.value),
            row.latency_p99
                .map_or("-".into(), |p99| time.show(p99.value)),
            speed.show(row.carried),
            units::significant(row.per_second),
            units::grouped(row.n),
            if row.confirmed {
                "confirmation"
            } else {
                "probe"
            }
            .into(),
            marks.into_iter().flatten().collect::<Vec<_>>().join(", "),
        ]);
    }
    print(out, &table)?;
    if rows.len() > shown.len() {
        let more = rows.len() - shown.len();
        writeln!(out, "  ({more} more with --json)")?;
    }
    writeln!(out, "  {KNEE}")?;
    if shown.iter().any(|row| !row.confirmed) {
        writeln!(out, "  {PROBES}")?;
    }
    match rival(found, rows) {
        Some(text) => writeln!(out, "  {text}"),
        None => Ok(()),
    }
}

/// What was better than the chosen setting when it was probed, and why it was not chosen.
fn rival(found: &Found, rows: &[Row]) -> Option<String> {
    let rival = found.better_in_probe(rows)?;
    let (figure, name) = (found.task.figure, found.task.name(&rival.at));
    let value = shown(figure, rival.objective.value);
    if rival.difference == Difference::NotSignificant {
        return Some(format!(
            "{name} had a better {figure} ({value}); the 95 % intervals overlap, so it may not differ from the chosen \
             setting."
        ));
    }
    let unsure = match rival.difference {
        Difference::Unknown => " without a 95 % interval",
        _ => "",
    };
    let why = match (rival.confirmed, found.advice.may_confirm) {
        (true, _) => "its confirming run did not prove all constraints",
        (false, true) => "all probes together do not show that it is better",
        (false, false) => {
            "no further confirming run was allowed. A larger --count or --duration makes probes longer"
        }
    };
    Some(format!(
        "{name} had a better {figure} in a probe ({value}, n {}){unsure}, but was not chosen: {why}.",
        units::grouped(rival.n)
    ))
}

/// The best of each way to wait and to connect, where several were searched.
fn methods(out: &mut dyn Write, found: &Found) -> io::Result<()> {
    let methods = found.methods();
    if methods.len() < 2 {
        return Ok(());
    }
    let figure = found.task.figure;
    let space = &found.task.space;
    let what = match (space.wait.len() > 1, space.connect.len() > 1) {
        (true, true) => "--wait and --connect",
        (false, true) => "--connect",
        _ => "--wait",
    };
    let aside = match found.task.constraints.is_empty() {
        true => "",
        false => ", whether it meets the constraints or not",
    };
    let title = format!("Best measured {figure} with each {what}{aside}");
    let heads = ["setting", "measured", "95 % from", "to", "n", "measured by"];
    let mut table = Table::new(title, &heads);
    for (at, value, n, confirmed) in methods {
        let bound = |bound: Option<f64>| match is_exact(figure, &value) {
            true => "-".into(),
            false => bound.map_or("?".into(), |bound| shown(figure, bound)),
        };
        table.row(vec![
            found.task.name(&at),
            shown(figure, value.value),
            bound(value.low),
            bound(value.high),
            units::grouped(n),
            if confirmed { "confirmation" } else { "probe" }.into(),
        ]);
    }
    print(out, &table)
}

/// The ends, what is marked, and of the others as many as fit, evenly.
fn thinned(rows: &[Row]) -> Vec<&Row> {
    if rows.len() <= ROWS {
        return rows.iter().collect();
    }
    let last = rows.len() - 1;
    let evenly: Vec<usize> = (0..ROWS - 2).map(|n| n * last / (ROWS - 3)).collect();
    let numbered = rows.iter().enumerate();
    let stays = |(at, row): &(usize, &Row)| row.is_best || row.is_knee || evenly.contains(at);
    numbered.filter(stays).map(|(_, row)| row).collect()
}

fn why(out: &mut dyn Write, found: &Found) -> io::Result<()> {
    let reasons = found.reasons();
    let figures = modelled::words(found);
    if reasons.is_empty() && figures.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{HEADING}Why this setting{RESET}")?;
    for reason in reasons.iter().chain(&figures) {
        writeln!(out, "  {reason}")?;
    }
    Ok(())
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

fn aside(out: &mut dyn Write, found: &Found) -> io::Result<()> {
    for aside in &found.advice.set_aside {
        let choice = &aside.choice;
        let best = found.advice.best.as_ref();
        let is_worse = best.is_none_or(|best| {
            let (chosen, here) = (best.objective.value, choice.objective.value);
            found.task.sense.prefers(chosen, here)
        });
        let why = found
            .unproven(&choice.at)
            .unwrap_or_else(|| match is_worse {
                true => "another setting was better".into(),
                false => "not significantly better than the chosen setting".into(),
            });
        let value = shown(found.task.figure, choice.objective.value);
        let (name, figure) = (found.task.name(&choice.at), found.task.figure);
        writeln!(
            out,
            "\nMeasured again and rejected: {name} ({figure} {value}): {why}"
        )?;
    }
    Ok(())
}

fn cost(out: &mut dyn Write, found: &Found) -> io::Result<()> {
    let advice = &found.advice;
    let times = advice.exhaustive as f64 / advice.spent.max(1) as f64;
    let (flag, all) = match found.task.kind {
        Kind::Exchanges(_) => ("--count", effort(found, advice.exhaustive)),
        Kind::Stream(_) => ("--duration", effort(found, advice.exhaustive)),
    };
    let sweep = match times >= WORTH_SAYING {
        true => {
            format!(" A sweep of all settings with this {flag}: {all}, {times:.1} times as much.")
        }
        false => String::new(),
    };
    let (took, spent) = (
        units::time(found.took.as_secs_f64() * 1e9),
        effort(found, advice.spent),
    );
    let measurements = advice.probes.len();
    match found.task.kind {
        Kind::Exchanges(_) => writeln!(
            out,
            "\nThe search took {took}: {measurements} measurements, {spent}.{sweep}"
        ),
        Kind::Stream(_) => writeln!(
            out,
            "\nThe search took {took}: {measurements} measurements, {spent} of streaming.{sweep}"
        ),
    }
}

fn to_use(out: &mut dyn Write, found: &Found, best: &Choice) -> io::Result<()> {
    let usage = usage::of(&found.task, &best.at);
    writeln!(out, "\n{HEADING}How to use it{RESET}")?;
    let mut lines = |label: &str, text: &str| -> io::Result<()> {
        for (at, line) in text.lines().enumerate() {
            let label = if at == 0 { label } else { "" };
            writeln!(out, "  {label:<9}{TYPE}{line}{RESET}")?;
        }
        Ok(())
    };
    lines("measure", &quoted(&usage.command))?;
    lines("Python", &usage.python)?;
    lines("C", &usage.c)?;
    lines("MATLAB", &usage.matlab)?;
    match &usage.prefix {
        Some(prefix) => lines(
            "start",
            &format!("{prefix} PROGRAM  # the host settings of this search"),
        ),
        None => Ok(()),
    }
}
