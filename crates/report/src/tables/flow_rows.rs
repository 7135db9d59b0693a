//! The rows of a stream run: its tables and its warnings name the same ones.

use wiregauge_record::{FlowSummary, StreamPoint, StreamSummary, Way};

/// One row of the tables: a way of a point.
pub(super) type Row<'a> = (&'a StreamSummary, &'a FlowSummary);

/// Every way of every point, in the order of the plan.
pub(super) fn rows(points: &[StreamSummary]) -> Vec<Row<'_>> {
    // Links that run together may end in any order.
    let mut points: Vec<&StreamSummary> = points.iter().collect();
    points.sort_by_key(|point| point.point.index);
    let flows = |point| {
        let point: &StreamSummary = point;
        point.flows.iter().map(move |flow| (point, flow))
    };
    points.into_iter().flat_map(flows).collect()
}

/// The cell of a table.
pub(super) fn direction(point: StreamPoint, way: Way) -> String {
    point.direction.words_of(way).to_lowercase()
}
