//! `wiregauge control`: report what the measured delays do to a control loop.

use super::chosen_points::chosen;
use super::printed;
use super::report::write_figures;
use crate::Outcome;
use crate::args::{ControlArgs, FigureFormat};
use crate::caller::{Session, remark};
use crate::loop_model;
use crate::output::files;
use anyhow::bail;
use std::io::Write;
use std::time::Duration;
use wiregauge_record::Schedule;
use wiregauge_report::figures::{self, Figure};
use wiregauge_report::load::{self, Controls};
use wiregauge_report::tables;
use wiregauge_run::{AnyRun, Exchange, Run};

/// Runs the command.
pub fn run(args: &ControlArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    let run = match wiregauge_run::find(&wiregauge_run::runs_home(), &args.run)? {
        AnyRun::Exchange(run) => run,
        AnyRun::Loop(run) => bail!(
            "{} is a loop run of a digitizer and a generator, without delays of single cycles: its latency is \
             constant (wiregauge show {0})\nhint: compute the margin for a constant delay with any exchange run, or \
             measure the device with wiregauge exchange",
            run.name()
        ),
        AnyRun::Stream(run) => bail!(
            "cannot compute a control loop with {}: a stream run has no responses\nhint: measure the device with \
             wiregauge exchange ADDRESS --interval PERIOD",
            run.name()
        ),
    };
    let chosen = chosen(&args.points, &run)?;
    let asked = loop_model::resolve(&args.model, &args.misses, period_of(&run))?;
    if let Some(dir) = &args.figures {
        files::directory(dir)?;
    }
    let mut meter = session.caller.meter(args.json);
    meter.says(format!("reading {}", run.name()));
    let controls = load::controls(&run, &chosen, &asked.model, asked.rules, &mut |part| {
        meter.update(part)
    });
    meter.clear();
    drop(meter);
    let controls = controls?;
    if let Some(nothing) = nothing_answered(&run, &controls) {
        bail!("{nothing}");
    }
    let mut out = session.caller.words();
    if args.json {
        let mut value = serde_json::to_value(&controls)?;
        value["run"] = run.name().into();
        // The kind is kept, so that `| head` is known as such.
        serde_json::to_writer_pretty(&mut out, &value).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        printed::text(
            &mut out,
            &tables::of_controls(&run.file, &controls),
            printed::Extent {
                quiet: false,
                full: true,
                width: session.caller.width(),
            },
        )?;
    }
    out.flush()?;
    if let Some(dir) = &args.figures {
        let (figures, is_cut) = figures_of(&controls);
        for line in write_figures(dir, &figures, &[FigureFormat::Svg], session)? {
            remark!(session, "{line}");
        }
        if is_cut {
            remark!(
                session,
                "some points have no figures: all delays together do not fit in memory (choose points)"
            );
        }
    }
    Ok(Outcome::Done)
}

/// Those of all points, their names ending in the point's number where there are several; true if some are missing.
fn figures_of(controls: &Controls) -> (Vec<Figure>, bool) {
    let mut drawn = Vec::new();
    let mut is_cut = false;
    for point in &controls.points {
        let Some(assessment) = &point.assessment else {
            continue;
        };
        is_cut |= point.cycles.delays.is_empty();
        for mut figure in figures::of_control(assessment, &point.cycles.delays) {
            if controls.points.len() > 1 {
                figure.name += &format!("-{}", point.point.index);
            }
            drawn.push(figure);
        }
    }
    (drawn, is_cut)
}

/// The period that the run was measured with, if it has one.
fn period_of(run: &Run<Exchange>) -> Option<Duration> {
    match run.file.plan.schedule {
        Schedule::EveryNs(every_ns) => Some(Duration::from_nanos(every_ns)),
        Schedule::AsFastAsPossible => None,
    }
}

/// Why there is nothing to compute with: no chosen point has an answer that counts.
fn nothing_answered(run: &Run<Exchange>, controls: &Controls) -> Option<String> {
    let mut points = controls.points.iter();
    if points.any(|point| point.assessment.is_some()) {
        return None;
    }
    let deadline = match controls.rules.deadline_ns {
        Some(deadline_ns) => format!(
            " within the deadline of {:?}; use a longer --deadline",
            Duration::from_nanos(deadline_ns)
        ),
        None => String::new(),
    };
    Some(format!(
        "{}: no exchange was answered correctly{deadline}, so there is no delay to compute with",
        run.name()
    ))
}
