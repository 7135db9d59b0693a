//! Runs of `wiregauge stream`.

use crate::columns::{Column, Kind, PointColumn, PointKind, named, narrow, wide};
use crate::kind::{FromRows, RunKind, yes};
use crate::microseconds::microseconds;
use std::io::{self, Write};
use wiregauge_record::{
    Conditions, Disturbance, Ending, ResourceUse, StreamPlan, StreamPoint, StreamSummariser,
    StreamSummary, Transfer,
};

/// The kind of run that holds data which flows without waiting for answers: one row a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream;

impl RunKind for Stream {
    const NAME: &'static str = "stream";
    const TITLE: &'static str = "Stream";
    const ROWS: &'static str = "transfers";

    type Plan = StreamPlan;
    type Point = StreamPoint;
    type Summary = StreamSummary;
    type Row = Transfer;

    const COLUMNS: &'static [Column<Transfer>] = &[
        named!(way: Way),
        wide!(sequence),
        named!(phase: Phase),
        named!(status: TransferStatus),
        wide!(submit_ns),
        wide!(complete_ns),
        wide!(urb_submit_ns),
        wide!(urb_complete_ns),
        narrow!(bytes),
        narrow!(pending),
    ];

    const POINT_COLUMNS: &'static [PointColumn<StreamPoint>] = &[
        ("point", PointKind::Number(|p| p.index)),
        ("direction", PointKind::Name(|p| p.direction.name())),
        ("transfer_bytes", PointKind::Number(|p| p.transfer_bytes)),
        ("queue", PointKind::Number(|p| p.queue)),
        ("link", PointKind::Number(|p| p.link)),
        ("together", PointKind::Number(|p| p.together.into())),
    ];

    const CSV: &'static str = "point,direction,transfer_bytes,queue,way,sequence,phase,status,\
        submit_us,complete_us,urb_submit_us,urb_complete_us,bytes,pending,link,together";

    fn address(plan: &StreamPlan) -> &str {
        &plan.address
    }

    fn more_links(plan: &StreamPlan) -> usize {
        plan.more_links.len()
    }

    fn point(summary: &StreamSummary) -> StreamPoint {
        summary.point
    }

    fn index(point: &StreamPoint) -> u32 {
        point.index
    }

    fn settings(point: &StreamPoint) -> Vec<(&'static str, String)> {
        vec![
            ("direction", point.direction.name().to_owned()),
            ("transfer", point.transfer_bytes.to_string()),
            ("queue", point.queue.to_string()),
            ("link", point.link.to_string()),
            ("together", yes(point.together)),
        ]
    }

    fn measured(summary: &StreamSummary) -> u64 {
        summary
            .flows
            .iter()
            .fold(0, |sum, flow| sum.saturating_add(flow.transfers))
    }

    fn is_empty(summary: &StreamSummary) -> bool {
        let mut flows = summary.flows.iter();
        flows.all(|flow| flow.counts.counted() == 0 && flow.stalls == 0)
    }

    fn disturbances(summary: &StreamSummary) -> &[Disturbance] {
        &summary.disturbances
    }

    fn is_complete(summary: &StreamSummary) -> bool {
        summary.ending == Ending::Complete
    }

    fn planned(plan: &StreamPlan) -> usize {
        plan.points.len()
    }

    fn retain_points(plan: &mut StreamPlan, is_kept: &dyn Fn(&StreamPoint) -> bool) {
        plan.points.retain(is_kept);
    }

    fn summariser(
        plan: &StreamPlan,
        _conditions: &Conditions,
        point: StreamPoint,
    ) -> Box<dyn FromRows<Stream>> {
        Box::new(CutShort {
            summariser: StreamSummariser::new(plan, point),
            end_ns: 0,
        })
    }

    fn csv_row(text: &mut Vec<u8>, point: &StreamPoint, t: &Transfer) -> io::Result<()> {
        write!(
            text,
            "{},{},{},{},{},{},{},{}",
            point.index,
            point.direction.name(),
            point.transfer_bytes,
            point.queue,
            t.way.name(),
            t.sequence,
            t.phase.name(),
            t.status.name()
        )?;
        for ns in [
            t.submit_ns,
            t.complete_ns,
            t.urb_submit_ns,
            t.urb_complete_ns,
        ] {
            text.push(b',');
            microseconds(text, ns)?;
        }
        let together = u8::from(point.together);
        write!(text, ",{},{},{},{together}", t.bytes, t.pending, point.link)
    }
}

/// A point that ends with its last row.
struct CutShort {
    summariser: StreamSummariser,
    end_ns: u64,
}

impl FromRows<Stream> for CutShort {
    fn push(&mut self, row: &Transfer) {
        self.end_ns = self.end_ns.max(row.complete_ns);
        self.summariser.push(row);
    }

    fn finish(self: Box<Self>) -> StreamSummary {
        let resources = ResourceUse::default();
        self.summariser
            .finish(Ending::Interrupted, self.end_ns, &[], resources)
    }
}
