//! `wiregauge tune`: find the setting that serves an aim best, and prove it by a fresh run. The search
//! is that of the room `tune`; here is who measures for it, and what is made of its advice.

mod bench;
mod found;
mod json;
mod longer;
mod loop_cost;
mod loop_costs;
mod modelled;
mod search;
mod taken;
mod task;
mod trade_offs;
mod usage;
mod words;

use super::printed;
use super::unmet::{self, Stated};
use crate::Outcome;
use crate::args::{TuneArgs, Undecided};
use crate::caller::{Session, absolute, remark};
use crate::failure::{StorageFailed, unless_nobody_reads};
use crate::output::files;
use anyhow::bail;
use found::{Ended, Found};
use search::{Hunt, Places};
use std::io::Write;
use std::path::Path;
use task::Task;
use wiregauge_report::figures::{self, Figure, NoPng};

/// What is kept beside the run that confirmed the choice.
const FILE: &str = "tune.json";

/// Pixels of a PNG for each pixel of the SVG: 300 dpi at the width of a page.
const SCALE: f32 = 3.0;

/// Runs the command.
pub fn run(args: &TuneArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    let task = Task::of(args)?;
    task.check()?;
    if let Some(path) = &args.figure {
        if task.control.is_some() {
            bail!(
                "--figure shows latency against throughput, which the period of the loop fixes\n  hint: use wiregauge control \
                 RUN --figures DIR with the confirming run"
            );
        }
        check_figure(path, args.keep.force.force)?;
    }
    let stop = session.caller.stop()?;
    let quiet = args.quiet || args.json;
    let mut places = Places::new(&args.keep, &task.address)?;
    let hunt = Hunt {
        task,
        stop: &stop,
        budget: args.budget,
        quiet,
        session,
    };
    let Some(found) = hunt.run(&mut places)? else {
        return Ok(Outcome::Interrupted);
    };
    let result = json::of(&found);
    if let Some(dir) = &found.best_run {
        let text = serde_json::to_vec_pretty(&result)?;
        std::fs::write(dir.join(FILE), text).map_err(StorageFailed)?;
        session.caller.measured(dir, places.passing());
    }
    let print = || match args.json {
        true => printed::json_value(&result, session),
        false => {
            let mut out = session.caller.words();
            words::tell(&mut out, &found, args.quiet, places.are_kept())?;
            Ok(out.flush()?)
        }
    };
    unless_nobody_reads(print())?;
    if let Some(path) = &args.figure {
        write_figure((path, args.keep.force.force), &found, session)?;
    }
    judge(found, args.undecided.undecided, session)
}

/// The exit code: what was asked for must be shown.
fn judge(found: Found, undecided: Undecided, session: &Session<'_>) -> anyhow::Result<Outcome> {
    let unmet = found.unmet();
    match found.ended {
        Ended::Dead(error) => return Err(error.into()),
        Ended::Interrupted => return Ok(Outcome::Interrupted),
        Ended::Complete | Ended::OutOfTime => {}
    }
    Ok(unmet::outcome(Stated::Limit, &unmet, undecided, session))
}

fn kind_of_figure(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    ["svg", "png"].into_iter().find(|kind| *kind == extension)
}

/// A file that cannot be written is better known before the search than after it.
fn check_figure(path: &Path, force: bool) -> anyhow::Result<()> {
    if kind_of_figure(path).is_none() {
        bail!(
            "cannot write the figure to {}: the name must end in .svg or .png",
            path.display()
        );
    }
    if kind_of_figure(path) == Some("png") {
        NoPng::check()?;
    }
    files::check(path, force)
}

fn write_figure(
    (path, force): (&Path, bool),
    found: &Found,
    session: &Session<'_>,
) -> anyhow::Result<()> {
    let Some(front) = found.front() else {
        remark!(session, "nothing was measured: there is nothing to draw");
        return Ok(());
    };
    let figure: Figure = figures::of_front(&front);
    let bytes = match kind_of_figure(path) {
        Some("png") => figure.png(SCALE)?,
        _ => figure.svg.into_bytes(),
    };
    files::write(path, &bytes, force, session.caller)?;
    session.caller.wrote(&absolute(path));
    Ok(())
}
