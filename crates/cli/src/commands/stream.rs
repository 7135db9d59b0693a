//! `wiregauge stream`: measure, store, print.

use super::measure::Measurement;
use super::{plan, printed};
use crate::Outcome;
use crate::args::StreamArgs;
use crate::caller::Session;
use crate::output::progress::Extent;
use std::time::Duration;
use wiregauge_measure::stream;
use wiregauge_run::{RunFile, Stream};

/// Runs the command.
pub fn run(args: &StreamArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    let plan = plan::of_stream(args);
    stream::check(&plan)?;
    let measurement = Measurement::<Stream> {
        links: plan.links().count(),
        points: plan.points.len(),
        extent: Extent::Time(Duration::from_nanos(plan.settle_ns + plan.duration_ns)),
        plan,
        keep: &args.keep,
        csv: args.csv.as_deref(),
        with_data: false,
        look: args.look,
        is_empty,
        print: printed::stream,
    };
    measurement.run(
        session,
        |plan, stop, sink| stream::run(plan, stop, sink),
        |file| missed(args, file),
    )
}

/// True if nothing moved.
fn is_empty(file: &RunFile<Stream>) -> bool {
    let mut flows = file.points.iter().flat_map(|point| &point.flows);
    flows.all(|flow| flow.counts.sent == 0 && flow.counts.received == 0 && flow.stalls == 0)
}

fn missed(args: &StreamArgs, file: &RunFile<Stream>) -> Vec<String> {
    let mut missed = Vec::new();
    for limit in &args.require {
        let mut broken = Vec::new();
        for point in &file.points {
            let ways = point
                .flows
                .iter()
                .filter(|flow| !limit.is_kept_by_flow(flow));
            broken.extend(ways.map(|flow| {
                let (at, way) = (point.point.index + 1, flow.way.name());
                format!("{at} ({way})")
            }));
        }
        if !broken.is_empty() {
            missed.push(format!("{} at point {}", limit.text, broken.join(", ")));
        }
    }
    missed
}
