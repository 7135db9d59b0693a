//! Runs of `wiregauge loop-control`.

use crate::columns::{Column, Kind, PointColumn, PointKind, named, real, wide};
use crate::kind::{FromRows, RunKind};
use crate::microseconds::microseconds;
use std::io::{self, Write};
use wiregauge_record::{
    Conditions, ControlCycle, ControlPlan, ControlPoint, ControlSummariser, ControlSummary, Ending,
};

/// The kind of run that holds a control loop over a link: one row a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control;

impl RunKind for Control {
    const NAME: &'static str = "control";
    const TITLE: &'static str = "Control loop";
    const ROWS: &'static str = "cycles";

    type Plan = ControlPlan;
    type Point = ControlPoint;
    type Summary = ControlSummary;
    type Row = ControlCycle;

    const COLUMNS: &'static [Column<ControlCycle>] = &[
        wide!(sequence),
        named!(status: CycleStatus),
        wide!(intended_ns),
        wide!(start_ns),
        wide!(sample_rtt_ns),
        wide!(command_start_ns),
        wide!(command_rtt_ns),
        wide!(sample_device_ns),
        wide!(command_device_ns),
        real!(reference),
        real!(y1),
        real!(y2),
        real!(y3),
        real!(y4),
        real!(u1),
        real!(u2),
        real!(u3),
        real!(u4),
    ];

    const POINT_COLUMNS: &'static [PointColumn<ControlPoint>] = &[
        ("point", PointKind::Number(|p| p.index)),
        ("period_ns", PointKind::Wide(|p| p.period_ns)),
        ("depth", PointKind::Number(|p| p.depth)),
    ];

    const CSV: &'static str = "point,sequence,status,intended_us,start_us,sample_rtt_us,\
        command_start_us,command_rtt_us,sample_device_us,command_device_us,reference,y1,y2,y3,y4,\
        u1,u2,u3,u4";

    fn address(plan: &ControlPlan) -> &str {
        &plan.address
    }

    fn point(summary: &ControlSummary) -> ControlPoint {
        summary.point
    }

    fn index(point: &ControlPoint) -> u32 {
        point.index
    }

    fn settings(point: &ControlPoint) -> Vec<(&'static str, String)> {
        vec![
            ("period", point.period_ns.to_string()),
            ("depth", point.depth.to_string()),
        ]
    }

    fn measured(summary: &ControlSummary) -> u64 {
        summary.cycles
    }

    fn is_complete(summary: &ControlSummary) -> bool {
        summary.ending == Ending::Complete
    }

    fn planned(_plan: &ControlPlan) -> usize {
        1
    }

    fn summariser(
        _plan: &ControlPlan,
        _conditions: &Conditions,
        point: ControlPoint,
    ) -> Box<dyn FromRows<Control>> {
        Box::new(ControlSummariser::new(point))
    }

    fn csv_row(text: &mut Vec<u8>, point: &ControlPoint, c: &ControlCycle) -> io::Result<()> {
        write!(text, "{},{},{}", point.index, c.sequence, c.status.name())?;
        for ns in [
            c.intended_ns,
            c.start_ns,
            c.sample_rtt_ns,
            c.command_start_ns,
            c.command_rtt_ns,
            c.sample_device_ns,
            c.command_device_ns,
        ] {
            text.push(b',');
            microseconds(text, ns)?;
        }
        let (outputs, commands) = c.signals();
        for number in [c.reference].into_iter().chain(outputs).chain(commands) {
            write!(text, ",{number}")?;
        }
        Ok(())
    }
}

impl FromRows<Control> for ControlSummariser {
    fn push(&mut self, row: &ControlCycle) {
        ControlSummariser::push(self, row);
    }

    fn finish(self: Box<Self>) -> ControlSummary {
        ControlSummariser::finish(&self, Ending::Interrupted)
    }
}
