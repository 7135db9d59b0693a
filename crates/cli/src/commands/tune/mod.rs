//! `wiregauge tune`: find the best setting, and confirm it with a new run. The search is that of the crate `tune`; here
//! is what measures for it, and what is made of its advice.

mod bench;
mod found;
mod json;
mod longer;
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
use wiregauge_report::load::Tuned;

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
    let rows = found.rows();
    let result = json::of(&found, &rows);
    if let Some(dir) = &found.best_run {
        let text = serde_json::to_vec_pretty(&result)?;
        std::fs::write(dir.join(FILE), text).map_err(StorageFailed)?;
        session.caller.measured(dir, places.passing());
    }
    let print = || match args.json {
        true => printed::json_value(&result, session),
        false => {
            let mut out = session.caller.words();
            let tuned: Tuned = serde_json::from_value(result.clone())?;
            let kept = places.are_kept();
            words::tell(&mut out, &found, &rows, &tuned, args.quiet, kept)?;
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
