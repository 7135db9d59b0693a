//! `wiregauge limits`: tell what a medium can carry at best.

mod asked;
mod best;
mod can;

use super::printed::{json, wrapped};
use crate::Outcome;
use crate::args::{LimitsArgs, MediumArg};
use crate::caller::Session;
use crate::output::style::{HEADING, RESET};
use best::{Best, Kind};
use std::io::Write;
use wiregauge_quantity::{TimeUnit, grouped, percent, time};
use wiregauge_report::tables::Table;

/// Columns that are left out where they are empty, or the terminal is too narrow.
const SPARE: &[&str] = &[
    "us per packet",
    "all endpoints B/s",
    "packets",
    "interval us",
    "packets/s",
    "us per message",
];

/// Runs the command.
pub fn run(args: &LimitsArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    let all = asked::resolve(args)?;
    let mut out = session.caller.words();
    if args.json {
        json(&mut out, &all.iter().map(as_json).collect())?;
        return Ok(Outcome::Done);
    }
    for (title, kind) in [
        ("USB", MediumArg::Usb),
        ("Serial lines", MediumArg::Uart),
        ("CAN", MediumArg::Can),
        ("Ethernet", MediumArg::Tcp),
    ] {
        let of_this: Vec<&Best> = all.iter().filter(|one| one.kind.family() == kind).collect();
        if !of_this.is_empty() {
            table(&mut out, title, &of_this, session.caller.width())?;
        }
    }
    match args.medium {
        None => writeln!(
            out,
            "\nfor formulas, sources and other sizes: wiregauge limits usb, uart, can, tcp or udp"
        )?,
        Some(_) => how(&mut out, &all, session.caller.width())?,
    }
    Ok(Outcome::Done)
}

/// The figures, one line each.
fn table(out: &mut dyn Write, title: &str, all: &[&Best], width: usize) -> std::io::Result<()> {
    let with_exchange = all.iter().any(|one| one.exchange_ns.is_some());
    let rows = all.iter().map(|one| row(one, with_exchange));
    let rows: Vec<Vec<(&str, String)>> = rows.collect();
    let heads: Vec<&str> = rows[0].iter().map(|(head, _)| *head).collect();
    let mut table = Table::new(title, &heads);
    for row in rows {
        table.row(row.into_iter().map(|(_, cell)| cell).collect());
    }
    let heads = table.columns.clone();
    let is_empty = |head: &&&str| {
        let at = heads.iter().position(|name| name == **head);
        at.is_some_and(|at| table.rows.iter().all(|row| row[at] == "-"))
    };
    let empty: Vec<&str> = SPARE.iter().filter(is_empty).copied().collect();
    let fitting = table.without(&empty).fitting(width, SPARE);
    writeln!(out, "{HEADING}{}{RESET}, upper limits", table.title)?;
    write!(out, "{}", fitting.text())?;
    let left_out = heads.iter().map(String::as_str);
    let left_out: Vec<&str> = left_out
        .filter(|head| !empty.contains(head) && !fitting.columns.iter().any(|name| name == head))
        .collect();
    match left_out.is_empty() {
        true => Ok(()),
        false => writeln!(out, "  with --json also: {}", left_out.join(", ")),
    }
}

/// Cells, each under the head of its column.
fn row(one: &Best, with_exchange: bool) -> Vec<(&'static str, String)> {
    let (kind, limit) = (&one.kind, &one.limit);
    let us = |ns: f64| TimeUnit::Micro.show(ns);
    let mut cells = kind.cells();
    cells.push(("B/s", grouped(limit.bytes_s.round() as u64)));
    let messages = kind.messages();
    cells.extend(messages.map(|head| (head, a_second(limit.messages_s))));
    cells.push(("% of line rate", percent(limit.efficiency())));
    if let Kind::Usb(_) = kind {
        let bus = kind.bus_bytes_s();
        cells.push(("all endpoints B/s", bus.map_or("-".into(), grouped)));
    }
    cells.push((kind.time(), us(limit.message_ns)));
    cells.extend(kind.worst_ns().map(|ns| ("worst us", us(ns))));
    if with_exchange {
        cells.push(("exchange us", one.exchange_ns.map_or("-".into(), us)));
    }
    cells
}

/// How the figures come about, and what they leave out.
fn how(out: &mut dyn Write, all: &[Best], width: usize) -> std::io::Result<()> {
    let line = |text: &str| format!("  {}", wrapped(text, width - 2, "    "));
    writeln!(out, "\n{HEADING}Formula{RESET}")?;
    for one in all {
        let (name, formula) = (one.kind.name(), &one.limit.formula);
        match name.len() + formula.len() + 4 <= width {
            true => writeln!(out, "  {name}: {formula}")?,
            false => writeln!(out, "  {name}:\n  {}", line(formula))?,
        }
    }
    if let [one] = all
        && let Some(ns) = one.exchange_ns
    {
        writeln!(
            out,
            "  An exchange takes at least {}: {}.",
            time(ns),
            one.exchange_parts
                .as_deref()
                .unwrap_or("the time of request and response on the wire")
        )?;
    }
    if all.len() > 1 && all.iter().any(|one| one.exchange_ns.is_some()) {
        writeln!(
            out,
            "  exchange us: the time of request and response on the wire{}, a lower limit.",
            match all.iter().any(|one| one.exchange_parts.is_some()) {
                true => ", and of the silence behind each",
                false => "",
            }
        )?;
    }
    let mut sources: Vec<&str> = all.iter().map(|one| one.limit.source.as_str()).collect();
    sources.dedup();
    writeln!(out, "\n{HEADING}Reference{RESET}")?;
    for source in sources {
        writeln!(out, "{}", line(source))?;
    }
    // Of several, what is true of all; most notes have figures of their own.
    let mut notes = all[0].limit.notes.clone();
    notes.retain(|note| all.iter().all(|one| one.limit.notes.contains(note)));
    if !notes.is_empty() {
        writeln!(out, "\n{HEADING}Notes{RESET}")?;
    }
    for note in notes {
        writeln!(out, "{}", line(&note))?;
    }
    Ok(())
}

/// A number of messages, which need not be whole.
fn a_second(messages_s: f64) -> String {
    match messages_s {
        m if m >= 1000.0 || m.fract() == 0.0 => grouped(m as u64),
        m => format!("{m:.2}"),
    }
}

fn as_json(one: &Best) -> serde_json::Value {
    let mut object = one.kind.as_json();
    let limit = &one.limit;
    let figures = serde_json::json!({
        "bytes_s": limit.bytes_s,
        "messages_s": limit.messages_s,
        "message_ns": limit.message_ns,
        "efficiency": limit.efficiency(),
        "raw_bytes_s": limit.raw_bytes_s,
        "shared": limit.shared,
        "exchange_ns": one.exchange_ns,
        "worst_message_ns": one.kind.worst_ns(),
        "formula": limit.formula,
        "source": limit.source,
        "notes": limit.notes,
    });
    if let (Some(object), serde_json::Value::Object(figures)) = (object.as_object_mut(), figures) {
        object.extend(figures);
    }
    if let Kind::Usb(_) = one.kind {
        object["all_endpoints_bytes_s"] = one.kind.bus_bytes_s().into();
    }
    object
}
