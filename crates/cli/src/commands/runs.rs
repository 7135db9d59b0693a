//! `wiregauge runs`: what is stored.

use super::printed;
use crate::Outcome;
use crate::args::RunsArgs;
use crate::caller::Session;
use crate::output::style::{HEADING, RESET};
use comfy_table::{ContentArrangement, Table};
use std::io::Write;
use wiregauge_quantity::grouped;
use wiregauge_run::Listing;

/// Runs the command.
pub fn run(args: &RunsArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    let home = wiregauge_run::runs_home();
    let listings = wiregauge_run::list(&home)?;
    let mut out = session.caller.words();
    if args.json {
        printed::json(&mut out, &listings.iter().map(as_json).collect())?;
        return Ok(Outcome::Done);
    }
    if listings.is_empty() {
        writeln!(out, "no runs in {}", home.display())?;
        return Ok(Outcome::Done);
    }
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["name", "kind", "address", "state", "points", "measured"]);
    for run in &listings {
        let points = run.points.to_string();
        let measured = format!("{} {}", grouped(run.measured), run.rows);
        table.add_row([
            &run.name,
            run.kind,
            &run.links,
            &run.state,
            &points,
            measured.trim_end(),
        ]);
    }
    for at in [4, 5] {
        if let Some(column) = table.column_mut(at) {
            column.set_cell_alignment(comfy_table::CellAlignment::Right);
        }
    }
    writeln!(
        out,
        "{HEADING}Runs in {}{RESET}, newest last",
        home.display()
    )?;
    let text = table.to_string();
    let mut lines = text.lines();
    if let Some(heads) = lines.next() {
        writeln!(out, " {}", heads.trim_end())?;
    }
    for (line, run) in lines.zip(&listings) {
        writeln!(out, " {}", line.trim_end())?;
        for (at, written) in run.note.iter().flat_map(|note| note.lines()).enumerate() {
            let name = if at == 0 { "note: " } else { "" };
            writeln!(out, "      {name}{written}")?;
        }
        for said in run.ending.iter().flat_map(|ending| ending.lines()) {
            writeln!(out, "      {}", said.trim_start())?;
        }
        for said in run.problem.iter().flat_map(|problem| problem.lines()) {
            writeln!(out, "      {}", said.trim_start())?;
        }
    }
    Ok(Outcome::Done)
}

/// A run as an object; what was measured stands under its own name (`exchanges`, `transfers`).
fn as_json(run: &Listing) -> serde_json::Value {
    let mut object = serde_json::json!({
        "name": run.name, "dir": run.dir, "started": run.started, "kind": run.kind,
        "address": run.address, "state": run.state, "points": run.points, "note": run.note,
        "ending": run.ending, "problem": run.problem,
    });
    if run.is_readable() {
        object[run.rows] = run.measured.into();
    }
    object
}
