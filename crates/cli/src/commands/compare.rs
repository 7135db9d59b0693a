//! `wiregauge compare`: what differs between runs, and how sure that is.

use super::refused::refused;
use super::unmet::{self, Stated, Unmet};
use super::{ending, printed, printed_comparison};
use crate::Outcome;
use crate::args::{CompareArgs, TableFormat};
use crate::caller::Session;
use crate::fail_if::{FailIf, Judged};
use anyhow::bail;
use std::cell::RefCell;
use std::path::Path;
use wiregauge_compare::{Comparison, Figure};
use wiregauge_run::{AnyRun, Control};

/// Runs the command.
pub fn run(args: &CompareArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    let (before, after) = (side(&args.before)?, side(&args.after)?);
    let beside = args.json || args.format == TableFormat::Md;
    let sides = before.iter().chain(&after).map(AnyRun::stored);
    ending::print(sides, beside, session)?;
    let left_out = RefCell::new(Vec::new());
    let wanted = |figure: &Figure| {
        let is_wanted = args.only.is_empty() || args.only.contains(figure);
        if !is_wanted {
            left_out.borrow_mut().push(*figure);
        }
        is_wanted
    };
    let of_conditions = args.fail_if.iter().map(FailIf::figure);
    let asked: Vec<Figure> = args.only.iter().copied().chain(of_conditions).collect();
    let (first, second) = (AnyRun::all_stored(&before), AnyRun::all_stored(&after));
    let mut comparison = wiregauge_compare::compare(&first, &second, &asked, &wanted, &|_| {})?;
    comparison.notes.extend(on_both_sides(&before, &after));
    for name in &args.only {
        let figures = comparison.points.iter().flat_map(|point| &point.figures);
        if !figures.into_iter().any(|compared| compared.figure == *name) {
            bail!(
                "cannot compare {name}: runs of kind {} have no such figure",
                comparison.kind
            );
        }
    }
    let mut judged = Vec::new();
    for condition in &args.fail_if {
        match condition.judge(&comparison) {
            Ok(one) => judged.push((condition.text.as_str(), one)),
            Err(_) if left_out.borrow().contains(&condition.figure()) => {
                bail!(
                    "cannot evaluate --fail-if '{}': it needs {1}, which --only leaves out\n  hint: add {1} to --only",
                    condition.text,
                    condition.figure()
                )
            }
            Err(why) => bail!("cannot evaluate --fail-if '{}': {why}", condition.text),
        }
    }
    if args.json {
        print_json(&comparison, &judged, session)?;
    } else {
        printed_comparison::print(&comparison, args, session)?;
    }
    let unmet = judged.iter().flat_map(|(text, judged)| {
        let met = judged
            .met
            .iter()
            .map(|place| (place, Unmet::missed as fn(_) -> _));
        let open = judged
            .undecided
            .iter()
            .map(|place| (place, Unmet::undecided as fn(_) -> _));
        met.chain(open)
            .map(move |(place, of)| of(format!("{text}: {place}")))
    });
    let unmet: Vec<Unmet> = unmet.collect();
    Ok(unmet::outcome(
        Stated::Condition,
        &unmet,
        args.undecided.undecided,
        session,
    ))
}

/// The runs of one side. A directory may have a comma in its name.
fn side(text: &str) -> anyhow::Result<Vec<AnyRun>> {
    let home = wiregauge_run::runs_home();
    let names: Vec<&str> = match Path::new(text).is_dir() {
        true => vec![text],
        false => text.split(',').collect(),
    };
    let mut runs: Vec<AnyRun> = Vec::new();
    for name in names {
        let run = wiregauge_run::find(&home, name)?;
        if run.as_kind::<Control>().is_some() {
            return Err(refused("compare", &run));
        }
        let dir = run.stored().dir().canonicalize();
        if runs
            .iter()
            .any(|other| other.stored().dir().canonicalize().ok() == dir.as_ref().ok().cloned())
        {
            bail!("cannot use {name} twice on the same side: it is one run, not two");
        }
        runs.push(run);
    }
    Ok(runs)
}

/// A run that is compared with itself.
fn on_both_sides(before: &[AnyRun], after: &[AnyRun]) -> Option<String> {
    let path = |run: &AnyRun| run.stored().dir().canonicalize().ok();
    let paths: Vec<_> = before.iter().filter_map(path).collect();
    let is_shared = |run: &&AnyRun| path(run).is_some_and(|path| paths.contains(&path));
    let name = after.iter().find(is_shared)?.stored().name();
    Some(match (before.len(), after.len()) {
        (1, 1) => format!("both sides are the same run, {name}"),
        _ => format!("{name} is on both sides, so the sides are not independent"),
    })
}

fn print_json(
    comparison: &Comparison,
    judged: &[(&str, Judged)],
    session: &Session<'_>,
) -> anyhow::Result<()> {
    let mut value = serde_json::to_value(comparison)?;
    let conditions = judged.iter().map(|(text, judged)| {
        serde_json::json!({
            "condition": text,
            "is_met": !judged.met.is_empty(),
            "met": judged.met,
            "undecided": judged.undecided,
        })
    });
    value["fail_if"] = conditions.collect();
    printed::json_value(&value, session)
}
