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

/// The number of a flow among those of its run: even ones are IN, odd ones OUT.
pub(crate) fn flow_number(point: &StreamPoint, way: Way) -> u32 {
    2 * point.index + way as u32
}

/// True if the flow of this number goes this way.
pub(super) fn is_of(number: u32, way: Way) -> bool {
    number % 2 == way as u32
}

/// The number of the flow of a row.
pub(super) fn number((summary, flow): &Row<'_>) -> u32 {
    flow_number(&summary.point, flow.way)
}
