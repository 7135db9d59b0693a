//! Runs of `wiregauge exchange`.

use crate::columns::{Column, Kind, PointColumn, PointKind, named, narrow, wide};
use crate::kind::{FromRows, RunKind, yes};
use crate::microseconds::microseconds;
use std::io::{self, Write};
use wiregauge_record::{
    Conditions, Disturbance, Ending, Plan, Point, PointSummary, ResourceUse, Sample, Summariser,
};

/// The kind of run that holds requests and their answers: one row an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange;

impl RunKind for Exchange {
    const NAME: &'static str = "exchange";
    const TITLE: &'static str = "Exchange";
    const ROWS: &'static str = "exchanges";

    type Plan = Plan;
    type Point = Point;
    type Summary = PointSummary;
    type Row = Sample;

    const COLUMNS: &'static [Column<Sample>] = &[
        wide!(sequence),
        named!(phase: Phase),
        named!(status: Status),
        wide!(intended_ns),
        wide!(start_ns),
        wide!(rtt_ns),
        wide!(connect_ns),
        wide!(access_ns),
        wide!(device_rx_ticks),
        wide!(device_tx_ticks),
        narrow!(bytes_out),
        narrow!(bytes_in),
        narrow!(outstanding),
        wide!(kernel_tx_ns),
        wide!(kernel_tx_done_ns),
        wide!(kernel_rx_ns),
    ];

    const OPTIONAL: usize = 3;

    const POINT_COLUMNS: &'static [PointColumn<Point>] = &[
        ("point", PointKind::Number(|p| p.index)),
        ("out_bytes_asked", PointKind::Number(|p| p.out_bytes)),
        ("in_bytes_asked", PointKind::Number(|p| p.in_bytes)),
        ("depth", PointKind::Number(|p| p.depth)),
        ("link", PointKind::Number(|p| p.link)),
        ("together", PointKind::Number(|p| p.together.into())),
    ];

    const CSV: &'static str = "point,depth,sequence,phase,delta_time_us,bytes_sent,bytes_received,\
        status,start_us,intended_us,connect_us,access_us,outstanding,link,together,\
        device_rx_ticks,device_tx_ticks,kernel_tx_us,kernel_tx_done_us,kernel_rx_us";

    fn address(plan: &Plan) -> &str {
        &plan.address
    }

    fn more_links(plan: &Plan) -> usize {
        plan.more_links.len()
    }

    fn keeps_data(plan: &Plan) -> bool {
        plan.keeps_data()
    }

    fn has_optional(plan: &Plan) -> bool {
        plan.link.usbmon || plan.link.kernel_timestamps
    }

    fn point(summary: &PointSummary) -> Point {
        summary.point
    }

    fn index(point: &Point) -> u32 {
        point.index
    }

    fn settings(point: &Point) -> Vec<(&'static str, String)> {
        vec![
            ("out", point.out_bytes.to_string()),
            ("in", point.in_bytes.to_string()),
            ("depth", point.depth.to_string()),
            ("link", point.link.to_string()),
            ("together", yes(point.together)),
        ]
    }

    fn measured(summary: &PointSummary) -> u64 {
        summary.counts.exchanges
    }

    fn is_empty(summary: &PointSummary) -> bool {
        summary.counts.exchanges == 0 && summary.first_rtt_ns.is_none()
    }

    fn disturbances(summary: &PointSummary) -> &[Disturbance] {
        &summary.disturbances
    }

    fn is_complete(summary: &PointSummary) -> bool {
        summary.ending == Ending::Complete
    }

    fn planned(plan: &Plan) -> usize {
        plan.points.len()
    }

    fn retain_points(plan: &mut Plan, is_kept: &dyn Fn(&Point) -> bool) {
        plan.points.retain(is_kept);
    }

    fn summariser(
        plan: &Plan,
        conditions: &Conditions,
        point: Point,
    ) -> Box<dyn FromRows<Exchange>> {
        let responder = conditions.responder_of(point.link);
        Box::new(Summariser::new(plan, point, responder))
    }

    fn csv_row(text: &mut Vec<u8>, point: &Point, s: &Sample) -> io::Result<()> {
        write!(
            text,
            "{},{},{},{},",
            point.index,
            point.depth,
            s.sequence,
            s.phase.name()
        )?;
        microseconds(text, s.rtt_ns)?;
        write!(text, ",{},{},{}", s.bytes_out, s.bytes_in, s.status.name())?;
        for ns in [s.start_ns, s.intended_ns] {
            text.push(b',');
            microseconds(text, ns)?;
        }
        // Measured only where each exchange opens a link of its own.
        for ns in [s.connect_ns, s.access_ns] {
            text.push(b',');
            if ns > 0 {
                microseconds(text, ns)?;
            }
        }
        let together = u8::from(point.together);
        let ticks = (s.device_rx_ticks, s.device_tx_ticks);
        write!(
            text,
            ",{},{},{together},{},{}",
            s.outstanding, point.link, ticks.0, ticks.1
        )?;
        for ns in [s.kernel_tx_ns, s.kernel_tx_done_ns, s.kernel_rx_ns] {
            text.push(b',');
            if ns > 0 {
                microseconds(text, ns)?;
            }
        }
        Ok(())
    }
}

impl FromRows<Exchange> for Summariser {
    fn push(&mut self, row: &Sample) {
        Summariser::push(self, row);
    }

    fn finish(self: Box<Self>) -> PointSummary {
        Summariser::finish(*self, Ending::Interrupted, 0, None, ResourceUse::default())
    }
}
