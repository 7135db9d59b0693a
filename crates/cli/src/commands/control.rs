//! `wiregauge control`: report what the measured delays do to a control loop.

use super::chosen_points::chosen;
use super::loop_assessment::{assess, exchange_run, period_of};
use super::printed;
use super::report::write_figures;
use crate::Outcome;
use crate::args::{ControlArgs, FigureFormat};
use crate::caller::{Session, remark};
use crate::loop_model;
use crate::output::files;
use wiregauge_report::figures::{self, Figure};
use wiregauge_report::load::Controls;
use wiregauge_report::tables;

/// Runs the command.
pub fn run(args: &ControlArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    let run = wiregauge_run::find(&wiregauge_run::runs_home(), &args.run)?;
    let run = exchange_run(&run)?;
    let chosen = chosen(&args.points, run)?;
    let asked = loop_model::resolve(&args.model, &args.misses, period_of(run))?;
    if let Some(dir) = &args.figures {
        files::directory(dir)?;
    }
    let mut meter = session.caller.meter(args.json);
    meter.says(format!("reading {}", run.name()));
    let controls = assess(run, &chosen, &asked, &mut |part| meter.update(part));
    meter.clear();
    drop(meter);
    let controls = controls?;
    if args.json {
        let mut value = serde_json::to_value(&controls)?;
        value["run"] = run.name().into();
        printed::json_value(&value, session)?;
    } else {
        printed::all_tables(&tables::of_controls(&run.file, &controls), session)?;
    }
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
