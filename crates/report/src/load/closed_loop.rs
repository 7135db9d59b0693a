//! One point of a loop run: the service delays of its blocks over time and in a histogram.

use super::Room;
use super::points::{Collector, Progress};
use super::types::LoopPoint;
use wiregauge_record::{Block, Phase, Xrun};
use wiregauge_run::{Loop, Run, RunError};

/// Reads a point.
pub(crate) fn point(run: &Run<Loop>, at: usize, room: Room, progress: &Progress) -> LoopPoint {
    let mut series = Collector::new(room);
    match read(run, at, &mut series, progress) {
        Ok(()) => finish(series, None),
        Err(error) => finish(Collector::new(room), Some(error.to_string())),
    }
}

fn read(
    run: &Run<Loop>,
    at: usize,
    series: &mut Collector,
    progress: &Progress,
) -> Result<(), RunError> {
    let mut reader = run.samples_of(at, &["phase", "xrun", "due_ns", "done_ns"])?;
    while let Some(blocks) = reader.next_rows() {
        let blocks = blocks?;
        blocks.iter().for_each(|block| push(series, block));
        progress.add(blocks.len() as u64);
    }
    Ok(())
}

/// As `wiregauge_record::LoopSummariser` counts: a block that came too late has a service delay too.
fn push(series: &mut Collector, block: &Block) {
    if block.phase != Phase::Measured {
        return;
    }
    if block.xrun != Xrun::None {
        series.bad.push(block.due_ns, block.xrun.name());
    }
    series.push(block.due_ns, block.service_ns());
}

fn finish(series: Collector, missing: Option<String>) -> LoopPoint {
    let (series, service) = series.finish();
    LoopPoint {
        missing,
        series,
        service,
    }
}
