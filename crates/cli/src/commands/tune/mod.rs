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
use crate::caller::Session;
use crate::failure::{StorageFailed, unless_nobody_reads};
use found::{Ended, Found};
use search::{Hunt, Places};
use std::io::Write;
use task::Task;

/// What is kept beside the run that confirmed the choice.
const FILE: &str = "tune.json";

/// Runs the command.
pub fn run(args: &TuneArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    let task = Task::of(args)?;
    task.check()?;
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
