//! Why the exchanges of a schedule started late: all places were taken, or the host was late.

use super::cycle_answers::InOrder;
use super::points::{TIMED, read_rows};
use wiregauge_explain::silence_ns;
use wiregauge_record::{Phase, Sample, Schedule};
use wiregauge_run::{Exchange, Run, RunError};

/// The measured exchanges of a point that started more than a period late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LateStarts {
    /// All of them.
    pub(crate) late: u64,
    /// Those that waited for earlier ones: when they were due, as many as --depth allows were outstanding, or had
    /// ended less than the silence ago that the plan requires.
    pub(crate) waited: u64,
}

/// Reads the point at this place of `run.file.points`.
pub(crate) fn late_starts(run: &Run<Exchange>, at: usize) -> Result<LateStarts, RunError> {
    let Schedule::EveryNs(period_ns) = run.file.plan.schedule else {
        return Ok(LateStarts::default());
    };
    let depth = run.file.points[at].point.depth as usize;
    let silence_ns = silence_ns(&run.file.plan);
    let mut found = LateStarts::default();
    // Ends of earlier exchanges that were outstanding when the last one was due, silence included.
    let mut ends: Vec<u64> = Vec::new();
    let mut take = |sample: &Sample| {
        ends.retain(|&end_ns| end_ns > sample.intended_ns);
        if sample.phase == Phase::Measured && sample.start_delay_ns() > period_ns {
            found.late += 1;
            found.waited += u64::from(ends.len() >= depth);
        }
        let end_ns = sample.start_ns.saturating_add(sample.rtt_ns);
        ends.push(end_ns.saturating_add(silence_ns));
    };
    let mut in_order = InOrder::from_sequence(0);
    let columns = [&TIMED[..], &["intended_ns"]].concat();
    read_rows(run, at, &columns, |rows| {
        rows.iter().for_each(|row| in_order.push(row, &mut take));
    })?;
    in_order.finish(take);
    Ok(found)
}
