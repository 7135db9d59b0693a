//! `wiregauge control`: report what the measured delays do to a control loop.

use super::chosen_points::chosen;
use super::ending;
use super::figure_files::write_figures;
use super::loop_assessment::{assess, exchange_run, period_of};
use super::printed;
use super::unmet::{self, Judged, Stated, Unmet};
use crate::Outcome;
use crate::args::{ControlArgs, FigureFormat};
use crate::caller::{Session, remark};
use crate::control_limit::ControlLimit;
use crate::loop_model;
use crate::output::files;
use wiregauge_quantity::exact_time;
use wiregauge_report::figures::{self, Figure};
use wiregauge_report::load::Controls;
use wiregauge_report::tables::{self, Places, Tables};

/// Runs the command.
pub fn run(args: &ControlArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    let run = wiregauge_run::find(&wiregauge_run::runs_home(), &args.run)?;
    ending::print([run.stored()], args.json, session)?;
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
    let judged = judged(args, &controls);
    let verdict = unmet::verdict(&judged);
    let unmet: Vec<Unmet> = judged.into_iter().flat_map(|one| one.unmet).collect();
    if args.json {
        let mut value = serde_json::to_value(&controls)?;
        value["run"] = run.name().into();
        value["require"] = args.require.iter().map(ControlLimit::text).collect();
        value["missed_limits"] = unmet.iter().map(Unmet::whole).collect();
        printed::json_value(&value, session)?;
    } else {
        let mut tables = Tables {
            verdict,
            ..tables::of_controls(&run.file, &controls)
        };
        let period = exact_time(controls.period_ns);
        let of_loop = format!("control loop: {}, period {period}", asked.words);
        tables.heading.push(of_loop);
        printed::computed(&tables, args.full, session)?;
    }
    if let Some(dir) = &args.figures {
        let figures = figures_of(&controls);
        for line in write_figures(
            (dir, args.force.force),
            &figures,
            &[FigureFormat::Svg],
            session,
        )? {
            remark!(session, "{line}");
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
fn judged(args: &ControlArgs, controls: &Controls) -> Vec<Judged> {
    let of_limit = |limit: &ControlLimit| {
        let held = controls.points.iter().map(|point| {
            let place = controls.places.at(point.point.index);
            limit.judge(point).at(&place)
        });
        Judged::new(limit.text(), held.collect())
    };
    args.require.iter().map(of_limit).collect()
}

/// Those of all points, their names ending in the point's number and settings where there are several.
fn figures_of(controls: &Controls) -> Vec<Figure> {
    let mut drawn = Vec::new();
    let places = Places::new(controls.points.iter().map(|point| point.point));
    for point in &controls.points {
        let index = point.point.index;
        let place = places.name(&[index]);
        let Some(assessment) = &point.assessment else {
            continue;
        };
        for mut figure in figures::of_control(assessment, &place) {
            figure.name += &places.ending(index);
            drawn.push(figure);
        }
    }
    drawn
}
