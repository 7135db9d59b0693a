//! `wiregauge deadline`: tell how often a control loop of some period would miss its deadline.

use super::chosen_points::chosen;
use super::cycles::{self, Requested};
use super::ending;
use super::figure_files;
use super::printed;
use super::unmet::{self, Judged, Stated, Unmet};
use crate::Outcome;
use crate::args::DeadlineArgs;
use crate::caller::{Session, remark};
use crate::constraint::Constraint;
use crate::deadline_limit;
use anyhow::bail;
use wiregauge_report::figures;
use wiregauge_report::load::{self, Deadlines};
use wiregauge_report::tables::{self, Tables};

/// Runs the command.
pub fn run(args: &DeadlineArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    let figure = match args.figure.as_deref() {
        Some(file) => Some((file, figure_files::check(file, args.force.force)?)),
        None => None,
    };
    let found = wiregauge_run::find(&wiregauge_run::runs_home(), &args.run)?;
    let run = cycles::exchange_run(&found)?;
    let chosen = chosen(&args.points, run)?;
    let requested = Requested {
        period: args.period,
        deadline: args.deadline,
        jitter: args.jitter,
        beyond: args.beyond,
    };
    let control_loop =
        cycles::control_loop(requested, run, &chosen, cycles::has_deeper(run), "--depth")?;
    ending::print([found.stored()], args.json, session)?;
    let mut meter = session.caller.meter(args.json);
    meter.says(format!("reading {}", run.name()));
    let deadlines = load::deadlines(run, &chosen, control_loop, &mut |part| meter.update(part));
    meter.clear();
    drop(meter);
    let deadlines = deadlines?;
    let judged = judged(args, &deadlines);
    let verdict = unmet::verdict(&judged);
    let unmet: Vec<Unmet> = judged.into_iter().flat_map(|one| one.unmet).collect();
    if args.json {
        let mut value = serde_json::to_value(&deadlines)?;
        value["run"] = run.name().into();
        value["require"] = args
            .require
            .iter()
            .map(|limit| limit.text.clone())
            .collect();
        value["missed_limits"] = unmet.iter().map(Unmet::whole).collect();
        printed::json_value(&value, session)?;
    } else {
        let tables = Tables {
            verdict,
            ..tables::of_deadlines(&run.file, &deadlines)
        };
        printed::computed(&tables, true, session)?;
    }
    if let Some((file, format)) = figure {
        match figures::of_deadlines(&deadlines) {
            Some(drawn) => {
                let place = (file, args.force.force);
                let line = figure_files::write(place, &drawn, format, session)?;
                remark!(session, "{line}");
            }
            None => bail!("no exchange was answered: there is nothing to draw"),
        }
    }
    Ok(unmet::outcome(
        Stated::Limit,
        &unmet,
        args.undecided.undecided,
        session,
    ))
}

/// Each limit, at every point.
fn judged(args: &DeadlineArgs, deadlines: &Deadlines) -> Vec<Judged> {
    let of_limit = |limit: &Constraint| {
        let held = deadlines.points.iter().map(|point| {
            let place = deadlines.places.at(point.point.index);
            deadline_limit::judge(limit, point).at(&place)
        });
        Judged::new(&limit.text, held.collect())
    };
    args.require.iter().map(of_limit).collect()
}
