//! Runs of `wiregauge loop`.

use crate::columns::{Column, Kind, PointColumn, PointKind, named, wide};
use crate::kind::{FromRows, RunKind};
use crate::microseconds::microseconds;
use std::io::{self, Write};
use wiregauge_record::{
    Block, Conditions, Disturbance, Ending, LoopFacts, LoopPlan, LoopPoint, LoopSummariser,
    LoopSummary, Xrun,
};

/// The kind of run that holds a closed loop: one row a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop;

impl RunKind for Loop {
    const NAME: &'static str = "loop";
    const TITLE: &'static str = "Closed loop";
    const ROWS: &'static str = "blocks";

    type Plan = LoopPlan;
    type Point = LoopPoint;
    type Summary = LoopSummary;
    type Row = Block;

    const COLUMNS: &'static [Column<Block>] = &[
        wide!(sequence),
        named!(phase: Phase),
        named!(xrun: Xrun),
        wide!(due_ns),
        wide!(begun_ns),
        wide!(done_ns),
    ];

    const POINT_COLUMNS: &'static [PointColumn<LoopPoint>] = &[
        ("point", PointKind::Number(|p| p.index)),
        ("rate_hz", PointKind::Wide(|p| p.rate_hz)),
        ("channels", PointKind::Number(|p| p.channels)),
        ("notify_bytes", PointKind::Number(|p| p.notify_bytes)),
        ("preload_bytes", PointKind::Wide(|p| p.preload_bytes)),
        ("path", PointKind::Text(|p| p.path.to_string())),
    ];

    const CSV: &'static str = "point,rate_hz,channels,notify_bytes,preload_bytes,sequence,phase,\
        xrun,due_us,begun_us,done_us,path";

    fn address(plan: &LoopPlan) -> &str {
        &plan.address
    }

    fn point(summary: &LoopSummary) -> LoopPoint {
        summary.point
    }

    fn index(point: &LoopPoint) -> u32 {
        point.index
    }

    fn settings(point: &LoopPoint) -> Vec<(&'static str, String)> {
        vec![
            ("rate", point.rate_hz.to_string()),
            ("channels", point.channels.to_string()),
            ("notify", point.notify_bytes.to_string()),
        ]
    }

    fn measured(summary: &LoopSummary) -> u64 {
        summary.blocks
    }

    fn disturbances(summary: &LoopSummary) -> &[Disturbance] {
        &summary.disturbances
    }

    fn is_complete(summary: &LoopSummary) -> bool {
        summary.ending == Ending::Complete
    }

    fn planned(plan: &LoopPlan) -> usize {
        plan.points.len()
    }

    fn retain_points(plan: &mut LoopPlan, is_kept: &dyn Fn(&LoopPoint) -> bool) {
        plan.points.retain(is_kept);
    }

    // Preloads under test are points of the run, but not of the plan.
    fn is_planned(plan: &LoopPlan, summary: &LoopSummary) -> bool {
        plan.points.contains(&summary.point)
    }

    fn summariser(
        _plan: &LoopPlan,
        _conditions: &Conditions,
        point: LoopPoint,
    ) -> Box<dyn FromRows<Loop>> {
        Box::new(CutShort {
            summariser: LoopSummariser::new(point),
            facts: LoopFacts::default(),
        })
    }

    fn csv_row(text: &mut Vec<u8>, point: &LoopPoint, b: &Block) -> io::Result<()> {
        write!(
            text,
            "{},{},{},{},{},{},{},{}",
            point.index,
            point.rate_hz,
            point.channels,
            point.notify_bytes,
            point.preload_bytes,
            b.sequence,
            b.phase.name(),
            b.xrun.name()
        )?;
        for ns in [b.due_ns, b.begun_ns, b.done_ns] {
            text.push(b',');
            microseconds(text, ns)?;
        }
        write!(text, ",{}", point.path)
    }
}

/// A point whose device was not asked what it counted: its rows say what they saw.
struct CutShort {
    summariser: LoopSummariser,
    facts: LoopFacts,
}

impl FromRows<Loop> for CutShort {
    fn push(&mut self, row: &Block) {
        self.facts.overruns += u64::from(matches!(row.xrun, Xrun::Overrun | Xrun::Both));
        self.facts.underruns += u64::from(matches!(row.xrun, Xrun::Underrun | Xrun::Both));
        self.summariser.push(row);
    }

    fn finish(self: Box<Self>) -> LoopSummary {
        self.summariser.finish(Ending::Interrupted, self.facts)
    }
}
