//! `wiregauge deadline`: tell how often a control loop of some period would miss its deadline.

use super::chosen_points::chosen;
use super::missed::{self, Missed};
use super::printed;
use crate::Outcome;
use crate::args::DeadlineArgs;
use crate::caller::{Session, absolute, remark};
use crate::deadline_limit::Compliance;
use crate::failure::StorageFailed;
use crate::output::files::{named, size};
use anyhow::bail;
use std::path::Path;
use std::time::Duration;
use wiregauge_record::{Connect, Schedule};
use wiregauge_report::figures::{self, Figure};
use wiregauge_report::load::{self, ControlLoop, Deadlines, Taken};
use wiregauge_report::tables::{self, Places};
use wiregauge_run::{AnyRun, Exchange, Run};

/// Pixels of a PNG for each pixel of the SVG: 300 dpi at the width of a page.
const SCALE: f32 = 3.0;

/// What a figure is written as.
#[derive(Clone, Copy)]
enum Format {
    Svg,
    Png,
}

/// Runs the command.
pub fn run(args: &DeadlineArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    let figure = match args.figure.as_deref() {
        Some(file) => Some((file, format(file)?)),
        None => None,
    };
    let run = match wiregauge_run::find(&wiregauge_run::runs_home(), &args.run)? {
        AnyRun::Exchange(run) => run,
        AnyRun::Control(run) => bail!(
            "{}",
            super::control_run::refused("compute deadlines of", &run)
        ),
        AnyRun::Loop(run) => bail!(
            "{} is a loop run: its own tables and figures show how often it would have stalled at each latency \
             (wiregauge show {0}; docs/loop.md)",
            run.name()
        ),
        AnyRun::Stream(run) => bail!(
            "cannot compute deadlines of {}: a stream run has no responses\n  hint: for streams, compute the \
             device's buffer with wiregauge stream --rate (docs/stream.md)",
            run.name()
        ),
    };
    let chosen = chosen(&args.points, &run)?;
    let control_loop = control_loop(args, &run, &chosen)?;
    let mut meter = session.caller.meter(args.json);
    meter.says(format!("reading {}", run.name()));
    let deadlines = load::deadlines(&run, &chosen, control_loop, &mut |part| meter.update(part));
    meter.clear();
    drop(meter);
    let deadlines = deadlines?;
    let missed = not_kept(args, &deadlines);
    if args.json {
        let mut value = serde_json::to_value(&deadlines)?;
        value["run"] = run.name().into();
        value["require"] = args
            .require
            .iter()
            .map(|limit| limit.text.clone())
            .collect();
        value["missed_limits"] = missed.iter().map(|one| one.text.clone()).collect();
        printed::json_value(&value, session)?;
    } else {
        printed::all_tables(&tables::of_deadlines(&run.file, &deadlines), session)?;
    }
    if let Some((file, format)) = figure {
        match figures::of_deadlines(&deadlines) {
            Some(drawn) => draw(&drawn, file, format, session)?,
            None => bail!("no exchange was answered: there is nothing to draw"),
        }
    }
    Ok(missed::outcome(&missed, session))
}

fn control_loop(
    args: &DeadlineArgs,
    run: &Run<Exchange>,
    chosen: &[usize],
) -> anyhow::Result<ControlLoop> {
    let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let period_ns = match (args.period, run.file.plan.schedule) {
        (Some(period), _) => ns(period),
        (None, Schedule::EveryNs(every_ns)) => every_ns,
        (None, Schedule::AsFastAsPossible) => bail!(
            "{} was measured as fast as possible, so it has no period: give the period of the loop, such as \
             --period 1ms",
            run.name()
        ),
    };
    if period_ns == 0 {
        bail!(
            "{} has a schedule with a period of 0: give --period",
            run.name()
        );
    }
    let deadline_ns = args.deadline.map_or(period_ns, ns);
    let mut depths = chosen.iter().map(|&at| run.file.points[at].point.depth);
    let has_deeper = run.file.points.iter().any(|point| point.point.depth > 1);
    let is_impossible = match Taken::of(run.file.plan.schedule, period_ns) {
        // The response of every cycle is known, whatever the depth.
        Taken::AsScheduled => !has_deeper,
        Taken::Replayed | Taken::ReplayedFrom { .. } => depths.any(|depth| depth == 1),
    };
    if deadline_ns > period_ns && is_impossible {
        let deeper = match has_deeper {
            true => ", select points of a higher depth with --depth,",
            false => ",",
        };
        let once = match run.file.plan.connect {
            Connect::Once => "",
            Connect::Each => "--connect once and ",
        };
        bail!(
            "a deadline of {:?} with a period of {:?} needs more than one outstanding request: a loop that \
             waits for each answer cannot send at the next tick before it arrives. Use a --deadline no longer \
             than the period{deeper} or measure with {once}--depth 2 or more",
            Duration::from_nanos(deadline_ns),
            Duration::from_nanos(period_ns)
        );
    }
    Ok(ControlLoop {
        period_ns,
        deadline_ns,
        jitter_ns: args.jitter.map(ns),
        beyond: args.beyond,
    })
}

/// What was not kept, or not proven to be.
fn not_kept(args: &DeadlineArgs, deadlines: &Deadlines) -> Vec<Missed> {
    let places = Places::new(deadlines.points.iter().map(|point| point.point));
    let mut missed = Vec::new();
    for limit in &args.require {
        for point in &deadlines.points {
            let is_proven = match limit.judge(point) {
                Compliance::Met => continue,
                Compliance::Violated => true,
                Compliance::NotProven => false,
            };
            let place = places.at(point.point.index);
            let found = limit.found(point);
            let text = format!("{}: {found}{place}", limit.text);
            missed.push(Missed { text, is_proven });
        }
    }
    missed
}

fn format(file: &Path) -> anyhow::Result<Format> {
    let ending = file.extension().and_then(|ending| ending.to_str());
    match ending.map(str::to_ascii_lowercase).as_deref() {
        Some("svg") => Ok(Format::Svg),
        Some("png") => Ok(Format::Png),
        _ => bail!(
            "cannot write a figure to {}: the name must end in .svg or .png",
            file.display()
        ),
    }
}

fn draw(drawn: &Figure, file: &Path, format: Format, session: &Session<'_>) -> anyhow::Result<()> {
    let bytes = match format {
        Format::Svg => drawn.svg.clone().into_bytes(),
        Format::Png => drawn.png(SCALE),
    };
    std::fs::write(file, &bytes).map_err(|error| StorageFailed(named("writing", file, &error)))?;
    session.caller.wrote(&absolute(file));
    remark!(session, "wrote {} ({})", file.display(), size(bytes.len()));
    Ok(())
}
