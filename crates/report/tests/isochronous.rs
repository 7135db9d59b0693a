//! The packets of isochronous streams in the tables.

use crate::common;

use common::{stream_plan, stream_point, stream_run, transfers};
use wiregauge_record::{
    Direction, Figure, FlowSummary, IsochronousCounts, IsochronousOptions, PacketErrors, Problem,
    StreamProtocol, Way,
};
use wiregauge_report::tables;
use wiregauge_run::AnyRun;
use wiregauge_stats::Series;

fn printed(counts: IsochronousCounts, full: bool) -> String {
    let dir = tempfile::tempdir().expect("a folder");
    let mut plan = stream_plan(vec![stream_point(0, Direction::In)]);
    plan.address = "usb://1d6b:0104".into();
    (plan.protocol, plan.check) = (StreamProtocol::Raw, false);
    plan.link.isochronous = Some(IsochronousOptions {
        packet_bytes: counts.packet_bytes,
        way: Way::In,
    });
    let mut run = stream_run(dir.path(), &plan, |point| transfers(point, 500, 1));
    let AnyRun::Stream(stream) = &mut run else {
        panic!("a stream run");
    };
    stream.file.points[0].flows[0].isochronous = Some(counts);
    let tables = tables::of(&run, false);
    let brief = tables.brief.as_ref().expect("streams have one");
    match full {
        true => (tables.tables.iter())
            .map(|table| format!("{}\n{}", table.title, table.text()))
            .collect(),
        false => brief
            .tables(120)
            .map(|table| table.text() + &brief.answer)
            .collect(),
    }
}

fn counts() -> IsochronousCounts {
    let mut jitter = Series::new();
    (0..300).for_each(|at| jitter.push(20_000 + at * 100));
    IsochronousCounts {
        packet_bytes: 192,
        interval_ns: 125_000,
        packets: 4000,
        empty: 3,
        errors: vec![
            PacketErrors {
                errno: 18,
                packets: 5,
            },
            PacketErrors {
                errno: 84,
                packets: 2,
            },
        ],
        skipped: 40,
        jitter: jitter.distribution(),
        ..IsochronousCounts::default()
    }
}

#[test]
fn packets_and_what_became_of_them_are_a_table_beside_the_rates() {
    let text = printed(counts(), true);
    for part in ["one every 125 us", "4,000", "50", "40"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = printed(counts(), false);
    assert!(text.contains("50 of 4,040 packets missed"), "{text}");
    assert!(!text.contains("lost bytes not known"), "{text}");
}

#[test]
fn missed_intervals_are_a_figure_that_can_be_limited() {
    let dir = tempfile::tempdir().expect("a folder");
    let plan = stream_plan(vec![stream_point(0, Direction::In)]);
    let run = stream_run(dir.path(), &plan, |point| transfers(point, 500, 1));
    let AnyRun::Stream(stream) = &run else {
        panic!("a stream run");
    };
    let mut flow = stream.file.points[0].flows[0].clone();
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
