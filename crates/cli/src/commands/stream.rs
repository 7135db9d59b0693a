//! `wiregauge stream`: measure, store, print.

use super::measure::Measurement;
use super::unmet::Judged;
use super::{plan, recording};
use crate::Outcome;
use crate::args::StreamArgs;
use crate::caller::Session;
use crate::constraint::Constraint;
use crate::limit_value::Held;
use crate::output::files;
use crate::output::progress::Extent;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use wiregauge_compare::Settings;
use wiregauge_measure::stream;
use wiregauge_record::{FlowSummary, StreamPoint, StreamSummary};
use wiregauge_run::{RunFile, Stream};

/// Runs the command.
pub fn run(args: &StreamArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    plan::check_baud(args.baud, &args.addresses)?;
    plan::check_serial("--no-low-latency", args.no_low_latency, &args.addresses)?;
    plan::check_raw(args)?;
    let plan = plan::of_stream(args);
    stream::check(&plan)?;
    for limit in &args.require {
        check_limit(limit, &plan.points)?;
    }
    if let Some(csv) = &args.csv {
        // Before the recording is begun.
        files::check(csv, args.keep.force.force)?;
    }
    let recording = Mutex::new(recording::file(args, &plan.points, session)?);
    let measurement = Measurement::<Stream> {
        points: plan.points.len(),
        extent: Extent::Time(Duration::from_nanos(plan.settle_ns + plan.duration_ns)),
        plan,
        keep: &args.keep,
        csv: args.csv.as_deref(),
        look: args.look,
    };
    measurement.run(
        session,
        |plan, stop, sink| {
            let file = recording
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            stream::run_recording(plan, file, stop, sink)
        },
        |file| judged(args, file),
        args.undecided.undecided,
    )
}

/// Refuses a limit that no row of the plan could miss.
fn check_limit(limit: &Constraint, points: &[StreamPoint]) -> anyhow::Result<()> {
    let mut ways = points.iter().flat_map(|point| point.direction.ways());
    if !ways.any(|way| limit.is_of(*way)) {
        let text = &limit.text;
        anyhow::bail!("--require {text} is for a direction that is not measured: see --direction");
    }
    Ok(())
}

/// Each limit, at every row that it speaks of.
fn judged(args: &StreamArgs, file: &RunFile<Stream>) -> Vec<Judged> {
    // In the order of the table, whatever the order in which links ended.
    let mut points: Vec<&StreamSummary> = file.points.iter().collect();
    points.sort_by_key(|point| point.point.index);
    let flows = points
        .iter()
        .flat_map(|point| point.flows.iter().map(|flow| (point.point, flow)));
    let rows: Vec<(StreamPoint, &FlowSummary)> = flows.collect();
    let of = |limit: &Constraint| {
        let of_way = rows.iter().filter(|(_, flow)| limit.is_of(flow.way));
        let held = of_way.map(|(point, flow)| {
            let held = match limit.figure.of_flow(flow) {
                Some(found) => Held::new(limit, limit.of_flow(flow), &found, false, None),
                None => Held::missed("not measured".into()),
            };
            let place = Settings::of_flow(point, flow.way).short_name();
            Held {
                value: match rows.len() {
                    1 => held.value,
                    _ => format!("{}, {place}", held.value),
                },
                line: format!("{} ({place})", held.line),
                ..held
            }
        });
        Judged::new(&limit.text, held.collect())
    };
    args.require.iter().map(of).collect()
}
