//! The packets of isochronous streams as figures.

use crate::common;

use common::{stream_plan, stream_point, stream_run, transfers};
use wiregauge_record::{
    Direction, Figure, FlowSummary, IsochronousCounts, PacketErrors, Problem, Way,
};
use wiregauge_run::Stream;
use wiregauge_stats::Series;

pub fn counts() -> IsochronousCounts {
    let error = |errno, packets| PacketErrors { errno, packets };
    let mut jitter = Series::new();
    (0..300).for_each(|at| jitter.push(20_000 + at * 100));
    IsochronousCounts {
        packet_bytes: 192,
        interval_ns: 125_000,
        packets: 4000,
        empty: 3,
        errors: vec![error(18, 5), error(84, 2)],
        skipped: 40,
        jitter: jitter.distribution(),
        ..IsochronousCounts::default()
    }
}

#[test]
fn missed_intervals_are_a_figure_that_can_be_limited() {
    let dir = tempfile::tempdir().expect("a folder");
    let plan = stream_plan(vec![stream_point(0, Direction::In)]);
    let run = stream_run(dir.path(), &plan, |point| transfers(point, 500, 1));
    let stored = run.as_kind::<Stream>().expect("a stream run");
    let mut flow = stored.file.points[0].flows[0].clone();
    let of = |flow: &FlowSummary, figure: Figure| figure.of_flow(flow).map(|found| found.value);
    let (count, share) = (
        Figure::Count(Problem::Missed),
        Figure::Share(Problem::Missed),
    );
    assert_eq!(of(&flow, count), None, "it is not isochronous");
    // Of a stream to the device nothing else is known.
    (flow.way, flow.counts.received) = (Way::Out, None);
    flow.isochronous = Some(counts());
    assert_eq!(of(&flow, count), Some(50.0));
    assert_eq!(of(&flow, share), Some(50.0 / 4040.0));
}
